import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

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
  for (let batch = 0; batch < 12; batch++) {
    const responses = await Promise.all(Array.from({ length: 100 }, () => service.call('listHandleCountries')));
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  }
  expect((await service.call('listHandleCountries')).status).toBe(429);
  const body = JSON.stringify({ rate_limit: null });
  const unlimited = await service.operate('/settings/rate-limit', { method: 'PUT', body, headers: { 'content-type': 'application/json' } });
  expect(unlimited.body).toMatchObject({ rate_limit: null });
  expect((await service.call('listHandleCountries')).status).toBe(200);
});
