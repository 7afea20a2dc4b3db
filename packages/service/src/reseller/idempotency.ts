/**
 * Repeated requests (not shown in the specification; our choice). If a request with the same Idempotency-Key was carried out before, the
 * caller gets the stored response. The key and the response are stored in the transaction of the effect.
 */
import { IDEMPOTENCY_KEY_LIFETIME_SECONDS } from '../generated/facts.gen.ts';
import { responseContext, seal, sha256, unseal } from '../rules/credentials.ts';
import type { Secrets } from '../rules/credentials.ts';
import type { Random } from '../rules/random.ts';
import { Refusal } from '../rules/refusal.ts';
import { prepared } from '../store/prepared.ts';
import type { Db, Store, Transaction } from '../store/store.ts';
import type { IdempotencyKeysTable } from '../store/tables/requests.ts';

/** A request with an Idempotency-Key. */
export interface Repeatable {
  readonly accountId: string;
  /** The Idempotency-Key. */
  readonly key: string;
  /** Hash of the method, path and form. */
  readonly fingerprint: string;
  /** The stored response is encrypted with the secret of the service, so that every API key of the account gets it. */
  readonly secrets: Secrets;
  readonly random: Random;
}

/** The store has only hashes of Idempotency-Keys. */
export function hashOfIdempotencyKey(key: string): string {
  return sha256(key);
}

/**
 * Claims the key for this request.
 *
 * @returns The stored response if the request was carried out before.
 * @throws Refusal 409 if the first request is still in progress, was a different one, or its response cannot be decrypted.
 */
export async function claimKey(db: Db, request: Repeatable, now: number): Promise<string | undefined> {
  const { accountId, fingerprint, secrets } = request;
  const keyHash = hashOfIdempotencyKey(request.key);
  let kept: KeptKey | undefined;
  do {
    const [inserted] = await insertKey(db, { accountId, keyHash, fingerprint, now });
    if (inserted) return undefined;
    // Undefined if another transaction has deleted the key since the insert, for example because its request was undone.
    kept = await readKey(db, { accountId, keyHash });
  } while (!kept);
  if (kept.fingerprint !== fingerprint) {
    throw new Refusal(
      409,
      'idempotency_key_reused',
      'This Idempotency-Key was used with another request. Use a new key for a new request.',
    );
  }
  if (kept.state === 'pending' || kept.response === null) {
    throw new Refusal(
      409,
      'idempotency_key_in_progress',
      'A request with this Idempotency-Key is still in progress. Wait for its response, or send this request again later.',
    );
  }
  const response = unseal(kept.response, secrets, responseContext(accountId, keyHash));
  if (response === undefined) {
    throw new Refusal(
      409,
      'idempotency_key_reused',
      'This request was carried out, and its response can no longer be read: the service encrypted it with a secret or in a way that it no longer uses. Look it up in the request log. Do not send it again: with a new Idempotency-Key it would be carried out a second time.',
    );
  }
  return response;
}

/** Stores the response of a request that was carried out. */
export function keepResponse(transaction: Transaction, request: Repeatable, response: string): void {
  const { accountId, secrets, key, random } = request;
  const keyHash = hashOfIdempotencyKey(key);
  const sealed = seal(response, secrets.secret, responseContext(accountId, keyHash), random);
  void transaction.atCommit(storeResponse, { accountId, keyHash, response: sealed });
}

type KeptKey = Pick<IdempotencyKeysTable, 'fingerprint' | 'state' | 'response'>;

function readKey(db: Db, { accountId, keyHash }: { accountId: string; keyHash: string }): Promise<KeptKey | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'state', 'response'])
    .where('account_id', '=', accountId)
    .where('key_hash', '=', keyHash)
    .executeTakeFirst();
}

const insertKey = prepared<{ accountId: string; keyHash: string; fingerprint: string; now: number }, { account_id: string }>(
  (db, parameter) =>
    db
      .insertInto('idempotency_keys')
      .values({
        account_id: parameter('accountId'),
        key_hash: parameter('keyHash'),
        fingerprint: parameter('fingerprint'),
        state: 'pending',
        response: null,
        created: parameter('now'),
      })
      .onConflict((conflict) => conflict.columns(['account_id', 'key_hash']).doNothing())
      .returning('account_id'),
);

const storeResponse = prepared<{ accountId: string; keyHash: string; response: string }, unknown>((db, parameter) =>
  db
    .updateTable('idempotency_keys')
    .set({ state: 'done', response: parameter('response') })
    .where('account_id', '=', parameter('accountId'))
    .where('key_hash', '=', parameter('keyHash')),
);

/** How long a key is stored: its documented lifetime, and an hour more for clients that repeat a request at the end of that lifetime. */
const KEY_TTL_MS = (IDEMPOTENCY_KEY_LIFETIME_SECONDS + 3_600) * 1000;

/**
 * Deletes expired keys of requests that were carried out. Instances that do so at the same time delete different keys.
 *
 * @param now Milliseconds.
 * @returns The number of deleted keys.
 */
export async function forgetOldKeys(store: Store, now: number): Promise<number> {
  function isOld(db: Db) {
    return db
      .selectFrom('idempotency_keys')
      .where('created', '<', now - KEY_TTL_MS)
      .where('state', '=', 'done');
  }
  if (!(await store.read((db) => isOld(db).select('created').limit(1).executeTakeFirst()))) return 0;
  for (let forgotten = 0; ;) {
    const count = await store.commit(async ({ db }) => {
      const old = isOld(db).select(['account_id', 'key_hash']).orderBy('created').limit(store.tuning.cleanUpBatch);
      const keys = await store.sharing.claim(old, 'idempotency_keys', 'skip').execute();
      for (const { account_id, key_hash } of keys)
        await db.deleteFrom('idempotency_keys').where('account_id', '=', account_id).where('key_hash', '=', key_hash).execute();
      return keys.length;
    });
    forgotten += count;
    if (count < store.tuning.cleanUpBatch) return forgotten;
  }
}
