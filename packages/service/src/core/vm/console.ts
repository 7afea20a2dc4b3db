/** Links to the consoles of VMs, and the sessions that they open. Every instance can open the links of the others. */
import type { Selectable } from 'kysely';

import type { Ports } from '../../ports/ports.ts';
import { newConsoleSecret, sha256 } from '../../rules/credentials.ts';
import { Refusal } from '../../rules/refusal.ts';
import type { ConsoleLimits } from '../../rules/vm-console.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { ApiKeysTable } from '../../store/tables/accounts.ts';

/** A session of an instance that has not said for so many checks that it is open no longer counts. */
const MISSED_CHECKS = 6;

/** A VM of an account, and the key that asks for its console. */
export interface ConsoleRequest {
  readonly vmId: number;
  readonly accountId: string;
  readonly keyId: string;
  /** Milliseconds. */
  readonly now: number;
}

/** Creates a link. @returns Its secret, of which only the hash is stored, and when it expires. */
export async function createConsoleLink(
  db: Db,
  { random }: Pick<Ports, 'random'>,
  { linkMs }: Pick<ConsoleLimits, 'linkMs'>,
  { vmId, accountId, keyId, now }: ConsoleRequest,
): Promise<{ readonly secret: string; readonly expires: number }> {
  const secret = newConsoleSecret(random);
  const expires = now + linkMs;
  const row = { hash: sha256(secret), vm_id: vmId, account_id: accountId, key_id: keyId, expires, ends: null, seen: null };
  await db.insertInto('vm_consoles').values(row).execute();
  return { secret, expires };
}

/** A session. */
export interface ConsoleSession {
  /** Identifies it. */
  readonly hash: string;
  readonly vmId: number;
  readonly accountId: string;
}

/** Whether a secret is that of a link that opens a session. */
export async function isConsoleLink(db: Db, secret: string, now: number): Promise<boolean> {
  const found = await db
    .selectFrom('vm_consoles')
    .select('hash')
    .where('hash', '=', sha256(secret))
    .where('ends', 'is', null)
    .where('expires', '>', now)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Opens the session of a link, which then opens no other one.
 *
 * @throws Refusal 404 if the link does not exist, was used, has expired or is no longer allowed, 409 if there are too many sessions.
 */
export async function openConsoleSession(db: Db, secret: string, limits: ConsoleLimits, now: number): Promise<ConsoleSession> {
  const hash = sha256(secret);
  const found = await db.selectFrom('vm_consoles').select(['vm_id', 'account_id']).where('hash', '=', hash).executeTakeFirst();
  if (!found) throw unusable();
  const { vm_id: vmId, account_id: accountId } = found;
  // The lock keeps two links from opening the last session that is possible.
  await lockAccount(db, accountId);
  const { numUpdatedRows } = await db
    .updateTable('vm_consoles')
    .set({ ends: now + limits.sessionMs, seen: now })
    .where('hash', '=', hash)
    .where('ends', 'is', null)
    .where('expires', '>', now)
    .executeTakeFirst();
  if (numUpdatedRows === 0n || (await allowedSessions(db, [hash], now)).get(hash) !== 'running') throw unusable();
  const open = await db
    .selectFrom('vm_consoles')
    .select('vm_id')
    .where('account_id', '=', accountId)
    .where('ends', '>', now)
    .where('seen', '>', now - MISSED_CHECKS * limits.checkMs)
    .execute();
  if (open.length > limits.maxOfAccount || open.filter(({ vm_id }) => vm_id === vmId).length > limits.maxOfVm)
    throw new Refusal(409, 'quota_exceeded', 'Too many consoles are open. Close one, and get a new link.');
  return { hash, vmId, accountId };
}

/** The VM state of each allowed session, by its hash. The VM belongs to the account, the account is not suspended, and the key is valid. */
async function allowedSessions(db: Db, hashes: readonly string[], now: number): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('vm_consoles')
    .innerJoin('vms', 'vms.id', 'vm_consoles.vm_id')
    .innerJoin('accounts', 'accounts.id', 'vm_consoles.account_id')
    .innerJoin('api_keys', 'api_keys.id', 'vm_consoles.key_id')
    .select(['vm_consoles.hash', 'vms.state'])
    .where('vm_consoles.hash', 'in', hashes)
    .where('vm_consoles.ends', '>', now)
    .whereRef('vms.account_id', '=', 'vm_consoles.account_id')
    .where('accounts.suspended_at', 'is', null)
    .where('api_keys.revoked', 'is', null)
    .where((eb) => eb.or([eb('api_keys.valid_until', 'is', null), eb('api_keys.valid_until', '>', now)]))
    .execute();
  return new Map(rows.map(({ hash, state }) => [hash, state]));
}

/** Says that sessions are still open. @returns The VM state of each allowed one, by its hash. */
export async function keepSessions(db: Db, hashes: readonly string[], now: number): Promise<ReadonlyMap<string, string>> {
  if (hashes.length === 0) return new Map();
  await db.updateTable('vm_consoles').set({ seen: now }).where('hash', 'in', hashes).execute();
  return allowedSessions(db, hashes, now);
}

export async function forgetSession(db: Db, hash: string): Promise<void> {
  await db.deleteFrom('vm_consoles').where('hash', '=', hash).execute();
}

/** Makes the links of a key unusable, and ends its sessions within `ConsoleLimits.checkMs`. */
export async function endConsolesOfKey(db: Db, { id, account_id }: Pick<Selectable<ApiKeysTable>, 'id' | 'account_id'>): Promise<void> {
  await db.deleteFrom('vm_consoles').where('account_id', '=', account_id).where('key_id', '=', id).execute();
}

/** Deletes links that were not opened in time, and sessions whose time is over. */
export async function forgetOldConsoles(db: Db, now: number): Promise<void> {
  await db
    .deleteFrom('vm_consoles')
    .where((eb) => eb.or([eb('ends', '<=', now), eb.and([eb('ends', 'is', null), eb('expires', '<=', now)])]))
    .execute();
}

function unusable(): Refusal {
  return new Refusal(
    404,
    'not_found',
    'This link was used, has expired, or is no longer allowed. Get a new one with POST /vm/{vmid}/console.',
  );
}
