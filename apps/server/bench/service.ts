/** The service under load, with an account without a relevant credit limit and a store in a temporary directory. Prints its address and key. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  addIpPool,
  createAccount,
  createService,
  euros,
  issueApiKey,
  openSqliteStore,
  seedSandbox,
  simulatedPorts,
} from '@reseller/service';
import { pino } from 'pino';

const directory = mkdtempSync(join(tmpdir(), 'bench-'));
const ports = simulatedPorts();
const store = await openSqliteStore(directory);
await seedSandbox(store, ports);
const apiKey = await store.commit(async ({ db }) => {
  await addIpPool(db, { id: 'bench-v4', datacenter: 'AMS1', accountId: null, cidr: '10.0.0.0/15', ddosProtection: 'none' });
  await addIpPool(db, { id: 'bench-v6', datacenter: 'AMS1', accountId: null, cidr: '2001:db8:8000::/47', ddosProtection: 'none' });
  await db.updateTable('host_nodes').set({ cores: 1e9, mem: 1e12, disk: 1e12 }).execute();
  const accountId = await createAccount(db, ports, { name: 'bench', creditLimit: euros('50000000') });
  return issueApiKey(db, ports, accountId, { label: 'bench', mode: 'sandbox' });
});
const { app } = await createService({ store, ports, secret: 'bench'.repeat(8), logger: pino({ level: 'silent' }) });
process.stdout.write(`${JSON.stringify({ baseUrl: await app.listen({ host: '127.0.0.1', port: 0 }), apiKey })}\n`);
process.once('SIGTERM', () => {
  rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
