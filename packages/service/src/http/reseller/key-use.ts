import { setInterval } from 'node:timers';

import { oneAtATime } from '../../delivery/concurrency.ts';
import type { Clock } from '../../ports/system.ts';
import type { Store } from '../../store/store.ts';

/** How often the last uses of keys are stored. */
const FLUSH_INTERVAL_MS = 60_000;

/** Notes when API keys are used. The times are stored together once a minute, so that no request needs a commit for it. */
export interface KeyUse {
  note(keyId: string): void;
  /** Stores the times that are not stored yet. */
  flush(): Promise<void>;
  /** Stops the timer and flushes. */
  close(): Promise<void>;
}

/** @param onError Is told when the times could not be stored. They are stored with the next ones. */
export function createKeyUse(store: Store, clock: Clock, onError: (error: unknown) => void): KeyUse {
  let used = new Map<string, number>();

  async function storeUses(): Promise<void> {
    if (used.size === 0) return;
    const stored = used;
    used = new Map();
    try {
      await store.commit(async ({ db }) => {
        // In one order, so that two instances do not wait for each other.
        for (const [id, time] of [...stored].toSorted(([one], [other]) => (one < other ? -1 : 1)))
          await db
            .updateTable('api_keys')
            .set({ last_used: time })
            .where('id', '=', id)
            .where(({ eb, or }) => or([eb('last_used', 'is', null), eb('last_used', '<', time)]))
            .execute();
      });
    } catch (error) {
      used = new Map([...stored, ...used]);
      onError(error);
    }
  }

  // One after another, so that `close` also waits for a write that a timer has begun.
  const exclusive = oneAtATime();
  const timer = setInterval(() => void exclusive(storeUses), FLUSH_INTERVAL_MS).unref();
  return {
    note: (keyId) => void used.set(keyId, clock.now()),
    flush: () => exclusive(storeUses),
    async close() {
      clearInterval(timer);
      await exclusive(storeUses);
    },
  };
}
