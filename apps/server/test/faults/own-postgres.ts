/** A PostgreSQL server for a single test, which the test can stop and start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

import { onTestFinished } from 'vitest';

const SERVER = resolve(import.meta.dirname, '../../../../.config/postgres-server.ts');

export interface OwnPostgres {
  /** Connection string; the same after every start. */
  readonly url: string;
  /** Kills it, as a failing machine would. */
  crash(): Promise<void>;
  /** Restarts it on its files. */
  start(): Promise<void>;
}

/** Starts a server that ends with the test. */
export async function ownPostgres(): Promise<OwnPostgres> {
  const child = spawn(process.execPath, [SERVER], { stdio: ['pipe', 'pipe', 'inherit'] });
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
  return { url: await line(), crash: () => tell('crash'), start: () => tell('start') };
}
