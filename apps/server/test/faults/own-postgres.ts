/** A PostgreSQL server for a single test, which the test can stop and start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

import { inject, onTestFinished } from 'vitest';

const SERVER = resolve(import.meta.dirname, '../../../../.config/postgres-server.ts');

export interface OwnPostgres {
  /** Connection string; the same after every start. */
  readonly url: string;
  /** Kills it, as a failing machine would. */
  crash(): Promise<void>;
  /** Restarts it on its files. */
  start(): Promise<void>;
}

/** A server with a hot standby. */
export interface OwnPostgresPair extends OwnPostgres {
  /** Connection string of the standby. */
  readonly standbyUrl: string;
}

/** Starts a server that ends with the test. */
export async function ownPostgres(): Promise<OwnPostgres> {
  const { server } = await spawnPostgres([]);
  return server;
}

/** Starts a server and a standby that follows it. Both end with the test. */
export async function ownPostgresPair(): Promise<OwnPostgresPair> {
  const { server, line } = await spawnPostgres(['--standby']);
  return { ...server, standbyUrl: await line() };
}

async function spawnPostgres(options: readonly string[]): Promise<{ server: OwnPostgres; line(): Promise<string> }> {
  const template = join(inject('runFolder'), 'postgres-cluster');
  const child = spawn(process.execPath, [SERVER, '--template', template, ...options], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    child.stdin.end();
    await ended;
  }, 30_000);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error('PostgreSQL exited unexpectedly.');
    return value;
  };
  const tell = async (command: string): Promise<void> => {
    child.stdin.write(`${command}\n`);
    await line();
  };
  return { server: { url: await line(), crash: () => tell('crash'), start: () => tell('start') }, line };
}
