/** Functions that operations on handles share. */
import type { Contact } from '@reseller/adapters';
import type { Selectable } from 'kysely';
import * as v from 'valibot';

import { randomText } from '../../rules/random.ts';
import type { Random } from '../../rules/random.ts';
import type { Db } from '../../store/store.ts';
import type { HandlesTable } from '../../store/tables/domains.ts';

export type HandleRow = Selectable<HandlesTable>;

/** Without characters that look alike. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const HANDLE_ID = /^HDL-[A-Z0-9]{1,32}$/;

/** 12 characters from an alphabet of 32 contain 60 random bits. */
export function newHandleId(random: Random): string {
  return `HDL-${randomText(random, ALPHABET, 12)}`;
}

/** The account's handle with an ID, if it exists. */
export async function findHandle(db: Db, accountId: string, id: string): Promise<HandleRow | undefined> {
  if (!HANDLE_ID.test(id)) return undefined;
  return db.selectFrom('handles').selectAll().where('id', '=', id).where('account_id', '=', accountId).executeTakeFirst();
}

/** The handles of an account in the order of their creation. */
export async function handlesOf(db: Db, accountId: string): Promise<HandleRow[]> {
  return db.selectFrom('handles').selectAll().where('account_id', '=', accountId).orderBy('created').orderBy('id').execute();
}

/** A contact in the details of a delivery. */
export const contactDetails: v.GenericSchema<Contact> = v.object({
  handle: v.string(),
  gender: v.string(),
  firstname: v.string(),
  lastname: v.string(),
  organisation: v.nullable(v.string()),
  street: v.string(),
  number: v.string(),
  zipcode: v.string(),
  city: v.string(),
  region: v.string(),
  countrycode: v.string(),
  email: v.string(),
  phone: v.nullable(v.string()),
});

/** Converts a stored handle to the input of the registrar. */
export function contactOf({ id, account_id: _accountId, type: _type, fax: _fax, created: _created, ...person }: HandleRow): Contact {
  return { handle: id, ...person };
}
