import type { AccountKey } from '@reseller/client/extension';
import type { Selectable } from 'kysely';

import { accessOf } from '../../core/account/account.ts';
import { isRestricted, lockKey, replaceKey, spendingLimitOf, storedTexts } from '../../core/account/api-key.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import { toInstant, toInstantOrNull } from '../../rules/instants.ts';
import { notFound, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { ApiKeysTable } from '../../store/tables/accounts.ts';
import type { ReadOperation, StoreOperation } from '../operation.ts';

type Row = Selectable<ApiKeysTable>;

/** GET /account/keys */
export const listKeys: ReadOperation<'listKeys'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, keyId, now }) {
    const keys = await db.selectFrom('api_keys').selectAll().where('account_id', '=', accountId).orderBy('created').orderBy('id').execute();
    const list: AccountKey[] = [];
    for (const key of keys) list.push(await toAccountKey(db, key, { keyId, now }));
    return { message: 'The API keys were listed.', data: { list } };
  },
};

/** POST /account/keys/{key_id}/rotate: only this response contains the new key. */
export const rotateKey: StoreOperation<'rotateKey'> = {
  kind: 'store',
  async run({ db }, { accountId, keyId, path, form, now, runtime: { ports, mode } }) {
    const old = await manageableKey(db, { accountId, keyId, id: path.key_id });
    const { overlap_seconds: overlapSeconds } = { ...DEFAULTS.RotateKeyForm, ...form };
    const { id, key, replacedUntil } = await replaceKey(db, ports, old, { overlapSeconds, now, mode });
    return {
      message: 'The API key was rotated. The old key stays valid until replaced_valid_until.',
      data: { key_id: id, api_key: key, replaced_key_id: old.id, replaced_valid_until: toInstant(replacedUntil) },
    };
  },
};

/** POST /account/keys/{key_id}/revoke */
export const revokeKey: StoreOperation<'revokeKey'> = {
  kind: 'store',
  async run({ db }, { accountId, keyId, path, now }) {
    const { id, revoked } = await manageableKey(db, { accountId, keyId, id: path.key_id });
    const time = revoked ?? now;
    await db.updateTable('api_keys').set({ revoked: time }).where('id', '=', id).execute();
    return {
      message: 'The API key was revoked. All instances refuse it within a second.',
      data: { key_id: id, revoked: toInstant(time) },
    };
  },
};

/**
 * Locks a key that the caller may manage. A key with restrictions manages only itself, so that it cannot get a key that may do more.
 *
 * @throws Refusal 404 if the account does not have the key, 403 if the caller may not manage it.
 */
async function manageableKey(
  db: Db,
  { accountId, keyId, id }: { readonly accountId: string; readonly keyId: string; readonly id: string },
): Promise<Row> {
  const caller = await db.selectFrom('api_keys').selectAll().where('id', '=', keyId).executeTakeFirstOrThrow();
  if (id !== keyId && isRestricted(caller)) {
    throw new Refusal(
      403,
      'operation_not_allowed',
      `This API key has restrictions, so it can rotate and revoke only itself (${keyId}). Use a key without restrictions, or ask the provider.`,
    );
  }
  const key = await lockKey(db, id, accountId);
  if (!key) throw notFound('API key');
  return key;
}

async function toAccountKey(db: Db, key: Row, { keyId, now }: { readonly keyId: string; readonly now: number }): Promise<AccountKey> {
  return {
    key_id: key.id,
    label: key.label,
    access: accessOf(key),
    created: toInstant(key.created),
    valid_until: toInstantOrNull(key.valid_until),
    revoked: toInstantOrNull(key.revoked),
    last_used: toInstantOrNull(key.last_used),
    current: key.id === keyId,
    allowed_networks: storedTexts(key.allowed_networks),
    spending_limit: await spendingLimitOf(db, key, now),
  };
}
