/** How the buyer of an account is taxed. A status is valid from a day on, as a VAT rate is. */
import { inForceAt } from './in-force.ts';
import type { Dated } from './in-force.ts';
import { hasKnownPrefix } from './vat-id.ts';
import { vatInForce } from './vat.ts';
import type { VatRate } from './vat.ts';

export interface TaxStatus extends Dated {
  /** The first day. `validFrom` is its start in the provider's time zone when it was set. */
  readonly day: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly vatId: string | null;
  readonly reverseCharge: boolean;
}

/** The beginning of a status that has always applied. */
export const EARLIEST = { day: '1970-01-01', validFrom: 0 };

/** The rates of a buyer: those of the seller, and 0 while the buyer owes the VAT. */
export function ratesOfBuyer(rates: readonly VatRate[], statuses: readonly TaxStatus[]): readonly VatRate[] {
  if (!statuses.some(({ reverseCharge }) => reverseCharge)) return rates;
  const instants = new Set([...rates, ...statuses].map(({ validFrom }) => validFrom));
  return [...instants].map((validFrom) =>
    owesVat(statuses, validFrom)
      ? { basisPoints: 0, reverseCharge: true, validFrom }
      : { basisPoints: vatInForce(rates, validFrom), validFrom },
  );
}

/** A buyer without a status does not owe the VAT. */
function owesVat(statuses: readonly TaxStatus[], now: number): boolean {
  const begun = statuses.filter(({ validFrom }) => validFrom <= now);
  return begun.length > 0 && inForceAt(begun, now).reverseCharge;
}

/** The statuses with another one, in the order of their days. It replaces the one of its day. A status that changes nothing is left out. */
export function withStatus(statuses: readonly TaxStatus[], added: TaxStatus): TaxStatus[] {
  return [...statuses.filter(({ day, validFrom }) => day !== added.day && validFrom !== added.validFrom), added]
    .toSorted((one, other) => one.validFrom - other.validFrom)
    .filter(({ country, vatId, reverseCharge }, index, all) => {
      const before = all[index - 1];
      return before?.country !== country || before.vatId !== vatId || before.reverseCharge !== reverseCharge;
    });
}

/**
 * The status that a document shows: the last one before its period ends, or the last one with reverse charge if it has such lines.
 *
 * @param statuses At least one.
 * @param end Milliseconds.
 */
export function statusShown(statuses: readonly TaxStatus[], end: number, hasReverseCharge: boolean): TaxStatus {
  const shown = hasReverseCharge ? statuses.filter(({ reverseCharge }) => reverseCharge) : statuses;
  return inForceAt(shown, end - 1);
}

/** The statuses with reverse charge that are valid in a period, in milliseconds. */
export function reverseChargeIn(statuses: readonly TaxStatus[], start: number, end: number): TaxStatus[] {
  return statuses.filter(
    ({ reverseCharge, validFrom }, index) => reverseCharge && validFrom < end && (statuses[index + 1]?.validFrom ?? Infinity) > start,
  );
}

/** Whether a document can show a status. Earlier versions of the service did not check the prefix of a VAT identifier. */
export function canBeShown({ vatId }: TaxStatus): boolean {
  return vatId === null || hasKnownPrefix(vatId);
}
