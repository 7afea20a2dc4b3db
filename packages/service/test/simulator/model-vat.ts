/** The VAT that the model expects: each second and each charge at the rate of its time. */
import { cents, less, minus, numberOfCents, sum, times, ZERO } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import { costOf, partsIn } from './model-invoices.ts';
import type { Model, ModelAccount, Seconds } from './model.ts';
import { monthAfter, monthOf } from './virtual-clock.ts';

const DAY = 86_400;

/** A rate from a day in Berlin on. */
export interface ModelRate {
  readonly day: string;
  /** The first second of the day. */
  readonly from: Seconds;
  readonly basisPoints: number;
}

/** How an account is taxed from a day in Berlin on. Before its first status, it pays VAT. */
export interface ModelTaxStatus extends Pick<ModelRate, 'day' | 'from'> {
  /** Whether the account owes the VAT itself. */
  readonly isReverse: boolean;
}

interface Treatment {
  readonly basisPoints: number;
  readonly isReverse: boolean;
}

/** An amount of an invoice or a credit note at a rate, in cents. */
export interface ModelVat extends Treatment {
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

function treatmentAt({ rates }: Model, { taxStatuses }: ModelAccount, at: Seconds): Treatment {
  const isReverse = taxStatuses.findLast(({ from }) => from <= at)?.isReverse ?? false;
  return { basisPoints: isReverse ? 0 : ((rates.findLast(({ from }) => from <= at) ?? rates[0])?.basisPoints ?? 0), isReverse };
}

/** The rate of an account at an instant in seconds. The first rate is also that of the time before it. */
export function rateAt(model: Model, account: ModelAccount, at: Seconds): number {
  return treatmentAt(model, account, at).basisPoints;
}

/** When the rate of an account can change between two instants. */
function changesBetween({ rates }: Model, { taxStatuses }: ModelAccount, after: Seconds, before: Seconds): Seconds[] {
  const instants = new Set([...rates, ...taxStatuses].map(({ from }) => from).filter((at) => at > after && at < before));
  return [...instants].toSorted((one, other) => one - other);
}

/** The highest rate of an account at any time of a month. */
export function highestRateIn(model: Model, account: ModelAccount, month: Seconds): number {
  return Math.max(...[month, ...changesBetween(model, account, month, monthAfter(month))].map((at) => rateAt(model, account, at)));
}

function isSame(one: Treatment, other: Treatment): boolean {
  return one.basisPoints === other.basisPoints && one.isReverse === other.isReverse;
}

/** The VAT of the invoice of a month. */
export function vatOfMonth(model: Model, account: ModelAccount, month: Seconds, total: bigint): ModelVat[] {
  return divided(exactParts(model, account, month), total);
}

/** A total is divided among the rates, and the remaining cents go to the largest remainders. */
function divided(parts: readonly (readonly [Treatment, Fraction])[], total: bigint): ModelVat[] {
  const exact = byTreatment(parts).toSorted(
    ([one], [other]) => other.basisPoints - one.basisPoints || Number(one.isReverse) - Number(other.isReverse),
  );
  const floors = exact.map(([, amount]) => (amount.n * 100n) / amount.d);
  const left = total - floors.reduce((all, one) => all + one, 0n);
  const order = [...exact.keys()].toSorted((one, other) => {
    const [a, b] = [one, other].map((place) => minus(times(exact[place]?.[1] ?? ZERO, 100), { n: floors[place] ?? 0n, d: 1n }));
    if (a && b && less(b, a)) return -1;
    return a && b && less(a, b) ? 1 : one - other;
  });
  const lucky = new Set(order.slice(0, Number(left)));
  return exact.map(([treatment], place) => {
    const net = (floors[place] ?? 0n) + (lucky.has(place) ? 1n : 0n);
    return { ...treatment, net, vat: vatOf(net, treatment.basisPoints) };
  });
}

function exactParts(model: Model, account: ModelAccount, month: Seconds): (readonly [Treatment, Fraction])[] {
  const amounts: (readonly [Treatment, Fraction])[] = [];
  for (const { segment, from, to } of partsIn(model, account, month, monthAfter(month))) {
    const changes = changesBetween(model, account, from, to);
    for (const [index, start] of [from, ...changes].entries())
      amounts.push([treatmentAt(model, account, start), costOf(segment.price, (changes[index] ?? to) - start)]);
  }
  for (const one of model.charges)
    if (one.account === account && one.month === month) amounts.push([treatmentAt(model, account, one.start), one.amount]);
  return amounts;
}

function byTreatment(amounts: readonly (readonly [Treatment, Fraction])[]): (readonly [Treatment, Fraction])[] {
  const treatments = amounts.map(([one]) => one).filter((one, index, all) => all.findIndex((other) => isSame(one, other)) === index);
  return treatments.map((one) => [one, sum(amounts.filter(([other]) => isSame(one, other)).map(([, amount]) => amount))]);
}

/** The amounts of an invoice with a VM alone that runs from an instant to the end of its month. A quote shows them. */
export function runtimeAlone(model: Model, account: ModelAccount, price: Fraction, from: Seconds): { net: number; gross: number } {
  const end = monthAfter(monthOf(from));
  const total = cents(costOf(price, end - from));
  const changes = changesBetween(model, account, from, end);
  const parts = [from, ...changes].map(
    (start, index) => [treatmentAt(model, account, start), costOf(price, (changes[index] ?? end) - start)] as const,
  );
  return { net: numberOfCents(total), gross: numberOfCents(grossOf(divided(parts, total))) };
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
  const before = invoiced.map((sums) => netOf(credited.filter((one) => isSame(one, sums))));
  const rest = invoiced.map(({ net }, place) => net - (before[place] ?? 0n));
  const all = rest.reduce((one, other) => one + other, 0n);
  const shares = rest.map((net) => ({ floor: (net * amount) / all, remainder: (net * amount) % all }));
  const left = amount - shares.reduce((one, { floor }) => one + floor, 0n);
  const order = [...shares.keys()].toSorted(
    (one, other) => Number((shares[other]?.remainder ?? 0n) - (shares[one]?.remainder ?? 0n)) || one - other,
  );
  const lucky = new Set(order.slice(0, Number(left)));
  return invoiced
    .map(({ basisPoints, isReverse }, place) => {
      const net = (shares[place]?.floor ?? 0n) + (lucky.has(place) ? 1n : 0n);
      const already = before[place] ?? 0n;
      return { basisPoints, isReverse, net, vat: vatOf(already + net, basisPoints) - vatOf(already, basisPoints) };
    })
    .filter(({ net }) => net > 0n || invoiced.length === 1);
}

export function netOf(sums: readonly ModelVat[]): bigint {
  return sums.reduce((all, { net }) => all + net, 0n);
}

export function grossOf(sums: readonly ModelVat[]): bigint {
  return sums.reduce((all, { net, vat }) => all + net + vat, 0n);
}
