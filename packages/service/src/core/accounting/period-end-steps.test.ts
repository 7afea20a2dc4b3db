/** The end of a period of an account with many VMs, which takes several transactions. */
import { expect, test, vi } from 'vitest';

import { SMALL_VM } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectExactHolds, expectExactUnpaid } from '../../../test/invariants.ts';
import { copyVms } from '../../../test/large-account.ts';
import { startOperator } from '../../../test/operator.ts';
import type { Store } from '../../store/store.ts';
import { closeInSteps } from './period-end.ts';

/** Positions that one step moves. */
const STEP = 250;
const DECEMBER = Date.UTC(2026, 11) / 1000;

async function startWithVms(count: number) {
  const service = await startOperator({ creditLimit: '100000.00' });
  await service.call('createVm', { form: SMALL_VM });
  const { id } = await service.store.read((db) => db.selectFrom('vms').select('account_id as id').executeTakeFirstOrThrow());
  await service.store.commit(({ db }) => copyVms(db, id, count));
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  return { service, id };
}

/** 20 d 11 h 56 min 43 s at 10.40 EUR for 30 days, in units, rounded to cents. */
function novemberOf(vms: number): number {
  return Math.round((1_040 * 1_771_003 * vms) / 2_592_000) * 1e6;
}

/** The store as a process sees it that ends after a number of transactions. */
function endingAfter(store: Store, transactions: number): Store {
  let left = transactions;
  return {
    ...store,
    commit: (work, options) => (left-- > 0 ? store.commit(work, options) : Promise.reject(new Error('The process has ended.'))),
  };
}

async function closePartly(service: TestService, id: string, transactions: number): Promise<void> {
  await expect(closeInSteps(endingAfter(service.store, transactions), id, DECEMBER)).rejects.toThrow('The process has ended.');
}

async function expectExactAccounts({ store }: TestService): Promise<void> {
  await expectExactHolds(store);
  await expectExactUnpaid(store);
}

async function stateOf({ store }: TestService, id: string) {
  return store.read(async (db) => {
    const positions = await db.selectFrom('positions').selectAll().where('account_id', '=', id).execute();
    return {
      account: await db.selectFrom('accounts').select(['period_start', 'unpaid']).where('id', '=', id).executeTakeFirstOrThrow(),
      invoices: await db.selectFrom('invoices').select(['total', 'status']).where('account_id', '=', id).execute(),
      ended: positions.filter(({ invoice_id }) => invoice_id !== null).length,
      open: positions.filter(({ invoice_id }) => invoice_id === null),
    };
  });
}

test.each([
  ['scheduled jobs', (service: TestService) => service.runScheduledJobs()],
  ['a read of the account', (service: TestService) => service.call('getCurrentInvoice')],
  ['a purchase of the account', (service: TestService) => service.call('createVm', { form: SMALL_VM })],
  ['a change in the store only', (service: TestService) => service.call('deleteDedicatedServer', { path: { identifier: 'none' } })],
])('the period of 1,000 VMs is closed in several transactions by %s', async (_, close) => {
  const { service } = await startWithVms(4 * STEP);
  const commit = vi.spyOn(service.store, 'commit');
  await close(service);
  expect(commit.mock.calls.length).toBeGreaterThanOrEqual(4);
});

test.each([STEP - 1, STEP, STEP + 1, 2 * STEP, 2 * STEP + 17])('closes the period of %i VMs', async (count) => {
  const { service, id } = await startWithVms(count);
  await service.runScheduledJobs();
  const { account, invoices, ended, open } = await stateOf(service, id);
  expect(invoices).toEqual([{ total: novemberOf(count), status: 'OPEN' }]);
  expect(account).toEqual({ period_start: DECEMBER, unpaid: novemberOf(count) });
  expect([ended, open.length]).toEqual([count, count]);
  expect(new Set(open.map(({ type, start, stop }) => `${type} ${start} ${stop}`))).toEqual(new Set([`BILLINGRESTART ${DECEMBER} null`]));
  await expectExactAccounts(service);
});

test.each([1, 2])('continues after the process has ended between two transactions, after %i of them', async (transactions) => {
  const { service, id } = await startWithVms(3 * STEP);
  await closePartly(service, id, transactions);
  const between = await stateOf(service, id);
  expect([between.ended, between.open.length]).toEqual([transactions * STEP, 3 * STEP]);
  expect(between.invoices).toEqual([{ total: 0, status: 'CLOSING' }]);
  await expectExactAccounts(service);
  await service.runScheduledJobs();
  const { account, invoices, ended, open } = await stateOf(service, id);
  expect(invoices).toEqual([{ total: novemberOf(3 * STEP), status: 'OPEN' }]);
  expect(account.unpaid).toBe(novemberOf(3 * STEP));
  expect([ended, open.length]).toEqual([3 * STEP, 3 * STEP]);
  await expectExactAccounts(service);
});

test('shows no invoice before all positions are on it', async () => {
  const { service, id } = await startWithVms(2 * STEP + 1);
  await closePartly(service, id, 1);
  const { invoiceId } = await service.store.read((db) => db.selectFrom('invoices').select('id as invoiceId').executeTakeFirstOrThrow());
  expect((await service.operate('/invoices')).body.items).toEqual([]);
  expect((await service.operate(`/invoices/${invoiceId}`)).status).toBe(404);
  expect((await service.operate(`/invoices/${invoiceId}/mark-paid`, { method: 'POST' })).status).toBe(404);
  // A read of the reseller completes the period first.
  const { data } = (await service.call('listInvoices')).body;
  expect(Object.values(data)).toMatchObject([{ total: novemberOf(2 * STEP + 1) / 1e8, status: 'OPEN' }]);
  await expectExactAccounts(service);
});

test('a purchase completes a period that is being closed', async () => {
  const { service, id } = await startWithVms(2 * STEP + 1);
  await closePartly(service, id, 1);
  expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(200);
  const { invoices, open } = await stateOf(service, id);
  expect(invoices).toEqual([{ total: novemberOf(2 * STEP + 1), status: 'OPEN' }]);
  expect(open).toHaveLength(2 * STEP + 2);
  await expectExactAccounts(service);
});
