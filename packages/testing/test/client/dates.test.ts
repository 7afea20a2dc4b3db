/** `dates: true`: every instant of the document is a `Date`, and nothing else changes. */
import { createReseller } from '@reseller/client';
import { parseDocument, readOperations } from '@reseller/contract';
import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import { responses, forms } from '@reseller/testing';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import { expect, test } from 'vitest';

import { methodsByOperation } from './methods.ts';

const operations = readOperations(parseDocument(document));

/** Names of the properties that are instants in the document. */
function instantNames(value: unknown): string[] {
  if (typeof value !== 'object') return [];
  const { properties, format } = Object(value);
  const own = Object.entries(Object(properties)).filter(([, property]) => Object(property).format === 'date-time');
  return format === 'date-time' ? [] : [...own.map(([name]) => name), ...Object.values(Object(value)).flatMap(instantNames)];
}
const names = new Set(instantNames(document));

/** The values of these properties that are not null, with their paths. */
function instantsOf(value: unknown, path = '', name = ''): [string, unknown][] {
  if (names.has(name) && (typeof value === 'string' || value instanceof Date)) return [[path, value]];
  return typeof value === 'object' ? Object.entries(value ?? {}).flatMap(([key, item]) => instantsOf(item, `${path}.${key}`, key)) : [];
}

test('the document has instants', () => {
  expect(Object.values(responses).flatMap((examples) => instantsOf(examples))).not.toEqual([]);
});

test.each(Object.entries(responses))('%s', async (operation, examples) => {
  const path = operations.find(({ id }) => id === operation)?.parameters.filter((parameter) => parameter.in === 'path') ?? [];
  const [form] = Object.values(Object.entries(forms).find(([id]) => id === operation)?.[1] ?? {});
  const input = [...path.map(() => '12345'), ...(form ? [form] : [])];
  for (const example of Object.values(examples)) {
    if (example.status !== 'success') continue;
    const config = { apiKey: 'key', baseUrl: 'http://reseller.test', fetch: async () => Response.json(example) };
    const plain: unknown = await methodsByOperation(createReseller(config)).get(operation)?.(...input);
    const dated: unknown = await methodsByOperation(createReseller({ ...config, dates: true })).get(operation)?.(...input);
    expect(instantsOf(dated)).toEqual(instantsOf(plain).map(([at, text]) => [at, new Date(String(text))]));
    // As JSON, a date has the same text, except for the zeros of a fraction.
    expect(JSON.stringify(dated).replaceAll('.000Z', 'Z')).toBe(JSON.stringify(plain).replaceAll('.000Z', 'Z'));
  }
});

test('returns typed dates from the service', async () => {
  await using service = await createTestService({ now: '2026-11-10T12:00:00Z' });
  const { apiKey, baseUrl, fetch } = service;
  const reseller = createReseller({ apiKey, baseUrl, fetch, dates: true });
  const { identifier } = await reseller.vm.create(forms.createVm.smallest);
  const { positions } = await reseller.accounting.currentInvoice();
  const [position] = positions.vms[identifier] ?? [];
  expect(position?.start satisfies Date | undefined).toEqual(new Date('2026-11-10T12:00:00Z'));
  expect(position?.stop).toBeNull();
  for await (const { requestDate } of reseller.account.requests()) expect(requestDate).toBeInstanceOf(Date);
});

test('leaves values that do not match the document unchanged', async () => {
  const odd = [{ title: 'half a sale' }, { title: 'a sale', startDate: { value: 5 }, stopDate: 'soon' }, null];
  const fetch = async () => Response.json({ status: 'success', requestID: null, message: '', data: odd });
  const reseller = createReseller({ apiKey: 'key', baseUrl: 'http://reseller.test', fetch, dates: true });
  expect(await reseller.accounting.sales()).toEqual(odd);
});
