import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { describeReport } from './describe-report.ts';

const { RESELLER_API_URL: url = '', RESELLER_API_KEY: apiKey = '' } = process.env;
// Nothing that costs money or changes state leaves, whatever these tests ask.
const reports: readonly Report[] =
  url === '' || apiKey === '' ? [] : [await runContract({ document: await loadDocument(), target: new URL(url), apiKey })];

test('the live service is asked', ({ skip }) => {
  skip(reports.length === 0, 'RESELLER_API_URL and RESELLER_API_KEY are not both set');
  expect(reports).toHaveLength(1);
});

describe.each([...reports])('the live service at $target', (report) => {
  describeReport(report);
});
