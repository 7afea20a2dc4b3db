/** No secret and no personal data of any operation leaves a trace. The operations and the names are those of the whole document. */
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';

import { parseDocument, readOperations, secretNames } from '@reseller/contract';
import { expect, test } from 'vitest';

import { createReseller, redact } from '../src/extension.ts';
import type { Logger } from '../src/extension.ts';
import { PERSONAL } from '../src/generated/document.gen.ts';
import * as added from '../src/generated/extension/operation-table.gen.ts';
import * as specified from '../src/generated/operation-table.gen.ts';
import type { Operation } from '../src/runtime/operation.ts';
import { API_KEY, envelope, scripted } from './scripted-service.ts';

const document = parseDocument(JSON.parse(readFileSync(new URL('../../../openapi/generated/service.json', import.meta.url), 'utf8')));
const names = [...secretNames(document)];
const facts: readonly Operation[] = [
  ...new Map([...Object.values(specified), ...Object.values(added)].map((each) => [each.id, each])).values(),
];
const SECRET = 'the-secret-value';

/** Everything that a failed call leaves: its error, its JSON value, its dry run, its events and its log lines. */
async function tracesOf(method: string, path: string, form: object): Promise<string> {
  const traces: unknown[] = [];
  const keep = (...parts: unknown[]) => void traces.push(parts);
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };
  const fetch = () => Promise.reject(new TypeError('fetch failed'));
  const reseller = createReseller({
    apiKey: API_KEY,
    baseUrl: 'http://a.test',
    fetch,
    maxRetries: 0,
    logger,
    logLevel: 'debug',
    onEvent: keep,
  });
  const error: unknown = await Reflect.apply(reseller.request, undefined, [method, path, form]).catch((thrown: unknown) => thrown);
  await new Promise((resolve) => setImmediate(resolve));
  return [...traces, error].map((trace) => `${inspect(trace, { depth: 9, showHidden: true })}${JSON.stringify(trace)}`).join('\n');
}

test('each secret and personal field of a form is hidden by its operation', () => {
  const wanted = readOperations(document).flatMap(({ id, form }) => {
    const hidden = [...(form?.fields.values() ?? [])]
      .filter(({ name, secret }) => secret || PERSONAL.includes(name))
      .map(({ name }) => name);
    return hidden.length === 0 ? [] : [[id, hidden] as const];
  });
  expect(wanted.map(([id]) => id)).toEqual(
    expect.arrayContaining(['createVm', 'registerDomain', 'createHandle', 'submitVmAbuseStatement']),
  );
  for (const [id, hidden] of wanted) expect([id, facts.find((each) => each.id === id)?.hidden]).toEqual([id, hidden]);
});

test.each([...names, ...PERSONAL])('request leaves no trace of a field %s', async (name) => {
  expect(await tracesOf('POST', '/new', { [name]: SECRET })).not.toContain(SECRET);
});

test('an address leaves no trace of the password in it', async () => {
  expect(await tracesOf('PUT', '/account/webhooks/add', { url: `https://user:${SECRET}@panel.test/hook`, events: '*' })).not.toContain(
    SECRET,
  );
});

test.each(names)('redact hides %s at any depth', (name) => {
  expect(JSON.stringify(redact({ data: [{ [name]: SECRET }], [name]: null }))).toBe(`{"data":[{"${name}":"***"}],"${name}":null}`);
});

test.each(names)('reconcile never returns the mask of the log as the value of %s', async (name) => {
  const service = scripted({ namesKeys: true });
  let key: string | null = null;
  const fetch: typeof service.fetch = (url, init) => {
    if (!url.endsWith('/rotate')) return service.fetch(url, init);
    key = new Headers(init.headers).get('idempotency-key');
    return Promise.reject(new TypeError('fetch failed'));
  };
  const reseller = createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test', fetch, clock: service.clock });
  const error = await reseller.account.keys.rotate('key-1', {}).catch((thrown: unknown) => thrown);
  const response_body = JSON.stringify(envelope({ key_id: 'key-2', inner: { [name]: '***' } }));
  service.addEntry({ key, body: '', at: service.now() }, { endpoint: '/account/keys/key-1/rotate', method: 'POST', response_body });
  const found = await Reflect.apply(reseller.reconcile, undefined, [error]);
  expect(found).toMatchObject({ outcome: 'committed', masked: [`inner.${name}`], data: { key_id: 'key-2', inner: {} } });
  expect(JSON.stringify(Object(found).data)).not.toContain('***');
});
