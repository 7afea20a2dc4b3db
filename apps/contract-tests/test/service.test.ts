import { readOperations } from '@reseller/contract';
import { CHECKS, runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { otpPresenter } from '../src/operator.ts';
import { resellerRules } from '../src/reseller.ts';
import { describeReport, performedChecks } from './describe-report.ts';
import { memoryJournal } from './memory-journal.ts';
import { startSandbox } from './sandbox.ts';

const report = await runAgainstSandbox();

describe('the sandbox service, in full mode', () => {
  describeReport(report);
});

test('every operation of the document succeeded', () => {
  expect(report.coverage.filter(({ verified }) => !verified).map(({ operation, reason }) => `${operation}: ${reason}`)).toEqual([]);
});

test('every purchase was within the budget, and the created VM is listed', () => {
  expect(report.traffic.filter(({ operation, status }) => operation === 'createVm' && status === 200).length).toBeLessThanOrEqual(3);
  expect(report.left.some((line) => line.startsWith('createVm (vmid '))).toBe(true);
});

test('cancellations were withdrawn', () => {
  expect(report.left.filter((line) => line.startsWith('deleteDedicatedServer'))).toEqual([]);
});

test('one-time codes were presented at the operator API, and followed their rules', () => {
  expect(report.findings.filter(({ check }) => check === 'otp-rules')).toEqual([]);
  expect(report.coverage.find(({ operation }) => operation === 'generateOtp')?.checks).toContainEqual({
    check: 'otp-rules',
    outcome: 'passed',
  });
});

test('performed all checks except those that need another service or document', () => {
  const missing = CHECKS.map(({ id }) => id).filter((id) => !performedChecks(report).includes(id));
  // They need an undescribed status, recorded traffic, or parts that the document does not have.
  expect([
    'envelope-kept',
    'request-described',
    'operation-described',
    'parameter-refused',
    'accept-honoured',
    'precondition-kept',
    'property-direction',
    'state-kept',
  ]).toEqual(expect.arrayContaining(missing));
});

/** Calls every operation, because the sandbox costs nothing. */
async function runAgainstSandbox(): Promise<Report> {
  const document = await loadDocument();
  const sandbox = await startSandbox();
  const { server, domain } = sandbox.things;
  const named = new Map<string, string | undefined>(readOperations(document).map(({ id }) => [id, undefined]));
  try {
    return await runContract({
      document,
      target: sandbox.url,
      apiKey: sandbox.apiKey,
      mode: 'full',
      only: named.set('deleteDedicatedServer', server).set('undeleteDedicatedServer', server).set('undeleteDomain', domain),
      budget: { amount: 0n, unknown: 20 },
      journal: memoryJournal(),
      extensions: resellerRules(document, otpPresenter({ url: sandbox.operatorUrl, token: sandbox.operatorToken })),
      secrets: [sandbox.operatorToken],
    });
  } finally {
    await sandbox.close();
  }
}
