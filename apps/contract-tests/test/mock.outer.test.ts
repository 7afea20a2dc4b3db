import { readFile } from 'node:fs/promises';

import { readBaseline, runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { resellerRules } from '../src/reseller.ts';
import { describeReport } from './describe-report.ts';
import { startMockProcess } from './mock-process.ts';

const accepted = readBaseline(await readFile(new URL('mock-baseline.yaml', import.meta.url), 'utf8'));

const report = await runAgainstMock();

describe('the mock', () => {
  describeReport(report, accepted);
});

async function runAgainstMock(): Promise<Report> {
  const mock = await startMockProcess();
  try {
    const document = await loadDocument();
    return await runContract({ document, target: mock.url, apiKey: 'any-key', extensions: resellerRules(document) });
  } finally {
    await mock.stop();
  }
}
