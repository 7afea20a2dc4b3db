/** Helpers for the scenario of a quarter: a reseller, the months of 2027, and invoices in a readable form. */
import type { PeriodPosition, VmPosition } from '@reseller/client';
import { expect } from 'vitest';

import { startService } from '../harness.ts';
import type { TestService } from '../harness.ts';
import type { Received } from '../http-client.ts';
import { providerOf } from '../provider.ts';

/** A position with its figures; `totalRuntime` and `totalPrice` are null on closed invoices. */
type Position = Pick<VmPosition, 'type' | 'start' | 'stop' | 'monthlyPrice'> & {
  readonly totalRuntime: number | null;
  readonly totalPrice: number | null;
};
type Positions = Readonly<Record<string, readonly Position[]>>;
type Charges = Readonly<Record<string, readonly PeriodPosition[]>>;

/** An invoice as the scenario expects it; VMs by the names that it gives them. */
interface Expected {
  readonly vms: Positions;
  readonly dedicated?: Charges;
  readonly domains?: Charges;
}

/** An instant of 2027 as responses write it: `01-04 09:00`, or `01-04` for midnight, optionally with the year before it. */
export function on(text: string): string {
  const [day = '', time = '00:00'] = text.split(' ');
  return `${day.length > 5 ? day : `2027-${day}`}T${time}:00.000Z`;
}

/** A position of the running invoice: from, until, net price of 30 days, seconds until now, what they cost. */
export function runs(
  type: string,
  start: string,
  stop: string | null,
  monthlyPrice: number,
  totalRuntime: number,
  totalPrice: number,
): Position {
  return { type, start: on(start), stop: stop === null ? null : on(stop), totalRuntime, monthlyPrice, totalPrice };
}

/** A position of a closed invoice. */
export function ran(type: string, start: string, stop: string, monthlyPrice: number): Position {
  return { type, start: on(start), stop: on(stop), totalRuntime: null, monthlyPrice, totalPrice: null };
}

/** What was charged in advance. */
export function charged(type: string, start: string, stop: string, totalPrice: number): PeriodPosition {
  return { type, start: on(start), stop: on(stop), totalPrice };
}

/** A reseller with a credit limit on its own service, with the actions of a scenario. */
export async function startReseller(limit: number) {
  const service = await startService();
  const { id, apiKey } = await service.account(limit.toFixed(2));
  const vms = new Map<string, number>();
  const call: TestService['call'] = (operation, sent) => service.call(operation, { ...sent, apiKey });
  const vm = (name: string): number => {
    const found = vms.get(name);
    if (found === undefined) throw new Error(`The scenario has no VM ${name}.`);
    return found;
  };
  const byIdentifier = ({ vms: named, ...others }: Expected) => ({
    vms: Object.fromEntries(Object.entries(named).map(([name, positions]) => [vm(name), positions])),
    ...others,
  });
  return {
    id,
    service,
    provider: providerOf(service),
    call,
    vm,
    /** Advances to an instant and runs the jobs that are due by then. */
    async goTo(text: string): Promise<void> {
      service.clock.advanceTo(on(text));
      await service.runScheduledJobs();
    },
    /** Buys a VM under a name. */
    async buy(name: string, form: Readonly<Record<string, unknown>>): Promise<Received> {
      const response = await call('createVm', { form });
      if (response.status === 200) vms.set(name, response.body.data.identifier);
      return response;
    },
    /** The sales by title, with how many VMs went through each. */
    async sales(): Promise<Readonly<Record<string, number>>> {
      const { body } = await call('listSales');
      const listed: { title: string; usedVolume: { value: number } }[] = body.data;
      return Object.fromEntries(listed.map(({ title, usedVolume }) => [title, usedVolume.value]));
    },
    /** Checks every figure of the current invoice. */
    async expectCurrent({ total, estimate, remaining, next, ...positions }: CurrentFigures & Expected): Promise<void> {
      const { body } = await call('getCurrentInvoice');
      expect(body.data).toEqual({
        currentInvoiceTotal: total,
        nextInvoiceDate: on(next),
        estimatedInvoiceTotal: estimate,
        creditLimit: limit,
        creditLimitRemaining: remaining,
        positions: byIdentifier(positions),
      });
    },
    /** Checks every figure of the newest invoice, and the number of invoices. */
    async expectNewest({ created, total, status, count, ...positions }: ClosedFigures & Expected): Promise<string> {
      const { body } = await call('listInvoices');
      const [newest = '', ...others] = Object.keys(body.data);
      expect(others).toHaveLength(count - 1);
      const summary = { created: on(created), total, status, invoice: expect.stringMatching(/^http/), number: `INV-0000${count}` };
      expect(body.data[newest]).toEqual(summary);
      const detail = await call('getInvoice', { path: { invoiceID: newest } });
      expect(detail.body.data).toEqual({ ...summary, positions: byIdentifier(positions) });
      return newest;
    },
  };
}

/** Totals of the running invoice, in EUR. */
interface CurrentFigures {
  readonly total: number;
  readonly estimate: number;
  readonly remaining: number;
  readonly next: string;
}

/** Totals of a closed invoice, in EUR. */
interface ClosedFigures {
  readonly created: string;
  readonly total: number;
  readonly status: string;
  /** Number of invoices at that time. */
  readonly count: number;
}

/** The reseller of the scenario. */
export type Reseller = Awaited<ReturnType<typeof startReseller>>;
