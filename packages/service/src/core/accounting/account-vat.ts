/** The VAT of an account: the rates of the seller, and the tax statuses of the buyer. */
import { ratesOfBuyer } from '../../rules/tax-status.ts';
import { vatInForce } from '../../rules/vat.ts';
import type { VatRate } from '../../rules/vat.ts';
import type { Db } from '../../store/store.ts';
import { catalogueOf } from '../catalogue/catalogue.ts';
import { readTaxStatuses } from './invoice-document/parties.ts';

export async function vatRatesOf(db: Db, accountId: string): Promise<readonly VatRate[]> {
  const { vatRates } = await catalogueOf(db);
  return ratesOfBuyer(vatRates, await readTaxStatuses(db, accountId));
}

/** The VAT rate that an account pays at an instant (milliseconds), in hundredths of a percent. */
export async function vatAt(db: Db, accountId: string, now: number): Promise<number> {
  return vatInForce(await vatRatesOf(db, accountId), now);
}
