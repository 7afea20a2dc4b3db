/**
 * Repeated requests (not shown in the specification; our choice): a request with an
 * Idempotency-Key that was carried out is answered again and not carried out again. The key, what
 * was asked and the answer are kept in the transaction of the effect.
 */
import { IDEMPOTENCY_KEY_LIFETIME_SECONDS } from '../generated/facts.gen.ts';
import type { Random } from '../rules/random.ts';
import { Refusal } from '../rules/refusal.ts';
import { seal, sha256, unseal } from '../rules/credentials.ts';
import type { Db, Store } from '../store/store.ts';

/** A request that may be repeated. */
export interface Repeatable {
  readonly accountId: string;
  /** The caller's Idempotency-Key. */
  readonly key: string;
  /** Tells this request's method, path and form from others. */
  readonly fingerprint: string;
  /** The caller's API key: what is kept of the answer can be read with it alone. */
  readonly apiKey: string;
}

/** What is stored of a caller's Idempotency-Key. */
export function hashOfIdempotencyKey(key: string): string {
  return sha256(key);
}

/**
 * Claims the key for this request.
 *
 * @returns The kept answer where the request was carried out before, else undefined.
 * @throws Refusal 409 when the first request is under way, was another one, or was sent with another API key.
 */
export async function claimKey(db: Db, request: Repeatable, now: number): Promise<string | undefined> {
  const { accountId, fingerprint, apiKey } = request;
  const keyHash = hashOfIdempotencyKey(request.key);
  const claimed = await db
    .insertInto('idempotency_keys')
    .values({ account_id: accountId, key_hash: keyHash, fingerprint, state: 'pending', answer: null, created: now })
    .onConflict((conflict) => conflict.columns(['account_id', 'key_hash']).doNothing())
    .returning('state')
    .executeTakeFirst();
  if (claimed) return undefined;
  const kept = await db
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'state', 'answer'])
    .where('account_id', '=', accountId)
    .where('key_hash', '=', keyHash)
    .executeTakeFirstOrThrow();
  if (kept.fingerprint !== fingerprint) {
    throw new Refusal(
      409,
      'idempotency_key_reused',
      'This Idempotency-Key was used with another request. Use a new key for a new request.',
    );
  }
  if (kept.state === 'pending' || kept.answer === null) {
    throw new Refusal(
      409,
      'idempotency_key_in_progress',
      'A request with this Idempotency-Key is still in progress. Wait for its response, or send this request again later.',
    );
  }
  const answer = unseal(kept.answer, apiKey, `${accountId}/${keyHash}`);
  if (answer === undefined) {
    throw new Refusal(
      409,
      'idempotency_key_reused',
      'This request was carried out before, with another API key, and its answer can be read with that key alone. Look it up in the request log, or use a new Idempotency-Key to do it once more.',
    );
  }
  return answer;
}

/** Keeps the answer of a request that was carried out. */
export async function keepResponse(db: Db, request: Repeatable, answer: string, random: Random): Promise<void> {
  const keyHash = hashOfIdempotencyKey(request.key);
  await db
    .updateTable('idempotency_keys')
    .set({ state: 'done', answer: seal(answer, request.apiKey, `${request.accountId}/${keyHash}`, random) })
    .where('account_id', '=', request.accountId)
    .where('key_hash', '=', keyHash)
    .execute();
}

/** Milliseconds that a key is kept: what callers are told, and an hour more, for whoever has just begun to repeat. */
const KEPT = (IDEMPOTENCY_KEY_LIFETIME_SECONDS + 3_600) * 1000;
/** Keys of one unit of work. */
const AT_ONCE = 500;

/**
 * Forgets the keys of requests that were carried out more than a day ago. Nodes that do so at the
 * same time forget others.
 *
 * @param now Milliseconds.
 * @returns How many.
 */
export async function forgetOldKeys(store: Store, now: number): Promise<number> {
  const isOld = (db: Db) =>
    db
      .selectFrom('idempotency_keys')
      .where('created', '<', now - KEPT)
      .where('state', '=', 'done');
  if (!(await store.read((db) => isOld(db).select('created').limit(1).executeTakeFirst()))) return 0;
  for (let forgotten = 0; ;) {
    const count = await store.commit(async ({ db }) => {
      const old = isOld(db).select(['account_id', 'key_hash']).orderBy('created').limit(AT_ONCE);
      const keys = await store.sharing.claim(old, 'idempotency_keys', 'skip').execute();
      for (const { account_id, key_hash } of keys)
        await db.deleteFrom('idempotency_keys').where('account_id', '=', account_id).where('key_hash', '=', key_hash).execute();
      return keys.length;
    });
    forgotten += count;
    if (count < AT_ONCE) return forgotten;
  }
}
