import type { FaultEffectInput } from '@reseller/operator-client';
import type { FastifyReply } from 'fastify';
import type { Selectable } from 'kysely';

import type { OffsetClock } from '../../ports/system.ts';
import type { Mode } from '../../rules/mode.ts';
import { RateLimited } from '../../rules/refusal.ts';
import { readSettings } from '../../store/settings.ts';
import type { RateLimit } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';
import type { FaultsTable } from '../../store/tables/service.ts';
import type { Caller } from './authenticate.ts';
import { createRateLimiter, rateLimitFields } from './rate-limit.ts';

interface Fault {
  readonly id: string;
  readonly operations: readonly string[] | null;
  readonly apiKeyIds: readonly string[] | null;
  readonly effect: FaultEffectInput;
}

/** The members of a request that decide which faults apply to it. */
export interface FaultTarget {
  readonly operation: string;
  readonly keyId: string;
}

/** The operator's settings for the reseller API: rate limits and faults. */
export interface Controls {
  /**
   * Counts a request against the rate limit of the caller's key, or else the default one.
   *
   * @param reply Gets the fields RateLimit and RateLimit-Policy.
   * @throws RateLimited if the key has used up its limit.
   */
  countRequest(caller: Caller, reply: FastifyReply): Promise<void>;
  /** The effect of the oldest fault that matches a request, or undefined. The fault then applies to one request less. */
  takeFault(request: FaultTarget): Promise<FaultEffectInput | undefined>;
  /** Reads the settings again if they are older than `controlsCacheMs`, and sets the clock to the stored offset. */
  refresh(): Promise<void>;
  /** Empties the cache. */
  forget(): void;
}

interface Settings {
  readonly rateLimit: RateLimit | null;
  readonly faults: readonly Fault[];
}

export function createControls(store: Store, clock: OffsetClock, mode: Mode): Controls {
  const countRequest = createRateLimiter(store.sharing.windows);
  let cached: { readonly settings: Promise<Settings>; readonly until: number } | undefined;

  function current(): Promise<Settings> {
    const now = performance.now();
    if (cached && cached.until > now) return cached.settings;
    const latest: { readonly settings: Promise<Settings>; readonly until: number } = {
      until: now + store.tuning.controlsCacheMs,
      settings: store
        .read(async (db) => ({
          settings: await readSettings(db, mode),
          rows:
            mode === 'live'
              ? []
              : await db.selectFrom('faults').selectAll().where('remaining', '>', 0).orderBy('created').orderBy('id').execute(),
        }))
        .then(
          ({ settings, rows }) => {
            // Another instance may have advanced the clock. If this one has advanced it meanwhile, the stored offset is outdated.
            if (mode === 'sandbox' && cached === latest) clock.setOffset(settings.clockOffset);
            return { rateLimit: settings.rateLimit, faults: rows.map(parseFault) };
          },
          (error: unknown) => {
            if (cached === latest) cached = undefined;
            throw error;
          },
        ),
    };
    cached = latest;
    return latest.settings;
  }

  return {
    refresh: async () => void (await current()),
    async countRequest({ keyId, rateLimit }, reply) {
      const limit = rateLimit ?? (await current()).rateLimit;
      if (!limit) return;
      const { quota, retryAfter } = await countRequest(keyId, limit);
      reply.headers(rateLimitFields(quota));
      if (retryAfter !== undefined) throw new RateLimited(retryAfter);
    },
    async takeFault({ operation, keyId }) {
      const { faults } = await current();
      for (const { id, operations, apiKeyIds, effect } of faults) {
        if (operations !== null && !operations.includes(operation)) continue;
        if (apiKeyIds !== null && !apiKeyIds.includes(keyId)) continue;
        // The update is conditional, so that concurrent requests do not exceed the fault's number of requests.
        const taken = await store.commit(({ db }) =>
          db
            .updateTable('faults')
            .set(({ eb }) => ({ remaining: eb('remaining', '-', 1) }))
            .where('id', '=', id)
            .where('remaining', '>', 0)
            .executeTakeFirst(),
        );
        if (taken.numUpdatedRows > 0n) return effect;
      }
      return undefined;
    },
    forget() {
      cached = undefined;
    },
  };
}

function parseFault({ id, operations, api_key_ids, effect }: Selectable<FaultsTable>): Fault {
  return {
    id,
    operations: operations === null ? null : JSON.parse(operations),
    apiKeyIds: api_key_ids === null ? null : JSON.parse(api_key_ids),
    effect: JSON.parse(effect),
  };
}
