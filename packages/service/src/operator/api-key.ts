import type { ApiKey, BrokenRule, IssuedApiKey, SetApiKeyRestrictionsRequest } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { accessOf, issueKey } from '../core/account/account.ts';
import type { KeyAccess } from '../core/account/account.ts';
import { lockKey, replaceKey, restrictKey, spendingLimitOf, storedTexts } from '../core/account/api-key.ts';
import type { KeyRestrictions } from '../core/account/api-key.ts';
import { endConsolesOfKey } from '../core/vm/console.ts';
import { DEFAULTS } from '../generated/operator/facts.gen.ts';
import { toInstant, toInstantOrNull } from '../rules/instants.ts';
import type { Mode } from '../rules/mode.ts';
import { isNetwork } from '../rules/networks.ts';
import { missingSettings, operationsThatSet } from '../store/missing-settings.ts';
import type { RateLimit } from '../store/settings.ts';
import type { Db } from '../store/store.ts';
import type { ApiKeysTable } from '../store/tables/accounts.ts';
import { accountOf, assertNotErased, lockedAccountOf } from './account.ts';
import type { OperatorCaller, ReadOperation, StoreOperation } from './operation.ts';
import { readPage } from './paging.ts';
import type { Order } from './paging.ts';
import { assertNoBrokenRules, requireFound, OperatorProblem } from './problem.ts';

type Row = Selectable<ApiKeysTable>;

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'asc' };

/** GET /accounts/{account_id}/api-keys */
export const listApiKeys: ReadOperation<'listApiKeys'> = {
  kind: 'read',
  async run(db, { path, query, now }) {
    const { id: accountId } = await accountOf(db, path.account_id);
    const keys = db.selectFrom('api_keys').selectAll().where('account_id', '=', accountId);
    const { rows, next_cursor } = await readPage(keys, order, query);
    const items: ApiKey[] = [];
    for (const key of rows) items.push(await toApiKey(db, key, now));
    return { items, next_cursor };
  },
};

/** GET /api-keys/{api_key_id} */
export const getApiKey: ReadOperation<'getApiKey'> = {
  kind: 'read',
  run: async (db, { path, now }) => toApiKey(db, await keyOf(db, path.api_key_id), now),
};

/** POST /accounts/{account_id}/api-keys: only this response contains the key. */
export const issueApiKey: StoreOperation<'issueApiKey'> = {
  kind: 'store',
  async run({ db }, { path, body, caller, now, runtime: { ports, mode } }) {
    const { label, access } = { ...DEFAULTS.IssueApiKeyRequest, ...body };
    const { valid_until = null, allowed_networks = null, spending_limit = null } = body;
    assertMayIssue(caller, access);
    if (access === 'full') await assertMaySell(db, mode);
    const restrictions = restrictionsOf({ valid_until, allowed_networks, spending_limit }, now);
    const account = await lockedAccountOf(db, path.account_id);
    assertNotErased(account);
    const { id, key } = await issueKey(db, ports, account.id, { label, access, mode });
    await restrictKey(db, ports, { id, account_id: account.id, limit_id: null }, restrictions);
    return toIssuedApiKey(db, id, key, now);
  },
};

/** PUT /api-keys/{api_key_id}/restrictions */
export const setApiKeyRestrictions: StoreOperation<'setApiKeyRestrictions'> = {
  kind: 'store',
  before: async (db, { path, now }) => toApiKey(db, await lockedKeyOf(db, path.api_key_id), now),
  async run({ db }, { path, body, now, runtime: { ports } }) {
    const key = await keyOf(db, path.api_key_id);
    await restrictKey(db, ports, key, restrictionsOf(body, now));
    const restricted = await keyOf(db, key.id);
    // A caller from elsewhere must not keep the consoles that it has opened with the key.
    if (restricted.allowed_networks !== key.allowed_networks) await endConsolesOfKey(db, key);
    return toApiKey(db, restricted, now);
  },
};

/** POST /api-keys/{api_key_id}/rotate: the old key stays valid for the overlap, so that its holder can switch without downtime. */
export const rotateApiKey: StoreOperation<'rotateApiKey'> = {
  kind: 'store',
  before: async (db, { path, now }) => toApiKey(db, await lockedKeyOf(db, path.api_key_id), now),
  async run({ db }, { path, body, caller, now, runtime: { ports, mode } }) {
    const old = await keyOf(db, path.api_key_id);
    assertMayIssue(caller, accessOf(old));
    const { overlap_seconds: overlapSeconds } = { ...DEFAULTS.RotateApiKeyRequest, ...body };
    const { id, key } = await replaceKey(db, ports, old, { overlapSeconds, now, mode });
    return { issued: await toIssuedApiKey(db, id, key, now), replaced: await toApiKey(db, await keyOf(db, old.id), now) };
  },
};

/** POST /api-keys/{api_key_id}/revoke */
export const revokeApiKey: StoreOperation<'revokeApiKey'> = {
  kind: 'store',
  before: async (db, { path, now }) => toApiKey(db, await lockedKeyOf(db, path.api_key_id), now),
  async run({ db }, { path, now }) {
    const { id } = await keyOf(db, path.api_key_id);
    await db.updateTable('api_keys').set({ revoked: now }).where('id', '=', id).where('revoked', 'is', null).execute();
    return toApiKey(db, await keyOf(db, id), now);
  },
};

/** PUT /api-keys/{api_key_id}/rate-limit */
export const setApiKeyRateLimit: StoreOperation<'setApiKeyRateLimit'> = {
  kind: 'store',
  before: async (db, { path, now }) => toApiKey(db, await lockedKeyOf(db, path.api_key_id), now),
  async run({ db }, { path, body, now }) {
    const { id } = await keyOf(db, path.api_key_id);
    const { rate_limit: limit } = body;
    await db
      .updateTable('api_keys')
      .set({ rate_requests: limit?.requests ?? null, rate_seconds: limit?.seconds ?? null })
      .where('id', '=', id)
      .execute();
    return toApiKey(db, await keyOf(db, id), now);
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

/** @throws OperatorProblem 409 if a live service lacks a setting that each sale needs. A rotation adds no buyer, so it is not refused. */
async function assertMaySell(db: Db, mode: Mode): Promise<void> {
  const missing = await missingSettings(db, mode);
  if (missing.length === 0) return;
  throw new OperatorProblem(
    'wrong-state',
    `A live service issues no key that can buy before its seller and its VAT rates were set. Call ${operationsThatSet(missing)}, and issue the key again. A key with the access read can be issued now.`,
  );
}

export async function toIssuedApiKey(db: Db, id: string, key: string, now: number): Promise<IssuedApiKey> {
  return { ...(await toApiKey(db, await keyOf(db, id), now)), key };
}

async function keyOf(db: Db, id: string): Promise<Row> {
  return requireFound(await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst(), 'API key of this identifier');
}

/** Reads a key, and locks it until the transaction ends. So the audit gets the state that the change replaced. */
async function lockedKeyOf(db: Db, id: string): Promise<Row> {
  return requireFound(await lockKey(db, id), 'API key of this identifier');
}

/** The rate limit of the key itself. Null if the default applies. */
export function ownLimit({
  rate_requests: requests,
  rate_seconds: seconds,
}: Pick<Row, 'rate_requests' | 'rate_seconds'>): RateLimit | null {
  return requests === null || seconds === null ? null : { requests, seconds };
}

/** @throws OperatorProblem 422 if the end is not in the future, or a text is not a network. */
function restrictionsOf({ valid_until, allowed_networks, spending_limit }: SetApiKeyRestrictionsRequest, now: number): KeyRestrictions {
  const validUntil = valid_until === null ? null : Date.parse(valid_until);
  const broken: BrokenRule[] = [];
  if (validUntil !== null && !(validUntil > now))
    broken.push({ pointer: '#/valid_until', detail: `must be after the time of the service, ${toInstant(now)}` });
  for (const [index, network] of (allowed_networks ?? []).entries())
    if (!isNetwork(network))
      broken.push({ pointer: `#/allowed_networks/${index}`, detail: 'must be an IP address or a network, such as 203.0.113.0/24' });
  assertNoBrokenRules(broken);
  return { validUntil, allowedNetworks: allowed_networks, spendingLimit: spending_limit };
}

async function toApiKey(db: Db, key: Row, now: number): Promise<ApiKey> {
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
    allowed_networks: storedTexts(key.allowed_networks),
    spending_limit: await spendingLimitOf(db, key, now),
    last_used: toInstantOrNull(key.last_used),
  };
}
