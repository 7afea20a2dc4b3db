/** Quotas: how many VMs and handles an account may have. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { administer, countWaiting } from '../../../test/databases.ts';
import { handleOf, PERSON, register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { newInstances, until } from '../../../test/instances.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

const setQuotas = ({ client }: TestOperator, account_id: string, body: operator.SetQuotasRequest) =>
  operator.setQuotas({ client, path: { account_id }, body });

describe.each(engines)('on %s', (engine) => {
  test('sells VMs up to the quota and refuses the next one, until a VM is deleted or the quota is raised', async () => {
    const service = await startOperator({ engine });
    const { id, apiKey } = await service.account();
    const buy = (idempotencyKey?: string) =>
      service.call('createVm', { form: SMALL_VM, apiKey, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) });
    expect(await setQuotas(service, id, { vms: 2, handles: null })).toMatchObject({ quotas: { vms: 2, handles: null } });
    const { identifier } = (await buy()).body.data;
    expect((await buy()).status).toBe(200);
    const { held } = await accountRow(service, id);
    expect(await buy('order-1')).toMatchObject({
      status: 409,
      body: {
        type: 'quota_exceeded',
        message: 'The quota of this account is 2 VMs, and it has 2 VMs. Delete one, or ask the provider for a higher quota.',
      },
    });
    expect(await accountRow(service, id)).toMatchObject({ held });
    expect(service.hypervisor.vms.size).toBe(2);

    await service.call('deleteVm', { path: { vmid: String(identifier) }, apiKey });
    expect((await buy('order-1')).status).toBe(200);
    expect((await buy()).status).toBe(409);
    await setQuotas(service, id, { vms: 3, handles: null });
    expect((await buy()).status).toBe(200);
    expect((await buy()).status).toBe(409);
    await setQuotas(service, id, { vms: null, handles: null });
    expect((await buy()).status).toBe(200);
  });

  test('accepts a quota below the current number, which removes nothing and refuses new resources', async () => {
    const service = await startOperator({ engine });
    const { id, apiKey } = await service.account();
    for (let count = 0; count < 2; count++) await service.call('createVm', { form: SMALL_VM, apiKey });
    await setQuotas(service, id, { vms: 1, handles: 0 });
    expect((await operator.listVms({ client: service.client, query: { account_id: id } })).items).toHaveLength(2);
    const refusal = async () => (await service.call('createVm', { form: SMALL_VM, apiKey })).body.message;
    expect(await refusal()).toContain('is 1 VM, and it has 2 VMs. Delete 2, or ask');
    await setQuotas(service, id, { vms: 0, handles: 0 });
    expect(await refusal()).toContain('is 0 VMs, and it has 2 VMs. Ask the provider');
    const handle = await service.call('createHandle', { form: PERSON, apiKey });
    expect(handle.body.message).toBe('The quota of this account is 0 handles, and it has 0 handles. Ask the provider for a higher quota.');
    expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(200);
  });

  test('creates handles up to the quota and refuses the next one', async () => {
    const service = await startOperator({ engine });
    const { id, apiKey } = await service.account();
    await setQuotas(service, id, { vms: null, handles: 2 });
    await handleOf(service, { apiKey });
    await handleOf(service, { apiKey });
    expect(await service.call('createHandle', { form: PERSON, apiKey })).toMatchObject({
      status: 409,
      body: { type: 'quota_exceeded', message: expect.stringContaining('is 2 handles, and it has 2 handles. Use one of them, or ask') },
    });
  });

  test.each([1, 2])('takes %i DNS records of each domain with that quota, until one is removed', async (records_per_domain) => {
    const service = await startOperator({ engine });
    const { id, apiKey } = await service.account();
    for (const domain of ['first.net', 'second.net']) await register(service, domain, apiKey);
    await setQuotas(service, id, { vms: null, handles: null, records_per_domain });
    const add = (operation: 'addDomainDns' | 'editDomainDns', domain: string, data: string) =>
      service.call(operation, { path: { domain }, form: { type: 'TXT', data }, apiKey });
    for (let count = 0; count < records_per_domain; count++)
      expect((await add('addDomainDns', 'first.net', `text ${count}`)).status).toBe(200);
    const refused = {
      status: 409,
      body: {
        type: 'quota_exceeded',
        message: expect.stringContaining(
          `is ${records_per_domain} DNS record${records_per_domain === 1 ? '' : 's'} of each domain, and first.net has`,
        ),
      },
    };
    for (const operation of ['addDomainDns', 'editDomainDns'] as const)
      expect(await add(operation, 'first.net', 'one more')).toMatchObject(refused);
    // It has this record.
    expect((await add('editDomainDns', 'first.net', 'text 0')).status).toBe(200);
    expect((await add('addDomainDns', 'second.net', 'text')).status).toBe(200);
    const [record] = (await service.call('listDomainDns', { path: { domain: 'first.net' }, apiKey })).body.data;
    await service.call('removeDomainDns', { path: { domain: 'first.net', record_id: record.record_id }, apiKey });
    expect((await add('addDomainDns', 'first.net', 'one more')).status).toBe(200);
    // A request without it keeps it.
    expect(await setQuotas(service, id, { vms: 5, handles: null })).toMatchObject({ quotas: { vms: 5, records_per_domain } });
  });
});

test('a new account may have 1,000 DNS records of each domain until the provider sets another default', async () => {
  const { client } = await startOperator();
  const quotasOfNew = async () => (await operator.createAccount({ client, body: { name: 'New', credit_limit: '1.00' } })).quotas;
  expect(await quotasOfNew()).toEqual({ vms: null, handles: null, records_per_domain: 1_000 });
  for (const records_per_domain of [5, null, undefined]) {
    const default_quotas = { vms: null, handles: null, ...(records_per_domain !== undefined && { records_per_domain }) };
    await operator.setDefaultQuotas({ client, body: { default_quotas } });
    expect(await quotasOfNew()).toMatchObject({ records_per_domain: records_per_domain ?? null });
  }
});

test.each([
  ['createVm', { vms: 2, handles: null }, SMALL_VM],
  ['createHandle', { vms: null, handles: 2 }, PERSON],
] as const)(
  '%s: lets exactly two of four concurrent requests on two instances succeed, if the quota has room for two',
  { tags: 'outer' },
  async (id, quotas, form) => {
    const instances = await newInstances();
    const both = [await instances.start(), await instances.start()];
    await both[0]?.operate('PUT', `/accounts/${instances.accountId}/quotas`, quotas);
    const results = await administer(instances.url, async (client) => {
      await client.query('begin');
      await client.query('select id from accounts where id = $1 for no key update', [instances.accountId]);
      const sent = [...both, ...both].map(({ call }) => call(id, { form }));
      await until(async () => (await countWaiting(client)) === sent.length);
      await client.query('commit');
      return Promise.all(sent);
    });
    expect(results.map(({ status }) => status).toSorted()).toEqual([200, 200, 409, 409]);
    for (const { status, body } of results) if (status === 409) expect(body.type).toBe('quota_exceeded');
  },
);

const accountRow = ({ store }: TestOperator, id: string) =>
  store.read((db) => db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirstOrThrow());
