import { writeForm } from '@reseller/contract';
/** The deviations that a lenient service accepts, tested for every operation of the document. */
import document from '@reseller/openapi/openapi.json' with { type: 'json' };
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { contentsOf } from '../../../test/contents.ts';
import { goodCall } from '../../../test/good-calls.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import type { Received, Sent } from '../../../test/http-client.ts';
import { apiOf, withForm } from '../../../test/operations.ts';
import { seededRandom } from '../../../test/simulator/seeded-random.ts';
import type { OperationId } from '../../reseller/operation.ts';
import { apiOperations } from '../api.ts';
import { readJsonBody } from './body.ts';
import { deviations } from './deviation.ts';

const JSON_TYPE = 'application/json';
const deviationOf = ({ headers }: Received) => headers.get('deviation');
const json = (service: TestService, body: string) => service.call('createVm', { body, contentType: JSON_TYPE });

async function newestEntry(service: TestService, apiKey: string): Promise<Record<string, unknown>> {
  return (await service.call('listRequests', { apiKey })).body.data[0];
}

describe('a form in another format', () => {
  /** The response and the effect of a valid call whose form is sent in one of the formats. */
  async function outcome(id: OperationId, send: (service: TestService, sent: Sent) => Promise<Received>) {
    const service = await startService({ lenient: true, random: seededRandom(1, 'service') });
    const owner = await service.account();
    const sent = await goodCall(service, id, owner);
    const received = await send(service, sent);
    // The time of migrations is by the clock of the machine.
    const { kysely_migration: _, ...contents } = await contentsOf(service);
    return { received, contents, entry: await newestEntry(service, owner.apiKey) };
  }
  const asForm = (id: OperationId) => outcome(id, (service, sent) => service.call(id, sent));
  const withBody = (id: OperationId, body: (form: NonNullable<Sent['form']>) => string, contentType: string) =>
    outcome(id, (service, { form = {}, ...others }) => service.call(id, { ...others, body: body(form), contentType }));

  test.each(withForm)('has the same effect for %s, as typed JSON, as JSON of texts, and as multipart', async (id) => {
    const form = await asForm(id);
    expect(form.received.status).toBe(200);
    expect(deviationOf(form.received)).toBeNull();
    const texts = (values: object) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
    const hasBoolean = [...(apiOf(id).operation.form?.fields.values() ?? [])].some(({ kind }) => kind === 'boolean');
    const ways = [
      [await withBody(id, (values) => JSON.stringify(values), JSON_TYPE), 'json-body'],
      [await withBody(id, (values) => JSON.stringify(texts(values)), JSON_TYPE), hasBoolean ? 'boolean-text, json-body' : 'json-body'],
      [await withBody(id, (values) => multipart(texts(values)), 'multipart/form-data; boundary=cut'), 'multipart-body'],
    ] as const;
    for (const [way, deviation] of ways) {
      expect(way.received.body).toEqual(form.received.body);
      expect(deviationOf(way.received)).toBe(deviation);
      expect(way.contents).toEqual(form.contents);
      expect(Object.keys(JSON.parse(String(way.entry['request_body'])))).toEqual(
        expect.arrayContaining(Object.keys(JSON.parse(String(form.entry['request_body'])))),
      );
    }
  });

  test('is read like the form with the same values, for any values', () => {
    const operation = apiOf('createVm').operation;
    const value = fc.oneof(fc.maxSafeInteger(), fc.string({ unit: 'binary' }), fc.constantFrom('true', 'false', '01', ' 1', '1.0', '1e1'));
    const fields = fc.dictionary(fc.oneof(fc.constantFrom(...(operation.form?.fields.keys() ?? [])), fc.string()), value);
    fc.assert(
      fc.property(fields, (values) => {
        const read = readJsonBody({ operation, bytes: Buffer.from(JSON.stringify(values)), deviations: new Set() });
        const strict = apiOf('createVm').checkForm;
        const written = Object.fromEntries(new URLSearchParams(writeForm(operation, values)));
        expect(Object.fromEntries(Object.entries(read.values).map(([name, field]) => [name, String(field)]))).toEqual(written);
        expect(strict?.(read.values).every(({ keyword }) => keyword !== 'malformed')).toBe(true);
      }),
    );
  });
});

function multipart(fields: Readonly<Record<string, string>>): string {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--cut\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--cut--\r\n`;
}

describe('a trailing slash and a bearer token', () => {
  test('are accepted in every operation, logged under the requested path, and listed as deviations', async () => {
    const service = await startService({ lenient: true });
    for (const { id, operation } of apiOperations) {
      const owner = await service.account();
      const { path = {}, form } = await goodCall(service, id, owner);
      const called = `${operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '')}/`;
      const headers = new Headers({ authorization: `bearer ${owner.apiKey}` });
      if (form) headers.set('content-type', 'application/x-www-form-urlencoded');
      const response = await service.send(called, {
        method: operation.method,
        headers,
        ...(form && { body: writeForm(operation, form) }),
      });
      expect.soft([id, response.status, deviationOf(response)]).toEqual([id, 200, 'bearer-token, trailing-slash']);
      expect.soft(await newestEntry(service, owner.apiKey), id).toMatchObject({ endpoint: called, success: 1 });
    }
  });

  test('the header of the document takes precedence over the bearer token', async () => {
    const service = await startService({ lenient: true });
    const ask = (headers: Record<string, string>) => service.send('/domain/list', { headers });
    const good = await ask({ 'x-service-apikey': service.apiKey, authorization: 'Bearer wrong' });
    expect([good.status, deviationOf(good)]).toEqual([200, null]);
    const bad = await ask({ 'x-service-apikey': 'wrong', authorization: `Bearer ${service.apiKey}` });
    expect([bad.status, deviationOf(bad)]).toEqual([401, null]);
    const basic = await ask({ authorization: `Basic ${service.apiKey}` });
    expect([basic.status, deviationOf(basic)]).toEqual([401, null]);
    const unknown = await ask({ authorization: 'Bearer wrong' });
    expect([unknown.status, deviationOf(unknown)]).toEqual([401, 'bearer-token']);
  });

  test('responds with 404 to an unknown path with a slash, and with 405 to a wrong method', async () => {
    const service = await startService({ lenient: true });
    const headers = { 'x-service-apikey': service.apiKey };
    for (const path of ['/vm/', '/vm/create//', '//', '/vm//create/']) expect((await service.send(path, { headers })).status).toBe(404);
    expect(await service.send('/vm/create/', { headers })).toMatchObject({ status: 405 });
  });
});

describe('booleans', () => {
  test.each(['1', 'yes', 'on', 'TRUE', 'True'])('reads %s as true', async (word) => {
    const service = await startService({ lenient: true });
    const body = `${writeForm(apiOf('createVm').operation, SMALL_VM)}&allowFallbackIPs=${word}`;
    const response = await service.call('createVm', { body });
    expect([response.status, deviationOf(response)]).toEqual([200, 'boolean-text']);
    // The log has the value as it was sent.
    const entry = await newestEntry(service, service.apiKey);
    expect(JSON.parse(String(entry['request_body']))).toMatchObject({ allowFallbackIPs: word });
  });

  test.each(['', 'ja', '2', 'null', '٠'])("does not read '%s' as a boolean", async (word) => {
    const service = await startService({ lenient: true });
    const body = `${writeForm(apiOf('createVm').operation, SMALL_VM)}&allowFallbackIPs=${encodeURIComponent(word)}`;
    const response = await service.call('createVm', { body });
    expect(response).toMatchObject({ status: 422, body: { data: { fields: [{ field: 'allowFallbackIPs', rule: 'type' }] } } });
    expect(deviationOf(response)).toBeNull();
  });
});

describe('hostile JSON', () => {
  const vm = JSON.stringify(SMALL_VM).slice(1, -1);
  const bodies: readonly (readonly [string, string, number, string?])[] = [
    ['no JSON', '{"cores":2', 400],
    ['a form', 'cores=2', 400],
    ['JavaScript', '{cores:2}', 400],
    ['a closing comma', `{${vm},}`, 400],
    ['a number', '1', 400],
    ['null', 'null', 400],
    ['a list', `[{${vm}}]`, 400],
    ['a text', '"cores=2"', 400],
    ['17 levels', `{${vm},"hostname":${'['.repeat(16)}${']'.repeat(16)}}`, 400],
    ['30,000 levels', `{"cores":${'['.repeat(30_000)}${']'.repeat(30_000)}}`, 400],
    ['30,000 levels of objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 400],
    ['a lone surrogate', `{${vm},"hostname":"\\ud800"}`, 400],
    ['a lone surrogate in a name', `{${vm},"\\udc00":"a"}`, 400],
    ['nothing', '', 422, 'cores'],
    ['an empty object', '{}', 422, 'cores'],
    ['__proto__', `{${vm},"__proto__":{"cores":1}}`, 422, '__proto__'],
    ['constructor', `{${vm},"constructor":{"prototype":{}}}`, 422, 'constructor'],
    ['an unknown field', `{${vm},"nobody_knows_this":1}`, 422, 'nobody_knows_this'],
    ['an unknown field that is null', `{${vm},"nobody_knows_this":null}`, 422, 'nobody_knows_this'],
    ['null for a field that is required', `{${vm.replace('"cores":2', '"cores":null')}}`, 422, 'cores'],
    ['a field twice', `{${vm},"cores":4}`, 422, 'cores'],
    ['a field twice, written otherwise', `{${vm},"c\\u006fres":4}`, 422, 'cores'],
    ['a field twice, once null', `{${vm},"cores":null}`, 422, 'cores'],
    ['half a core', `{${vm.replace('"cores":2', '"cores":2.5')}}`, 422, 'cores'],
    ['an integer beyond 2^53', `{${vm.replace('"cores":2', '"cores":9007199254740993')}}`, 422, 'cores'],
    ['an integer beyond all', `{${vm.replace('"cores":2', `"cores":${'9'.repeat(400)}`)}}`, 422, 'cores'],
    ['a number beyond all', `{${vm.replace('"cores":2', '"cores":1e999')}}`, 422, 'cores'],
    ['less than nothing', `{${vm.replace('"cores":2', '"cores":-0.0')}}`, 422, 'cores'],
    ['an object for a number', `{${vm.replace('"cores":2', '"cores":{"$gt":0}')}}`, 422, 'cores'],
    ['a list for a text', `{${vm.replace('"os":"debian_12"', '"os":["debian_12"]')}}`, 422, 'os'],
    ['true for a text', `{${vm},"hostname":true}`, 422, 'hostname'],
    ['a NUL in a text', `{${vm},"hostname":"a\\u0000b"}`, 422, 'hostname'],
  ];

  test('is refused and logged, changes nothing, and never gets a 500', async () => {
    const service = await startService({ lenient: true });
    const before = await contentsOf(service);
    for (const [what, body, status, field] of bodies) {
      const response = await json(service, body);
      expect.soft([what, response.status, deviationOf(response)]).toEqual([what, status, 'json-body']);
      if (field !== undefined) {
        const fields = response.body.data.fields.map((issue: { field: string }) => issue.field);
        expect.soft(fields, what).toContain(field);
      }
      expect.soft(await newestEntry(service, service.apiKey), what).toMatchObject({ success: 0, endpoint: '/vm/create' });
    }
    expect(await contentsOf(service)).toEqual(before);
  });

  test('responds with 400 to bytes that are not UTF-8, and with 413 to 1 MB', async () => {
    const service = await startService({ lenient: true });
    const send = (body: Uint8Array<ArrayBuffer>) =>
      service.send('/vm/create', { method: 'PUT', headers: { 'x-service-apikey': service.apiKey, 'content-type': JSON_TYPE }, body });
    expect((await send(Uint8Array.of(0x22, 0xff, 0x22))).status).toBe(400);
    expect((await send(new Uint8Array(1_000_000).fill(0x20))).status).toBe(413);
  });

  const parts: readonly (readonly [string, string, number])[] = [
    ['a file', '--cut\r\ncontent-disposition: form-data; name="cores"; filename="a.txt"\r\n\r\n2\r\n--cut--\r\n', 400],
    ['no end', '--cut\r\ncontent-disposition: form-data; name="cores"\r\n\r\n2', 400],
    ['another boundary', '--other--', 400],
    ['nothing', '', 400],
    ['no name', '--cut\r\ncontent-disposition: form-data\r\n\r\n2\r\n--cut--\r\n', 400],
    ['a field twice', multipart({ cores: '2' }).replace('--cut--', multipart({ cores: '2' })), 422],
  ];

  test('refuses broken multipart, and never responds with 500', async () => {
    const service = await startService({ lenient: true });
    for (const [what, body, status] of parts) {
      const response = await service.call('createVm', { body, contentType: 'multipart/form-data; boundary=cut' });
      expect.soft([what, response.status, deviationOf(response)]).toEqual([what, status, 'multipart-body']);
    }
  });

  test('responds with 415 to any other content type', async () => {
    const service = await startService({ lenient: true });
    for (const contentType of ['text/plain', 'application/xml', 'application/jsonp', 'nonsense'])
      expect((await service.call('createVm', { body: '{}', contentType })).status).toBe(415);
  });

  test('reads integers in any JSON notation, and keeps the digits of a text', async () => {
    const service = await startService({ lenient: true });
    const response = await json(service, `{${vm.replace('"cores":2', '"cores":2.0').replace('4096', '4.096e3')},"hostname":12}`);
    expect(response.body.data.config).toMatchObject({ cores: 2, mem: 4096, hostname: '12' });
  });
});

test('treats null as a missing optional field', async () => {
  const service = await startService({ lenient: true });
  const response = await json(service, JSON.stringify({ ...SMALL_VM, hostname: null, storage: null, allowFallbackIPs: null }));
  expect(response.body.data.config.hostname).toBe('KVM');
});

test('accepts only an empty JSON body in an operation without a form', async () => {
  const service = await startService({ lenient: true });
  for (const [body, status] of [
    ['{}', 200],
    ['', 200],
    ['{"x":1}', 400],
    ['[]', 400],
  ] as const)
    expect((await service.call('generateOtp', { body, contentType: JSON_TYPE })).status).toBe(status);
});

test('masks secrets of any type in the log of a JSON body', async () => {
  const service = await startService({ lenient: true });
  for (const authcode of ['very-secret-code', 123_456_789, { very: 'secret' }]) {
    await service.call('registerDomain', { body: JSON.stringify({ domain: 'a.net', handle: 'XX1', authcode }), contentType: JSON_TYPE });
    const entry = await newestEntry(service, service.apiKey);
    expect(JSON.parse(String(entry['request_body']))).toMatchObject({ domain: 'a.net', authcode: '***' });
  }
});

test('treats JSON and a form, with and without a slash, as the same request for an Idempotency-Key', async () => {
  const service = await startService({ lenient: true });
  const idempotencyKey = 'one-attempt';
  const first = await service.call('createVm', { form: SMALL_VM, idempotencyKey });
  const again = await service.call('createVm', { body: JSON.stringify(SMALL_VM), contentType: JSON_TYPE, idempotencyKey });
  expect(again.body).toEqual(first.body);
  expect(service.hypervisor.vms.size).toBe(1);
});

test('lists every deviation in the document', () => {
  for (const deviation of deviations) expect(document.info.description).toContain(`\`${deviation}\``);
});

test('refuses all deviations in a strict service, which is the default, and lists none', async () => {
  const service = await startService();
  const { operation } = apiOf('createVm');
  const key = { 'x-service-apikey': service.apiKey };
  const responses = [
    await json(service, JSON.stringify(SMALL_VM)),
    await service.send('/vm/create/', { method: 'PUT', headers: key }),
    await service.send('/domain/list', { headers: { authorization: `Bearer ${service.apiKey}` } }),
    await service.call('createVm', { body: `${writeForm(operation, SMALL_VM)}&allowFallbackIPs=1` }),
    await service.call('createVm', { body: multipart({ cores: '2' }), contentType: 'multipart/form-data; boundary=cut' }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([415, 404, 401, 422, 415]);
  expect(responses.map(deviationOf)).toEqual([null, null, null, null, null]);
});
