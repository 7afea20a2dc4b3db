import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../test/engines.ts';
import { SECRET, SMALL_VM } from '../../test/harness.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';
import { seedDemoAccount } from '../index.ts';
import { sampleIdentifiers } from '../sandbox/sample-identifiers.ts';

describe.each(engines)('on %s', (engine) => {
  test('lets a read-only key read and change nothing, and keeps it read-only after a rotation', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { id, apiKey } = await service.account();
    const path = { account_id: id };
    const reading = await operator.issueApiKey({ client, path, body: { label: 'Dashboard', access: 'read' } });
    expect(reading).toMatchObject({ label: 'Dashboard', access: 'read' });
    expect(await operator.issueApiKey({ client, path, body: { label: 'Shop' } })).toMatchObject({ access: 'full' });
    const { issued, replaced } = await operator.rotateApiKey({ client, path: { api_key_id: reading.id }, body: {} });
    expect([issued.access, replaced.access]).toEqual(['read', 'read']);

    const purchase = { form: SMALL_VM, idempotencyKey: 'order-1' };
    for (const { key } of [reading, issued]) {
      expect(await service.call('createVm', { ...purchase, apiKey: key })).toMatchObject({ status: 403, body: { type: 'read_only_key' } });
    }
    expect(service.hypervisor.vms.size).toBe(0);
    const bought = await service.call('createVm', { ...purchase, apiKey });
    expect(bought.status).toBe(200);
    const { body } = await service.call('listVms', { apiKey: issued.key });
    expect(JSON.stringify(body.data)).toContain(String(bought.body.data.identifier));
    const log = await service.call('listRequests', { apiKey: issued.key });
    expect(log.body.data.map((entry: { error_type: unknown }) => entry.error_type)).toEqual([null, null, 'read_only_key', 'read_only_key']);
    const { items } = await operator.listApiKeys({ client, path });
    expect(items.map(({ access }) => access).toSorted()).toEqual(['full', 'full', 'read', 'read']);
  });
});

test('masks management passwords and auth codes for a key that may only read, unless it may read secrets', async () => {
  const service = await startOperator();
  await seedDemoAccount(service.store, { ports: service.ports, secret: SECRET });
  const demo = await service.store.read((db) => db.selectFrom('domains').select('account_id').limit(1).executeTakeFirstOrThrow());
  const keyWith = async (access: 'full' | 'read' | 'read_secrets') =>
    (await operator.issueApiKey({ client: service.client, path: demo, body: { label: 'x', access } })).key;
  const [full, read, secrets] = [await keyWith('full'), await keyWith('read'), await keyWith('read_secrets')];
  const texts = async (apiKey: string) => {
    const server = await service.call('getDedicatedServer', { apiKey, path: { identifier: sampleIdentifiers.dedicatedServer } });
    const list = await service.call('listDedicatedServers', { apiKey });
    const domain = await service.call('getDomain', { apiKey, path: { domain: sampleIdentifiers.domain } });
    const invoices = await service.call('listInvoices', { apiKey });
    expect(JSON.stringify(invoices.body.data)).toContain('/invoices/');
    return [server.body.data.management.password, JSON.stringify(list.body.data), domain.body.data.domain.authcode];
  };
  const [password, list, authcode] = await texts(full);
  expect([password, authcode]).not.toContain('***');
  expect(await texts(secrets)).toEqual([password, list, authcode]);
  const masked = await texts(read);
  expect([masked[0], masked[2]]).toEqual(['***', authcode === null ? null : '***']);
  expect(masked[1]).not.toContain(password);
  expect(masked[1]).toContain('"password":"***"');
});

test('refuses an unknown access, and names the valid ones', async () => {
  const service = await startOperator();
  const { id } = await service.account();
  const refused = await service.operate(`/accounts/${id}/api-keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"label":"x","access":"write"}',
  });
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ pointer: '#/access', detail: expect.stringMatching(/full.*read/) }] } });
  expect(await refusalOf(operator.listApiKeys({ client: service.client, path: { account_id: 'x' } }))).toMatchObject({ status: 400 });
});

test('a live service issues no key that can buy before its VAT was set; keys that exist keep buying, and can be rotated', async () => {
  // The data of the tests has a seller.
  const live = await startOperator({ mode: 'live' });
  const { client } = live;
  const { id, apiKey } = await live.account();
  const path = { account_id: id };
  const issue = (access: 'full' | 'read') => operator.issueApiKey({ client, path, body: { label: 'Shop', access } });
  expect((await operator.getSettings({ client })).missing).toEqual(['vat_rates']);
  const { status, message } = await refusalOf(issue('full'));
  expect([status, message]).toEqual([409, expect.stringContaining('Call setVatRates (PUT /settings/vat-rates), and issue the key again.')]);
  expect((await issue('read')).access).toBe('read');
  expect((await live.call('createVm', { form: SMALL_VM, apiKey })).status).toBe(200);
  const { items } = await operator.listApiKeys({ client, path });
  const old = items.find(({ access }) => access === 'full');
  expect((await operator.rotateApiKey({ client, path: { api_key_id: old?.id ?? '' }, body: {} })).issued.access).toBe('full');

  const { vat_rates } = await operator.getSettings({ client });
  expect((await operator.setVatRates({ client, body: { vat_rates } })).missing).toEqual([]);
  expect((await issue('full')).access).toBe('full');
});

test('a sandbox lacks no setting', async () => {
  const { client } = await startOperator();
  expect((await operator.getSettings({ client })).missing).toEqual([]);
});
