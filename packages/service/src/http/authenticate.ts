/** Who is calling (specification: "Authentication"). */
import { Refusal } from '../refusal.ts';
import { hashOfApiKey } from '../rules/credentials.ts';
import { prepared } from '../store/prepared.ts';
import type { Store } from '../store/store.ts';

/** The account behind a key. */
export interface Caller {
  readonly accountId: string;
  readonly apiKey: string;
}

/** Longest text that is looked up; no key is nearly so long. */
const LONGEST = 256;
/** Milliseconds that a good key is remembered: a revoked one is refused within this time on every node. */
const REMEMBERED = 1_000;
/** Keys remembered at the most. */
const MOST_REMEMBERED = 10_000;

/** Finds the caller behind the value of the API key header. */
export type Authenticate = (value: string | string[] | undefined) => Promise<Caller>;

/**
 * Authentication by API key. A key is looked up by its hash, so the time it takes tells nothing of
 * the key; what is remembered between requests is hashes too.
 *
 * The answered function throws Refusal 401 when the key is missing, unknown or revoked.
 *
 * @param header Name of the header that carries the key, for the messages.
 */
export function authentication(store: Store, header: string): Authenticate {
  const remembered = new Map<string, { readonly accountId: string; readonly until: number }>();

  async function accountOf(hash: string): Promise<string | undefined> {
    const now = performance.now();
    const known = remembered.get(hash);
    if (known && known.until > now) return known.accountId;
    remembered.delete(hash);
    const [key] = await store.read((db) => goodKey(db, { hash }));
    if (!key) return undefined;
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    remembered.set(hash, { accountId: key.account_id, until: now + REMEMBERED });
    return key.account_id;
  }

  return async (value) => {
    if (value === undefined || value.length === 0) {
      throw new Refusal(401, 'unauthorized', `The header ${header} is missing. Send your API key in it.`);
    }
    const accountId = typeof value === 'string' && value.length <= LONGEST ? await accountOf(hashOfApiKey(value)) : undefined;
    if (accountId !== undefined && typeof value === 'string') return { accountId, apiKey: value };
    throw new Refusal(
      401,
      'unauthorized',
      `The API key in ${header} is unknown or has been revoked. Check the key, or ask the provider for a new one.`,
    );
  };
}

const goodKey = prepared<{ hash: string }, { account_id: string }>((db, parameter) =>
  db.selectFrom('api_keys').select('account_id').where('hash', '=', parameter('hash')).where('revoked', 'is', null),
);
