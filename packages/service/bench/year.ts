/**
 * Advances the clock by a year with 1,000 VMs, 1,000 domains and 20 dedicated servers. Measures how long that takes, and checks that every
 * invoice is exact.
 *
 *   npx -y pnpm@12 --filter @reseller/service bench [number of VMs and domains, default 1000]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openSqliteStore } from '../src/index.ts';
import type { Store } from '../src/index.ts';
import { openPostgresStore } from '../src/store/postgres/open.ts';
import { checkYear } from '../test/year/check.ts';
import { fillYear } from '../test/year/world.ts';

const COUNT = Number(process.argv[2] ?? 1_000);
/** So that every domain is renewed. */
const DAYS = 370;

async function measure(engine: string, store: Store): Promise<void> {
  const amount = { accounts: 10, vms: COUNT, domains: COUNT, servers: Math.ceil(COUNT / 50) };
  const filling = performance.now();
  const world = await fillYear(store, amount);
  const filled = performance.now();
  await world.advance(DAYS * 86_400);
  const passed = performance.now();
  const { invoices, positions, wrong } = await checkYear(world);
  await world.service.close();
  await store.close();
  function seconds(from: number, to: number) {
    return ((to - from) / 1000).toFixed(1);
  }
  process.stdout.write(
    `a year on ${engine}: ${seconds(filled, passed)} s for ${DAYS} days under ${amount.vms} VMs, ${amount.domains} domains and ${amount.servers} servers of ${amount.accounts} accounts (bought in ${seconds(filling, filled)} s); ${invoices - Math.min(wrong.length, invoices)} of ${invoices} invoices with ${positions} positions are exact\n`,
  );
  for (const line of wrong) process.stdout.write(`  wrong: ${line}\n`);
  if (wrong.length > 0) process.exitCode = 1;
}

const directory = mkdtempSync(join(tmpdir(), 'year-'));
try {
  await measure('SQLite', await openSqliteStore(directory));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
const server = spawn(process.execPath, [join(import.meta.dirname, '../../../.config/postgres-server.ts')], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const ended = once(server, 'exit');
try {
  const [url] = await once(server.stdout, 'data');
  await measure('PostgreSQL', await openPostgresStore(String(url).trim()));
} finally {
  server.stdin.end();
  await ended;
}
