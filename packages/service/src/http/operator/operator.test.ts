import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { startOperator } from '../../../test/operator.ts';
import { operatorApi } from './api.ts';

const PATH = '00000000-0000-7000-8000-000000000000';
const pathOf = (path: string) => path.replaceAll(/\{\w+\}/g, PATH);

test('responds with 401 to every operation without a token, with an unknown one or with a reseller key', async () => {
  const service = await startOperator();
  const expectUnauthorized = async (method: string, path: string, authorization: string) => {
    const response = await service.operate(pathOf(path), { method, headers: { authorization } });
    expect(response).toMatchObject({ status: 401, body: { status: 401, instance: expect.stringMatching(/^urn:uuid:/) } });
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  };
  for (const { operation } of operatorApi) await expectUnauthorized(operation.method, operation.path, '');
  for (const token of [service.apiKey, 'x', 'a'.repeat(600)]) await expectUnauthorized('GET', '/accounts', `Bearer ${token}`);
});

test('limits clients that guess tokens, and still accepts a valid token', async () => {
  const service = await startOperator();
  const guess = () => service.operate('/accounts', { headers: { authorization: 'Bearer guess' } });
  for (let n = 0; n < 20; n++) expect((await guess()).status).toBe(401);
  const slowed = await guess();
  expect(slowed.status).toBe(429);
  expect(slowed.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect((await service.operate('/accounts')).status).toBe(200);
});

test('responds with 403 to sandbox operations in a live service', async () => {
  const service = await startOperator({ mode: 'live' });
  for (const { operation } of operatorApi.filter(({ sandboxOnly }) => sandboxOnly)) {
    const response = await service.operate(pathOf(operation.path), { method: operation.method });
    expect(response).toMatchObject({ status: 403, body: { type: expect.stringMatching(/sandbox-only$/) } });
  }
  expect((await service.operate('/settings')).body).toMatchObject({ mode: 'live' });
});

test('responds with 400, 404, 405, 413, 415 and 422 to malformed requests', async () => {
  const service = await startOperator();
  const json = { 'content-type': 'application/json' };
  const post = (body: string, headers: Record<string, string> = json) => service.operate('/accounts', { method: 'POST', body, headers });
  expect((await post('{')).status).toBe(400);
  expect((await post('')).status).toBe(400);
  expect((await post('x'.repeat(65_537))).status).toBe(413);
  expect((await post('a=1', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415);
  expect(await post('{"name":"a","credit_limit":1,"more":2}')).toMatchObject({
    status: 422,
    body: { errors: expect.arrayContaining([expect.objectContaining({ pointer: '#/credit_limit' })]) },
  });
  expect((await service.operate('/accounts?limit=1000')).status).toBe(400);
  expect((await service.operate('/accounts?nobody=1')).status).toBe(400);
  expect((await service.operate('/accounts?cursor=abc')).status).toBe(400);
  expect((await service.operate('/accounts/no-uuid')).status).toBe(400);
  expect((await service.operate(`/accounts/${PATH}`)).status).toBe(404);
  expect((await service.operate('/nothing')).status).toBe(404);
  const response = await service.operate('/accounts', { method: 'DELETE' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST']);
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
});

test('returns everything once and in order in pages', async () => {
  const { client } = await startOperator();
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await operator.listTldPrices({ client, query: { limit: 5, ...(cursor === undefined ? {} : { cursor }) } });
    names.push(...page.items.map(({ tld }) => tld));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect(names).toHaveLength(17);
  expect(names).toEqual([...new Set(names)].toSorted());
});

test('a live service limits each key to 1,200 requests in 60 seconds until an operator sets another limit', async () => {
  const service = await startOperator({ mode: 'live' });
  expect((await service.operate('/settings')).body).toMatchObject({ rate_limit: { requests: 1_200, seconds: 60 } });
  const begun = performance.now();
  let allowed = 0;
  for (let refused = false; !refused;) {
    const responses = await Promise.all(Array.from({ length: 100 }, () => service.call('listHandleCountries')));
    allowed += responses.filter(({ status }) => status === 200).length;
    refused = responses.some(({ status }) => status === 429);
  }
  // One more is allowed every 50 ms.
  const regained = (performance.now() - begun) / 50 + 1;
  expect(allowed).toBeGreaterThanOrEqual(1_200);
  expect(allowed).toBeLessThanOrEqual(1_200 + regained);
  const body = JSON.stringify({ rate_limit: null });
  const unlimited = await service.operate('/settings/rate-limit', { method: 'PUT', body, headers: { 'content-type': 'application/json' } });
  expect(unlimited.body).toMatchObject({ rate_limit: null });
  expect((await service.call('listHandleCountries')).status).toBe(200);
});

describe('a body of 64 kB', () => {
  const send = async (body: string) => {
    const service = await startOperator();
    return service.operate('/accounts', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
  };
  const members = (count: number) => `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join()}}`;

  test('is refused if it has more than 4,096 members, before its mistakes are collected', async () => {
    expect(await send(members(4_097))).toMatchObject({ status: 400, body: { detail: expect.stringContaining('more than 4096 members') } });
    expect(await send(members(4_096))).toMatchObject({ status: 422 });
  });
  test('is refused if it has more than 32 levels', async () => {
    expect((await send(`{"name":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)).status).toBe(400);
    expect((await send(`{"name":${'['.repeat(32)}${']'.repeat(32)}}`)).status).toBe(400);
    expect((await send(`{"name":${'['.repeat(31)}${']'.repeat(31)}}`)).status).toBe(422);
  });
  test('may have any characters in a text', async () => {
    const response = await send(JSON.stringify({ name: `${'\\"[{,'.repeat(5_000)}`, credit_limit: '1.00' }));
    expect(response).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/name' }] } });
  });
  test('has at most 50 of its mistakes in the response', async () => {
    const { body } = await send(members(4_000));
    expect([body.errors.length, body.detail]).toEqual([50, '50 rules are broken; see errors.']);
  });
  test('has at most 50 mistakes in the response that only the operation finds', async () => {
    const service = await startOperator();
    const ipv6 = Array.from({ length: 100 }, (_, index) => ({ address: `${'1:'.repeat(9)}${index}/64`, gateway: '2001:db8::1' }));
    const management = { dashboard: 'https://x.invalid/', username: 'u', email: 'u@x.invalid', password: 'p' };
    const response = await service.operate(`/dedicated/servers/${PATH}/complete-setup`, {
      method: 'POST',
      body: JSON.stringify({ management, ipv4: [], ipv6 }),
      headers: { 'content-type': 'application/json' },
    });
    expect([response.status, response.body.errors.length]).toEqual([422, 50]);
  });
});
