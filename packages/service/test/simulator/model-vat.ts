/** The VAT that the model expects: each second and each charge at the rate of its time. */
import { cents, less, minus, numberOfCents, sum, times, ZERO } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { costOf, partsIn } from './model-invoices.ts';
import type { Model, ModelAccount, Seconds } from './model.ts';
import { monthAfter } from './virtual-clock.ts';

const DAY = 86_400;

/** A rate from a day in Berlin on. */
export interface ModelRate {
  readonly day: string;
  /** The first second of the day. */
  readonly from: Seconds;
  readonly basisPoints: number;
}

/** An amount of an invoice or a credit note at a rate, in cents. */
export interface ModelVat {
  readonly basisPoints: number;
  readonly net: bigint;
  readonly vat: bigint;
}

/** The first second of a day in Berlin: one hour before that of UTC, and two between the last Sundays of March and October. */
export function berlinDay(day: string): Seconds {
  const midnight = Date.parse(`${day}T00:00:00Z`) / 1000;
  const year = Number(day.slice(0, 4));
  const isSummer = midnight - 3600 > lastSunday(year, 2) && midnight - 7200 < lastSunday(year, 9);
  return midnight - (isSummer ? 7200 : 3600);
}

/** When the clocks change: at 1:00 UTC of the last Sunday of a month. */
function lastSunday(year: number, month: number): Seconds {
  const last = Date.UTC(year, month + 1, 0, 1);
  return last / 1000 - new Date(last).getUTCDay() * DAY;
}

/** The rate at an instant in seconds. The first rate is also that of the time before it. */
export function rateAt({ rates }: Model, at: Seconds): number {
  return (rates.findLast(({ from }) => from <= at) ?? rates[0])?.basisPoints ?? 0;
}

/** The highest rate in force at any time of a month. */
export function highestRateIn(model: Model, month: Seconds): number {
  const begun = model.rates.filter(({ from }) => from > month && from < monthAfter(month));
  return Math.max(rateAt(model, month), ...begun.map(({ basisPoints }) => basisPoints));
}

/** The VAT of the invoice of a month. Its total is divided among the rates, and the remaining cents go to the largest remainders. */
export function vatOfMonth(model: Model, account: ModelAccount, month: Seconds, total: bigint): ModelVat[] {
  const exact = [...exactByRate(model, account, month)].toSorted(([one], [other]) => other - one);
  const floors = exact.map(([, amount]) => (amount.n * 100n) / amount.d);
  const left = total - floors.reduce((all, one) => all + one, 0n);
  const order = [...exact.keys()].toSorted((one, other) => {
    const [a, b] = [one, other].map((place) => minus(times(exact[place]?.[1] ?? ZERO, 100), { n: floors[place] ?? 0n, d: 1n }));
    if (a && b && less(b, a)) return -1;
    return a && b && less(a, b) ? 1 : one - other;
  });
  const lucky = new Set(order.slice(0, Number(left)));
  return exact.map(([basisPoints], place) => {
    const net = (floors[place] ?? 0n) + (lucky.has(place) ? 1n : 0n);
    return { basisPoints, net, vat: vatOf(net, basisPoints) };
  });
}

function exactByRate(model: Model, account: ModelAccount, month: Seconds): Map<number, Fraction> {
  const amounts: (readonly [number, Fraction])[] = [];
  for (const { segment, from, to } of partsIn(model, account, month, monthAfter(month))) {
    const changes = model.rates.map((rate) => rate.from).filter((at) => at > from && at < to);
    for (const [index, start] of [from, ...changes].entries())
      amounts.push([rateAt(model, start), costOf(segment.price, (changes[index] ?? to) - start)]);
  }
  for (const one of model.charges) if (one.account === account && one.month === month) amounts.push([rateAt(model, one.start), one.amount]);
  const byRate = Map.groupBy(amounts, ([rate]) => rate);
  return new Map([...byRate].map(([rate, own]) => [rate, sum(own.map(([, amount]) => amount))]));
}

/** The VAT on cents, rounded half up. */
export function vatOf(net: bigint, basisPoints: number): bigint {
  return (net * BigInt(basisPoints) + 5_000n) / 10_000n;
}

/** A gross price of a response: the gross amount of an invoice with this net amount alone. */
export function grossShown(net: Fraction, basisPoints: number): number {
  const invoiced = cents(net);
  return numberOfCents(invoiced + vatOf(invoiced, basisPoints));
}

/** The parts of a credit note, in proportion to the rest of each rate. */
export function vatOfCorrection(invoiced: readonly ModelVat[], credited: readonly ModelVat[], amount: bigint): ModelVat[] {
  const before = invoiced.map(({ basisPoints }) => netOf(credited.filter((one) => one.basisPoints === basisPoints)));
  const rest = invoiced.map(({ net }, place) => net - (before[place] ?? 0n));
  const all = rest.reduce((one, other) => one + other, 0n);
  const shares = rest.map((net) => ({ floor: (net * amount) / all, remainder: (net * amount) % all }));
  const left = amount - shares.reduce((one, { floor }) => one + floor, 0n);
  const order = [...shares.keys()].toSorted(
    (one, other) => Number((shares[other]?.remainder ?? 0n) - (shares[one]?.remainder ?? 0n)) || one - other,
  );
  const lucky = new Set(order.slice(0, Number(left)));
  return invoiced
    .map(({ basisPoints }, place) => {
      const net = (shares[place]?.floor ?? 0n) + (lucky.has(place) ? 1n : 0n);
      const already = before[place] ?? 0n;
      return { basisPoints, net, vat: vatOf(already + net, basisPoints) - vatOf(already, basisPoints) };
    })
    .filter(({ net }) => net > 0n || invoiced.length === 1);
}

export function netOf(sums: readonly ModelVat[]): bigint {
  return sums.reduce((all, { net }) => all + net, 0n);
}

export function grossOf(sums: readonly ModelVat[]): bigint {
  return sums.reduce((all, { net, vat }) => all + net + vat, 0n);
}
