/** A PostgreSQL that one proof has for itself, to end and start as it likes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

import { onTestFinished } from 'vitest';

const SERVER = resolve(import.meta.dirname, '../../../../.config/postgres-server.ts');

export interface OwnPostgres {
  /** Connection string; the same after every start. */
  readonly url: string;
  /** Ends it at once, as a failing machine would. */
  crash(): Promise<void>;
  /** Starts it again on what it left. */
  start(): Promise<void>;
}

/** Starts one that ends with the test. */
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
    if (value === undefined) throw new Error('PostgreSQL ended by itself.');
    return value;
  };
  const tell = async (command: string): Promise<void> => {
    child.stdin.write(`${command}\n`);
    await line();
  };
  return { url: await line(), crash: () => tell('crash'), start: () => tell('start') };
}
