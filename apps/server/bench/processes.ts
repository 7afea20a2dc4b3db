/** The processes that are measured, each a child process that tells when it is ready. */
import { fork, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

import { Client } from 'pg';

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
}

/** Figures of a service since they were last asked for. */
export interface ServiceFigures {
  readonly residentBytes: number;
  readonly longestStallMs: number;
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
  ask<Answer>(message: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a script of this folder, and waits for its first message. */
export async function run<Message>(script: string, options: object): Promise<Running<Message>> {
  const child = fork(join(import.meta.dirname, script), [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  running.add(child);
  const ended = once(child, 'exit').then(() => running.delete(child));
  async function next() {
    const first = await Promise.race([once(child, 'message'), ended]);
    if (!Array.isArray(first)) throw new Error(`${script} ended with exit code ${child.exitCode}.`);
    return first[0];
  }
  return {
    started: await next(),
    ask(message) {
      const answer = next();
      child.send(Object(message));
      return answer;
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
