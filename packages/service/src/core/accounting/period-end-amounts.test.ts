/** Invoices of accounts with any number of positions are exact, with prices of eight decimals and odd seconds, on both engines. */
import { describe, expect, test } from 'vitest';

import { byDepth } from '../../../../../.config/depth.ts';
import { chargeAwkwardPrices } from '../../../test/awkward-prices.ts';
import { engines } from '../../../test/engines.ts';
import type { Engine } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants, expectExactHolds, expectExactUnpaid, expectPositionsInOrder } from '../../../test/invariants.ts';
import { copyVms, makeUneven } from '../../../test/large-account.ts';
import { startOperator } from '../../../test/operator.ts';
import { cents, plus, ZERO } from '../../../test/simulator/fraction.ts';
import type { Fraction } from '../../../test/simulator/fraction.ts';
import { closeInSteps } from './period-end.ts';

const DECEMBER = Date.UTC(2026, 11) / 1000;
const JANUARY = Date.UTC(2027, 0) / 1000;
/** A transaction of a period end moves 3 positions, and in a deep run 250, as in an installation. The numbers below are at these edges. */
const tuning = byDepth({ usual: { periodEndStep: 3 }, deep: {} });
/** Units of an amount in EUR times the seconds for which a price is. */
const DIVISOR = 100_000_000n * 2_592_000n;

async function startWithVms(engine: Engine, count: number, each?: (service: TestService, vm: number) => Promise<unknown>) {
  const service = await startOperator({ engine, creditLimit: '9000000.00', tuning });
  const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  await each?.(service, identifier);
  const { id } = await service.store.read((db) => db.selectFrom('vms').select('account_id as id').executeTakeFirstOrThrow());
  if (count > 1) await service.store.commit(({ db }) => copyVms(db, id, count));
  // Otherwise the service starts the machine of each copy, because the hypervisor does not have it.
  const vms = await service.store.read((db) => db.selectFrom('vms').select('id').execute());
  for (const vm of vms) service.hypervisor.use(vm.id, { seconds: 1 });
  return { service, id };
}

/** What the open positions cost until an instant, in cents. */
async function exactCents({ store }: TestService, id: string, until: number): Promise<bigint> {
  const positions = await store.read((db) =>
    db.selectFrom('positions').selectAll().where('account_id', '=', id).where('invoice_id', 'is', null).execute(),
  );
  const costs = positions.map(({ start, stop, monthly_price }): Fraction => ({
    n: BigInt(monthly_price) * BigInt((stop ?? until) - start),
    d: DIVISOR,
  }));
  return cents(costs.reduce((total, cost) => plus(total, cost), ZERO));
}

function totalsOf({ store }: TestService, id: string): Promise<bigint[]> {
  return store.read(async (db) => {
    const invoices = await db.selectFrom('invoices').select(['total', 'status']).where('account_id', '=', id).orderBy('created').execute();
    expect(new Set(invoices.map(({ status }) => status))).toEqual(new Set(['OPEN']));
    return invoices.map(({ total }) => BigInt(total) / 1_000_000n);
  });
}

/** Without the invariants of nodes and addresses, because copies of VMs have none. */
async function expectExactBilling({ store }: TestService): Promise<void> {
  await expectExactHolds(store);
  await expectExactUnpaid(store);
  await expectPositionsInOrder(store);
}

/** Ends November and December. @returns The totals of the invoices, and the exact totals. */
async function endTwoMonths(service: TestService, id: string) {
  const november = await exactCents(service, id, DECEMBER);
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const december = await exactCents(service, id, JANUARY);
  service.clock.advanceTo('2027-01-01T00:00:00Z');
  await service.runScheduledJobs();
  return { totals: await totalsOf(service, id), exact: [november, december] };
}

describe.each(engines)('on %s', (engine) => {
  test.each(byDepth({ usual: [1, 2, 3, 4, 7], deep: [1, 2, 249, 250, 251, 499, 500, 501, 20_000] }))(
    'invoices %i VMs exactly',
    async (count) => {
      const { service, id } = await startWithVms(engine, count);
      await service.store.commit(({ db }) => makeUneven(db, id));
      const { totals, exact } = await endTwoMonths(service, id);
      expect(totals).toEqual(exact);
      await expectExactBilling(service);
    },
  );

  test.each(byDepth({ usual: [1, 2, 3, 4], deep: [247, 248, 249, 250, 251, 500] }))(
    'invoices a VM exactly that was changed %i times',
    async (changes) => {
      const { service, id } = await startWithVms(engine, 1);
      await chargeAwkwardPrices(service);
      const { id: vmid } = await service.store.read((db) => db.selectFrom('vms').select('id').executeTakeFirstOrThrow());
      for (let change = 1; change <= changes; change++) {
        service.clock.advance(7_001);
        const form = { ...SMALL_VM, hostsystem: undefined, os: undefined, cores: 2 + (change % 2) };
        expect((await service.call('changeVm', { path: { vmid: String(vmid) }, form })).status).toBe(200);
      }
      const { totals, exact } = await endTwoMonths(service, id);
      expect(totals).toEqual(exact);
      await expectInvariants(service.store);
    },
  );

  test('invoices prices whose sum of price-seconds exceeds 64 bits', async () => {
    const { service, id } = await startWithVms(engine, byDepth({ usual: 4, deep: 251 }));
    await service.store.commit(async ({ db }) => {
      const price = { monthly_price: 8_000_000_000_001 };
      await db.updateTable('positions').set(price).where('account_id', '=', id).execute();
      await db.updateTable('vms').set(price).where('account_id', '=', id).execute();
    });
    const november = await exactCents(service, id, DECEMBER);
    service.clock.advanceTo('2026-12-01T00:00:00Z');
    await service.runScheduledJobs();
    expect(await totalsOf(service, id)).toEqual([november]);
  });

  test('invoices each month of an account whose period could not be closed for months', async () => {
    const { service, id } = await startWithVms(engine, byDepth({ usual: 8, deep: 511 }));
    await service.store.commit(({ db }) => makeUneven(db, id));
    const november = await exactCents(service, id, DECEMBER);
    service.clock.advanceTo('2027-02-01T00:00:01Z');
    // All but the last transaction, which was the one that failed.
    await closeInSteps(service.store, id, DECEMBER);
    expect(await service.store.read((db) => db.selectFrom('invoices').select('status').execute())).toEqual([{ status: 'CLOSING' }]);
    await service.runScheduledJobs();
    const [first, december, january] = await totalsOf(service, id);
    expect(first).toBe(november);
    expect(january).toBe(december);
    expect((await service.call('listInvoices')).status).toBe(200);
    expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(200);
    await expectExactBilling(service);
  });

  test('gives a VM its new price although its ended position is moved before its running one', async () => {
    const resize = async (service: TestService, vm: number) => {
      service.clock.advance(86_399_001);
      const form = { cores: 3, mem: 4096, disk: 40 };
      expect((await service.call('changeVm', { path: { vmid: String(vm) }, form })).status).toBe(200);
    };
    const { service, id } = await startWithVms(engine, byDepth({ usual: 5, deep: 200 }), resize);
    await chargeAwkwardPrices(service, '2026-12-01T00:00:00.000Z');
    const { totals, exact } = await endTwoMonths(service, id);
    expect(totals).toEqual(exact);
    const running = await service.store.read((db) =>
      db.selectFrom('positions').select('monthly_price').distinct().where('stop', 'is', null).execute(),
    );
    expect(running).toEqual([{ monthly_price: 3 * 198_765_433 + 4 * 112_345_679 + 40 * 3_999_997 }]);
    await expectExactBilling(service);
  });
});
