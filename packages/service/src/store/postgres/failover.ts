/** One source of connections over all hosts of a database, of which one accepts writes. */
import type { Pool, PoolClient } from 'pg';

import { isHostFailure } from './errors.ts';

export interface Connections {
  /** Kysely reads this member. */
  readonly options: object;
  connect(): Promise<PoolClient>;
  /** Whether a connection must not be used again, because its server has become read-only, is stopping, or is no longer the primary. */
  isLost(client: PoolClient): boolean;
  /** Treats all open connections as lost. */
  loseAll(): void;
  /** Further calls have no effect. */
  end(): Promise<void>;
}

/** The session cannot write, or its server is stopping. Its connection must not be used again. */
const LOST_SESSION = /^25006$|^57P0/;

/**
 * Takes connections from the host that worked last. If it cannot be reached or is read-only, tries the next one.
 *
 * A proxy or a failover can turn a session read-only after it was opened. Its first failing write closes its connection and all connections
 * that were opened before it, because they lead to the same server.
 *
 * @param pools One for each host. They refuse sessions that are read-only from the start.
 */
export function failoverPool(pools: readonly [Pool, ...Pool[]]): Connections {
  const opened = new WeakMap<PoolClient, number>();
  let lostAt = -Infinity;
  let current = 0;
  let ending: Promise<void> | undefined;
  for (const pool of pools) {
    pool.on('connect', (client) => {
      opened.set(client, performance.now());
      client.connection.on('errorMessage', ({ code }: { code?: string }) => {
        if (LOST_SESSION.test(code ?? '')) lostAt = performance.now();
      });
    });
  }
  function isLost(client: PoolClient): boolean {
    return (opened.get(client) ?? 0) <= lostAt;
  }

  async function connectTo(pool: Pool): Promise<PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if (!isLost(client)) return client;
      client.release(true);
    }
  }

  async function endAll(): Promise<void> {
    await Promise.all(pools.map((pool) => pool.end()));
  }

  return {
    options: {},
    async connect() {
      for (let attempt = 1; ; attempt++) {
        const index = current;
        try {
          return await connectTo(pools[index] ?? pools[0]);
        } catch (error) {
          // Another connection may have switched to the next host meanwhile.
          if (isHostFailure(error) && current === index) current = (index + 1) % pools.length;
          if (!isHostFailure(error) || attempt >= pools.length) throw error;
        }
      }
    },
    isLost,
    loseAll() {
      lostAt = performance.now();
    },
    end: () => (ending ??= endAll()),
  };
}
