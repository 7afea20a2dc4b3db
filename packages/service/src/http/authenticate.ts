/** Who is calling (specification: "Authentication"). */
import { Refusal } from '../refusal.ts';
import { hashOfApiKey } from '../rules/credentials.ts';
import type { Store } from '../store/store.ts';

/** The account behind a key. */
export interface Caller {
  readonly accountId: string;
  readonly apiKey: string;
}

/** Longest text that is looked up; no key is nearly so long. */
const LONGEST = 256;

/**
 * The account of an API key. The key is looked up by its hash, so the time it takes tells nothing of the key.
 *
 * @throws Refusal 401 when it is missing, unknown or revoked.
 */
export async function authenticate(store: Store, header: string, value: string | string[] | undefined): Promise<Caller> {
  if (value === undefined || value.length === 0) {
    throw new Refusal(401, 'unauthorized', `The header ${header} is missing. Send your API key in it.`);
  }
  const caller = typeof value === 'string' && value.length <= LONGEST ? await findCaller(store, value) : undefined;
  if (caller) return caller;
  throw new Refusal(
    401,
    'unauthorized',
    `The API key in ${header} is unknown or has been revoked. Check the key, or ask the provider for a new one.`,
  );
}

async function findCaller(store: Store, apiKey: string): Promise<Caller | undefined> {
  const hash = hashOfApiKey(apiKey);
  const key = await store.read((db) =>
    db.selectFrom('api_keys').select('account_id').where('hash', '=', hash).where('revoked', 'is', null).executeTakeFirst(),
  );
  return key && { accountId: key.account_id, apiKey };
}
