import { createReseller } from '@reseller/client';
import type { Fetch } from '@reseller/client';
import * as functions from '@reseller/client/operations';
import { fillPath, writeForm } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { brokenForms, completeForm, firstExample, goodForms, operationsOfBundle, pathOf } from './cases.ts';
import type { Case } from './cases.ts';
import { addressOf, startMockProcess } from './mock-process.ts';
import type { MockProcess } from './mock-process.ts';

const operations = await operationsOfBundle();
const key = 'any-key';

let mock: MockProcess;
let baseUrl: string;

beforeAll(async () => {
  mock = startMockProcess({ MOCK_PORT: '0' });
  baseUrl = await addressOf(mock);
});

afterAll(() => mock?.kill('SIGKILL'));

test('the document has operations', () => {
  expect(operations.length).toBeGreaterThan(0);
});

describe.each(operations)('$id', (operation) => {
  test.each(goodForms(operation))('returns its first example for $what', async ({ form }) => {
    const example = firstExample(operation, 200);
    expect(example).toBeDefined();
    const { status, body, violations } = await call(operation, form);
    const repeated = { ...pathOf(operation), ...form };
    // Prism reports in a header whether the request or the example breaks the document.
    expect({ status, body, violations }).toEqual({
      status: 200,
      body: withValues(operation.id, example, repeated),
      violations: null,
    });
  });

  test('responds with 401 without a key', async () => {
    const { status, body } = await send(operation, goodForms(operation)[0]?.form, {});
    expect({ status, body }).toEqual({ status: 401, body: firstExample(operation, 401) });
  });

  const broken = brokenForms(operation);
  if (broken.length === 0) return;

  test('responds with 422 to a form that breaks a rule, and names the rule', async () => {
    // The complete form is accepted, so each broken form is refused only for its one fault.
    expect((await call(operation, completeForm(operation))).status).toBe(200);
    for (const { what, form, field, rule } of broken) {
      const { status, body } = await send(operation, form);
      expect.soft({ what, status }).toEqual({ what, status: 422 });
      expect.soft(body).toEqual({
        status: 'error',
        type: 'validation_failed',
        requestID: expect.any(String),
        message: expect.stringMatching(new RegExp(`^The form breaks (a rule|rules): .*\\b${field} (must|is) `)),
        data: { fields: expect.arrayContaining([{ field, rule, message: expect.stringMatching(/^(must|is) /) }]) },
      });
    }
  });
});

describe('behaviour beyond the examples', () => {
  test('returns the example for an unknown key on request, because Prism accepts any key', async () => {
    const response = await fetch(`${baseUrl}/account/otp`, {
      method: 'POST',
      headers: { 'x-service-apikey': key, prefer: 'code=401, example=unknown' },
    });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ status: 'error', type: 'unauthorized', message: expect.stringContaining('unknown') });
  });

  test.each([
    { what: 'an unknown path', status: 404, type: 'not_found', method: 'GET', path: '/no/such/path' },
    { what: 'an unknown method', status: 405, type: 'method_not_allowed', method: 'GET', path: '/vm/create' },
    {
      what: 'an Accept without JSON',
      status: 406,
      type: 'not_acceptable',
      method: 'GET',
      path: '/domain/list',
      headers: { accept: 'text/html' },
    },
    { what: 'a body of 65 KiB', status: 413, type: 'payload_too_large', method: 'PUT', path: '/vm/create', body: 'x'.repeat(65 * 1024) },
    {
      what: 'an unknown status in Prefer',
      status: 404,
      type: 'not_found',
      method: 'GET',
      path: '/domain/list',
      headers: { prefer: 'code=418' },
    },
  ])('responds to $what with $status in the envelope', async ({ status, type, method, path, headers, body = null }) => {
    const response = await fetch(`${baseUrl}${path}`, { method, body, headers: { 'x-service-apikey': key, ...headers } });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({
      status: 'error',
      type,
      requestID: expect.any(String),
      message: expect.stringMatching(/\w/),
      data: null,
    });
  });

  test('returns the 422 example on request, because a good form breaks no rule', async () => {
    const operation = operations.find(({ id }) => id === 'createVm');
    if (!operation) throw new Error('The document has no createVm.');
    const response = await fetch(`${baseUrl}/vm/create`, {
      method: 'PUT',
      headers: { 'x-service-apikey': key, prefer: 'code=422', 'content-type': 'application/x-www-form-urlencoded' },
      body: writeForm(operation, completeForm(operation) ?? {}),
    });
    expect({ status: response.status, body: await response.json() }).toEqual({ status: 422, body: firstExample(operation, 422) });
  });

  test.each([
    [1, 1],
    [49, 49],
    [50, 50],
    [51, 50],
  ])('names of %i broken rules the first %i, as the document says', async (count, named) => {
    const response = await fetch(`${baseUrl}/account/requests`, {
      method: 'POST',
      headers: { 'x-service-apikey': key, 'content-type': 'application/x-www-form-urlencoded' },
      body: Array.from({ length: count }, (_, index) => `unknown${index}=1`).join('&'),
    });
    expect(response.status).toBe(422);
    expect((await response.json()).data.fields).toHaveLength(named);
  });

  test.each(['known length', 'chunks'])('responds with 415 to a JSON body of %s', async (how) => {
    const text = new Blob(['{"cores":2}']);
    const response = await fetch(`${baseUrl}/vm/create`, {
      method: 'PUT',
      headers: { 'x-service-apikey': key, 'content-type': 'application/json' },
      ...(how === 'chunks' ? { body: text.stream(), duplex: 'half' } : { body: text }),
    });
    expect(response.status).toBe(415);
    expect(await response.json()).toMatchObject({ status: 'error', type: 'unsupported_media_type' });
  });
});

test('repeats the values of a purchase that the client compares', async () => {
  const { vm, domain } = createReseller({ baseUrl, apiKey: key });
  const bought = await vm.create({ cores: 3, mem: 5632, disk: 45, os: 'debian_12', hostsystem: 'nl_ryzen' });
  expect(bought.config).toMatchObject({ cores: 3, mem: 5632, disk: 45 });
  const registered = await domain.register({ domain: 'of-the-form.net', handle: 'MUST1234' });
  expect(registered.domain.name).toBe('of-the-form.net');
});

/** What responses repeat of their requests: where, and the name of the value. */
const REPEATED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  createVm: { 'data.config.cores': 'cores', 'data.config.mem': 'mem', 'data.config.disk': 'disk' },
  registerDomain: { 'data.domain.name': 'domain' },
  undeleteDomain: { 'data.domain': 'domain' },
  deleteDomain: { 'data.domain': 'domain' },
  deleteDedicatedServer: { 'data.identifier': 'identifier' },
  undeleteDedicatedServer: { 'data.identifier': 'identifier' },
  purchaseDedicatedServer: { 'data.identifier': 'identifier' },
};

/** An example with the values of a request where its response repeats them. */
function withValues(id: string, example: unknown, values: Readonly<Record<string, unknown>>, above = ''): unknown {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example;
  return Object.fromEntries(
    Object.entries(example).map(([property, shown]) => {
      const name = REPEATED[id]?.[above + property];
      return [property, name === undefined ? withValues(id, shown, values, `${above}${property}.`) : values[name]];
    }),
  );
}

interface ParsedResponse {
  readonly status: number;
  readonly body: unknown;
  readonly violations: string | null;
}

/** Calls the client's function of an operation, which has the name of the operationId. */
async function call(operation: Operation, form: Case['form']): Promise<ParsedResponse> {
  const named: unknown = Reflect.get(functions, operation.id);
  // The client has single functions only for the operations of the specification.
  if (typeof named !== 'function') return send(operation, form);
  let response: Response | undefined;
  const fetchAndKeep: Fetch = async (url, init) => {
    response = await fetch(url, init);
    return response.clone();
  };
  const client = functions.createClient({ baseUrl, apiKey: key, fetch: fetchAndKeep });
  await Reflect.apply(named, undefined, [{ client, path: pathOf(operation), ...(operation.form && { body: form }) }]);
  if (!response) throw new Error(`The client's ${operation.id} made no call.`);
  return parsed(response);
}

/** Sends a request that the client itself would refuse. */
async function send(operation: Operation, form: Case['form'], credentials: object = { 'x-service-apikey': key }): Promise<ParsedResponse> {
  const { method } = operation;
  const values = pathOf(operation);
  const path = fillPath(operation.path, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])));
  const headers = { ...credentials, 'content-type': 'application/x-www-form-urlencoded' };
  return parsed(await fetch(baseUrl + path, { method, headers, ...(form && { body: writeForm(operation, form) }) }));
}

async function parsed(response: Response): Promise<ParsedResponse> {
  return { status: response.status, body: await response.json(), violations: response.headers.get('sl-violations') };
}
