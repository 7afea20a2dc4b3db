/** Instants as `Date`, where the document says that they are instants, and nothing else changed. */
import * as door from '@reseller/client/operations';
import * as transformers from '@reseller/client/transformers';
import { parseDocument, readOperations } from '@reseller/contract';
import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import { answers, createTestService, forms } from '@reseller/testing';
import { expect, test } from 'vitest';

const operations = readOperations(parseDocument(document));

/** Names of the properties that the document says are instants. */
function instantNames(value: unknown): string[] {
  if (typeof value !== 'object') return [];
  const { properties, format } = Object(value);
  const own = Object.entries(Object(properties)).filter(([, property]) => Object(property).format === 'date-time');
  return format === 'date-time' ? [] : [...own.map(([name]) => name), ...Object.values(Object(value)).flatMap(instantNames)];
}
const names = new Set(instantNames(document));

/** What an answer has by such a name and is not null, by where it is. */
function instantsOf(value: unknown, path = '', name = ''): [string, unknown][] {
  if (names.has(name) && (typeof value === 'string' || value instanceof Date)) return [[path, value]];
  return typeof value === 'object' ? Object.entries(value ?? {}).flatMap(([key, item]) => instantsOf(item, `${path}.${key}`, key)) : [];
}

/** A call whose answer is the example. */
function callOf(operation: string, example: unknown): Promise<unknown> {
  const client = door.createClient({ apiKey: 'key', baseUrl: 'http://reseller.test', fetch: async () => Response.json(example) });
  const call: unknown = Reflect.get(door, operation);
  const path = operations.find(({ id }) => id === operation)?.parameters.filter((parameter) => parameter.in === 'path') ?? [];
  if (typeof call !== 'function') throw new Error(`There is no function ${operation}.`);
  return Reflect.apply(call, undefined, [client, ...path.map(() => '12345')]);
}

test('every operation whose answer has an instant has a function, and no other', () => {
  const withInstant = Object.entries(answers)
    .filter(([, examples]) => Object.values(examples).some(({ data }) => instantsOf(data).length > 0))
    .map(([operation]) => operation);
  expect(withInstant).not.toEqual([]);
  expect(withInstant.toSorted()).toEqual(Object.keys(transformers).toSorted());
});

test.each(Object.entries(transformers))('%s', async (operation, transform) => {
  const [, examples = {}] = Object.entries(answers).find(([id]) => id === operation) ?? [];
  for (const example of Object.values(examples)) {
    const { status, data }: { status?: unknown; data?: unknown } = Object(example);
    if (status !== 'success') continue;
    const call = callOf(operation, example);
    const dated: unknown = await Reflect.apply(transform, undefined, [call]);
    expect(instantsOf(dated)).toEqual(instantsOf(data).map(([path, text]) => [path, new Date(String(text))]));
    // Nothing else is changed: as JSON it says the same, up to the zeros of a fraction.
    expect(JSON.stringify(dated).replaceAll('.000Z', 'Z')).toBe(JSON.stringify(data).replaceAll('.000Z', 'Z'));
    expect(await call).toEqual(data);
  }
});

test('with the service, typed', async () => {
  await using service = await createTestService({ now: '2026-11-10T12:00:00Z' });
  const reseller = service.reseller();
  const { identifier } = await reseller.vm.create(forms.createVm.smallest);
  const { positions } = await transformers.getCurrentInvoice(reseller.accounting.currentInvoice());
  const [position] = positions.vms[identifier] ?? [];
  expect(position?.start satisfies Date | undefined).toEqual(new Date('2026-11-10T12:00:00Z'));
  expect(position?.stop).toBeNull();
});

test('an answer that is not as described: a clear error, and the answer is not lost', async () => {
  const call = callOf('listSales', {
    ...answers.listSales,
    status: 'success',
    requestID: null,
    message: '',
    data: [{ title: 'half a sale' }],
  });
  await expect(Reflect.apply(transformers.listSales, undefined, [call])).rejects.toThrow(/not as the document describes it/);
  expect(await call).toEqual([{ title: 'half a sale' }]);
});
