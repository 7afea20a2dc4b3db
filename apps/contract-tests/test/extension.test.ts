/** The extension: a service without it has no findings, and with it every operation is verified. */
import { readOperations } from '@reseller/contract';
import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { expect, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import type { BundleName } from '../src/document.ts';
import { memoryJournal } from '../src/memory-journal.ts';
import { startSandbox } from './sandbox.ts';

test('a service without the extension has no findings in a run without --extension', async () => {
  const { findings } = await runAgainst('openapi', { extension: false });
  expect(findings).toEqual([]);
});

/** A run names the resources of its own requests by one identifier. A DNS record needs two, the domain and the record. */
const NEED_TWO_IDENTIFIERS = ['editDomainDnsRecord', 'removeDomainDns'];

test('a service with the extension verifies its operations with --extension', async () => {
  const report = await runAgainst('service', { extension: true });
  expect(report.findings).toEqual([]);
  expect(report.coverage.filter(({ verified }) => !verified).map(({ operation }) => operation)).toEqual(NEED_TWO_IDENTIFIERS);
});

/** A full run in which every operation may be called, as nothing costs anything in a sandbox. */
async function runAgainst(name: BundleName, { extension }: { extension: boolean }): Promise<Report> {
  const document = await loadDocument(name);
  const sandbox = await startSandbox({ extension });
  const { server, domain } = sandbox.things;
  const operations = readOperations(document);
  const named = new Map<string, string | undefined>(operations.map(({ id }) => [id, undefined]));
  const [offer] = operations.find(({ id }) => id === 'purchaseDedicatedServer')?.parameters[0]?.examples ?? [];
  if (offer !== undefined) named.set('purchaseDedicatedServer', String(offer));
  try {
    return await runContract({
      document,
      target: sandbox.url,
      apiKey: sandbox.apiKey,
      mode: 'full',
      only: named.set('deleteDedicatedServer', server).set('undeleteDedicatedServer', server).set('undeleteDomain', domain),
      budget: { amount: 0n, unknown: 40 },
      journal: memoryJournal(),
    });
  } finally {
    await sandbox.close();
  }
}
