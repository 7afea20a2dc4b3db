/** Wrong input is refused before anything is sent, naming the field. */
import { expect, onTestFinished, test, vi } from 'vitest';

import { createReseller, InvalidError } from '../src/index.ts';
import type { Fetch, Reseller } from '../src/index.ts';
import { createClient, listDomains } from '../src/operations.ts';
import { VM } from './scripted-service.ts';

const nothingSent = (): never => {
  throw new Error('Something was sent.');
};
const reseller = createReseller({ apiKey: 'key', baseUrl: 'http://reseller.test', fetch: nothingSent });

/** A call from JavaScript, which no compiler checks. */
function callUntyped(path: string, ...input: unknown[]): Promise<unknown> {
  const method: unknown = path.split('.').reduce<unknown>((at, name) => Reflect.get(Object(at), name), reseller satisfies Reseller);
  if (typeof method !== 'function') throw new Error(`There is no ${path}.`);
  return Promise.resolve(Reflect.apply(method, undefined, input));
}

test.each([
  ['NaN', 'vm.create', [{ ...VM, cores: Number.NaN }], 'cores'],
  ['infinity', 'vm.create', [{ ...VM, disk: Infinity }], 'disk'],
  ['a fraction for an integer', 'vm.create', [{ ...VM, mem: 1.5 }], 'mem'],
  ['text for an integer', 'vm.create', [{ ...VM, cores: '2' }], 'cores'],
  ['a number for text', 'vm.create', [{ ...VM, hostname: 5 }], 'hostname'],
  ['text for a boolean', 'vm.create', [{ ...VM, allowFallbackIPs: 'yes' }], 'allowFallbackIPs'],
  ['null', 'vm.create', [{ ...VM, hostname: null }], 'hostname'],
  ['a lone surrogate', 'vm.create', [{ ...VM, hostname: '\ud800' }], 'hostname'],
  ['an unknown field', 'vm.create', [{ ...VM, hostnane: 'x' }], 'hostnane'],
  ['a field named like a prototype', 'vm.create', [{ ...VM, constructor: 'x' }], 'constructor'],
  ['a missing field', 'vm.create', [{ ...VM, os: undefined }], 'os'],
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

test('names every broken field', async () => {
  const error: unknown = await callUntyped('vm.create', { cores: Number.NaN, unknown: 1 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ fields: ['cores', 'mem', 'disk', 'os', 'hostsystem', 'unknown'].map((field) => ({ field })) });
});

test('encodes characters with a meaning in URLs, so that they stay within the identifier', async () => {
  const { url } = await reseller.dryRun((api) => api.domain.info('a/b?c#d é'));
  expect(url).toBe('http://reseller.test/domain/a%2Fb%3Fc%23d%20%C3%A9/info');
});

const UNSET_KEY = 'The apiKey is not set. Pass it, or set the environment variable RESELLER_API_KEY.';
const UNUSABLE_KEY = 'The apiKey must be visible ASCII characters without spaces.';
const unusable = (baseUrl: string) => `The baseUrl must be an http or https address without a query, got ${baseUrl}.`;

test.each<[unknown, unknown, string]>([
  ['', 'http://a.test', UNSET_KEY],
  [null, 'http://a.test', UNSET_KEY],
  [5, 'http://a.test', UNUSABLE_KEY],
  ['two words', 'http://a.test', UNUSABLE_KEY],
  ['line\nbreak', 'http://a.test', UNUSABLE_KEY],
  ['at its end\n', 'http://a.test', UNUSABLE_KEY],
  [' key', 'http://a.test', UNUSABLE_KEY],
  ['schlüssel', 'http://a.test', UNUSABLE_KEY],
  ['key', '', unusable('')],
  ['key', 5, unusable('5')],
  ...['ftp://a.test', 'a.test', 'xhttp://a.test', 'http://', 'https://a.test/?x=1', 'http://a.test#b', "http://a.test/'"].map(
    (baseUrl): [unknown, unknown, string] => ['key', baseUrl, unusable(baseUrl)],
  ),
])('refuses a client with the key %j at %j, and no message shows the key', (apiKey, baseUrl, message) => {
  for (const create of [createReseller, createClient])
    expect(() => Reflect.apply(create, undefined, [{ apiKey, baseUrl }])).toThrow(new TypeError(message));
});

test.each([
  [{ apiKey: 'key' }, unusable('undefined')],
  [{ baseUrl: 'http://a.test' }, UNSET_KEY],
  [undefined, UNSET_KEY],
])('refuses a client for single functions with %j', (config, message) => {
  expect(() => Reflect.apply(createClient, undefined, [config])).toThrow(new TypeError(message));
});

test('takes the key from the environment if none is passed', async () => {
  const keys: (string | null)[] = [];
  const fetch = async (_url: string, { headers }: RequestInit) => {
    keys.push(new Headers(headers).get('x-service-apikey'));
    return Response.json({ status: 'success', requestID: null, message: '', data: { list: [] } });
  };
  vi.stubEnv('RESELLER_API_KEY', 'from-the-environment');
  onTestFinished(() => void vi.unstubAllEnvs());
  await createReseller({ baseUrl: 'http://a.test', fetch }).domain.list();
  await listDomains({ client: createClient({ baseUrl: 'http://a.test', fetch }) });
  await createReseller({ apiKey: 'own', baseUrl: 'http://a.test', fetch }).domain.list();
  expect(keys).toEqual(['from-the-environment', 'from-the-environment', 'own']);
});

test('finds the sandbox at the address in RESELLER_SANDBOX_URL, and everything else where the configuration says', async () => {
  const hosts: string[] = [];
  const fetch = async (url: string) => {
    hosts.push(new URL(url).host);
    return Response.json({ status: 'success', requestID: null, message: '', data: { list: [] } });
  };
  onTestFinished(() => void vi.unstubAllEnvs());
  await createReseller({ apiKey: 'key', environment: 'sandbox', fetch }).domain.list();
  vi.stubEnv('RESELLER_SANDBOX_URL', 'http://127.0.0.1:5010');
  await createReseller({ apiKey: 'key', environment: 'sandbox', fetch }).domain.list();
  await createReseller({ apiKey: 'key', environment: 'live', fetch }).domain.list();
  await createReseller({ apiKey: 'key', baseUrl: 'http://a.test', fetch }).domain.list();
  expect(hosts).toEqual(['127.0.0.1:4010', '127.0.0.1:5010', 'api.reseller.invalid', 'a.test']);
});

test.each<[string, unknown, RegExp]>([
  ['no key', { environment: 'sandbox' }, /apiKey is not set/],
  ['an empty key', { apiKey: '', environment: 'sandbox' }, /apiKey is not set/],
  ['an unknown environment', { apiKey: 'key', environment: 'test' }, /^The environment 'test' is unknown\. Use one of live, sandbox\.$/],
  ['an environment that every object has', { apiKey: 'key', environment: 'toString' }, /environment 'toString' is unknown/],
  ['no configuration', undefined, /apiKey is not set/],
  ['no address', { apiKey: 'key' }, /baseUrl must be an http or https address .*, got undefined/],
  ['a misspelt option', { apiKey: 'key', environment: 'sandbox', timeout: 5 }, /createReseller has no option timeout/],
  [
    'a timeout that is not a number',
    { apiKey: 'key', environment: 'sandbox', timeoutMs: Number.NaN },
    /timeoutMs must be a positive number/,
  ],
  [
    'no time at all',
    { apiKey: 'key', environment: 'sandbox', timeoutMs: 0 },
    /^timeoutMs must be a positive number of milliseconds, got 0\.$/,
  ],
  [
    'a timeout in words',
    { apiKey: 'key', environment: 'sandbox', timeoutMs: '5s' },
    /timeoutMs must be a positive number of milliseconds, got "5s"/,
  ],
  ['half a retry', { apiKey: 'key', environment: 'sandbox', maxRetries: 0.5 }, /maxRetries must be a whole number from 0, got 0\.5/],
  ['retries in words', { apiKey: 'key', environment: 'sandbox', maxRetries: '2' }, /maxRetries must be a whole number from 0, got "2"/],
  ['a negative number of retries', { apiKey: 'key', environment: 'sandbox', maxRetries: -1 }, /maxRetries must be a whole number/],
  ['an unknown log level', { apiKey: 'key', environment: 'sandbox', logLevel: 'loud' }, /logLevel 'loud' is unknown/],
])('a client refuses %s and names it', (_, config, message) => {
  expect(() => Reflect.apply(createReseller, undefined, [config])).toThrow(message);
});

test.each<[string, unknown, RegExp]>([
  ['a misspelt option', { timeout: 5 }, /^A call has no option timeout/],
  ['a timeout that is not a number', { timeoutMs: Number.NaN }, /timeoutMs must be a positive number of milliseconds, got NaN/],
])('a call refuses %s and names it', (_, options, message) => {
  expect(() => Reflect.apply(reseller.vm.create, undefined, [VM, options])).toThrow(message);
});

test.each<[string, readonly unknown[], string]>([
  ['vm.create', [{ ...VM, cores: 'two' }], 'createVm: cores must be a whole number, got "two"'],
  ['vm.create', [{ ...VM, hostname: 5 }], 'createVm: hostname must be text, got 5'],
  [
    'vm.create',
    [{ ...VM, hostname: 'x'.repeat(41).replace('x', '\ud800') }],
    `createVm: hostname must be text, got "\\ud800${'x'.repeat(39)}"`,
  ],
  ['vm.create', [{ ...VM, allowFallbackIPs: 1 }], 'createVm: allowFallbackIPs must be true or false, got 1'],
  ['vm.create', [{ ...VM, os: undefined, mem: null }], 'createVm: mem must be a whole number, got null; os is required'],
  ['domain.register', [{ domain: 'a.test', handle: 'x', authcode: 5 }], 'registerDomain: authcode must be text'],
  ['domain.register', [{ domain: 'a.test', handle: 'x', ns1: 'a' }], 'registerDomain: ns2 is required with ns1'],
  ['vm.reinstall', [12_345, { image: 'a' }], 'reinstallVm: image is not a field of this form. Its fields are os'],
  ['vm.reinstall', [1.5], 'reinstallVm: vmid must be an identifier: a text that is not empty, or a whole number'],
  ['vm.reinstall', [12_345, {}, { idempotencyKey: '' }], 'reinstallVm: idempotencyKey must be a text that is not empty'],
])('a message of %s says what was expected and what was given (%#)', async (path, input, message) => {
  const error: unknown = await callUntyped(path, ...input).catch((thrown: unknown) => thrown);
  expect(error).toHaveProperty('message', `${message}. Nothing was sent.`);
});

test('percent-encodes the characters of an idempotency key that a header cannot have', async () => {
  const sent: unknown[] = [];
  const fetch: Fetch = async (_, { headers }) => {
    sent.push(new Headers(headers).get('idempotency-key'));
    return Response.json({ status: 'success', requestID: null, message: '', data: null });
  };
  const client = createReseller({ apiKey: 'key', baseUrl: 'http://reseller.test', fetch });
  for (const idempotencyKey of ['order-1', 'a\r\nb: "$c"']) await client.vm.reinstall(12_345, undefined, { idempotencyKey });
  expect(sent).toEqual(['order-1', 'a%0D%0Ab%3A%20%22%24c%22']);
  const { curl } = await client.dryRun((api) => api.vm.reinstall(12_345, undefined, { idempotencyKey: '$(date)' }));
  expect(curl).toContain("-H 'Idempotency-Key: %24(date)'");
});

test.each(['https://a.test/api/v1', 'https://a.test/api/v1/', 'https://a.test/api/v1///'])(
  '%s may have closing slashes and a path',
  async (baseUrl) => {
    const { url } = await createReseller({ apiKey: 'key', baseUrl }).dryRun((api) => api.vm.hosts());
    expect(url).toBe('https://a.test/api/v1/vm/list/hosts');
  },
);

test('the addresses of the document', async () => {
  const addressOf = async (environment: 'live' | 'sandbox') =>
    (await createReseller({ apiKey: 'key', environment }).dryRun((api) => api.vm.hosts())).url;
  expect([await addressOf('live'), await addressOf('sandbox')]).toEqual([
    'https://api.reseller.invalid/vm/list/hosts',
    'http://127.0.0.1:4010/vm/list/hosts',
  ]);
});
