/** Who is calling (specification: "Authentication"). */
import { RateLimited, Refusal } from '../rules/refusal.ts';
import type { Clock } from '../ports/clock.ts';
import { hashOfApiKey, isKeyOfOtherMode } from '../rules/credentials.ts';
import type { Mode } from '../rules/credentials.ts';
import { prepared } from '../store/prepared.ts';
import type { RateLimit } from '../store/settings.ts';
import type { Store } from '../store/store.ts';
import { guessing } from './guessing.ts';

/** The account behind a key. */
export interface Caller {
  readonly accountId: string;
  readonly apiKey: string;
  /** Identifier of the key. */
  readonly keyId: string;
  /** Its own rate limit; null where the default holds. */
  readonly rateLimit: RateLimit | null;
}

/** Longest text that is looked up; no key is nearly so long. */
const LONGEST = 256;
/** Milliseconds that a good key is remembered: a revoked one is refused within this time on every node. */
const REMEMBERED = 1_000;
/** Keys remembered at the most. */
const MOST_REMEMBERED = 10_000;
/** Failed attempts of an address. */
const FAILURES = { what: 'key', failures: 100, within: 60_000 };

/** Finds the caller behind the value of the API key header; the address is where the request comes from. */
export type Authenticate = (value: string | string[] | undefined, address: string) => Promise<Caller>;

/** Authentication, and what is remembered for it. */
export interface Authentication {
  readonly authenticate: Authenticate;
  /** Has keys looked up again. */
  forget(): void;
}

/** By what keys are judged. */
export interface KeyRules {
  /** Name of the header that carries the key, for the messages. */
  readonly header: string;
  /** The other mode's keys are refused. */
  readonly mode: Mode;
  /** Tells when a key that was rotated stops being good. */
  readonly clock: Clock;
}

interface Known extends Omit<Caller, 'apiKey'> {
  readonly validUntil: number | null;
}

/**
 * Authentication by API key. A key is looked up by its hash, so the time it takes tells nothing of
 * the key; what is remembered between requests is hashes too.
 *
 * `authenticate` throws Refusal 401 when the key is missing, unknown, over or revoked, and RateLimited
 * when too many of these came from the address; a good key is taken from any address.
 */
export function authentication(store: Store, { header, mode, clock }: KeyRules): Authentication {
  const remembered = new Map<string, { readonly key: Known; readonly until: number }>();
  const guesses = guessing(store.sharing.windows, FAILURES);

  async function keyOf(hash: string): Promise<Known | undefined> {
    const now = performance.now();
    const known = remembered.get(hash);
    if (known && known.until > now) return known.key;
    remembered.delete(hash);
    const [row] = await store.read((db) => goodKey(db, { hash }));
    if (!row) return undefined;
    const { rate_requests: requests, rate_seconds: seconds } = row;
    const key = {
      accountId: row.account_id,
      keyId: row.id,
      rateLimit: requests === null || seconds === null ? null : { requests, seconds },
      validUntil: row.valid_until,
    };
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    remembered.set(hash, { key, until: now + REMEMBERED });
    return key;
  }

  return {
    forget: () => remembered.clear(),
    async authenticate(value, address) {
      if (value === undefined || value.length === 0) {
        throw new Refusal(401, 'unauthorized', `The header ${header} is missing. Send your API key in it.`);
      }
      const text = typeof value === 'string' && value.length <= LONGEST ? value : undefined;
      const isOthers = text !== undefined && isKeyOfOtherMode(text, mode);
      const key = text === undefined || isOthers ? undefined : await keyOf(hashOfApiKey(text));
      if (text !== undefined && key && (key.validUntil === null || key.validUntil > clock.now())) {
        return { accountId: key.accountId, apiKey: text, keyId: key.keyId, rateLimit: key.rateLimit };
      }
      const retryAfter = await guesses.failed(address);
      if (retryAfter !== undefined) throw new RateLimited(retryAfter, 'Too many requests came from this address without a good API key.');
      const why = isOthers
        ? `The API key in ${header} is one of ${mode === 'live' ? 'a sandbox' : 'the live service'}, and this is ${mode === 'live' ? 'the live service' : 'a sandbox'}. Use a key of this service.`
        : `The API key in ${header} is unknown or has been revoked. Check the key, or ask the provider for a new one.`;
      throw new Refusal(401, 'unauthorized', why);
    },
  };
}

interface KeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly valid_until: number | null;
  readonly rate_requests: number | null;
  readonly rate_seconds: number | null;
}

const goodKey = prepared<{ hash: string }, KeyRow>((db, parameter) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'account_id', 'valid_until', 'rate_requests', 'rate_seconds'])
    .where('hash', '=', parameter('hash'))
    .where('revoked', 'is', null),
);
