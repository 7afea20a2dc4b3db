/** Databases on the PostgreSQL server of a run. This module also runs outside of tests, so it does not import Vitest. */
import { Client } from 'pg';

/** Runs work with a connection to a server. */
export async function administer<Result>(server: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Drops a database, if it exists, and ends the connections to it. */
export async function dropDatabase(server: string, name: string): Promise<void> {
  await administer(server, (client) => client.query(`drop database if exists ${name} with (force)`));
}

/** Number of connections that wait for a lock of this one. */
export function countBlocked(client: Client): Promise<number> {
  return countConnections(client, 'pg_backend_pid() = any(pg_blocking_pids(pid))');
}

/** Number of connections to the same database that wait for a lock. */
export function countWaiting(client: Client): Promise<number> {
  return countConnections(client, 'datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0');
}

async function countConnections(client: Client, condition: string): Promise<number> {
  // Otherwise a transaction sees only the connections that were open when it first read them.
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query(`select count(*)::int as count from pg_stat_activity where ${condition}`);
  return rows[0].count;
}

/** Connection string of another database on the same server. */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
