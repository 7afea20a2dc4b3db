/**
 * A real PostgreSQL for the tests of a run: the server of TEST_DATABASE_URL, or else one that is
 * started for the run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

import { dropDatabase } from '../packages/service/test/databases.ts';
import { ring } from './rings.ts';

/** The databases that a run prepares, so that the databases of its tests can be copies of them. */
const PREPARED = `prepared_${process.pid}`;
const DEMO = `demo_${process.pid}`;
const SANDBOX = `sandbox_${process.pid}`;

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (ring === 'inner') return undefined;
  const given = process.env['TEST_DATABASE_URL'];
  const { url, stop } = given ? { url: given, stop: () => dropPrepared(given) } : await startServer();
  project.provide('postgresUrl', url);
  project.provide('preparedDatabase', PREPARED);
  project.provide('demoDatabase', DEMO);
  project.provide('sandboxDatabase', SANDBOX);
  // In watch mode, the code has changed since the previous run prepared its databases.
  project.onTestsRerun(() => dropPrepared(url));
  return stop;
}

async function dropPrepared(url: string): Promise<void> {
  for (const name of [PREPARED, DEMO, SANDBOX]) await dropDatabase(url, name);
}

async function startServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = spawn(process.execPath, [join(import.meta.dirname, 'postgres-server.ts'), '--no-fsync'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  const url = await Promise.race([
    once(server.stdout, 'data').then(([line]) => String(line).trim()),
    ended.then(([code]) =>
      Promise.reject(new Error(`PostgreSQL could not be started (exit code ${code}). Set TEST_DATABASE_URL to use another server.`)),
    ),
  ]);
  return {
    url,
    async stop() {
      server.stdin.end();
      await ended;
    },
  };
}
