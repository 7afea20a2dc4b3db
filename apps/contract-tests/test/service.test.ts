import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runContract } from '@reseller/contract';
import {
  createService,
  DEMO_ACCOUNT,
  issueApiKey,
  openSqliteStore,
  seedSandbox,
  simulatedFleet,
  simulatedHypervisor,
  simulatedRegistrar,
  systemClock,
  systemRandom,
} from '@reseller/service';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';

test('the sandbox service answers as the document says', async () => {
  const { target, apiKey } = await startSandbox();
  const buy = { cores: '2', mem: '4096', disk: '40', os: 'debian_12', hostsystem: 'nl_ryzen' };
  await fetch(new URL('/vm/create', target), { method: 'PUT', headers: { 'x-service-apikey': apiKey }, body: new URLSearchParams(buy) });
  const { findings, coverage } = await runContract({ document: await loadDocument(), target, apiKey });
  expect(findings.filter(({ verdict }) => verdict === 'violation')).toEqual([]);
  const verified = coverage.filter((row) => row.verified).map(({ operation }) => operation);
  expect(verified).toEqual(expect.arrayContaining(['listVmHosts', 'getCurrentInvoice', 'listRequests']));
});

async function startSandbox(): Promise<{ target: URL; apiKey: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'contract-test-'));
  const ports = {
    clock: systemClock,
    random: systemRandom,
    hypervisor: simulatedHypervisor(),
    fleet: simulatedFleet(),
    registrar: simulatedRegistrar(),
  };
  const store = await openSqliteStore(directory);
  await seedSandbox(store, ports);
  const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'contract', mode: 'sandbox' }));
  const service = await createService({ store, ports, secret: 'x'.repeat(32), logger: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await service.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { target: new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })), apiKey };
}
