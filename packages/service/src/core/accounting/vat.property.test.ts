/** Random purchases and random changes of the rate: the sums of each rate are those of what was supplied while it applied. */
import type { AccountingDocument } from '@reseller/client/extension';
import * as operator from '@reseller/operator-client';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { amountOf } from '../../../../../.config/depth.ts';
import { register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

const RUNS = amountOf('PROPERTY_RUNS', { usual: 2, deep: 30 });
const HOUR = 3_600;
/** Seconds. */
const NOON = Date.UTC(2026, 10, 10, 12) / 1000;
/** The first midnight in Berlin after the start of the tests. */
const MIDNIGHT = NOON + 11 * HOUR;

const plan = fc.record({
  /** Days after the first one, in winter time. */
  changes: fc.uniqueArray(
    fc.record({ day: fc.integer({ min: 1, max: 60 }), basisPoints: fc.constantFrom(0, 500, 700, 1600, 1900, 2550) }),
    { selector: ({ day }) => day, minLength: 1, maxLength: 4 },
  ),
  steps: fc.array(
    fc.record({
      action: fc.constantFrom('buy', 'buy', 'register', 'remove', 'wait'),
      /** Hours, with a second more or less around midnight in Berlin. */
      hours: fc.integer({ min: 0, max: 200 }),
      second: fc.constantFrom(-1, 0, 1),
    }),
    { minLength: 6, maxLength: 12 },
  ),
});

test.each(engines)('on %s, each second and each charge is taxed at the rate of its time', async (engine) => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ changes, steps }) => {
      const service = await startOperator({ engine });
      try {
        const { client, clock } = service;
        const vat_rates = changes.map(({ day, basisPoints }) => ({
          basis_points: basisPoints,
          valid_from: new Date((MIDNIGHT + (day - 1) * 24 * HOUR + HOUR) * 1000).toISOString().slice(0, 10),
        }));
        await operator.setVatRates({ client, body: { vat_rates: [{ basis_points: 1900, valid_from: '2007-01-01' }, ...vat_rates] } });
        const vms: number[] = [(await service.call('createVm', { form: SMALL_VM })).body.data.identifier];
        for (const [index, { action, hours, second }] of steps.entries()) {
          clock.advance((hours * HOUR + second) * 1000 + 2_000);
          if (action === 'buy') vms.push((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
          if (action === 'register') await register(service, `name-${index}.net`);
          const [vm] = vms;
          if (action === 'remove' && vm !== undefined) await service.vms.remove(vms.shift() ?? vm);
        }
        clock.advanceTo('2027-05-01T00:00:00Z');
        await service.runScheduledJobs();
        const inSeconds = changes.map(({ day, basisPoints }) => ({ from: MIDNIGHT + (day - 1) * 24 * HOUR, basisPoints }));
        expect(await checkDocuments(service, inSeconds)).toBeGreaterThan(0);
        await expectInvariants(service.store);
      } finally {
        await service.end();
      }
    }),
    { numRuns: RUNS },
  );
});

interface Change {
  /** Seconds. */
  readonly from: number;
  readonly basisPoints: number;
}

/** Compares the documents with the positions and charges that the API shows on their invoices. @returns The number of documents. */
async function checkDocuments(service: TestOperator, changes: readonly Change[]): Promise<number> {
  const { list }: { list: AccountingDocument[] } = (await service.call('listDocuments')).body.data;
  for (const document of list) {
    const { data } = (await service.call('getInvoice', { path: { invoiceID: document.invoiceID } })).body;
    const exact = exactByRate(data.positions, changes);
    expect(document.vat.map(({ rate }) => rate * 100)).toEqual([...exact.keys()].toSorted((one, other) => other - one));
    expect(cents(document.vat.reduce((sum, { net }) => sum + net, 0))).toBe(cents(data.total));
    expect(cents(document.net + document.vat.reduce((sum, { amount }) => sum + amount, 0))).toBe(cents(document.gross));
    for (const { rate, net, amount } of document.vat) {
      // The net amount of a rate is its exact amount, rounded up or down to cents.
      expect(Math.abs(net - (exact.get(rate * 100) ?? NaN))).toBeLessThan(0.01 + 1e-9);
      expect(Math.abs(cents(amount) - (cents(net) * rate) / 100)).toBeLessThanOrEqual(0.5);
    }
  }
  return list.length;
}

interface Positions {
  readonly vms?: Record<string, { start: string; stop: string; monthlyPrice: number }[]>;
  readonly domains?: Record<string, { start: string; totalPrice: number }[]>;
}

/** EUR by rate in hundredths of a percent. */
function exactByRate({ vms = {}, domains = {} }: Positions, changes: readonly Change[]): Map<number, number> {
  const sums = new Map<number, number>();
  const add = (at: number, amount: number) => {
    const rate = changes.filter(({ from }) => from <= at).toSorted((one, other) => other.from - one.from)[0]?.basisPoints ?? 1900;
    sums.set(rate, (sums.get(rate) ?? 0) + amount);
  };
  for (const { start, stop, monthlyPrice } of Object.values(vms).flat()) {
    const [first, last] = [Date.parse(start) / 1000, Date.parse(stop) / 1000];
    const cuts = [first, ...changes.map(({ from }) => from).filter((from) => from > first && from < last), last].toSorted((a, b) => a - b);
    for (const [index, until] of cuts.slice(1).entries()) {
      const from = cuts[index] ?? first;
      add(from, (monthlyPrice * (until - from)) / (30 * 86_400));
    }
  }
  for (const { start, totalPrice } of Object.values(domains).flat()) add(Date.parse(start) / 1000, totalPrice);
  return sums;
}

function cents(amount: number): number {
  return Math.round(amount * 100);
}
