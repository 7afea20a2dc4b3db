import { v7 as uuidv7 } from 'uuid';

import type { Ports } from '../../ports/ports.ts';
import { periodOf } from '../../rules/billing.ts';
import { demoApiKeyFrom, hashOfApiKey, newApiKey } from '../../rules/credentials.ts';
import type { Mode } from '../../rules/mode.ts';
import type { Money } from '../../rules/money.ts';
import type { Db, Store } from '../../store/store.ts';

/** A reseller account to create. */
export interface NewAccount {
  /** Default: a new UUID. */
  readonly id?: string;
  readonly name: string;
  readonly creditLimit: Money;
}

/**
 * Creates a reseller account.
 *
 * @returns Its ID.
 */
export async function createAccount(
  db: Db,
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
  { id: given, name, creditLimit }: NewAccount,
): Promise<string> {
  const now = clock.now();
  const id = given ?? uuidv7({ msecs: now, random: random.bytes(16) });
  await db
    .insertInto('accounts')
    .values({
      id,
      name,
      credit_limit: Number(creditLimit),
      unpaid: 0,
      held: 0,
      period_start: periodOf(Math.floor(now / 1000)).start,
      created: now,
    })
    .execute();
  return id;
}

export async function accountExists(db: Db, id: string): Promise<boolean> {
  return (await db.selectFrom('accounts').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}

/** A new API key. */
export interface NewKey {
  readonly id: string;
  /** Only the hash is stored, so the key cannot be returned again. */
  readonly key: string;
}

/** What a key allows: `read_secrets` is `read` with the management passwords and auth codes. */
export type KeyAccess = 'full' | 'read' | 'read_secrets';

/** The access of a stored key. */
export function accessOf({ access, reads_secrets: readsSecrets }: { readonly access: string; readonly reads_secrets: number }): KeyAccess {
  if (access !== 'read') return 'full';
  return readsSecrets === 1 ? 'read_secrets' : 'read';
}

function accessColumnsOf(access: KeyAccess) {
  return { access: access === 'full' ? 'full' : 'read', reads_secrets: access === 'read_secrets' ? 1 : 0 };
}

/** Properties of a key to issue. */
export interface KeyProperties {
  readonly label: string;
  readonly mode: Mode;
  /** Default: full. */
  readonly access?: KeyAccess;
}

/** Issues an API key for an account. */
export async function issueKey(
  db: Db,
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
  accountId: string,
  { label, mode, access = 'full' }: KeyProperties,
): Promise<NewKey> {
  const now = clock.now();
  const key = newApiKey(random, mode);
  const id = uuidv7({ msecs: now, random: random.bytes(16) });
  await db
    .insertInto('api_keys')
    .values({ id, account_id: accountId, hash: hashOfApiKey(key), label, mode, ...accessColumnsOf(access), created: now, revoked: null })
    .execute();
  return { id, key };
}

/** @returns The key. Only its hash is stored, so it cannot be returned again. */
export async function issueApiKey(db: Db, ports: Pick<Ports, 'clock' | 'random'>, accountId: string, how: KeyProperties): Promise<string> {
  return (await issueKey(db, ports, accountId, how)).key;
}

/** Issues the key of the demo account that all instances derive from their secret. Once revoked, it stays revoked. */
export async function issueSharedDemoKey(
  store: Store,
  { clock, random }: Pick<Ports, 'clock' | 'random'>,
  { secret, accountId }: { secret: string; accountId: string },
): Promise<string> {
  const key = demoApiKeyFrom(secret);
  const now = clock.now();
  const id = uuidv7({ msecs: now, random: random.bytes(16) });
  await store.commit(({ db }) =>
    db
      .insertInto('api_keys')
      .values({ id, account_id: accountId, hash: hashOfApiKey(key), label: 'demo', mode: 'sandbox', created: now, revoked: null })
      .onConflict((conflict) => conflict.column('hash').doNothing())
      .execute(),
  );
  return key;
}
