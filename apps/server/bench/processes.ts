/** The processes that are measured, each a child process that tells when it is ready. */
import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { on, once } from 'node:events';
import { join, resolve } from 'node:path';

import { Client } from 'pg';

import type { Row } from '../../../.config/bench-row.ts';
import { bundlePrograms } from '../deploy/server-bundle.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
/** As deep as the sources, so that the code finds other files by the same relative paths. */
const PROGRAMS = join(import.meta.dirname, '../dist/bench');

export interface ServiceOptions {
  /** Accounts to create. None if another instance has created them. */
  readonly accounts: number;
  /** Without it and `directory`, an embedded store in a temporary directory. */
  readonly databaseUrl?: string;
  readonly directory?: string;
}

export interface StartedService {
  readonly baseUrl: string;
  readonly apiKeys: readonly string[];
  /** Key of an account with 61 addresses. Empty if the service has created no accounts. */
  readonly scarceKey: string;
}

/** Figures of a service since they were last asked for. */
export interface ServiceFigures {
  readonly residentBytes: number;
  readonly longestStallMs: number;
  /** Bytes of the store. */
  readonly storeBytes: number;
}

export interface BareOptions {
  readonly read: string;
  readonly purchase: string;
}

export interface BarePostgresOptions {
  readonly databaseUrl: string;
  /** Text of a row. */
  readonly row: string;
  readonly connections: number;
  /** Inserts that wait at the same time. */
  readonly concurrency: number;
}

export interface Running<Message> {
  readonly started: Message;
  /** Sends a message and returns the response. */
  ask<Reply>(message: unknown): Promise<Reply>;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Builds the programs of this folder as a production installation is built. */
export async function buildPrograms(): Promise<void> {
  const names = ['service', 'bare', 'bare-postgres'];
  await bundlePrograms(PROGRAMS, Object.fromEntries(names.map((name) => [name, join(import.meta.dirname, `${name}.ts`)])));
}

/** Runs a benchmark of another package, and yields its figures. */
export async function* rowsOf(script: string, given: readonly string[], execArgv: readonly string[] = []): AsyncGenerator<Row> {
  const child = fork(join(ROOT, script), given, { execArgv: [...execArgv], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  running.add(child);
  const ended = new AbortController();
  child.once('exit', () => ended.abort());
  try {
    for await (const [row] of on(child, 'message', { signal: ended.signal })) yield row;
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
  running.delete(child);
  if (child.exitCode !== 0) throw new Error(`${script} ended with exit code ${child.exitCode}.`);
}

/** Starts a program of this folder, and waits for its first message. */
export async function run<Message>(program: string, options: object): Promise<Running<Message>> {
  const child = fork(join(PROGRAMS, `${program}.js`), [JSON.stringify(options)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(PROGRAMS, 'compile-cache') },
  });
  running.add(child);
  const ended = once(child, 'exit').then(() => running.delete(child));
  async function next() {
    const first = await Promise.race([once(child, 'message'), ended]);
    if (!Array.isArray(first)) throw new Error(`${program} ended with exit code ${child.exitCode}.`);
    return first[0];
  }
  return {
    started: await next(),
    ask(message) {
      const reply = next();
      child.send(Object(message));
      return reply;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

export interface Postgres {
  /** Creates an empty database. */
  newDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts a PostgreSQL that writes to the disk as in production. */
export async function startPostgres(): Promise<Postgres> {
  const child = spawn(process.execPath, [resolve(import.meta.dirname, '../../../.config/postgres-server.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  running.add(child);
  const ended = once(child, 'exit').then(() => running.delete(child));
  const [line] = await once(child.stdout, 'data');
  const server = new URL(String(line).trim());
  let databases = 0;
  return {
    async newDatabase() {
      const name = `bench_${databases++}`;
      const client = new Client({ connectionString: server.href });
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      const url = new URL(server);
      url.pathname = `/${name}`;
      return url.href;
    },
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
