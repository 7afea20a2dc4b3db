/**
 * The service under load: accounts without a relevant credit limit, and room for many VMs. It gets its store as JSON in the first
 * argument, and sends its address and its keys to the parent process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import {
  addIpPool,
  createAccount,
  createService,
  euros,
  issueApiKey,
  openPostgresStore,
  openSqliteStore,
  seedSandbox,
  simulatedPorts,
} from '@reseller/service';
import { pino } from 'pino';

import type { ServiceFigures, ServiceOptions, StartedService } from './processes.ts';

const options: ServiceOptions = JSON.parse(process.argv[2] ?? '{}');
const temporary = options.databaseUrl === undefined && options.directory === undefined ? mkdtempSync(join(tmpdir(), 'bench-')) : undefined;
const ports = simulatedPorts();
const store =
  options.databaseUrl === undefined
    ? await openSqliteStore(options.directory ?? temporary ?? '')
    : await openPostgresStore(options.databaseUrl);
const { apiKeys, scarceKey } = options.accounts === 0 ? { apiKeys: [], scarceKey: '' } : await seed(options.accounts);
const { app } = await createService({ store, ports, secret: 'bench'.repeat(8), logger: pino({ level: 'silent' }) });
const stalls = monitorEventLoopDelay({ resolution: 1 });
process.on('message', async () => {
  const figures: ServiceFigures = {
    residentBytes: process.memoryUsage.rss(),
    longestStallMs: stalls.max / 1e6,
    storeBytes: await store.requestLog.storeSize(),
  };
  stalls.reset();
  process.send?.(figures);
});
process.once('SIGTERM', async () => {
  await app.close();
  await store.close();
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  process.exit(0);
});
const started: StartedService = { baseUrl: await app.listen({ host: '127.0.0.1', port: 0 }), apiKeys, scarceKey };
stalls.enable();
process.send?.(started);

async function seed(accounts: number): Promise<Omit<StartedService, 'baseUrl'>> {
  await seedSandbox(store, ports);
  return store.commit(async ({ db }) => {
    // Room for 32,000 VMs.
    await addIpPool(db, { id: 'bench-v4', datacenter: 'AMS1', accountId: null, cidr: '10.0.0.0/17', ddosProtection: 'none' });
    await addIpPool(db, { id: 'bench-v6', datacenter: 'AMS1', accountId: null, cidr: '2001:db8:8000::/49', ddosProtection: 'none' });
    await db.updateTable('host_nodes').set({ cores: 1e9, mem: 1e12, disk: 1e12 }).execute();
    async function add(name: string) {
      const accountId = await createAccount(db, ports, { name, creditLimit: euros('50000000') });
      return { accountId, apiKey: await issueApiKey(db, ports, accountId, { label: 'bench', mode: 'sandbox' }) };
    }
    const keys: string[] = [];
    for (let number = 0; number < accounts; number++) keys.push((await add(`bench ${number}`)).apiKey);
    const scarce = await add('scarce');
    const cidr = '198.18.0.0/26';
    await addIpPool(db, { id: 'scarce-v4', datacenter: 'AMS1', accountId: scarce.accountId, cidr, ddosProtection: 'none' });
    return { apiKeys: keys, scarceKey: scarce.apiKey };
  });
}
