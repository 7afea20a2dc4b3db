/** The requests of all accounts as they arrive. */
import { getAccountRequest, listRequests } from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

/** The account of the key that `call` sends. */
async function accountOf({ client }: TestOperator): Promise<string> {
  return (await listRequests({ client })).items.find(({ endpoint }) => endpoint === '/domain/list')?.account_id ?? '';
}

test('lists the newest requests of all accounts, and later only those that are new', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  const other = await service.account();
  const idle = await service.account();
  expect((await listRequests({ client })).items).toEqual([]);
  await service.call('listDomains');
  clock.advance(1_000);
  await service.call('listHandleCountries', { apiKey: other.apiKey });
  clock.advance(1_000);
  await service.call('checkDomain', { path: { domain: 'no domain' } });
  const first = await listRequests({ client });
  expect(first.items.map(({ endpoint, success, error_type, number }) => ({ endpoint, success, error_type, number }))).toEqual([
    { endpoint: expect.stringMatching(/^\/domain\//), success: false, error_type: expect.any(String), number: 2 },
    { endpoint: '/domain/handle/countries', success: true, error_type: null, number: 1 },
    { endpoint: '/domain/list', success: true, error_type: null, number: 1 },
  ]);
  expect(new Set(first.items.map(({ account_id: id }) => id))).toEqual(new Set([await accountOf(service), other.id]));
  expect((await listRequests({ client, query: { limit: 1 } })).items).toEqual(first.items.slice(0, 1));
  expect((await listRequests({ client, query: { account_id: other.id } })).items).toEqual([first.items[1]]);
  expect((await listRequests({ client, query: { account_id: idle.id } })).items).toEqual([]);
  clock.advance(61_000);
  const { next_since: since } = await listRequests({ client });
  expect((await listRequests({ client, query: { since } })).items).toEqual([]);
  await service.call('listDomains', { apiKey: other.apiKey });
  const added = await listRequests({ client, query: { since } });
  expect(added.items).toMatchObject([{ account_id: other.id, number: 2, endpoint: '/domain/list' }]);
});

test('the time of a sandbox that was set back hides no request', async () => {
  const service = await startOperator();
  await service.call('listDomains');
  const since = new Date(service.clock.now() + 86_400_000).toISOString();
  expect((await listRequests({ client: service.client, query: { since } })).items).toHaveLength(1);
});

test('returns one request with its bodies, and records who read it', async () => {
  const service = await startOperator();
  const { client } = service;
  await service.call('listDomains');
  const path = { account_id: await accountOf(service), number: 1 };
  expect(await getAccountRequest({ client, path })).toMatchObject({
    endpoint: '/domain/list',
    request_body: '{}',
    response_body: expect.stringMatching(/^\{"status":"success"/),
  });
  expect(await refusalOf(getAccountRequest({ client, path: { ...path, number: 2 } }))).toMatchObject({ status: 404 });
  const records = await service.store.read((db) => db.selectFrom('audit_records').select('operation').execute());
  expect(records).toEqual([{ operation: 'getAccountRequest' }]);
});
