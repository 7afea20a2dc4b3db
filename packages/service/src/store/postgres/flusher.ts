import { StoreUnavailableError } from '../store.ts';
import { serverOf } from './connections.ts';
import type { Connections } from './failover.ts';

/** A record in the database's log. The commit of a transaction waits until the log is on disk up to its own record. */
const FLUSH = "select pg_logical_emit_message(true, 'reseller', '')";

const HEARTBEAT = 'select 1';
/** Well below the time after which a connection without traffic counts as dead. */
const HEARTBEAT_MS = 4_000;

/** A connection that waits for the disk. */
export interface FlushLine {
  /**
   * Resolves when all transactions are durable that a server committed after the line was opened and before this call.
   *
   * @param server The server that committed. A server that has crashed since, or another one, may not have the commit.
   * @throws StoreUnavailableError if that is uncertain.
   */
  flush(server: string): Promise<void>;
}

export interface Flusher {
  /** Opens a line, unless one is open. Call it before a transaction commits. */
  open(): Promise<FlushLine>;
  close(): Promise<void>;
}

/**
 * A crash of the server closes the line. A new line gives no information about earlier commits.
 *
 * @param connections Their commits wait for the disk.
 * @param onOtherServer Called if the line leads to another server than the one that committed.
 */
export function flusher(connections: Connections, onOtherServer: () => void): Flusher {
  let line: Promise<FlushLine & { end(): void }> | undefined;

  async function open(): Promise<FlushLine & { end(): void }> {
    const client = await connections.connect();
    let isOpen = true;
    // Without traffic the connection would be closed, and a commit that has begun would fail.
    const query = oneAtATime((text) => client.query(text));
    const heartbeat = setInterval(() => void query(HEARTBEAT).catch(end), HEARTBEAT_MS).unref();
    function end(): void {
      if (!isOpen) return;
      isOpen = false;
      clearInterval(heartbeat);
      line = undefined;
      client.release(true);
    }
    client.once('error', end);
    client.once('end', end);
    const flush = shared(() => query(FLUSH));
    return {
      async flush(server) {
        try {
          if (server !== serverOf(client)) {
            onOtherServer();
            throw new StoreUnavailableError('Another server of the database has become the primary.');
          }
          await flush();
        } catch (error) {
          end();
          throw error;
        }
      },
      end,
    };
  }

  return {
    open() {
      if (line) return line;
      const opening = open();
      line = opening;
      opening.catch(() => {
        if (line === opening) line = undefined;
      });
      return opening;
    },
    async close() {
      (await line?.catch(() => undefined))?.end();
      await connections.end();
    },
  };
}

/**
 * Sends each query when the previous one has returned, because pg 9 refuses a query while another runs. After a failure, all later queries
 * fail.
 */
function oneAtATime(query: (text: string) => Promise<unknown>): (text: string) => Promise<void> {
  let last = Promise.resolve();
  return (text) => (last = last.then(async () => void (await query(text))));
}

/** Callers that arrive during a flush share the next one, because the flush that is in progress does not cover them. */
function shared(flush: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function start(): Promise<void> {
    next = undefined;
    running = flush().finally(() => {
      if (!next) running = undefined;
    });
    return running;
  }

  return () => {
    if (!running) return start();
    return (next ??= running.then(start, start));
  };
}
