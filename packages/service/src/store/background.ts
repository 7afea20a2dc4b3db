import type { Store } from './store.ts';
import { waitingLine } from './waiting-line.ts';

/**
 * The store for work that no request waits for. Few of its transactions and reads have a connection at the same time. Otherwise, work that becomes
 * due at once would take the connections of requests, and opening further ones the CPU time of the database. A store without connections stays as
 * it is.
 */
export function inBackground(store: Store): Store {
  if (store.pool === undefined) return store;
  const line = waitingLine({ places: store.tuning.backgroundConnections, maxLength: 0, maxWaitMs: 0 });
  async function inLine<T>(work: () => Promise<T>): Promise<T> {
    // Urgent, because background work may wait as long as it takes.
    const giveBack = await line.takePlace(true);
    try {
      return await work();
    } finally {
      giveBack();
    }
  }
  return {
    ...store,
    read: (work, options) => inLine(() => store.read(work, options)),
    readLong: (work) => inLine(() => store.readLong(work)),
    commit: (work, options) => inLine(() => store.commit(work, options)),
  };
}
