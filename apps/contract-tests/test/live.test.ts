import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { resellerRules } from '../src/reseller.ts';
import { describeReport } from './describe-report.ts';

const { RESELLER_API_URL: url = '', RESELLER_API_KEY: apiKey = '' } = process.env;
// The run is read-only: the guard refuses requests that cost money or change state.
const reports: readonly Report[] = url === '' || apiKey === '' ? [] : [await runLive()];

test('runs against the live service', ({ skip }) => {
  skip(reports.length === 0, 'RESELLER_API_URL and RESELLER_API_KEY are not both set');
  expect(reports).toHaveLength(1);
});

describe.each([...reports])('the live service at $target', (report) => {
  describeReport(report);
});

async function runLive(): Promise<Report> {
  const document = await loadDocument();
  return runContract({ document, target: new URL(url), apiKey, extensions: resellerRules(document) });
}
