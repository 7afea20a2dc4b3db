/** How payments change debts (not shown in the specification; our choice). */
import { divideUp, UNITS_PER_CENT } from './money.ts';
import type { Money } from './money.ts';

/** The rest of an invoice after its credit notes, and the amount paid of it. */
export interface InvoiceDebt {
  readonly net: Money;
  /** With VAT. Undefined until its document is issued. Nothing can be paid of it before. */
  readonly gross: Money | undefined;
  /** With VAT. */
  readonly paid: Money;
}

/** The amount that an invoice takes from the credit: its net amount, in proportion to the gross amount that is left to pay, rounded up to cents. */
export function owedOf({ net, gross, paid }: InvoiceDebt): Money {
  if (gross === undefined || paid === 0n) return net;
  if (paid >= gross) return 0n;
  return divideUp(net * (gross - paid), gross * UNITS_PER_CENT) * UNITS_PER_CENT;
}

/** The net amount for which an amount with VAT suffices, rounded down to cents. */
export function netOf(gross: Money, basisPoints: number): Money {
  return ((gross * 10_000n) / ((10_000n + BigInt(basisPoints)) * UNITS_PER_CENT)) * UNITS_PER_CENT;
}
