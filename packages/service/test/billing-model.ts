/**
 * Billing once more, as plainly as it can be said: a VM has stretches of time at a price, and an
 * invoice is what of them lies in its month. Nothing here knows periods that close, positions that
 * restart, or holds, and nothing is taken from the service. Amounts are exact fractions of a EUR.
 */

/** n / d EUR, d > 0. */
interface Fraction {
  readonly n: bigint;
  readonly d: bigint;
}

export interface Resources {
  readonly cores: number;
  readonly mem: number;
  readonly disk: number;
  readonly ips: number;
  readonly backup_slots: number;
  readonly network_speed: number;
}

/** Thousandths of a EUR for 30 days. */
interface Prices {
  readonly core: bigint;
  readonly mem: bigint;
  readonly nvme: bigint;
}

export interface ModelSale {
  readonly host: Host;
  /** Seconds. */
  readonly start: number;
  readonly stop: number;
  readonly max: number;
  readonly upgradable: boolean;
  readonly prices: Partial<Prices>;
  used: number;
}

interface Stretch {
  readonly type: 'CREATE' | 'UP-DOWNGRADE' | 'BILLINGRESTART';
  readonly start: number;
  stop: number | null;
  readonly price: Fraction;
}

export interface ModelVm {
  readonly id: number;
  readonly host: Host;
  resources: Resources;
  state: 'running' | 'stopped' | 'removed';
  sale: ModelSale | undefined;
  price: Fraction;
  readonly stretches: Stretch[];
}

/** A position as an invoice shows it. */
export interface ShownPosition {
  readonly type: string;
  readonly start: string;
  readonly stop: string | null;
  readonly totalRuntime: number;
  readonly monthlyPrice: number;
  readonly totalPrice: number;
}

export const hosts = ['nl_ryzen', 'de_epyc', 'de_xeon'] as const;
export type Host = (typeof hosts)[number];

const standard: Readonly<Record<Host, Prices & { readonly gbit: bigint }>> = {
  nl_ryzen: { core: 2000n, mem: 1200n, nvme: 40n, gbit: 5000n },
  de_epyc: { core: 1500n, mem: 1000n, nvme: 30n, gbit: 10_000n },
  de_xeon: { core: 1000n, mem: 800n, nvme: 30n, gbit: 10_000n },
};

/** Everything that one account has bought, and what it owes. */
export class BillingModel {
  readonly vms: ModelVm[] = [];
  readonly sales: readonly ModelSale[];
  readonly charges: { readonly at: number; readonly cents: bigint }[] = [];
  /** Months, by their first second, whose invoices were paid or cancelled. */
  readonly settled = new Map<number, 'PAID' | 'CANCELED'>();
  readonly #since: number;

  constructor(since: number, sales: readonly ModelSale[]) {
    this.#since = since;
    this.sales = sales;
  }

  buy(id: number, host: Host, resources: Resources, now: number): void {
    const sale = this.sales.find((one) => one.host === host && one.start <= now && now < one.stop && one.used < one.max);
    if (sale) sale.used++;
    const price = priceOf(host, resources, sale);
    this.vms.push({ id, host, resources, state: 'running', sale, price, stretches: [{ type: 'CREATE', start: now, stop: null, price }] });
  }

  resize(vm: ModelVm, resources: Partial<Resources>, now: number): void {
    const next = { ...vm.resources, ...resources };
    if (
      Object.entries(next).every(([name, value]) =>
        Object.entries(vm.resources).some(([other, before]) => name === other && value === before),
      )
    )
      return;
    vm.resources = next;
    if (!vm.sale?.upgradable) vm.sale = undefined;
    vm.price = priceOf(vm.host, next, vm.sale);
    if (vm.state !== 'running') return;
    this.#end(vm, now);
    vm.stretches.push({ type: 'UP-DOWNGRADE', start: now, stop: null, price: vm.price });
  }

  stop(vm: ModelVm, now: number): void {
    this.#end(vm, now);
    vm.state = 'stopped';
  }

  start(vm: ModelVm, now: number): void {
    vm.stretches.push({ type: 'BILLINGRESTART', start: now, stop: null, price: vm.price });
    vm.state = 'running';
  }

  remove(vm: ModelVm, now: number): void {
    this.#end(vm, now);
    vm.state = 'removed';
  }

  /** The invoices of the months that are over, oldest first. */
  invoices(now: number): { readonly month: number; readonly total: number; readonly cents: bigint; readonly status: string }[] {
    const made = [];
    for (let month = firstOf(this.#since); nextMonth(month) <= now; month = nextMonth(month)) {
      if (this.positions(month, nextMonth(month)).size === 0 && !this.charges.some(({ at }) => firstOf(at) === month)) continue;
      const cents = this.#cents(month, nextMonth(month));
      const status = cents === 0n ? 'PAID' : (this.settled.get(month) ?? 'OPEN');
      made.push({ month, total: Number(cents) / 100, cents, status });
    }
    return made;
  }

  /** The running invoice's figures, in EUR. */
  current(
    now: number,
    limit: bigint,
  ): { readonly currentInvoiceTotal: number; readonly estimatedInvoiceTotal: number; readonly creditLimitRemaining: number } {
    const month = firstOf(now);
    const soFar = this.#cents(month, now);
    const unpaid = this.invoices(now).reduce((sum, { cents, status }) => (status === 'OPEN' ? sum + cents : sum), 0n);
    return {
      currentInvoiceTotal: Number(soFar) / 100,
      estimatedInvoiceTotal: Number(this.#cents(month, nextMonth(month))) / 100,
      creditLimitRemaining: Number(limit - unpaid - (this.#heldUnits(month) + 500_000n) / 1_000_000n) / 100,
    };
  }

  /** What each VM is shown with for a month, up to an instant in it or its end. */
  positions(month: number, until: number): Map<number, ShownPosition[]> {
    const shown = new Map<number, ShownPosition[]>();
    for (const { id, stretches } of this.vms) {
      const own = stretches.flatMap(({ type, start, stop, price }, index): ShownPosition[] => {
        const from = Math.max(start, month);
        const to = Math.min(stop ?? until, until);
        const begun = start >= month ? type : 'BILLINGRESTART';
        if (start >= nextMonth(month) || to < from) return [];
        // What goes on from the stretch before and lasted no second is nowhere: with the month before it ended, or as it was started.
        const goesOn = start < month || stretches[index - 1]?.stop === start;
        if (stop === from && begun === 'BILLINGRESTART' && goesOn) return [];
        const total = { n: price.n * BigInt(to - from), d: price.d * 2_592_000n };
        const ended = stop !== null && stop <= nextMonth(month) ? stop : until === nextMonth(month) ? until : null;
        return [
          {
            type: begun,
            start: iso(from),
            stop: ended === null ? null : iso(ended),
            totalRuntime: to - from,
            monthlyPrice: inUnits(price, 100_000_000n) / 1e8,
            totalPrice: Number(`${inUnits(total, 100_000_000n)}e-8`),
          },
        ];
      });
      if (own.length > 0) shown.set(id, own);
    }
    return shown;
  }

  #cents(month: number, until: number): bigint {
    let sum: Fraction = { n: 0n, d: 1n };
    for (const { stretches } of this.vms) {
      for (const { start, stop, price } of stretches) {
        const seconds = Math.min(stop ?? until, until) - Math.max(start, month);
        if (seconds > 0) sum = plus(sum, { n: price.n * BigInt(seconds), d: price.d * 2_592_000n });
      }
    }
    for (const { at, cents } of this.charges) if (firstOf(at) === month) sum = plus(sum, { n: cents, d: 100n });
    return BigInt(inUnits(sum, 100n));
  }

  /** Units of 10^-8 EUR that a month comes to by its end: each position rounded up. */
  #heldUnits(month: number): bigint {
    let units = 0n;
    for (const { stretches } of this.vms) {
      for (const { start, stop, price } of stretches) {
        const seconds = Math.min(stop ?? nextMonth(month), nextMonth(month)) - Math.max(start, month);
        if (seconds > 0) units += roundedUp(price.n * BigInt(seconds) * 100_000_000n, price.d * 2_592_000n);
      }
    }
    for (const { at, cents } of this.charges) if (firstOf(at) === month) units += cents * 1_000_000n;
    return units;
  }

  #end(vm: ModelVm, now: number): void {
    for (const stretch of vm.stretches) stretch.stop ??= now;
  }
}

/** The first second of an instant's month. */
export function firstOf(instant: number): number {
  const date = new Date(instant * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1000;
}

export function nextMonth(month: number): number {
  return firstOf(month + 31 * 86_400);
}

function priceOf(host: Host, { cores, mem, disk, ips, backup_slots, network_speed }: Resources, sale: ModelSale | undefined): Fraction {
  const { core, mem: gigabyte, nvme, gbit } = { ...standard[host], ...sale?.prices };
  const extra = (count: number): bigint => BigInt(count > 0 ? count : 0);
  const thousandths =
    BigInt(cores) * core +
    BigInt(disk) * nvme +
    extra(ips - 1) * 1500n +
    extra(backup_slots - 2) * 500n +
    extra(Math.ceil(network_speed / 1000) - 1) * gbit;
  return { n: thousandths * 1024n + BigInt(mem) * gigabyte, d: 1_024_000n };
}

function plus(one: Fraction, other: Fraction): Fraction {
  const n = one.n * other.d + other.n * one.d;
  const d = one.d * other.d;
  const divisor = greatestCommon(n, d);
  return { n: n / divisor, d: d / divisor };
}

function greatestCommon(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommon(b, a % b);
}

function roundedUp(n: bigint, d: bigint): bigint {
  return (n + d - 1n) / d;
}

/** A fraction that is not negative as a whole number of 1/scale, the middle to the even one. */
function inUnits({ n, d }: Fraction, scale: bigint): number {
  const whole = (n * scale) / d;
  const rest = n * scale - whole * d;
  const up = 2n * rest > d || (2n * rest === d && whole % 2n === 1n);
  return Number(up ? whole + 1n : whole);
}

function iso(instant: number): string {
  return new Date(instant * 1000).toISOString();
}
