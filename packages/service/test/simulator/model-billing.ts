/** The invoices that the model expects. Each has the costs of its month, rounded once. */
import { cents, less, numberOf, numberOfCents, over, plus, sum, times, units, unitsUp } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { listedAt, priceOf } from './model-prices.ts';
import type { Charge, Model, ModelAccount, ModelSale, ModelVm, Resources, Seconds, Stretch } from './model.ts';
import { monthAfter, monthOf } from './virtual-clock.ts';

/** A price is one of 30 days. */
const PRICED = 30 * 86_400;

/** The cost of a number of seconds at a price. */
export function costOf(price: Fraction, seconds: number): Fraction {
  return over(times(price, seconds), PRICED);
}

/** The sales that a purchase may go through at an instant (milliseconds), the best for the customer first. */
export function offersFor(model: Model, account: ModelAccount, hostsystem: string, resources: Resources, now: number): ModelSale[] {
  const listed = listedAt(model, hostsystem, now);
  const standard = priceOf(listed, resources);
  return model.sales
    .filter((sale) => isOpen(sale, account, now) && sale.start <= now)
    .map((sale) => ({ sale, price: priceOf(listed, resources, sale.prices.get(hostsystem)) }))
    .filter(({ price }) => less(price, standard))
    .toSorted((a, b) => {
      if (less(a.price, b.price)) return -1;
      if (less(b.price, a.price)) return 1;
      if (a.sale.upgradable !== b.sale.upgradable) return a.sale.upgradable ? -1 : 1;
      return a.sale.start - b.sale.start || (a.sale.id < b.sale.id ? -1 : 1);
    })
    .map(({ sale }) => sale);
}

/** Whether a sale is scheduled or active at an instant (milliseconds), and the account's to use. */
export function isOpen(sale: ModelSale, account: ModelAccount, now: number): boolean {
  const hasEnded = sale.ended !== null || (sale.stop !== null && sale.stop <= now) || sale.used >= sale.max;
  return !hasEnded && (sale.accountId === null || sale.accountId === account.id);
}

/** A position as an invoice shows it. */
export interface ShownPosition {
  readonly type: string;
  readonly start: string;
  readonly stop: string | null;
  readonly totalRuntime: number | null;
  readonly monthlyPrice: number;
  readonly totalPrice: number | null;
}

/** The positions of a month: up to an instant in it, or all of it where it is over. */
export function positionsIn(model: Model, account: ModelAccount, month: Seconds, now: Seconds): Record<string, ShownPosition[]> {
  const end = monthAfter(month);
  const closed = now >= end;
  const shown: Record<string, ShownPosition[]> = {};
  for (const { vm, stretch, from, to } of partsIn(model, account, month, Math.min(now, end))) {
    const stop = stretch.stop !== null && stretch.stop <= to ? stretch.stop : null;
    (shown[vm.id] ??= []).push({
      type: stretch.start >= month ? stretch.type : 'BILLINGRESTART',
      start: iso(from),
      stop: stop !== null ? iso(stop) : closed ? iso(end) : null,
      totalRuntime: closed ? null : to - from,
      monthlyPrice: numberOf(stretch.price),
      totalPrice: closed ? null : numberOf(costOf(stretch.price, to - from)),
    });
  }
  return shown;
}

/** The parts of stretches that lie in a month, up to an instant in it or its end. */
function partsIn(
  model: Model,
  account: ModelAccount,
  month: Seconds,
  until: Seconds,
): { vm: ModelVm; stretch: Stretch; from: Seconds; to: Seconds }[] {
  const own = model.vms.filter((vm) => vm.account === account);
  return own.flatMap((vm) =>
    vm.stretches.flatMap((stretch, index) => {
      const from = Math.max(stretch.start, month);
      const to = Math.min(stretch.stop ?? until, until);
      // Where one goes on from the one before, no position is left of which no second was used.
      const goesOn = stretch.start < month || (stretch.type === 'BILLINGRESTART' && vm.stretches[index - 1]?.stop === stretch.start);
      if (stretch.start >= monthAfter(month) || to < from || (goesOn && stretch.stop === from)) return [];
      return [{ vm, stretch, from, to }];
    }),
  );
}

/** What was charged in advance in a month, by subject. */
export function chargesIn(model: Model, account: ModelAccount, month: Seconds): Partial<Record<Charge['kind'], Record<string, object[]>>> {
  const shown: Partial<Record<Charge['kind'], Record<string, object[]>>> = {};
  const own = model.charges.filter((one) => one.account === account && one.month === month);
  for (const { kind, subject, type, start, stop, amount } of own.toSorted((a, b) => a.start - b.start)) {
    ((shown[kind] ??= {})[subject] ??= []).push({ type, start: iso(start), stop: iso(stop), totalPrice: numberOf(amount) });
  }
  return shown;
}

/** What a month comes to, up to an instant in it or its end, exactly. */
function amountIn(model: Model, account: ModelAccount, month: Seconds, until: Seconds): Fraction {
  const runtimes = partsIn(model, account, month, until).map(({ stretch, from, to }) => costOf(stretch.price, to - from));
  const charges = model.charges.filter((one) => one.account === account && one.month === month).map(({ amount }) => amount);
  return plus(sum(runtimes), sum(charges));
}

/** The invoice of a month that is over. */
export interface ModelInvoice {
  readonly month: Seconds;
  readonly cents: bigint;
  readonly status: 'OPEN' | 'PAID' | 'CANCELED';
}

/** The invoices of an account, oldest first. */
export function invoicesOf(model: Model, account: ModelAccount, now: Seconds): ModelInvoice[] {
  const made: ModelInvoice[] = [];
  const own = model.vms.filter((vm) => vm.account === account).flatMap(({ stretches }) => stretches.map(({ start }) => start));
  const charged = new Set(model.charges.filter((one) => one.account === account).map(({ month }) => month));
  const first = Math.min(monthOf(now), ...own.map(monthOf), ...charged);
  for (let month = first; monthAfter(month) <= now; month = monthAfter(month)) {
    const end = monthAfter(month);
    if (!charged.has(month) && partsIn(model, account, month, end).length === 0) continue;
    const total = cents(amountIn(model, account, month, end));
    made.push({ month, cents: total, status: total === 0n ? 'PAID' : (account.settled.get(month) ?? 'OPEN') });
  }
  return made;
}

/** The current invoice that the API should return. */
export function currentInvoice(model: Model, account: ModelAccount, now: Seconds): object {
  const month = monthOf(now);
  const end = monthAfter(month);
  const total = cents(amountIn(model, account, month, now));
  return {
    currentInvoiceTotal: numberOfCents(total),
    nextInvoiceDate: iso(end),
    estimatedInvoiceTotal: numberOfCents(cents(amountIn(model, account, month, end))),
    creditLimit: numberOf(account.credit),
    creditLimitRemaining: numberOfCents(remainingCents(model, account, now)),
    positions: { vms: positionsIn(model, account, month, now), ...chargesIn(model, account, month) },
  };
}

/** Totals of the open invoices. */
export function unpaidCents(model: Model, account: ModelAccount, now: Seconds): bigint {
  return invoicesOf(model, account, now).reduce((owed, invoice) => (invoice.status === 'OPEN' ? owed + invoice.cents : owed), 0n);
}

/**
 * What the account's credit is held for, in units of 10^-8 EUR: all that the running period will
 * come to, each position rounded up, purchases that are under way, and servers that are being set up.
 */
export function heldUnits(model: Model, account: ModelAccount, now: Seconds): bigint {
  const month = monthOf(now);
  let held = 0n;
  for (const { stretch, from, to } of partsIn(model, account, month, monthAfter(month))) {
    held += unitsUp(costOf(stretch.price, to - from));
  }
  for (const one of model.charges) if (one.account === account && one.month === month) held += units(one.amount);
  for (const one of model.reservations) if (one.account === account) held += one.hold;
  for (const one of model.holds) if (one.account === account) held += one.amount;
  for (const one of model.servers) if (one.account === account && one.state === 'ordered') held += units(one.price);
  return held;
}

/** What remains of the credit limit, in cents: all that is held is rounded once, half up. */
export function remainingCents(model: Model, account: ModelAccount, now: Seconds): bigint {
  const held = (heldUnits(model, account, now) + UNITS_A_CENT / 2n) / UNITS_A_CENT;
  return cents(account.credit) - unpaidCents(model, account, now) - held;
}

/** Whether a purchase of so many units, rounded up to cents, is at most what remains. What costs nothing always is. */
export function creditFits(model: Model, account: ModelAccount, amount: bigint, now: Seconds): boolean {
  if (amount <= 0n) return true;
  return (amount + UNITS_A_CENT - 1n) / UNITS_A_CENT <= remainingCents(model, account, now);
}

const UNITS_A_CENT = 1_000_000n;

/** The part of the credit limit that a price holds from an instant until the end of its month. */
export function holdFrom(price: Fraction, start: Seconds): bigint {
  return unitsUp(costOf(price, monthAfter(monthOf(start)) - start));
}

/** The stretch that a VM runs on, or undefined. */
export function runningStretch(vm: ModelVm): Stretch | undefined {
  return vm.stretches.find(({ stop }) => stop === null);
}

/** Units that a running stretch holds less once it ends at an instant. */
export function freedByEnding({ start, price }: Stretch, now: Seconds): bigint {
  const from = Math.max(start, monthOf(now));
  return unitsUp(costOf(price, monthAfter(monthOf(now)) - from)) - unitsUp(costOf(price, now - from));
}

/** A billing instant as answers have it. */
export function iso(instant: Seconds): string {
  return new Date(instant * 1000).toISOString();
}
