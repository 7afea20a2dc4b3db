/** The SSH keys of an account, which its purchases can name. */
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import type { Ports } from '../../ports/ports.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { Refusal } from '../../rules/refusal.ts';
import { keyDetailsOf } from '../../rules/ssh-key.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { SshKeysTable } from '../../store/tables/vms.ts';

type SshKey = Selectable<SshKeysTable>;

/** Keys of an account (extension: PUT /vm/ssh-key/add). */
export const MAX_SSH_KEYS = 100;

/**
 * Stores a key.
 *
 * @param publicKey In OpenSSH notation.
 * @param displayname Undefined to name the key after its comment or its type.
 * @throws Refusal 409 if the account has the key already, or as many as possible.
 */
export async function storeSshKey(
  db: Db,
  { random, clock }: Pick<Ports, 'random' | 'clock'>,
  {
    accountId,
    publicKey,
    displayname,
  }: { readonly accountId: string; readonly publicKey: string; readonly displayname?: string | undefined },
): Promise<SshKey> {
  await lockAccount(db, accountId);
  const keys = await sshKeysOf(db, accountId);
  const { type, fingerprint, comment } = keyDetailsOf(publicKey);
  const same = keys.find((one) => one.fingerprint === fingerprint);
  if (same) {
    throw new Refusal(
      409,
      'wrong_state',
      `This account already has this key, as ${same.displayname} (${same.id}). Use that one, or remove it first.`,
    );
  }
  if (keys.length >= MAX_SSH_KEYS) {
    throw new Refusal(
      409,
      'quota_exceeded',
      `This account has ${MAX_SSH_KEYS} SSH keys, and more are not possible. Remove one that is no longer used.`,
    );
  }
  const now = clock.now();
  const key: SshKey = {
    id: uuidv7({ msecs: now, random: random.bytes(16) }),
    account_id: accountId,
    displayname: displayname ?? (comment === '' ? type : comment),
    public_key: publicKey,
    fingerprint,
    created: now,
  };
  await db.insertInto('ssh_keys').values(key).execute();
  return key;
}

/** The keys of an account, in the order in which they were added. */
export function sshKeysOf(db: Db, accountId: string): Promise<SshKey[]> {
  return db.selectFrom('ssh_keys').selectAll().where('account_id', '=', accountId).orderBy('created').orderBy('id').execute();
}

/** The rule that a field breaks which names a key that the account does not have. */
export const UNKNOWN_SSH_KEY: BrokenField = {
  field: 'ssh_key_id',
  rule: 'exists',
  message: 'must be the identifier of an SSH key of this account, from GET /vm/ssh-key/list',
};

/** Undefined if the account does not have the key. */
export function findSshKey(db: Db, accountId: string, id: string): Promise<SshKey | undefined> {
  return db.selectFrom('ssh_keys').selectAll().where('account_id', '=', accountId).where('id', '=', id).executeTakeFirst();
}
