import { oneAtATime } from '../../delivery/concurrency.ts';
import type { Clock } from '../../ports/system.ts';
import type { Store } from '../../store/store.ts';
import { clientNetworkOf } from './client-address.ts';
import type { Api } from './metrics.ts';

const MINUTE_MS = 60_000;
const FLUSH_INTERVAL_MS = 10_000;
/** Networks of a minute that an instance counts one by one. Further ones are counted together. */
const MAX_NETWORKS = 20;
/** About ten days of an attack from everywhere, on one instance. Older groups are deleted. */
const MAX_GROUPS = 300_000;
const MAX_AGE_MINUTES = 90 * 24 * 60;

interface FailureGroup {
  readonly minute: number;
  readonly api: Api;
  readonly network: string;
}

/**
 * Counts requests without a valid key or token, grouped by minute and network. The number of groups is bounded, so that nobody who reaches
 * the port can fill the store, and groups are stored together, so that a failed request needs no commit.
 */
export interface FailedAuthentications {
  note(api: Api, address: string): void;
  flush(): Promise<void>;
  /** Deletes old groups. */
  deleteOld(): Promise<void>;
  close(): Promise<void>;
}

export function createFailedAuthentications(store: Store, clock: Clock, onError: (error: unknown) => void): FailedAuthentications {
  let counts = new Map<string, FailureGroup & { count: number }>();
  const networksOf = { minute: 0, seen: new Set<string>() };

  function add(group: FailureGroup, count: number): void {
    const key = `${group.minute} ${group.api} ${group.network}`;
    const present = counts.get(key);
    if (present) present.count += count;
    else counts.set(key, { ...group, count });
  }

  function groupOf(api: Api, address: string): FailureGroup {
    const minute = Math.floor(clock.now() / MINUTE_MS);
    if (networksOf.minute !== minute) {
      networksOf.minute = minute;
      networksOf.seen.clear();
    }
    const network = clientNetworkOf(address);
    if (!networksOf.seen.has(network) && networksOf.seen.size >= MAX_NETWORKS) return { minute, api, network: 'others' };
    networksOf.seen.add(network);
    return { minute, api, network };
  }

  async function storeCounts(): Promise<void> {
    if (counts.size === 0) return;
    const stored = counts;
    counts = new Map();
    try {
      await store.commit(async ({ db }) => {
        for (const [, group] of [...stored].toSorted(([one], [other]) => (one < other ? -1 : 1)))
          await db
            .insertInto('failed_authentications')
            .values(group)
            .onConflict((conflict) =>
              conflict
                .columns(['minute', 'api', 'network'])
                .doUpdateSet(({ eb, ref }) => ({ count: eb(ref('failed_authentications.count'), '+', group.count) })),
            )
            .execute();
      });
    } catch (error) {
      for (const { count, ...group } of stored.values()) add(group, count);
      onError(error);
    }
  }

  // One after another, so that `close` also waits for a write that a timer has begun.
  const exclusive = oneAtATime();
  const timer = setInterval(() => void exclusive(storeCounts), FLUSH_INTERVAL_MS).unref();
  return {
    note: (api, address) => add(groupOf(api, address), 1),
    flush: () => exclusive(storeCounts),
    async deleteOld() {
      await store.commit(async ({ db }) => {
        const newest = db.selectFrom('failed_authentications').select('minute').orderBy('minute', 'desc').offset(MAX_GROUPS).limit(1);
        const beyond = await newest.executeTakeFirst();
        const end = Math.max(Math.floor(clock.now() / MINUTE_MS) - MAX_AGE_MINUTES, beyond?.minute ?? 0);
        await db.deleteFrom('failed_authentications').where('minute', '<=', end).execute();
      });
    },
    async close() {
      clearInterval(timer);
      await exclusive(storeCounts);
    },
  };
}
