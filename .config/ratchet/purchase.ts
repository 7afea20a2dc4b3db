/** Counts the files and the named functions that one purchase on the embedded store runs, and prints them as JSON. */
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import {
  createService,
  DEMO_ACCOUNT,
  issueApiKey,
  openSqliteStore,
  seedSandbox,
  simulatedPorts,
  systemClock,
} from '../../packages/service/src/index.ts';

const PURCHASES = 12;
const ROOT = pathToFileURL(`${resolve(import.meta.dirname, '../..')}/`).href;
const { pino } = createRequire(resolve(import.meta.dirname, '../../packages/service/package.json'))('pino');

const directory = mkdtempSync(join(tmpdir(), 'ratchet-'));
const store = await openSqliteStore(directory);
const ports = simulatedPorts({ clock: systemClock });
await seedSandbox(store, ports);
const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'ratchet', mode: 'sandbox' }));
const service = await createService({
  store,
  ports,
  secret: 'x'.repeat(32),
  operatorToken: 'o'.repeat(40),
  logger: pino({ level: 'silent' }),
});
const url = await service.app.listen({ port: 0, host: '127.0.0.1' });

async function buy(idempotencyKey: string): Promise<void> {
  const headers = { 'x-service-apikey': apiKey, 'idempotency-key': idempotencyKey };
  const body = new URLSearchParams({ cores: '2', mem: '4096', disk: '40', os: 'debian_12', hostsystem: 'nl_ryzen' });
  const response = await fetch(`${url}/vm/create`, { method: 'PUT', headers, body });
  if (!response.ok) throw new Error(`The purchase failed: ${await response.text()}`);
}

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

interface PurchaseFigures {
  readonly files: number;
  readonly functions: number;
}

async function measurePurchase(purchase: number): Promise<PurchaseFigures> {
  await session.post('Profiler.takePreciseCoverage');
  await buy(`purchase-${purchase}`);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ran = result
    .filter(({ url: file }) => file.startsWith(ROOT) && !file.includes('/node_modules/') && !file.includes('/.config/'))
    .map(({ functions }) => functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0).length)
    .filter((functions) => functions > 0);
  return { files: ran.length, functions: ran.reduce((sum, count) => sum + count, 0) };
}

// The first purchases compile queries, and others run while a scheduled job or the renewal of a cache does. So the least of several counts.
let least = await measurePurchase(0);
for (let purchase = 1; purchase < PURCHASES; purchase++) {
  const figures = await measurePurchase(purchase);
  if (figures.functions < least.functions) least = figures;
}
await service.close();
await store.close();
rmSync(directory, { recursive: true });
process.stdout.write(JSON.stringify(least));
