import { vatInForce } from '../../rules/vat.ts';
import { readVatRates } from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';
import { readBillingProfile } from './invoice-document/parties.ts';

/** The VAT rate of an account at an instant, in hundredths of a percent. 0 if the account owes the VAT itself. */
export async function vatRateOf(db: Db, accountId: string, now: number): Promise<number> {
  const profile = await readBillingProfile(db, accountId);
  return profile?.reverse_charge ? 0 : vatInForce(await readVatRates(db), now);
}
