/** Databases for tests, on the PostgreSQL of the run. */
import { postgresServer } from '@reseller/service/test/engines.ts';
import { Client } from 'pg';
import { onTestFinished } from 'vitest';

/** Other variables that an instance with a database needs. */
export const SHARED = {
  RESELLER_SECRET: 'a secret that all instances of a test have in common',
  RESELLER_OPERATOR_TOKEN: 'operator-token-of-the-instances-0123456789',
};

/** Creates an empty database that is dropped when the test ends, and returns its connection string. */
export async function newDatabase(): Promise<string> {
  const server = postgresServer();
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`;
  await query(server, `create database ${name} strategy file_copy`);
  onTestFinished(() => query(server, `drop database if exists ${name} with (force)`).then(() => undefined));
  return withPath(server, name);
}

/** The connection string with another database of the same server. */
export function withPath(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}

/** Runs one statement and returns its rows. */
export async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
