/** Connections that several transactions share. */
import type { PoolClient } from 'pg';

import type { Statement } from '../prepared.ts';
import { serverOf } from './connections.ts';
import type { Connections } from './failover.ts';
import { Pipeline } from './pipeline.ts';
import type { Result } from './pipeline.ts';

/** With more, transactions would wait for each other's locks, and the processor would switch between more processes of the database. */
const MAX_SHARED = 2;
/**
 * A message that takes longer probably waits for a lock. The messages behind it wait too, so no further ones are sent on this connection.
 */
const STALLED_AFTER_MS = 100;

/** A transaction that the database has committed. */
export interface Committed {
  readonly results: readonly Result[];
  readonly server: string;
}

export interface SharedConnections {
  /**
   * Sends all statements of a transaction in one message, behind the messages of others. The connection does not wait for the results of
   * one before it sends the next. Each message ends with its own Sync, so an error affects its own transaction only.
   *
   * @returns Undefined if no connection is free of a long wait. The transaction then needs a connection of its own.
   */
  send(statements: readonly Statement[]): Promise<Committed> | undefined;
}

/** @param pool Gets a connection back when no transaction uses it, so there are never more connections than transactions. */
export function sharedConnections(pool: Connections): SharedConnections {
  const open = new Set<SharedConnection>();

  function choose(): SharedConnection | undefined {
    for (const connection of open) if (connection.isLost()) open.delete(connection);
    const [best] = [...open].filter((connection) => !connection.isStalled()).toSorted((one, other) => one.users - other.users);
    if (open.size === MAX_SHARED) return best;
    const added = new SharedConnection(pool, () => open.delete(added));
    open.add(added);
    return added;
  }

  return { send: (statements) => choose()?.send(statements) };
}

class SharedConnection {
  /** The number of transactions that use the connection. */
  users = 0;
  readonly #pool: Connections;
  readonly #onUnused: () => void;
  readonly #opening: Promise<PoolClient>;
  #client: PoolClient | undefined;
  /** Messages that were sent, in the order of their results. The driver knows of the first one only. */
  readonly #sent: Pipeline[] = [];
  /** When the first message moved to the front. */
  #waitsSince = performance.now();

  /** @param onUnused Called before the connection returns to the pool. It must not be used after that. */
  constructor(pool: Connections, onUnused: () => void) {
    this.#pool = pool;
    this.#onUnused = onUnused;
    this.#opening = pool.connect();
  }

  /** Whether its server has become read-only or is stopping. */
  isLost(): boolean {
    return this.#client !== undefined && this.#pool.isLost(this.#client);
  }

  isStalled(): boolean {
    return performance.now() - this.#waitsSince > STALLED_AFTER_MS;
  }

  async send(statements: readonly Statement[]): Promise<Committed> {
    this.users++;
    try {
      const client = (this.#client = await this.#opening);
      const pipeline = new Pipeline(statements, () => this.#next(client));
      this.#sent.push(pipeline);
      pipeline.write(client.connection);
      if (this.#sent.length === 1) this.#receive(client, pipeline);
      return { results: await pipeline.results, server: serverOf(client) };
    } finally {
      if (--this.users === 0) {
        this.#onUnused();
        this.#client?.release();
      }
    }
  }

  #next(client: PoolClient): void {
    this.#sent.shift();
    const [first] = this.#sent;
    if (first) this.#receive(client, first);
  }

  #receive(client: PoolClient, pipeline: Pipeline): void {
    this.#waitsSince = performance.now();
    client.query(pipeline);
  }
}
