/** The content of the invoice of a month. */
import { cents, over, plus, sum, times } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import type { Model, ModelAccount, ModelVm, Seconds, Segment } from './model.ts';
import { monthAfter, monthOf } from './virtual-clock.ts';

/** Prices are for 30 days. */
const PRICE_PERIOD_SECONDS = 30 * 86_400;

/** The cost of a number of seconds at a price. */
export function costOf(price: Fraction, seconds: number): Fraction {
  return over(times(price, seconds), PRICE_PERIOD_SECONDS);
}

/** The parts of segments in a month, up to an instant in it or its end. */
export function partsIn(
  model: Model,
  account: ModelAccount,
  month: Seconds,
  until: Seconds,
): { vm: ModelVm; segment: Segment; from: Seconds; to: Seconds }[] {
  const own = model.vms.filter((vm) => vm.account === account);
  return own.flatMap((vm) =>
    vm.segments.flatMap((segment, index) => {
      const from = Math.max(segment.start, month);
      const to = Math.min(segment.stop ?? until, until);
      // A position without a second is omitted if it only continues the position before.
      const goesOn = segment.start < month || (segment.type === 'BILLINGRESTART' && vm.segments[index - 1]?.stop === segment.start);
      if (segment.start >= monthAfter(month) || to < from || (goesOn && segment.stop === from)) return [];
      return [{ vm, segment, from, to }];
    }),
  );
}

/** The exact total of a month, up to an instant in it or its end. */
export function amountIn(model: Model, account: ModelAccount, month: Seconds, until: Seconds): Fraction {
  const runtimes = partsIn(model, account, month, until).map(({ segment, from, to }) => costOf(segment.price, to - from));
  const charges = model.charges.filter((one) => one.account === account && one.month === month).map(({ amount }) => amount);
  return plus(sum(runtimes), sum(charges));
}

/** The invoice of a month that has ended. */
export interface ModelInvoice {
  readonly month: Seconds;
  readonly cents: bigint;
  readonly status: 'OPEN' | 'PAID' | 'CANCELED';
}

/** The invoices of an account, oldest first. */
export function invoicesOf(model: Model, account: ModelAccount, now: Seconds): ModelInvoice[] {
  const made: ModelInvoice[] = [];
  const own = model.vms.filter((vm) => vm.account === account).flatMap(({ segments }) => segments.map(({ start }) => start));
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
