/**
 * A real PostgreSQL for the tests of a run: the one of TEST_DATABASE_URL, else one that lives as
 * long as the run.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import type { TestProject } from 'vitest/node';

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given) {
    project.provide('postgresUrl', given);
    return undefined;
  }
  const server = spawn(process.execPath, [join(import.meta.dirname, 'postgres-server.ts')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(server, 'exit');
  const url = await Promise.race([
    once(server.stdout, 'data').then(([line]) => String(line).trim()),
    ended.then(([code]) =>
      Promise.reject(new Error(`PostgreSQL could not be started (exit code ${code}). Set TEST_DATABASE_URL to use another one.`)),
    ),
  ]);
  project.provide('postgresUrl', url);
  return async () => {
    server.stdin.end();
    await ended;
  };
}
