import { parseDocument } from '@reseller/contract';
import { runContract, upgradeDocument } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { LIBRARY_DOCUMENT } from './library/document.ts';
import { SEEDED } from './library/mistakes.ts';
import { startLibrary, TOKEN } from './library/server.ts';
import type { Mistake } from './library/server.ts';
import { memoryJournal } from './memory-journal.ts';

const { document } = upgradeDocument(JSON.parse(JSON.stringify(LIBRARY_DOCUMENT)));
const MAX_REQUESTS = 200;

async function judge(mistake?: Mistake, mode: 'read-only' | 'full' = 'full'): Promise<Report> {
  const { url } = await startLibrary(mistake);
  const also = new Map([['replaceBook', undefined]]);
  return runContract({ document, target: url, apiKey: TOKEN, mode, ...(mode === 'full' ? { also } : {}), journal: memoryJournal() });
}

describe('a library that conforms to its document', () => {
  test('has no findings in full mode, and every operation is verified', async () => {
    const report = await judge();
    expect(report.findings.map(({ check, message, touches }) => `${check}: ${message} (${touches[0]?.operation})`)).toEqual([]);
    expect(report.coverage.filter(({ verified }) => !verified).map(({ operation, reason }) => `${operation}: ${reason}`)).toEqual([]);
    expect(report.unfinished).toEqual([]);
    expect(report.left).toEqual([]);
    expect(report.traffic.length).toBeLessThan(MAX_REQUESTS);
  });

  test('has no findings in a read-only run, and receives no request that changes it', async () => {
    const { url, received } = await startLibrary();
    const report = await runContract({ document: parseDocument(document), target: url, apiKey: TOKEN });
    expect(report.findings.filter(({ verdict }) => verdict !== 'unverified')).toEqual([]);
    expect(new Set(received.map(({ method }) => method))).toEqual(new Set(['GET']));
    const verified = report.coverage.filter((row) => row.verified).map(({ operation }) => operation);
    expect(verified).toEqual(['getHealth', 'listBooks', 'getBook', 'listLoans', 'getLoan', 'listMembers', 'getMember']);
    expect(Math.max(...report.coverage.map(({ requests }) => requests))).toBeLessThanOrEqual(5);
  });
});

test('there are at least twenty mistakes', () => {
  expect(SEEDED.length).toBeGreaterThanOrEqual(20);
});

/** Each mistake is a run of its own. */
const chosen = byDepth({ usual: SEEDED.filter((_, index) => index % 2 === 0), deep: SEEDED });

describe('finds in a library with one mistake only that mistake', () => {
  test.each(chosen)('$name', async ({ check, others = [], mistake }) => {
    const { findings, traffic } = await judge(mistake);
    expect(findings.map((finding) => finding.check)).toContain(check);
    expect(
      findings
        .filter((finding) => finding.verdict === 'violation' && ![check, ...others].includes(finding.check))
        .map(({ check: other, message }) => `${other}: ${message}`),
    ).toEqual([]);
    expect(traffic.length).toBeLessThan(MAX_REQUESTS);
  });
});
