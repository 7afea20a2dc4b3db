/** An order that is delivered across the end of a month holds what it will cost, so its delivery never takes credit that does not exist. */
import * as operator from '@reseller/operator-client';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { amountOf } from '../../../../../.config/depth.ts';
import { marketItem } from '../../../test/dedicated.ts';
import { engines } from '../../../test/engines.ts';
import type { Engine } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectExactHolds, expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import { Standstill } from '../../../test/ports/standstill.ts';

const RUNS = amountOf('PROPERTY_RUNS', { usual: 3, deep: 30 });
const DAY = 86_400;
const MANAGEMENT = { dashboard: 'https://d.example', username: 'u', email: 'u@d.example', password: 'p-1234567' };

interface Account {
  readonly id: string;
  readonly apiKey: string;
}

async function start(engine: Engine): Promise<TestOperator> {
  const service = await startOperator({ engine });
  service.fleet.automaticSetUp = null;
  return service;
}

async function creditOf({ client }: TestOperator, { id }: Account) {
  const { credit, estimated_total: estimated } = await operator.getAccountCurrentInvoice({ client, path: { account_id: id } });
  const { remaining, pending, estimate } = credit;
  return { remaining: cents(remaining), pending: cents(pending), estimate: cents(estimate), estimated: cents(estimated) };
}

function cents(amount: string): number {
  return Math.round(Number(amount) * 100);
}

async function orderServer({ client }: TestOperator, { id }: Account, price: string, days: number): Promise<string> {
  const offer = await operator.addMarketItem({ client, body: marketItem(price, days) });
  await operator.orderDedicatedServer({ client, body: { account_id: id, market_id: offer.id } });
  return offer.id;
}

function setUp({ client }: TestOperator, server_id: string): Promise<unknown> {
  return operator.completeDedicatedSetup({ client, path: { server_id }, body: { management: MANAGEMENT, ipv4: [], ipv6: [] } });
}

/** What the invoice of the open month will be, in cents: the month is ended to find out. */
async function issuedAtMonthEnd(service: TestOperator, { apiKey }: Account): Promise<number> {
  const { nextInvoiceDate } = (await service.call('getCurrentInvoice', { apiKey })).body.data;
  service.clock.advanceTo(nextInvoiceDate);
  const invoices: Readonly<Record<string, { created: string; total: number }>> = (await service.call('listInvoices', { apiKey })).body.data;
  return Math.round((Object.values(invoices).find(({ created }) => created === nextInvoiceDate)?.total ?? 0) * 100);
}

describe.each(engines)('on %s', (engine) => {
  test('a server ordered in the last seconds of a month holds its renewals of the next one', async () => {
    const service = await start(engine);
    service.clock.advanceTo('2028-02-29T23:59:50Z');
    const account = await service.account('25.00');
    const server = await orderServer(service, account, '10.00', 5);
    expect(await creditOf(service, account)).toEqual({ remaining: 1_500, pending: 1_000, estimate: 0, estimated: 0 });
    service.clock.advanceTo('2028-03-01T00:00:00Z');
    await service.runScheduledJobs();
    // The first runtime, and renewals on 6, 11, 16, 21, 26 and 31 March.
    expect(await creditOf(service, account)).toEqual({ remaining: 2_500 - 7_000, pending: 7_000, estimate: 0, estimated: 0 });
    const bought = await service.call('createVm', { form: SMALL_VM, apiKey: account.apiKey });
    expect([bought.status, bought.body.type]).toEqual([402, 'credit_limit_exceeded']);
    await setUp(service, server);
    expect(await creditOf(service, account)).toEqual({ remaining: 2_500 - 7_000, pending: 0, estimate: 7_000, estimated: 7_000 });
    expect(await issuedAtMonthEnd(service, account)).toBe(7_000);
    await expectInvariants(service.store);
  });

  test('a set-up never needs more credit than its order holds, and the estimate after it is what is issued', async () => {
    const service = await start(engine);
    const instants = fc.record({
      /** Seconds from the order to the end of its month, which are few or many. */
      beforeEnd: fc.oneof(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: 27 * DAY })),
      /** Seconds from the order to the set-up. */
      delivery: fc.oneof(fc.integer({ min: 0, max: 120 }), fc.integer({ min: 0, max: 70 * DAY })),
      days: fc.constantFrom(1, 2, 5, 7, 28, 29, 30, 31, 90),
      price: fc.integer({ min: 1, max: 40_00000000 }),
      months: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(instants, async ({ beforeEnd, delivery, days, price, months }) => {
        const now = new Date(service.clock.now());
        const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months + 1);
        service.clock.advanceTo(new Date(end - beforeEnd * 1000).toISOString());
        const account = await service.account('100000.00');
        const server = await orderServer(service, account, (price / 1e8).toFixed(8), days);
        service.clock.advance(delivery * 1000);
        await service.runScheduledJobs();
        const before = await creditOf(service, account);
        await setUp(service, server);
        const after = await creditOf(service, account);
        expect(after.remaining).toBeGreaterThanOrEqual(before.remaining);
        expect([before.estimate, after.pending]).toEqual([0, 0]);
        // Exactly the same if nothing of the period has passed in which a renewal could have been due.
        if (delivery === 0) expect(after.remaining).toBe(before.remaining);
        expect(after.estimate).toBe(after.estimated);
        expect(await issuedAtMonthEnd(service, account)).toBe(after.estimated);
        await expectInvariants(service.store);
      }),
      { numRuns: RUNS, examples: [[{ beforeEnd: 10, delivery: 30, days: 5, price: 10_00000000, months: 1 }]] },
    );
  });

  test.each(['createVm', 'setVmPower', 'changeVm'] as const)(
    '%s that is delivered across the end of a month holds the whole next month, and its confirmation takes no more',
    async (operation) => {
      const standstill = new Standstill();
      const service = await startOperator({ engine, hypervisor: standstill.around(new TestHypervisor()), portTimeout: 600_000 });
      const account = await service.account('1000.00');
      const { apiKey } = account;
      service.clock.advanceTo('2028-02-29T23:59:41Z');
      const buy = () => service.call('createVm', { form: SMALL_VM, apiKey });
      const vm = operation === 'createVm' ? 0 : (await buy()).body.data.identifier;
      const path = { vmid: String(vm) };
      if (operation === 'setVmPower') await service.call(operation, { path, apiKey, form: { mode: 'stop' } });
      service.clock.advanceTo('2028-02-29T23:59:53Z');
      for (const end of ['2028-03-01T00:00:07Z', '2028-04-01T00:00:07Z']) {
        standstill.holds = 'before';
        const sent =
          operation === 'createVm'
            ? buy()
            : service.call(operation, {
                path,
                apiKey,
                form: operation === 'changeVm' ? { cores: 3, mem: 4096, disk: 40 } : { mode: 'start' },
              });
        await expect.poll(() => standstill.held.length - standstill.ended).toBe(1);
        service.clock.advanceTo(end);
        await service.runScheduledJobs();
        await expectExactHolds(service.store);
        const before = await creditOf(service, account);
        expect(before.pending).toBeGreaterThan(100);
        standstill.release();
        expect((await sent).status).toBe(200);
        const after = await creditOf(service, account);
        // A cent, because two positions are rounded instead of one.
        expect(after.remaining).toBeGreaterThanOrEqual(before.remaining - 1);
        expect(after.pending).toBe(0);
        await expectInvariants(service.store);
        if (operation !== 'createVm') break;
        service.clock.advanceTo('2028-03-31T23:59:53Z');
      }
    },
  );

  test('an order that fails after the end of a month gives back all that it holds', async () => {
    const standstill = new Standstill();
    const hypervisor = new TestHypervisor();
    const service = await startOperator({ engine, hypervisor: standstill.around(hypervisor), portTimeout: 600_000 });
    service.clock.advanceTo('2028-02-29T23:59:53Z');
    const account = await service.account('20.00');
    standstill.holds = 'before';
    const sent = service.call('createVm', { form: SMALL_VM, apiKey: account.apiKey });
    await expect.poll(() => standstill.held.length).toBe(1);
    for (const end of ['2028-03-01T00:00:00Z', '2028-04-01T00:00:00Z']) {
      service.clock.advanceTo(end);
      await service.runScheduledJobs();
    }
    // 10.40 EUR for 30 days.
    expect(await creditOf(service, account)).toMatchObject({ pending: 1_040, remaining: 960 });
    hypervisor.failing = new Error('The hypervisor is away.');
    standstill.release();
    expect((await sent).status).toBe(503);
    hypervisor.failing = undefined;
    await service.runScheduledJobs();
    expect(await creditOf(service, account)).toMatchObject({ pending: 0, remaining: 2_000 });
    await expectInvariants(service.store);
  });
});
