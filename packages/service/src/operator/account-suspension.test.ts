/** Suspended accounts: the service refuses requests to the reseller API, and changes nothing else. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../test/engines.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { newInstances } from '../../test/instances.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';
import { writeBillingProfile } from '../core/accounting/invoice-document/parties.ts';
import { demoBillingProfile, undated } from '../sandbox/seller.ts';

const SUSPENDED = { status: 403, body: { type: 'account_suspended', data: null } };

describe.each(engines)('on %s', (engine) => {
  test('stores, changes and lifts a suspension with its reason, and records each change in the audit', async () => {
    const { client, clock, account } = await startOperator({ engine });
    const { id } = await account();
    const path = { account_id: id };
    const began = new Date(clock.now()).toISOString();
    const first = await operator.suspendAccount({ client, path, body: { reason: 'Unpaid' } });
    expect(first).toMatchObject({ id, suspended_at: began, suspension_reason: 'Unpaid' });
    clock.advance(60_000);
    const second = await operator.suspendAccount({ client, path, body: { reason: 'Unpaid for 30 days' } });
    expect(second).toEqual({ ...first, suspension_reason: 'Unpaid for 30 days' });
    expect(await operator.getAccount({ client, path })).toEqual(second);
    clock.advance(1);
    const lifted = await operator.unsuspendAccount({ client, path });
    expect(lifted).toEqual({ ...first, suspended_at: null, suspension_reason: null });
    clock.advance(1);
    expect(await operator.unsuspendAccount({ client, path })).toEqual(lifted);
    const { items } = await operator.listAuditRecords({ client, query: { target: id } });
    expect(items.map(({ operation, before, after }) => ({ operation, before, after }))).toEqual([
      { operation: 'unsuspendAccount', before: lifted, after: lifted },
      { operation: 'unsuspendAccount', before: second, after: lifted },
      { operation: 'suspendAccount', before: first, after: second },
      { operation: 'suspendAccount', before: lifted, after: first },
    ]);
    const unknown = { account_id: '01900000-0000-7000-8000-00000000ffff' };
    expect(await refusalOf(operator.unsuspendAccount({ client, path: unknown }))).toMatchObject({ status: 404 });
  });

  test('logs refusals without the reason, and leaves the Idempotency-Key unused', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { id, apiKey } = await service.account();
    const purchase = { form: SMALL_VM, apiKey, idempotencyKey: 'order-1' };
    await operator.suspendAccount({ client, path: { account_id: id }, body: { reason: 'Suspected fraud' } });
    const refused = await service.call('createVm', purchase);
    expect(refused).toMatchObject(SUSPENDED);
    // The check precedes those of the form.
    expect(await service.call('createVm', { ...purchase, form: { cores: 'many' } })).toMatchObject(SUSPENDED);
    const { body } = await service.call('listRequests', { apiKey });
    expect(body.data).toHaveLength(2);
    expect(body.data[1]).toMatchObject({
      requestID: refused.body.requestID,
      endpoint: '/vm/create',
      success: 0,
      error_type: 'account_suspended',
    });
    expect(JSON.stringify([refused.body, body])).not.toContain('fraud');
    expect(service.hypervisor.vms.size).toBe(0);

    await operator.unsuspendAccount({ client, path: { account_id: id } });
    const bought = await service.call('createVm', purchase);
    expect(bought.status).toBe(200);
    expect((await service.call('createVm', purchase)).body).toEqual(bought.body);
  });

  test('serves other accounts, and continues to run and bill the resources of the suspended account', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const [suspended, other] = [await service.account(), await service.account()];
    for (const { apiKey } of [suspended, other]) await service.call('createVm', { form: SMALL_VM, apiKey });
    await operator.suspendAccount({ client, path: { account_id: suspended.id }, body: { reason: 'Unpaid' } });
    expect((await service.call('listVmHosts', { apiKey: other.apiKey })).status).toBe(200);
    service.clock.advanceTo('2026-12-02T00:00:00Z');
    const totals = async (apiKey: string) =>
      Object.values<{ total: number }>((await service.call('listInvoices', { apiKey })).body.data).map(({ total }) => total);
    expect(await totals(suspended.apiKey)).toEqual(await totals(other.apiKey));
    expect(await totals(suspended.apiKey)).toEqual([7.11]);
    const { items } = await operator.listVms({ client, query: { account_id: suspended.id, state: 'running' } });
    expect(items).toHaveLength(1);
    const vm_id = items[0]?.id ?? '';
    await operator.stopVm({ client, path: { vm_id } });
    expect(await operator.startVm({ client, path: { vm_id } })).toMatchObject({ state: 'running' });
  });
});

test('a suspended account reads what it owes, and its events: its invoices, documents, payments and credit', async () => {
  const service = await startOperator();
  const { id, apiKey } = await service.account();
  await service.store.commit(({ db }) => writeBillingProfile(db, id, undated(demoBillingProfile), 0));
  await service.call('createVm', { form: SMALL_VM, apiKey });
  service.clock.advanceTo('2026-12-01T00:00:01Z');
  await service.runScheduledJobs();
  await operator.suspendAccount({ client: service.client, path: { account_id: id }, body: { reason: 'Unpaid' } });
  const readable = ['listInvoices', 'getCurrentInvoice', 'listDocuments', 'listPayments', 'getCredit'] as const;
  for (const operation of readable) expect([operation, (await service.call(operation, { apiKey })).status]).toEqual([operation, 200]);
  const [invoice] = (await service.call('listDocuments', { apiKey })).body.data.list;
  expect(await service.call('getInvoice', { path: { invoiceID: invoice.invoiceID }, apiKey })).toMatchObject({ status: 200 });
  for (const link of [invoice.document, invoice.xml]) expect((await fetch(link)).status).toBe(200);
  const { events } = (await service.call('listEvents', { apiKey })).body.data;
  expect(events.at(-1)).toMatchObject({ type: 'account.suspended' });
  expect(await service.call('listVms', { apiKey })).toMatchObject(SUSPENDED);
});

test('refuses and serves a suspended account on every instance as soon as the operator has the response', { tags: 'outer' }, async () => {
  const instances = await newInstances();
  const all = [await instances.start(), await instances.start(), await instances.start()];
  const [first, second] = all;
  const path = `/accounts/${instances.accountId}/suspension`;
  const statuses = () => Promise.all(all.map(async ({ call }) => (await call('listVmHosts')).status));
  expect(await statuses()).toEqual([200, 200, 200]);
  for (const operate of [first?.operate, second?.operate]) {
    expect(await operate?.('PUT', path, { reason: 'Unpaid' })).toMatchObject({ status: 200 });
    expect(await statuses()).toEqual([403, 403, 403]);
    expect(await operate?.('DELETE', path)).toMatchObject({ status: 200 });
    expect(await statuses()).toEqual([200, 200, 200]);
  }
});
