/** What the operator has set for the reseller API: faults that wait for requests, and the usual rate limit. */
import type { FaultEffectInput } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import type { OffsetClock } from '../sandbox/offset-clock.ts';
import { readSettings } from '../store/settings.ts';
import type { RateLimit } from '../store/settings.ts';
import type { FaultsTable } from '../store/tables/faults.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds that what was read holds: what another node changes is seen within this time. */
export const HOLDS = 1_000;

/** A fault as requests are matched with it. */
interface Fault {
  readonly id: string;
  readonly operations: readonly string[] | null;
  readonly apiKeyIds: readonly string[] | null;
  readonly effect: FaultEffectInput;
}

/** A request, as far as faults look at it. */
export interface Matched {
  readonly operation: string;
  readonly keyId: string;
}

export interface Controls {
  /** The rate limit of keys that have none of their own. */
  rateLimit(): Promise<RateLimit | null>;
  /** The effect on a request of the oldest fault that matches it, which has one request less then; undefined for none. */
  takeFault(request: Matched): Promise<FaultEffectInput | undefined>;
  /** Has what another node has changed more than a second ago read: the clock is as that node has set it then. */
  refresh(): Promise<void>;
  /** Has everything read again. */
  forget(): void;
}

interface Read {
  readonly rateLimit: RateLimit | null;
  readonly faults: readonly Fault[];
}

export function controlsOf(store: Store, clock: OffsetClock, mode: 'sandbox' | 'live'): Controls {
  let known: { readonly read: Promise<Read>; readonly until: number } | undefined;

  function current(): Promise<Read> {
    const now = performance.now();
    if (known && known.until > now) return known.read;
    const mine: { readonly read: Promise<Read>; readonly until: number } = {
      until: now + HOLDS,
      read: store
        .read(async (db) => ({
          settings: await readSettings(db),
          rows:
            mode === 'live'
              ? []
              : await db.selectFrom('faults').selectAll().where('remaining', '>', 0).orderBy('created').orderBy('id').execute(),
        }))
        .then(
          ({ settings, rows }) => {
            // Another node may have advanced the clock; what was read before this one advanced it says nothing.
            if (mode === 'sandbox' && known === mine) clock.setOffset(settings.clockOffset);
            return { rateLimit: settings.rateLimit, faults: rows.map(parsed) };
          },
          (error: unknown) => {
            if (known === mine) known = undefined;
            throw error;
          },
        ),
    };
    known = mine;
    return mine.read;
  }

  return {
    refresh: async () => void (await current()),
    rateLimit: async () => (await current()).rateLimit,
    async takeFault({ operation, keyId }) {
      const { faults } = await current();
      for (const { id, operations, apiKeyIds, effect } of faults) {
        if (operations !== null && !operations.includes(operation)) continue;
        if (apiKeyIds !== null && !apiKeyIds.includes(keyId)) continue;
        // One conditional update: of requests that arrive together, no more meet the fault than it was made for.
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
      known = undefined;
    },
  };
}

function parsed({ id, operations, api_key_ids, effect }: Selectable<FaultsTable>): Fault {
  return {
    id,
    operations: operations === null ? null : JSON.parse(operations),
    apiKeyIds: api_key_ids === null ? null : JSON.parse(api_key_ids),
    effect: JSON.parse(effect),
  };
}
