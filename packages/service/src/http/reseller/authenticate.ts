import { accessOf } from '../../core/account/account.ts';
import { storedTexts } from '../../core/account/api-key.ts';
import type { Spender } from '../../core/account/spending.ts';
import type { Clock } from '../../ports/system.ts';
/** Authentication of the reseller API (specification: "Authentication"). */
import { apiKeyHeader } from '../../reseller/document.ts';
import { createKeyMask } from '../../reseller/masking.ts';
import type { MaskKey } from '../../reseller/masking.ts';
import { hashOfApiKey, isKeyOfOtherMode, isMistypedKey } from '../../rules/credentials.ts';
import type { Mode } from '../../rules/mode.ts';
import { networkMatcher } from '../../rules/networks.ts';
import { RateLimited, Refusal } from '../../rules/refusal.ts';
import { prepared } from '../../store/prepared.ts';
import type { RateLimit } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';
import { createGuessingLimiter } from '../shared/guessing.ts';
import type { GuessingLimit } from '../shared/guessing.ts';

/** The account that sends a request. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  /** Whether the key allows only operations that change nothing. */
  readonly mayOnlyRead: boolean;
  /** Whether responses to the key contain management passwords and auth codes. */
  readonly readsSecrets: boolean;
  /** Whether the provider has suspended the account. */
  readonly isSuspended: boolean;
  /** The rate limit of the key, or null for the default. */
  readonly rateLimit: RateLimit | null;
  /** The spending limit of the key, or undefined. */
  readonly spender: Spender | undefined;
  /** Masks the API key in texts. */
  readonly maskKey: MaskKey;
}

/** Longer texts are not looked up. Real keys are much shorter. */
const MAX_KEY_LENGTH = 256;
/** Failed attempts per address. */
const GUESSING_LIMIT: GuessingLimit = { kind: 'guesses of a key', failures: 100, windowMs: 60_000 };

/**
 * Finds the caller of a request. A valid key is accepted from the networks that may use it, by default from any address.
 *
 * @param value The value of the API key header.
 * @param address The address that the request comes from.
 * @throws Refusal 401 if the key is missing, unknown, expired or revoked, or may not be used from the address.
 * @throws RateLimited if too many such requests came from the address.
 */
export type Authenticate = (value: string | string[] | undefined, address: string) => Promise<Caller>;

export interface Authenticator {
  readonly authenticate: Authenticate;
  /** Empties the cache. */
  forget(): void;
}

export interface KeyRules {
  /** Keys of the other mode are refused. */
  readonly mode: Mode;
  /** Decides when a rotated key expires. */
  readonly clock: Clock;
  /** Called with the address of each request without a valid key. */
  onFailure(address: string): void;
}

interface KnownKey {
  readonly caller: Caller;
  readonly validUntil: number | null;
  /** Whether the key may be used from an address. */
  isAllowedFrom(address: string): boolean;
}

interface CacheEntry {
  readonly key: KnownKey;
  readonly until: number;
}

/** Keys are looked up and cached by their hash, so the duration of a lookup reveals nothing about the key. */
export function createAuthenticator(store: Store, { mode, clock, onFailure }: KeyRules): Authenticator {
  const cache = new Map<string, CacheEntry>();
  const countFailure = createGuessingLimiter(store.sharing.windows, GUESSING_LIMIT);

  /** Lookups in progress. Requests with the same key that arrive together share one. */
  const lookups = new Map<string, Promise<KnownKey | undefined>>();

  async function findKey(text: string): Promise<KnownKey | undefined> {
    const hash = hashOfApiKey(text);
    const now = performance.now();
    const cached = cache.get(hash);
    if (cached && cached.until > now) return cached.key;
    cache.delete(hash);
    const lookup = lookups.get(hash) ?? lookUp(store, text);
    lookups.set(hash, lookup);
    try {
      const key = await lookup;
      // A lookup that began before `forget` may be outdated.
      if (key && lookups.get(hash) === lookup) keep(hash, { key, until: now + store.tuning.keyCacheMs });
      return key;
    } finally {
      if (lookups.get(hash) === lookup) lookups.delete(hash);
    }
  }

  function keep(hash: string, entry: CacheEntry): void {
    if (cache.size >= store.tuning.maxCachedKeys) cache.clear();
    cache.set(hash, entry);
  }

  return {
    forget() {
      cache.clear();
      lookups.clear();
    },
    async authenticate(value, address) {
      if (value === undefined || value.length === 0) {
        throw new Refusal(401, 'unauthorized', `The header ${apiKeyHeader} is missing. Send your API key in it.`);
      }
      const text = typeof value === 'string' && value.length <= MAX_KEY_LENGTH ? value : undefined;
      const isOtherMode = text !== undefined && isKeyOfOtherMode(text, mode);
      const isMistyped = text !== undefined && isMistypedKey(text);
      const key = text === undefined || isOtherMode || isMistyped ? undefined : await findKey(text);
      const isValid = key !== undefined && (key.validUntil === null || key.validUntil > clock.now());
      if (isValid && key.isAllowedFrom(address)) return key.caller;
      onFailure(address);
      const retryAfter = await countFailure(address);
      if (retryAfter !== undefined) throw new RateLimited(retryAfter, 'Too many requests without a valid API key came from this address.');
      const [other, own] = mode === 'live' ? ['a sandbox', 'the live service'] : ['the live service', 'a sandbox'];
      function why(): string {
        if (isOtherMode) return `belongs to ${other}, and this is ${own}. Use a key of this service.`;
        if (isMistyped) return 'is mistyped: its checksum is wrong. Copy the whole key again.';
        if (isValid)
          return `may not be used from ${address}. Send the request from a network that the key allows, or ask the provider to add this one.`;
        return 'is unknown or has been revoked. Check the key, or ask the provider for a new one.';
      }
      throw new Refusal(401, 'unauthorized', `The API key in ${apiKeyHeader} ${why()}`);
    },
  };
}

async function lookUp(store: Store, text: string): Promise<KnownKey | undefined> {
  const [row] = await store.read((db) => selectKey(db, { hash: hashOfApiKey(text) }));
  if (!row) return undefined;
  const { rate_requests: requests, rate_seconds: seconds } = row;
  return {
    caller: {
      accountId: row.account_id,
      keyId: row.id,
      mayOnlyRead: accessOf(row) !== 'full',
      readsSecrets: accessOf(row) !== 'read',
      isSuspended: row.suspended_at !== null,
      rateLimit: requests === null || seconds === null ? null : { requests, seconds },
      spender: row.limit_id === null ? undefined : { limitId: row.limit_id, operations: storedTexts(row.operations) },
      maskKey: createKeyMask(text),
    },
    validUntil: row.valid_until,
    isAllowedFrom: allowedFrom(storedTexts(row.allowed_networks)),
  };
}

interface KeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly access: string;
  readonly reads_secrets: number;
  readonly suspended_at: number | null;
  readonly valid_until: number | null;
  readonly rate_requests: number | null;
  readonly rate_seconds: number | null;
  readonly allowed_networks: string | null;
  readonly limit_id: string | null;
  readonly operations: string | null;
}

function allowedFrom(networks: readonly string[] | null): KnownKey['isAllowedFrom'] {
  return networks === null ? () => true : networkMatcher(networks);
}

const selectKey = prepared<{ hash: string }, KeyRow>((db, parameter) =>
  db
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .leftJoin('spending_limits', 'spending_limits.id', 'api_keys.limit_id')
    .select([
      'api_keys.id',
      'api_keys.account_id',
      'access',
      'reads_secrets',
      'suspended_at',
      'valid_until',
      'rate_requests',
      'rate_seconds',
      'allowed_networks',
      'limit_id',
      'operations',
    ])
    .where('hash', '=', parameter('hash'))
    .where('revoked', 'is', null),
);
