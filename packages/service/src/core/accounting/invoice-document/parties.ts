/** The seller and the buyers that invoices show (not shown in the specification; our choice). */
import { createHash } from 'node:crypto';

import type { DocumentLanguage } from '@reseller/operator-client';

import { dayAfter, dayIn, startOfDay } from '../../../rules/day.ts';
import { inForceAt } from '../../../rules/in-force.ts';
import { EARLIEST } from '../../../rules/tax-status.ts';
import type { TaxStatus } from '../../../rules/tax-status.ts';
import { readSetting, writeSetting } from '../../../store/settings.ts';
import type { Db } from '../../../store/store.ts';
import { statusesOf } from '../account-vat.ts';

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
  /** SHA-256 of the logo. Absent if there is none. */
  readonly logo_hash?: string;
}

/** The buyer of an account. */
export interface BillingProfile extends Omit<Party, 'country' | 'vat_id'> {
  /** At least one, in the order of their days. */
  readonly statuses: readonly TaxStatus[];
  readonly language: DocumentLanguage;
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

/** The logo with a hash. */
export async function readLogo(db: Db, hash: string): Promise<Uint8Array> {
  const { image } = await db.selectFrom('logos').select('image').where('hash', '=', hash).executeTakeFirstOrThrow();
  return Buffer.from(image, 'base64');
}

/** Stores a logo for good, because documents that were issued with it may be rendered later. @returns Its hash. */
export async function writeLogo(db: Db, image: string): Promise<string> {
  const hash = createHash('sha256').update(Buffer.from(image, 'base64')).digest('hex');
  await db
    .insertInto('logos')
    .values({ hash, image })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
  return hash;
}

/** The billing profile of an account, if it has one. */
export async function readBillingProfile(db: Db, accountId: string): Promise<BillingProfile | undefined> {
  const row = await db.selectFrom('billing_profiles').selectAll().where('account_id', '=', accountId).executeTakeFirst();
  if (!row) return undefined;
  const { company, street, postal_code, city, language } = row;
  return { company, street, postal_code, city, language, statuses: statusesOf(row) };
}

/** @param now Milliseconds. */
export async function writeBillingProfile(db: Db, accountId: string, profile: BillingProfile, now: number): Promise<void> {
  const { statuses, ...address } = profile;
  const { country, vatId, reverseCharge } = inForceAt(statuses, now);
  const row = { ...address, country, vat_id: vatId, reverse_charge: reverseCharge ? 1 : 0, tax_statuses: JSON.stringify(statuses) };
  await db
    .insertInto('billing_profiles')
    .values({ account_id: accountId, ...row })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
    .execute();
}

/** The first instant of an account that is not invoiced, in milliseconds, and the first day of which nothing is invoiced. */
export async function notInvoiced(db: Db, accountId: string, timeZone: string): Promise<{ readonly from: number; readonly day: string }> {
  const { end } = await db
    .selectFrom('invoices')
    .select(({ fn }) => fn.max<number | null>('period_end').as('end'))
    .where('account_id', '=', accountId)
    .where('number', 'is not', null)
    .executeTakeFirstOrThrow();
  if (end === null) return { from: EARLIEST.validFrom, day: EARLIEST.day };
  const from = end * 1000;
  const day = dayIn(timeZone, from);
  return { from, day: startOfDay(timeZone, day) < from ? dayAfter(day) : day };
}

/** The ID of an account with reverse charge in a country, now, later, or since its open period began, if there is one. */
export async function reverseChargeBuyerIn(db: Db, country: string): Promise<string | undefined> {
  const buyers = await db
    .selectFrom('billing_profiles')
    .innerJoin('accounts', 'accounts.id', 'billing_profiles.account_id')
    .select(['account_id', 'period_start', 'country', 'vat_id', 'reverse_charge', 'tax_statuses'])
    .where(({ or, eb }) => or([eb('reverse_charge', '=', 1), eb('tax_statuses', 'like', `%"${country}"%`)]))
    .orderBy('account_id')
    .execute();
  return buyers.find((buyer) => {
    const statuses = statusesOf(buyer);
    const { validFrom: first } = inForceAt(statuses, buyer.period_start * 1000);
    return statuses.some((status) => status.validFrom >= first && status.reverseCharge && status.country === country);
  })?.account_id;
}
