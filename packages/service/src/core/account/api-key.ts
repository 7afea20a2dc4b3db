/** The restrictions, the rotation and the revocation of API keys, for both APIs. */
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import type { Ports } from '../../ports/ports.ts';
import type { Mode } from '../../rules/mode.ts';
import { decimalOf, euros } from '../../rules/money.ts';
import { Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { ApiKeysTable } from '../../store/tables/accounts.ts';
import { accessOf, issueKey } from './account.ts';
import type { NewKey } from './account.ts';
import { spentOf } from './spending.ts';

type Row = Selectable<ApiKeysTable>;

/** The limits of the purchases of a key. Amounts are decimals in EUR. Null for no limit. */
export interface SpendingLimit {
  readonly per_day: string | null;
  readonly per_month: string | null;
  readonly operations: readonly string[] | null;
}

/** The expiry, the networks and the spending limit of a key. Null for no restriction. */
export interface KeyRestrictions {
  /** Milliseconds. */
  readonly validUntil: number | null;
  readonly allowedNetworks: readonly string[] | null;
  readonly spendingLimit: SpendingLimit | null;
}

/** Whether a key has any restriction. Such a key manages only itself, so that it cannot get a key that may do more. */
export function isRestricted(key: Pick<Row, 'valid_until' | 'allowed_networks' | 'limit_id'>): boolean {
  return key.valid_until !== null || key.allowed_networks !== null || key.limit_id !== null;
}

/** Sets all restrictions of a key. A key shares its spending limit with the keys that it replaced or that replaced it. */
export async function restrictKey(
  db: Db,
  { random, clock }: Pick<Ports, 'random' | 'clock'>,
  key: Pick<Row, 'id' | 'account_id' | 'limit_id'>,
  { validUntil, allowedNetworks, spendingLimit }: KeyRestrictions,
): Promise<void> {
  const limitId = spendingLimit && (key.limit_id ?? uuidv7({ msecs: clock.now(), random: random.bytes(16) }));
  if (spendingLimit && limitId !== null) {
    const { per_day: day, per_month: month, operations } = spendingLimit;
    const values = {
      per_day: day === null ? null : Number(euros(day)),
      per_month: month === null ? null : Number(euros(month)),
      operations: operations === null ? null : JSON.stringify(operations),
    };
    await db
      .insertInto('spending_limits')
      .values({ id: limitId, account_id: key.account_id, ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
      .execute();
  }
  await db
    .updateTable('api_keys')
    .set({
      valid_until: validUntil,
      allowed_networks: allowedNetworks === null ? null : JSON.stringify(allowedNetworks),
      limit_id: limitId,
    })
    .where('id', '=', key.id)
    .execute();
}

/** Reads a key of an account, and locks it until the transaction ends. Undefined if the account does not have it. */
export function lockKey(db: Db, id: string, accountId?: string): Promise<Row | undefined> {
  return db
    .updateTable('api_keys')
    .set(({ ref }) => ({ label: ref('label') }))
    .where('id', '=', id)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .returningAll()
    .executeTakeFirst();
}

/**
 * Issues a key with the label, the access, the rate limit and the restrictions of another one, which stays valid for the overlap.
 *
 * @param old A key that the transaction has locked.
 * @throws Refusal 409 if the old key was rotated or revoked before, or has expired.
 */
export async function replaceKey(
  db: Db,
  ports: Pick<Ports, 'clock' | 'random'>,
  old: Row,
  { overlapSeconds, now, mode }: { readonly overlapSeconds: number; readonly now: number; readonly mode: Mode },
): Promise<NewKey & { readonly replacedUntil: number }> {
  const obstacle = obstacleOf(old, now);
  if (obstacle) throw new Refusal(409, 'wrong_state', `The API key ${old.id} ${obstacle}`);
  const replacedUntil = Math.min(old.valid_until ?? Infinity, now + overlapSeconds * 1000);
  await db.updateTable('api_keys').set({ valid_until: replacedUntil, rotated: 1 }).where('id', '=', old.id).execute();
  const { id, key } = await issueKey(db, ports, old.account_id, { label: old.label, access: accessOf(old), mode });
  const { rate_requests, rate_seconds, valid_until, allowed_networks, limit_id } = old;
  await db
    .updateTable('api_keys')
    .set({ rate_requests, rate_seconds, valid_until, allowed_networks, limit_id })
    .where('id', '=', id)
    .execute();
  return { id, key, replacedUntil };
}

function obstacleOf({ revoked, rotated, valid_until: validUntil }: Row, now: number): string | undefined {
  if (revoked !== null) return 'is revoked, so it cannot be rotated. Issue a new one, or rotate the newest.';
  if (rotated === 1) return 'was rotated before, so it cannot be rotated again. Rotate the key that replaced it.';
  if (validUntil !== null && validUntil <= now) return 'has expired, so it cannot be rotated. Ask the provider for a new one.';
  return undefined;
}

/** The spending limit of a key with what was spent of it, or null. @param now Milliseconds. */
export async function spendingLimitOf(db: Db, { limit_id: id }: Pick<Row, 'limit_id'>, now: number) {
  if (id === null) return null;
  const limit = await db.selectFrom('spending_limits').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const spent = await spentOf(db, id, now);
  return {
    per_day: limit.per_day === null ? null : decimalOf(BigInt(limit.per_day)),
    per_month: limit.per_month === null ? null : decimalOf(BigInt(limit.per_month)),
    operations: storedTexts(limit.operations),
    spent_today: decimalOf(spent.day),
    spent_this_month: decimalOf(spent.month),
  };
}

/** The texts of a column with a JSON array, or null. */
export function storedTexts(column: string | null): string[] | null {
  if (column === null) return null;
  const texts: string[] = JSON.parse(column);
  return texts;
}
