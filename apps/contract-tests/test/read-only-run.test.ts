import { readOperations } from '@reseller/contract';
import { MAX_READ_ONLY_REQUESTS, runContract } from '@reseller/contract/engine';
import { expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { resellerRules } from '../src/reseller.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';
import type { FakeService } from './selftest/fake-service.ts';

const document = await loadDocument();

async function start(): Promise<FakeService> {
  const service = await startFakeService(document);
  onTestFinished(() => service.close());
  return service;
}

test('a read-only run has no findings on a conforming service, and verifies every read-only operation', async () => {
  const service = await start();
  const extensions = resellerRules(document);
  const report = await runContract({ document, target: new URL(service.url), apiKey: FAKE_KEY, extensions });
  expect(report.findings.filter(({ verdict }) => verdict !== 'unverified')).toEqual([]);
  const operations = readOperations(document);
  expect(report.coverage.filter(({ verified }) => verified).map(({ operation }) => operation)).toEqual(
    operations.filter(({ readOnly }) => readOnly).map(({ id }) => id),
  );
  expect(report.coverage.filter(({ verified }) => !verified).map(({ verdict, reason }) => `${verdict}: ${reason}`)).toEqual(
    operations
      .filter(({ readOnly }) => !readOnly)
      .map(({ billable }) => `unverified: ${billable ? 'costs money' : 'changes state'}, and this run is read-only`),
  );
});

test('a read-only run sends nothing that costs money or changes state, and at most five requests for each operation', async () => {
  const service = await start();
  const report = await runContract({ document, target: new URL(service.url), apiKey: FAKE_KEY });
  const reading = new Set(
    readOperations(document)
      .filter(({ readOnly }) => readOnly)
      .map(({ id }) => id),
  );
  expect(service.called.filter((id) => !reading.has(id))).toEqual([]);
  // Operations that change something get only an undescribed GET.
  expect(service.requests.filter((request) => !request.startsWith('GET ') && request !== 'POST /account/requests')).toEqual([]);
  expect(Math.max(...report.coverage.map(({ requests }) => requests))).toBeLessThanOrEqual(MAX_READ_ONLY_REQUESTS);
  expect(service.requests).toHaveLength(report.traffic.length);
});
