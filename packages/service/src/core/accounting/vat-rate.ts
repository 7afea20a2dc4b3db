import { vatInForce } from '../../rules/vat.ts';
import { readVatRates } from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';

/**
 * The VAT rate of a buyer at an instant, in hundredths of a percent. It is 0 if the buyer owes the VAT itself.
 *
 * @param now Milliseconds.
 */
export async function vatRateAt(db: Db, now: number, reverseCharge: boolean): Promise<number> {
  return reverseCharge ? 0 : vatInForce(await readVatRates(db), now);
}
