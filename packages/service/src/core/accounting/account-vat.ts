/** The VAT of an account: the rates of the seller, and the tax statuses of the buyer. */
import { EARLIEST, ratesOfBuyer } from '../../rules/tax-status.ts';
import type { TaxStatus } from '../../rules/tax-status.ts';
import { vatInForce } from '../../rules/vat.ts';
import type { VatRate } from '../../rules/vat.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import type { BillingProfilesTable } from '../../store/tables/accounts.ts';
import { catalogueOf } from '../catalogue/catalogue.ts';

export async function vatRatesOf(db: Db, accountId: string): Promise<readonly VatRate[]> {
  const { vatRates } = await catalogueOf(db);
  return ratesOfBuyer(vatRates, await readTaxStatuses(db, accountId));
}

/** The VAT rate that an account pays at an instant (milliseconds), in hundredths of a percent. */
export async function vatAt(db: Db, accountId: string, now: number): Promise<number> {
  return vatInForce(await vatRatesOf(db, accountId), now);
}

/** The tax statuses of an account. Empty if it has no billing profile. */
async function readTaxStatuses(db: Db, accountId: string): Promise<readonly TaxStatus[]> {
  const [row] = await statusRow(db, { accountId });
  return row ? statusesOf(row) : [];
}

type StatusColumns = Pick<BillingProfilesTable, 'country' | 'vat_id' | 'reverse_charge' | 'tax_statuses'>;

const statusRow = prepared<{ accountId: string }, StatusColumns>((db, parameter) =>
  db
    .selectFrom('billing_profiles')
    .select(['country', 'vat_id', 'reverse_charge', 'tax_statuses'])
    .where('account_id', '=', parameter('accountId')),
);

/** The tax statuses in a billing profile. */
export function statusesOf({ country, vat_id, reverse_charge, tax_statuses }: StatusColumns): readonly TaxStatus[] {
  if (tax_statuses === null) return [{ ...EARLIEST, country, vatId: vat_id, reverseCharge: reverse_charge === 1 }];
  const statuses: TaxStatus[] = JSON.parse(tax_statuses);
  return statuses;
}
