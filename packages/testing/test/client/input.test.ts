/** Wrong input is refused before anything is sent, naming the field. */
import { createReseller, InvalidError } from '@reseller/client';
import type { Fetch, Reseller } from '@reseller/client';
import { createClient, listDomains } from '@reseller/client/operations';
import { expect, onTestFinished, test, vi } from 'vitest';

import { SMALL_VM } from './purchases.ts';

const nothingSent = (): never => {
  throw new Error('Something was sent.');
};
const reseller = createReseller({ apiKey: 'key', baseUrl: 'http://reseller.test', fetch: nothingSent });

/** As JavaScript calls it, where no compiler looks. */
function callUntyped(path: string, ...input: unknown[]): Promise<unknown> {
  const method: unknown = path.split('.').reduce<unknown>((at, name) => Reflect.get(Object(at), name), reseller satisfies Reseller);
  if (typeof method !== 'function') throw new Error(`There is no ${path}.`);
  return Promise.resolve(Reflect.apply(method, undefined, input));
}

test.each([
  ['NaN', 'vm.create', [{ ...SMALL_VM, cores: Number.NaN }], 'cores'],
  ['infinity', 'vm.create', [{ ...SMALL_VM, disk: Infinity }], 'disk'],
  ['a fraction for an integer', 'vm.create', [{ ...SMALL_VM, mem: 1.5 }], 'mem'],
  ['text for an integer', 'vm.create', [{ ...SMALL_VM, cores: '2' }], 'cores'],
  ['a number for text', 'vm.create', [{ ...SMALL_VM, hostname: 5 }], 'hostname'],
  ['text for a boolean', 'vm.create', [{ ...SMALL_VM, allowFallbackIPs: 'yes' }], 'allowFallbackIPs'],
  ['null', 'vm.create', [{ ...SMALL_VM, hostname: null }], 'hostname'],
  ['a lone surrogate', 'vm.create', [{ ...SMALL_VM, hostname: '\ud800' }], 'hostname'],
  ['an unknown field', 'vm.create', [{ ...SMALL_VM, hostnane: 'x' }], 'hostnane'],
  ['a field named like a prototype', 'vm.create', [{ ...SMALL_VM, constructor: 'x' }], 'constructor'],
  ['a missing field', 'vm.create', [{ ...SMALL_VM, os: undefined }], 'os'],
  ['no form', 'vm.create', [], 'cores'],
  ['a field that another one needs', 'domain.setNameservers', ['a.net', { ns1: 'a', ns2: 'b', ns4: 'd' }], 'ns3'],
  ['ns1 without ns2', 'domain.register', [{ domain: 'a.net', handle: 'x', ns1: 'a' }], 'ns2'],
  ['an empty identifier', 'domain.info', [''], 'domain'],
  ['no identifier', 'domain.info', [], 'domain'],
  ['an identifier that is another path', 'domain.info', ['..'], 'domain'],
  ['NaN for an identifier', 'vm.reinstall', [Number.NaN], 'vmid'],
])('%s', async (_, path, input, field) => {
  const error: unknown = await callUntyped(path, ...input).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(InvalidError);
  expect(error).toMatchObject({ attempts: 0, fields: expect.arrayContaining([expect.objectContaining({ field })]) });
  expect(error).toHaveProperty('message', expect.stringMatching(/Nothing was sent\.$/));
});

test('every broken field is named', async () => {
  const error: unknown = await callUntyped('vm.create', { cores: Number.NaN, unknown: 1 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ fields: ['cores', 'mem', 'disk', 'os', 'hostsystem', 'unknown'].map((field) => ({ field })) });
});

test('characters with a meaning in addresses stay within the identifier', async () => {
  const { url } = await reseller.domain.info('a/b?c#d é', { dryRun: true });
  expect(url).toBe('http://reseller.test/domain/a%2Fb%3Fc%23d%20%C3%A9/info');
});

test.each([
  ['', 'http://a.test'],
  ['two words', 'http://a.test'],
  ['line\nbreak', 'http://a.test'],
  ['key', 'ftp://a.test'],
  ['key', 'a.test'],
  ['key', 'http://a.test/?x=1'],
])('the key %j at %s cannot be', (apiKey, baseUrl) => {
  expect(() => createReseller({ apiKey, baseUrl })).toThrow(TypeError);
  if (apiKey !== '' && apiKey !== 'key') expect(() => createReseller({ apiKey, baseUrl })).not.toThrow(apiKey);
});

test.each([{ apiKey: 'key' }, { baseUrl: 'http://a.test' }, undefined])('there is no client of single functions made with %j', (config) => {
  expect(() => Reflect.apply(createClient, undefined, [config])).toThrow(TypeError);
});

test('the key comes from the environment when none is passed', async () => {
  const keys: (string | null)[] = [];
  const fetch = async (_url: string, { headers }: RequestInit) => {
    keys.push(new Headers(headers).get('x-service-apikey'));
    return Response.json({ status: 'success', requestID: null, message: '', data: { list: [] } });
  };
  vi.stubEnv('RESELLER_API_KEY', 'from-the-environment');
  onTestFinished(() => void vi.unstubAllEnvs());
  await createReseller({ baseUrl: 'http://a.test', fetch }).domain.list();
  await listDomains(createClient({ baseUrl: 'http://a.test', fetch }));
  await createReseller({ apiKey: 'own', baseUrl: 'http://a.test', fetch }).domain.list();
  expect(keys).toEqual(['from-the-environment', 'from-the-environment', 'own']);
});

test.each<[string, unknown, RegExp]>([
  ['no key', { environment: 'sandbox' }, /apiKey is not set/],
  ['an empty key', { apiKey: '', environment: 'sandbox' }, /apiKey is not set/],
  ['an unknown environment', { apiKey: 'key', environment: 'test' }, /environment 'test' is unknown. Use live or sandbox/],
  ['no address', { apiKey: 'key' }, /baseUrl is not set/],
  ['a misspelt option', { apiKey: 'key', environment: 'sandbox', timeout: 5 }, /createReseller has no option timeout/],
  [
    'a timeout that is not a number',
    { apiKey: 'key', environment: 'sandbox', timeoutMs: Number.NaN },
    /timeoutMs must be a positive number/,
  ],
  ['a negative number of retries', { apiKey: 'key', environment: 'sandbox', maxRetries: -1 }, /maxRetries must be a whole number/],
  ['an unknown log level', { apiKey: 'key', environment: 'sandbox', logLevel: 'loud' }, /logLevel 'loud' is unknown/],
])('a client refuses %s by name', (_, config, message) => {
  expect(() => Reflect.apply(createReseller, undefined, [config])).toThrow(message);
});

test.each<[string, unknown, RegExp]>([
  ['a misspelt option', { timeout: 5 }, /createVm has no option timeout/],
  ['a timeout that is not a number', { timeoutMs: Number.NaN }, /timeoutMs must be a positive number of milliseconds, got NaN/],
])('a call refuses %s by name', async (_, options, message) => {
  await expect(callUntyped('vm.create', SMALL_VM, options)).rejects.toThrow(message);
});

test('a message says what was expected and what was given', async () => {
  const error: unknown = await callUntyped('vm.create', { ...SMALL_VM, cores: 'two' }).catch((thrown: unknown) => thrown);
  expect(error).toHaveProperty('message', 'createVm: cores must be a whole number, got "two". Nothing was sent.');
});

test('what a header cannot hold of an idempotency key is percent-encoded', async () => {
  const sent: unknown[] = [];
  const fetch: Fetch = async (_, { headers }) => {
    sent.push(new Headers(headers).get('idempotency-key'));
    return Response.json({ status: 'success', requestID: null, message: '', data: null });
  };
  const client = createReseller({ apiKey: 'key', baseUrl: 'http://reseller.test', fetch });
  for (const idempotencyKey of ['order-1', 'a\r\nb: "$c"']) await client.vm.reinstall(12_345, undefined, { idempotencyKey });
  expect(sent).toEqual(['order-1', 'a%0D%0Ab%3A%20%22%24c%22']);
  const { curl } = await client.vm.reinstall(12_345, undefined, { idempotencyKey: '$(date)', dryRun: true });
  expect(curl).toContain("-H 'Idempotency-Key: %24(date)'");
});

test('a closing slash and a path in the base address', async () => {
  const { url } = await createReseller({ apiKey: 'key', baseUrl: 'https://a.test/api/v1/' }).vm.hosts({ dryRun: true });
  expect(url).toBe('https://a.test/api/v1/vm/list/hosts');
});

test('the addresses of the document', async () => {
  const { url } = await createReseller({ apiKey: 'key', environment: 'sandbox' }).vm.hosts({ dryRun: true });
  expect(url).toBe('http://127.0.0.1:4010/vm/list/hosts');
});
