/** Runs a sandbox until its standard input ends. Prints its address and a key. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createService, DEMO_ACCOUNT, issueApiKey, openSqliteStore, seedSandbox, simulatedPorts } from '@reseller/service';
import { pino } from 'pino';

const directory = mkdtempSync(join(tmpdir(), 'contract-bench-'));
const ports = simulatedPorts();
const store = await openSqliteStore(directory);
await seedSandbox(store, ports);
const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'bench', mode: 'sandbox' }));
const service = await createService({ store, ports, secret: 'x'.repeat(32), logger: pino({ level: 'silent' }) });
process.stdout.write(`${JSON.stringify({ target: await service.app.listen({ host: '127.0.0.1', port: 0 }), apiKey })}\n`);
process.stdin.resume().once('end', async () => {
  await service.close();
  await store.close();
  rmSync(directory, { recursive: true, force: true });
});
