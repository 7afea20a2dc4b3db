import type { ApiKey, IssuedApiKey } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { accessOf, issueKey } from '../core/account/account.ts';
import type { KeyAccess } from '../core/account/account.ts';
import { DEFAULTS } from '../generated/operator/facts.gen.ts';
import type { RateLimit } from '../store/settings.ts';
import type { Db } from '../store/store.ts';
import type { ApiKeysTable } from '../store/tables/api-keys.ts';
import { accountOf, assertNotErased, lockedAccountOf } from './account.ts';
import { toInstant, toInstantOrNull } from './instants.ts';
import type { OperatorCaller, ReadOperation, StoreOperation } from './operation.ts';
import { afterCursor, inOrder, pageOf, rowLimit } from './paging.ts';
import type { Order } from './paging.ts';
import { requireFound, OperatorProblem } from './problem.ts';

type Row = Selectable<ApiKeysTable>;

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'asc' };

/** GET /accounts/{account_id}/api-keys */
export const listApiKeys: ReadOperation<'listApiKeys'> = {
  kind: 'read',
  async run(db, { path, query }) {
    const { id: accountId } = await accountOf(db, path.account_id);
    const keys = await db
      .selectFrom('api_keys')
      .selectAll()
      .where('account_id', '=', accountId)
      .where(afterCursor(order, query))
      .orderBy(inOrder(order))
      .limit(rowLimit(query))
      .execute();
    const { rows, next_cursor } = pageOf(keys, query, ({ created, id }) => [created, id]);
    return { items: rows.map(toApiKey), next_cursor };
  },
};

/** POST /accounts/{account_id}/api-keys: only this response contains the key. */
export const issueApiKey: StoreOperation<'issueApiKey'> = {
  kind: 'store',
  async run({ db }, { path, body, caller, runtime: { ports, mode } }) {
    const properties = { ...DEFAULTS.IssueApiKeyRequest, ...body, mode };
    assertMayIssue(caller, properties.access);
    const account = await lockedAccountOf(db, path.account_id);
    assertNotErased(account);
    const { id, key } = await issueKey(db, ports, account.id, properties);
    return toIssuedApiKey(db, id, key);
  },
};

/** POST /api-keys/{api_key_id}/rotate: the old key stays valid for the overlap, so that its holder can switch without downtime. */
export const rotateApiKey: StoreOperation<'rotateApiKey'> = {
  kind: 'store',
  before: async (db, { path }) => toApiKey(await lockedKeyOf(db, path.api_key_id)),
  async run({ db }, { path, body, caller, now, runtime: { ports, mode } }) {
    const old = await keyOf(db, path.api_key_id);
    assertMayIssue(caller, accessOf(old));
    const replaced = await db
      .updateTable('api_keys')
      .set({ valid_until: now + { ...DEFAULTS.RotateApiKeyRequest, ...body }.overlap_seconds * 1000 })
      .where('id', '=', old.id)
      .where('revoked', 'is', null)
      .where('valid_until', 'is', null)
      .returningAll()
      .executeTakeFirst();
    if (!replaced) {
      const why = old.revoked === null ? 'was rotated before' : 'is revoked';
      throw new OperatorProblem('wrong-state', `The key ${old.id} ${why}, so it cannot be rotated. Issue a new one, or rotate the newest.`);
    }
    const { id, key } = await issueKey(db, ports, old.account_id, { label: old.label, access: accessOf(old), mode });
    await db
      .updateTable('api_keys')
      .set({ rate_requests: old.rate_requests, rate_seconds: old.rate_seconds })
      .where('id', '=', id)
      .execute();
    return { issued: await toIssuedApiKey(db, id, key), replaced: toApiKey(replaced) };
  },
};

/** POST /api-keys/{api_key_id}/revoke */
export const revokeApiKey: StoreOperation<'revokeApiKey'> = {
  kind: 'store',
  before: async (db, { path }) => toApiKey(await lockedKeyOf(db, path.api_key_id)),
  async run({ db }, { path, now }) {
    const { id } = await keyOf(db, path.api_key_id);
    await db.updateTable('api_keys').set({ revoked: now }).where('id', '=', id).where('revoked', 'is', null).execute();
    return toApiKey(await keyOf(db, id));
  },
};

/** PUT /api-keys/{api_key_id}/rate-limit */
export const setApiKeyRateLimit: StoreOperation<'setApiKeyRateLimit'> = {
  kind: 'store',
  before: async (db, { path }) => toApiKey(await lockedKeyOf(db, path.api_key_id)),
  async run({ db }, { path, body }) {
    const { id } = await keyOf(db, path.api_key_id);
    const { rate_limit: limit } = body;
    await db
      .updateTable('api_keys')
      .set({ rate_requests: limit?.requests ?? null, rate_seconds: limit?.seconds ?? null })
      .where('id', '=', id)
      .execute();
    return toApiKey(await keyOf(db, id));
  },
};

/**
 * A full key buys in the name of the account, and one that reads secrets takes over its servers and domains.
 *
 * @throws OperatorProblem 403 if the caller may only issue keys that read.
 */
function assertMayIssue({ scopes }: OperatorCaller, access: KeyAccess): void {
  if (access === 'read' || scopes?.includes('admin')) return;
  throw new OperatorProblem(
    'forbidden',
    `A key with the access ${access} needs the scope admin. Use a token with this scope, or issue a key with the access read.`,
  );
}

export async function toIssuedApiKey(db: Db, id: string, key: string): Promise<IssuedApiKey> {
  return { ...toApiKey(await keyOf(db, id)), key };
}

async function keyOf(db: Db, id: string): Promise<Row> {
  return requireFound(await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst(), 'API key of this identifier');
}

/** Reads a key, and locks it until the transaction ends. So the audit gets the state that the change replaced. */
async function lockedKeyOf(db: Db, id: string): Promise<Row> {
  const key = await db
    .updateTable('api_keys')
    .set(({ ref }) => ({ label: ref('label') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  return requireFound(key, 'API key of this identifier');
}

/** The rate limit of the key itself. Null if the default applies. */
export function ownLimit({
  rate_requests: requests,
  rate_seconds: seconds,
}: Pick<Row, 'rate_requests' | 'rate_seconds'>): RateLimit | null {
  return requests === null || seconds === null ? null : { requests, seconds };
}

function toApiKey(key: Row): ApiKey {
  return {
    id: key.id,
    account_id: key.account_id,
    label: key.label,
    mode: key.mode,
    access: accessOf(key),
    created: toInstant(key.created),
    valid_until: toInstantOrNull(key.valid_until),
    revoked: toInstantOrNull(key.revoked),
    rate_limit: ownLimit(key),
  };
}
