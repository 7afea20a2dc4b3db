/** A supervisor stops the service that it started with `npx -y pnpm@12 start`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

import { expect, onTestFinished, test, vi } from 'vitest';

import { printedFact } from '../../../../.config/printed-fact.ts';
import { startServer, temporaryDirectory } from '../process.ts';
import { tell } from './figures.ts';

const REPOSITORY = resolve(import.meta.dirname, '../../../..');
/** npx of npm, which runs the pnpm that runs the tests, so that no registry is needed. */
const START = `"${process.env['npm_execpath'] ?? 'pnpm'}" start`;

test.each(['SIGTERM', 'SIGKILL'] as const)('%s to npx also stops the service', { tags: 'deep' }, async (signal) => {
  const directory = temporaryDirectory();
  const npx = spawn('npm', ['exec', '-c', START], {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
    env: { ...process.env, RESELLER_PORT: '0', RESELLER_OPERATOR_PORT: '0', RESELLER_DATA_DIR: directory, RESELLER_DRAIN_SECONDS: '0' },
  });
  onTestFinished(() => {
    try {
      if (npx.pid !== undefined) process.kill(-npx.pid, 'SIGKILL');
    } catch {
      // All processes of the group have ended.
    }
  });
  let printed = '';
  npx.stdout.on('data', (chunk) => (printed += String(chunk)));
  await vi.waitFor(() => expect(printed).toMatch(/^curl .*\n/m), { timeout: 300_000, interval: 100 });
  const baseUrl = printedFact(printed, 'Base URL');
  expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200);
  const gone = once(npx, 'exit');
  const begun = performance.now();
  npx.kill(signal);
  await gone;
  await vi.waitFor(() => expect(fetch(`${baseUrl}/healthz`)).rejects.toThrow('fetch failed'), { timeout: 300_000, interval: 50 });
  tell(`${signal} to npx: the service no longer accepted connections after ${Math.round(performance.now() - begun)} ms`);
  // The process has ended, so another one can use its store.
  await vi.waitFor(() => startServer({ RESELLER_DATA_DIR: directory }), { timeout: 300_000 });
});
