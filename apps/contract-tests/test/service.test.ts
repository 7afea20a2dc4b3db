import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOperations } from '@reseller/contract';
import { CHECKS, runContract, type Report } from '@reseller/contract/engine';
import { createService, DEMO_ACCOUNT, issueApiKey, openSqliteStore, seedSandbox, simulatedPorts } from '@reseller/service';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { loadDocument } from '../src/document.ts';
import { memoryJournal } from '../src/memory-journal.ts';
import { describeReport, performedChecks } from './face.ts';

const report = await runAgainstSandbox();

describe('the sandbox service, in full mode', () => {
  describeReport(report);
});

test('every request was within the budget, and what was made is named', () => {
  expect(report.traffic.filter(({ operation, status }) => operation === 'createVm' && status === 200).length).toBeLessThanOrEqual(3);
  expect(report.left.some((line) => line.startsWith('createVm (vmid '))).toBe(true);
});

test('nothing but what needs another operation than the service has was left out', () => {
  const missing = CHECKS.map(({ id }) => id).filter((id) => !performedChecks(report).includes(id));
  // They need a second service, a dedicated server (which this interface cannot order), an answer with a header of the API, and a
  // status that is not described.
  expect(['parity', 'removed-stays-removed', 'envelope-kept']).toEqual(expect.arrayContaining(missing));
});

/** The service itself with a store of its own; every operation may be called, as nothing here costs anything. */
async function runAgainstSandbox(): Promise<Report> {
  const document = await loadDocument();
  const directory = mkdtempSync(join(tmpdir(), 'contract-test-'));
  const ports = simulatedPorts();
  const store = await openSqliteStore(directory);
  await seedSandbox(store, ports);
  const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'contract', mode: 'sandbox' }));
  const service = await createService({ store, ports, secret: 'x'.repeat(32), logger: pino({ level: 'silent' }) });
  try {
    return await runContract({
      document,
      target: new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })),
      apiKey,
      mode: 'full',
      only: new Map(readOperations(document).map(({ id }) => [id, undefined])),
      budget: 20,
      journal: memoryJournal(),
    });
  } finally {
    await service.close();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
