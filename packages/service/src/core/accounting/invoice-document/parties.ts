/** The seller and the buyers that invoices show (not shown in the specification; our choice). */
import { readSetting, writeSetting } from '../../../store/settings.ts';
import type { Db } from '../../../store/store.ts';

/** The address of a company. */
export interface Party {
  readonly company: string;
  readonly street: string;
  readonly postal_code: string;
  readonly city: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly vat_id: string | null;
}

/** The provider, with the details that a buyer needs to pay. */
export interface Seller extends Party {
  readonly vat_id: string;
  readonly email: string;
  readonly bank_name: string;
  readonly iban: string;
  readonly bic: string;
  /** Days from the date of an invoice to its due date. */
  readonly payment_days: number;
  /** Number that the tax office gave. Absent in documents that were issued before the seller had it. */
  readonly tax_number?: string | null;
  /** Such as `Amtsgericht Frankfurt am Main, HRB 12345`. */
  readonly register?: string | null;
  readonly managing_directors?: string | null;
}

/** The buyer of an account. */
export interface BillingProfile extends Party {
  /** Whether the recipient owes the VAT. */
  readonly reverse_charge: boolean;
}

const SELLER = 'seller';

/** The seller. Undefined until an operator has set it. */
export async function readSeller(db: Db): Promise<Seller | undefined> {
  const text = await readSetting(db, SELLER);
  if (text === undefined) return undefined;
  const seller: Seller = JSON.parse(text);
  return seller;
}

export function writeSeller(db: Db, seller: Seller): Promise<void> {
  return writeSetting(db, SELLER, JSON.stringify(seller));
}

/** The billing profile of an account, if it has one. */
export async function readBillingProfile(db: Db, accountId: string): Promise<BillingProfile | undefined> {
  const row = await db.selectFrom('billing_profiles').selectAll().where('account_id', '=', accountId).executeTakeFirst();
  if (!row) return undefined;
  const { account_id: _account, reverse_charge, ...party } = row;
  return { ...party, reverse_charge: reverse_charge === 1 };
}

export async function writeBillingProfile(db: Db, accountId: string, profile: BillingProfile): Promise<void> {
  const row = { ...profile, reverse_charge: profile.reverse_charge ? 1 : 0 };
  await db
    .insertInto('billing_profiles')
    .values({ account_id: accountId, ...row })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
    .execute();
}

/** The ID of an account in a country whose buyer owes the VAT, if there is one. */
export async function reverseChargeBuyerIn(db: Db, country: string): Promise<string | undefined> {
  const buyer = await db
    .selectFrom('billing_profiles')
    .select('account_id')
    .where('country', '=', country)
    .where('reverse_charge', '=', 1)
    .orderBy('account_id')
    .executeTakeFirst();
  return buyer?.account_id;
}
