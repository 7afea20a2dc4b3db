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

/** Connection string of another database on the same server. */
export function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
