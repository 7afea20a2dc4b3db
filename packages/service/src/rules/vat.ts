/** Value-added tax (the specification shows gross prices and no rate: not shown). Each supply is taxed at the rate of its time. */
import { apportionCents, apportionCentsInSteps } from './apportion.ts';
import type { Seconds } from './billing.ts';
import { resultOf } from './computation.ts';
import type { Computation } from './computation.ts';
import { inForceAt } from './in-force.ts';
import type { Dated } from './in-force.ts';
import { divideHalfEven, roundHalfUpToCents, roundToCents } from './money.ts';
import type { Money } from './money.ts';

/** How a supply is taxed. */
export interface VatTreatment {
  /** Hundredths of a percent. */
  readonly basisPoints: number;
  /** Whether the recipient owes the VAT. The rate is 0 then. */
  readonly reverseCharge?: boolean;
}

/** A treatment and the instant from which it applies. */
export interface VatRate extends Dated, VatTreatment {}

/** A rate and the day from which it applies. `validFrom` is the start of the day in the provider's time zone. */
export interface DatedVatRate extends VatRate {
  /** Such as `2027-01-01`. */
  readonly day: string;
}

export const DEFAULT_VAT_RATES: readonly DatedVatRate[] = [{ basisPoints: 1900, day: '1970-01-01', validFrom: 0 }];

/** The time zone of the days of rates until an operator sets another one. */
export const DEFAULT_TIME_ZONE = 'Europe/Berlin';

/**
 * The rate in force at an instant, in hundredths of a percent.
 *
 * @param rates At least one. The first rate also applies before its `validFrom`.
 * @param now Milliseconds.
 */
export function vatInForce(rates: readonly VatRate[], now: number): number {
  return inForceAt(rates, now).basisPoints;
}

/** The treatment in force at an instant in milliseconds. */
export function treatmentAt(rates: readonly VatRate[], now: number): VatTreatment {
  return treatmentOf(inForceAt(rates, now));
}

export function treatmentOf({ basisPoints, reverseCharge = false }: VatTreatment): VatTreatment {
  return { basisPoints, ...(reverseCharge && { reverseCharge }) };
}

function isSameTreatment(one: VatTreatment, other: VatTreatment): boolean {
  return one.basisPoints === other.basisPoints && Boolean(one.reverseCharge) === Boolean(other.reverseCharge);
}

/**
 * The highest rate in force in a time, in hundredths of a percent.
 *
 * @param start Milliseconds.
 * @param end Milliseconds. The first instant after the time.
 */
export function highestRate(rates: readonly VatRate[], start: number, end: number): number {
  const begun = rates.map(({ validFrom }) => validFrom).filter((instant) => instant > start && instant < end);
  return Math.max(...[start, ...begun].map((instant) => vatInForce(rates, instant)));
}

/** A part of a runtime that has one treatment. */
export interface RatedTime extends VatTreatment {
  readonly start: Seconds;
  readonly stop: Seconds;
}

/** Splits a runtime where its treatment changes. Each second is in one part. A runtime of 0 seconds is one part. */
export function splitByRate(rates: readonly VatRate[], start: Seconds, stop: Seconds): RatedTime[] {
  const changes = rates
    .map(({ validFrom }) => validFrom / 1000)
    .filter((at) => at > start && at < stop && !isSameTreatment(treatmentAt(rates, at * 1000), treatmentAt(rates, at * 1000 - 1)))
    .toSorted((one, other) => one - other);
  return [start, ...changes].map((from, index) => ({
    ...treatmentAt(rates, from * 1000),
    start: from,
    stop: changes[index] ?? stop,
  }));
}

/**
 * Whether other rates change what applied before an instant.
 *
 * @param before Milliseconds.
 */
export function changesRatesBefore(before: number, rates: readonly VatRate[], others: readonly VatRate[]): boolean {
  const instants = [...rates, ...others].map(({ validFrom }) => validFrom).filter((instant) => instant < before);
  return [-Infinity, ...instants].some((instant) => vatInForce(rates, instant) !== vatInForce(others, instant));
}

/** The net amount of a treatment and the VAT on it, in whole cents. */
export interface VatSum extends VatTreatment {
  readonly net: Money;
  readonly vat: Money;
}

/** An exact net amount with its treatment. */
export interface RatedAmount extends VatTreatment {
  /** A fraction of the denominator that all amounts have. */
  readonly exact: bigint;
}

/** The sum of each rate, the highest rate first, and the amounts in whole cents, in their order. */
export interface Taxed {
  readonly sums: readonly VatSum[];
  readonly amounts: readonly Money[];
}

/**
 * Divides a net total among the rates, then the net amount of each rate among its amounts. The VAT of a rate is rounded once.
 *
 * @param total Units. The sum of the exact amounts, rounded to cents.
 */
export function taxed(amounts: readonly RatedAmount[], denominator: bigint, total: Money): Taxed {
  return resultOf(taxedInSteps(amounts, denominator, total));
}

/** Like `taxed`, for the many thousand lines that an invoice may have. */
export function* taxedInSteps(amounts: readonly RatedAmount[], denominator: bigint, total: Money): Computation<Taxed> {
  const treatments = new Map<string, TreatedAmounts>();
  for (const [index, amount] of amounts.entries()) {
    const key = `${amount.basisPoints} ${amount.reverseCharge === true}`;
    const treated = treatments.get(key) ?? { treatment: treatmentOf(amount), indexes: [], exact: [], sum: 0n };
    treated.indexes.push(index);
    treated.exact.push(amount.exact);
    treated.sum += amount.exact;
    treatments.set(key, treated);
    yield;
  }
  const rates = [...treatments.values()].toSorted(
    ({ treatment: one }, { treatment: other }) =>
      other.basisPoints - one.basisPoints || Number(one.reverseCharge ?? 0) - Number(other.reverseCharge ?? 0),
  );
  const nets = apportionCents(
    rates.map(({ sum }) => sum),
    denominator,
    total,
  );
  const shares: Money[] = [];
  for (const [rate, { indexes, exact }] of rates.entries()) {
    const parts = yield* apportionCentsInSteps(exact, denominator, nets[rate] ?? 0n);
    for (const [part, index] of indexes.entries()) {
      shares[index] = parts[part] ?? 0n;
      yield;
    }
  }
  const sums = rates.map(({ treatment }, rate) => {
    const net = nets[rate] ?? 0n;
    return { ...treatment, net, vat: vatOn(net, treatment.basisPoints) };
  });
  return { sums, amounts: shares };
}

/** The amounts of one treatment, with their indexes. */
interface TreatedAmounts {
  readonly treatment: VatTreatment;
  readonly indexes: number[];
  readonly exact: bigint[];
  sum: bigint;
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

/**
 * The rates of a correction of an invoice. The amount is divided in proportion to the rest of each rate, so that a correction of the whole
 * rest corrects exactly the rest of each rate and its VAT.
 *
 * @param invoiced The sums of the invoice.
 * @param credited The sums of its earlier credit notes.
 * @param amount Units, in whole cents, at most the rest of the invoice.
 */
export function correctionByRate(invoiced: readonly VatSum[], credited: readonly VatSum[], amount: Money): VatSum[] {
  const before = invoiced.map((rate) => sumOf(credited.filter((one) => isSameTreatment(one, rate)).map(({ net }) => net)));
  const left = invoiced.map(({ net }, index) => net - (before[index] ?? 0n));
  const all = sumOf(left);
  const parts =
    all === 0n
      ? left
      : apportionCents(
          left.map((net) => net * amount),
          all,
          amount,
        );
  return invoiced.flatMap((rate, index) => {
    const { basisPoints } = rate;
    const net = parts[index] ?? 0n;
    const already = before[index] ?? 0n;
    if (net === 0n && invoiced.length > 1) return [];
    return [{ ...treatmentOf(rate), net, vat: vatOn(already + net, basisPoints) - vatOn(already, basisPoints) }];
  });
}

/**
 * The gross amount of an invoice with one net amount: it is rounded half to even to cents, and its VAT half up. Every gross price that is shown before
 * a purchase follows this rule, except that of a unit.
 */
export function grossOf(net: Money, basisPoints: number): Money {
  const invoiced = roundToCents(net);
  return invoiced + vatOn(invoiced, basisPoints);
}

/** The gross price of a unit, such as a GB of memory, rounded half to even to 10^-8 EUR. No invoice has it. */
export function grossOfUnit(net: Money, basisPoints: number): Money {
  return divideHalfEven(net * (10_000n + BigInt(basisPoints)), 10_000n);
}

/**
 * The value-added tax on a net amount, rounded half up to cents, as bookkeeping programs and validators do.
 *
 * @param net In whole cents, not negative.
 */
export function vatOn(net: Money, basisPoints: number): Money {
  return roundHalfUpToCents((net * BigInt(basisPoints)) / 10_000n);
}
