/** Counts the connections of a pool that are in use, and the callers that wait for one. */
import type { PoolClient } from 'pg';

import type { PoolFigures } from '../store.ts';

interface Connects {
  connect(): Promise<PoolClient>;
}

/** Makes `connect` count, and returns the figures. */
export function countConnections(pool: Connects, max: number): () => PoolFigures {
  const counts = { inUse: 0, waiting: 0 };
  const connect = pool.connect.bind(pool);
  pool.connect = async () => {
    counts.waiting++;
    const client = await connect().finally(() => void counts.waiting--);
    counts.inUse++;
    const release = client.release.bind(client);
    client.release = (error) => {
      counts.inUse--;
      // The pool gives the client a new function each time.
      release(error);
    };
    return client;
  };
  return () => ({ ...counts, max });
}
