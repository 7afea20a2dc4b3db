/** The restrictions of API keys, and what their holders can do with their own keys. */
import { crc32 } from 'node:zlib';

import document from '@reseller/openapi/operator.json' with { type: 'json' };
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { apiOperations } from '../src/http/reseller/api.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { raiseCorePrice } from './core-price.ts';
import { engines } from './engines.ts';
import { goodCall } from './good-calls.ts';
import { SMALL_VM } from './harness.ts';
import { refusalOf, startOperator } from './operator.ts';
import type { TestOperator } from './operator.ts';

const NONE = { valid_until: null, allowed_networks: null, spending_limit: null } as const;
const LIMIT = { per_day: '10.40', per_month: null, operations: null };

async function issue({ client }: TestOperator, account_id: string, body: Partial<operator.IssueApiKeyRequest> = {}) {
  return operator.issueApiKey({ client, path: { account_id }, body: { label: 'x', ...body } });
}

test('the operator document lists every billable operation, and the start of a VM', () => {
  const billable = apiOperations.filter(({ operation }) => operation.billable).map(({ id }) => id);
  expect(document.components.schemas.BillableOperation.enum.toSorted()).toEqual([...billable, 'setVmPower'].toSorted());
});

test('a scanner can verify a key from its text alone: CRC-32 in base 62, most significant digit first', async () => {
  const service = await startOperator();
  const { id } = await service.account();
  const { key } = await issue(service, id);
  const [, body = '', checksum] = /^(rsk_sandbox_[A-Za-z0-9]{44})([A-Za-z0-9]{6})$/.exec(key) ?? [];
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let number = 0;
  for (const digit of checksum ?? '') number = number * 62 + digits.indexOf(digit);
  expect(number).toBe(crc32(body));
  const mistyped = key.slice(0, 20) + (key[20] === 'a' ? 'b' : 'a') + key.slice(21);
  const refused = await service.call('listDomains', { apiKey: mistyped });
  expect([refused.status, refused.body.message]).toEqual([401, expect.stringContaining('mistyped')]);
});

test('a key without a checksum, as older versions issued them, works', async () => {
  const service = await startOperator();
  const { id } = await service.account();
  const { id: keyId } = await issue(service, id);
  const old = `rsk_sandbox_${'A1'.repeat(22)}`;
  const { hashOfApiKey } = await import('../src/rules/credentials.ts');
  await service.store.commit(({ db }) =>
    db
      .updateTable('api_keys')
      .set({ hash: hashOfApiKey(old) })
      .where('id', '=', keyId)
      .execute(),
  );
  expect((await service.call('listDomains', { apiKey: old })).status).toBe(200);
});

describe.each(engines)('on %s', (engine) => {
  test('a key expires at the instant that was set at its issue', async () => {
    const service = await startOperator({ engine });
    const { id } = await service.account();
    const end = service.clock.now() + 60_000;
    const { key, valid_until } = await issue(service, id, { valid_until: new Date(end).toISOString() });
    expect(valid_until).toBe(new Date(end).toISOString());
    service.clock.advance(59_999);
    expect((await service.call('listDomains', { apiKey: key })).status).toBe(200);
    service.clock.advance(1);
    expect((await service.call('listDomains', { apiKey: key })).status).toBe(401);
    const past = issue(service, id, { valid_until: new Date(end).toISOString() });
    expect(await refusalOf(past)).toMatchObject({ status: 422, fields: [{ field: '#/valid_until' }] });
  });

  test('the keys that replace a key share its limit, and keep its networks and its expiry', async () => {
    const service = await startOperator({ engine });
    const { client, clock } = service;
    const { id } = await service.account();
    const restrictions = {
      valid_until: new Date(clock.now() + 86_400_000 * 90).toISOString(),
      allowed_networks: ['127.0.0.0/8', '2001:db8::/32'],
      spending_limit: LIMIT,
    };
    const first = await issue(service, id, restrictions);
    expect((await service.call('createVm', { form: SMALL_VM, apiKey: first.key })).status).toBe(200);
    const path = { key_id: first.id };
    const rotated = await service.call('rotateKey', { path, form: {}, apiKey: first.key });
    expect(rotated.status).toBe(200);
    const { api_key: key, key_id } = rotated.body.data;
    for (const apiKey of [first.key, key])
      expect(await service.call('createVm', { form: SMALL_VM, apiKey })).toMatchObject({
        status: 402,
        body: { type: 'spending_limit_exceeded', message: expect.stringContaining('0.00 EUR remain of the 10.40 EUR') },
      });
    const { items } = await operator.listApiKeys({ client, path: { account_id: id } });
    expect(items.find((item) => item.id === key_id)).toMatchObject({
      valid_until: restrictions.valid_until,
      allowed_networks: restrictions.allowed_networks,
      spending_limit: { ...LIMIT, spent_today: '10.40', spent_this_month: '10.40' },
    });
    clock.advance(86_400_000);
    await expect.poll(async () => (await service.call('listDomains', { apiKey: first.key })).status).toBe(401);
    expect((await service.call('createVm', { form: SMALL_VM, apiKey: key })).status).toBe(200);
  });
});

test('an operator changes and lifts the restrictions of a key, and earlier purchases still count', async () => {
  const service = await startOperator();
  const { client } = service;
  const { id } = await service.account();
  const { id: keyId, key } = await issue(service, id, { spending_limit: LIMIT });
  const path = { api_key_id: keyId };
  const set = (restrictions: Partial<operator.SetApiKeyRestrictionsRequest>) =>
    operator.setApiKeyRestrictions({ client, path, body: { ...NONE, ...restrictions } });
  const buy = async () => (await service.call('createVm', { form: SMALL_VM, apiKey: key })).status;
  expect(await buy()).toBe(200);
  expect(await buy()).toBe(402);
  expect(await set({ spending_limit: { ...LIMIT, per_day: '20.80' } })).toMatchObject({ spending_limit: { spent_today: '10.40' } });
  expect([await buy(), await buy()]).toEqual([200, 402]);
  await set({ spending_limit: { ...LIMIT, per_day: null, operations: ['registerDomain'] } });
  await expect
    .poll(() => service.call('createVm', { form: SMALL_VM, apiKey: key }))
    .toMatchObject({
      status: 403,
      body: { type: 'operation_not_allowed', message: expect.stringContaining('It may use registerDomain.') },
    });
  await set({});
  await expect.poll(buy).toBe(200);
});

test('a key that may buy nothing can stop a VM, and cannot start it again', async () => {
  const service = await startOperator();
  const { id, apiKey } = await service.account();
  const path = { vmid: String((await service.call('createVm', { form: SMALL_VM, apiKey })).body.data.identifier) };
  const { key } = await issue(service, id, { spending_limit: { per_day: null, per_month: null, operations: [] } });
  expect((await service.call('setVmPower', { path, form: { mode: 'stop' }, apiKey: key })).status).toBe(200);
  expect(await service.call('setVmPower', { path, form: { mode: 'start' }, apiKey: key })).toMatchObject({
    status: 403,
    body: { type: 'operation_not_allowed' },
  });
});

/** Each operation that counts against the limit of a key, with a call that succeeds and has not bought anything before. */
const SPENDING: readonly OperationId[] = [...apiOperations.filter(({ operation }) => operation.billable).map(({ id }) => id), 'setVmPower'];

test.for(SPENDING)('what %s has spent of a limit is given back if the delivery is undone', async (id) => {
  const service = await startOperator({ creditLimit: '100000.00' });
  const { client, hypervisor, registrar, fleet } = service;
  const owner = await service.account('100000.00');
  const prepared = await goodCall(service, id, owner);
  if (id === 'setVmPower') await service.call(id, prepared);
  // A move between two VMs costs nothing more while their prices stay the same.
  if (id === 'assignIp') await raiseCorePrice(service, '9.00');
  const sent = id === 'setVmPower' ? { ...prepared, form: { mode: 'start' } } : prepared;
  const { id: keyId, key } = await issue(service, owner.id, { spending_limit: { ...LIMIT, per_day: '100000.00' } });
  const spent = async () => {
    const { items } = await operator.listApiKeys({ client, path: { account_id: owner.id } });
    return items.find((item) => item.id === keyId)?.spending_limit?.spent_today;
  };
  const isDown = new Error('The node is down.');
  for (const port of [hypervisor, registrar, fleet]) port.failing = isDown;
  const { status } = await service.call(id, { ...sent, apiKey: key });
  for (const port of [hypervisor, registrar, fleet]) port.failing = undefined;
  await service.runScheduledJobs();
  // Some are delivered after the response, and then as often as it takes.
  if (status >= 500) {
    expect(await spent()).toBe('0.00');
    expect((await service.call(id, { ...sent, apiKey: key })).status).toBe(200);
  }
  expect(await spent()).not.toBe('0.00');
});

test('a withdrawn cancellation takes the price of the renewal, which is in force when the domain expires', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  const owner = await service.account();
  const withdrawal = await goodCall(service, 'undeleteDomain', owner);
  const body = { create: '15.00', renew: '16.00', transfer: '9.00', valid_from: new Date(clock.now() + 86_400_000).toISOString() };
  await operator.scheduleTldPrices({ client, path: { tld: 'net' }, body });
  const { key } = await issue(service, owner.id, { spending_limit: { ...LIMIT, per_day: '100.00' } });
  expect((await service.call('undeleteDomain', { ...withdrawal, apiKey: key })).status).toBe(200);
  const { items } = await operator.listApiKeys({ client, path: { account_id: owner.id } });
  expect(items.map(({ spending_limit }) => spending_limit?.spent_today)).toContain('16.00');
});

test('a key is accepted only from its networks, IPv4 and IPv6, behind a trusted proxy too', async () => {
  const service = await startOperator({ trustedProxies: ['127.0.0.1'] });
  const { id } = await service.account();
  const { key } = await issue(service, id, { allowed_networks: ['203.0.113.0/24', '2001:db8:7::/48', '198.51.100.9'] });
  const from = async (address: string) =>
    (await service.send('/domain/list', { headers: { 'x-service-apikey': key, 'x-forwarded-for': address } })).status;
  const addresses = [
    '203.0.113.255',
    '203.0.114.1',
    '2001:db8:7:ffff::1',
    '2001:db8:8::1',
    '198.51.100.9',
    '198.51.100.8',
    '::ffff:203.0.113.1',
  ];
  expect(await Promise.all(addresses.map(from))).toEqual([200, 401, 200, 401, 200, 401, 200]);
  const refused = await service.send('/domain/list', { headers: { 'x-service-apikey': key } });
  expect(refused.body.message).toContain('may not be used from 127.0.0.1');
});

test.each(['999.1.1.1', '203.0.113.0/33', '2001:db8::/129', '1.2.3.4/', '10.0.0'])('refuses the network %s', async (network) => {
  const service = await startOperator();
  const { id } = await service.account();
  const refused = await refusalOf(issue(service, id, { allowed_networks: [network] }));
  expect(refused).toMatchObject({ status: 422, fields: [{ field: '#/allowed_networks/0' }] });
});

test('the last use of a key is stored without a commit for each request, and at the latest when the service stops', async () => {
  const service = await startOperator();
  const { client } = service;
  const [account, other] = [await service.account(), await service.account()];
  const lastUsed = async () => (await operator.listApiKeys({ client, path: { account_id: account.id } })).items[0]?.last_used;
  expect(await lastUsed()).toBeNull();
  await service.call('listDomains', { apiKey: account.apiKey });
  const used = new Date(service.clock.now()).toISOString();
  await service.runScheduledJobs();
  expect(await lastUsed()).toBe(used);
  service.clock.advance(5_000);
  await service.call('listDomains', { apiKey: account.apiKey });
  const again = service.clock.now();
  await service.close();
  const usesOf = ({ id }: { id: string }) =>
    service.store.read((db) => db.selectFrom('api_keys').select('last_used').where('account_id', '=', id).execute());
  expect([await usesOf(account), await usesOf(other)]).toEqual([[{ last_used: again }], [{ last_used: null }]]);
});

test('a reseller lists, rotates and revokes its keys; a restricted key manages only itself', async () => {
  const service = await startOperator();
  const account = await service.account();
  const { apiKey } = account;
  service.clock.advance(1);
  const other = await issue(service, account.id, { label: 'Panel', spending_limit: LIMIT });
  const list = async () => (await service.call('listKeys', { apiKey })).body.data.list;
  expect((await list()).map(({ label, current }: { label: string; current: boolean }) => [label, current])).toEqual([
    ['test', true],
    ['Panel', false],
  ]);
  const [own] = await list();
  const restrictions = [
    { spending_limit: LIMIT },
    { spending_limit: { ...LIMIT, per_day: null, per_month: '1.00' } },
    { spending_limit: { ...LIMIT, per_day: null, operations: ['createVm'] } },
    { valid_until: new Date(service.clock.now() + 60_000).toISOString() },
    { allowed_networks: ['127.0.0.0/8', '::1'] },
  ] satisfies Parameters<typeof issue>[2][];
  for (const restriction of restrictions) {
    const restricted = await issue(service, account.id, restriction);
    for (const operation of ['rotateKey', 'revokeKey'] as const)
      expect(await service.call(operation, { path: { key_id: own.key_id }, apiKey: restricted.key })).toMatchObject({
        status: 403,
        body: { type: 'operation_not_allowed', message: expect.stringContaining('itself') },
      });
  }
  expect((await service.call('revokeKey', { path: { key_id: other.id }, apiKey })).status).toBe(200);
  const rotated = await service.call('rotateKey', { path: { key_id: own.key_id }, form: { overlap_seconds: 0 }, apiKey });
  expect(JSON.stringify((await service.call('listRequests', { apiKey: rotated.body.data.api_key })).body)).not.toContain(
    rotated.body.data.api_key,
  );
  await expect.poll(async () => (await service.call('listKeys', { apiKey })).status).toBe(401);
});

test('a new account of a live service gets quotas, and an operator changes them for later accounts', async () => {
  const live = await startOperator({ mode: 'live' });
  const create = async ({ client }: TestOperator) =>
    (await operator.createAccount({ client, body: { name: 'A', credit_limit: '1.00' } })).quotas;
  expect(await create(live)).toMatchObject({ vms: 100, handles: 1_000 });
  const set = await operator.setDefaultQuotas({ client: live.client, body: { default_quotas: { vms: 2, handles: null } } });
  expect(set.default_quotas).toMatchObject({ vms: 2, handles: null });
  expect(await create(live)).toMatchObject({ vms: 2, handles: null });
  expect(await create(await startOperator())).toMatchObject({ vms: null, handles: null });
});
