/** The VAT of an account: the rates of the seller, and the tax statuses of the buyer. */
import { EARLIEST, ratesOfBuyer } from '../../rules/tax-status.ts';
import type { TaxStatus } from '../../rules/tax-status.ts';
import { vatInForce } from '../../rules/vat.ts';
import type { VatRate } from '../../rules/vat.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import type { BillingProfilesTable } from '../../store/tables/accounts.ts';
import { catalogueAt } from '../catalogue/catalogue.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';

/** The catalogue, and the VAT rates that an account pays. */
interface AccountPriceList {
  readonly catalogue: Catalogue;
  readonly vatRates: readonly VatRate[];
}

/** Reads both with one statement, because nearly every request that shows prices needs them. */
export async function priceListOf(db: Db, accountId: string): Promise<AccountPriceList> {
  const [row] = await versionAndStatus(db, { accountId });
  if (!row) throw new Error('The catalogue has no version.');
  const catalogue = await catalogueAt(db, row.version);
  return { catalogue, vatRates: ratesOfBuyer(catalogue.vatRates, row.buyer === null ? [] : statusesOf(row)) };
}

export async function vatRatesOf(db: Db, accountId: string): Promise<readonly VatRate[]> {
  return (await priceListOf(db, accountId)).vatRates;
}

/** The VAT rate that an account pays at an instant (milliseconds), in hundredths of a percent. */
export async function vatAt(db: Db, accountId: string, now: number): Promise<number> {
  return vatInForce(await vatRatesOf(db, accountId), now);
}

type StatusColumns = Pick<BillingProfilesTable, 'country' | 'vat_id' | 'reverse_charge' | 'tax_statuses'>;

/** The status columns are null if the account has no billing profile. */
const versionAndStatus = prepared<{ accountId: string }, StatusColumns & { readonly version: string; readonly buyer: string | null }>(
  (db, parameter) =>
    db
      .selectFrom('catalogue_version')
      .leftJoin('billing_profiles', (join) => join.on('billing_profiles.account_id', '=', parameter('accountId')))
      .select(['version', 'account_id as buyer', 'country', 'vat_id', 'reverse_charge', 'tax_statuses']),
);

/** The tax statuses in a billing profile. */
export function statusesOf({ country, vat_id, reverse_charge, tax_statuses }: StatusColumns): readonly TaxStatus[] {
  if (tax_statuses === null) return [{ ...EARLIEST, country, vatId: vat_id, reverseCharge: reverse_charge === 1 }];
  const statuses: TaxStatus[] = JSON.parse(tax_statuses);
  return statuses;
}
