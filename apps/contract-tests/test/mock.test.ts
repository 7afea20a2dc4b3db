import { readFile } from 'node:fs/promises';

import { readBaseline, runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe } from 'vitest';

import { loadDocument } from '../src/document.ts';
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
    return await runContract({ document: await loadDocument(), target: mock.url, apiKey: 'any-key' });
  } finally {
    await mock.stop();
  }
}
