/** A service of another kind than ours: JSON, bearer token, entity tags, cursors, work after the response, alternatives, negotiation. */
import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { describe, expect, onTestFinished, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
import { memoryJournal } from '../memory-journal.ts';
import { DEFECTS } from './workshop-defects.ts';
import { WORKSHOP } from './workshop-document.ts';
import { startWorkshop, WORKSHOP_TOKEN } from './workshop.ts';
import type { Rules } from './workshop.ts';

const VALID: ReadonlySet<string> = new Set(['call', 'valid-form']);
const MAX_VALID_REQUESTS = 10;

async function judge(rules?: Partial<Rules>, requests = MAX_VALID_REQUESTS): Promise<Report> {
  const workshop = await startWorkshop(rules);
  onTestFinished(() => workshop.close());
  const also = new Map(['changeProject', 'exportProject', 'addAsset'].map((id) => [id, undefined]));
  const journal = memoryJournal();
  return runContract({ document: WORKSHOP, target: workshop.url, apiKey: WORKSHOP_TOKEN, mode: 'full', also, journal, requests });
}

function findingsOf({ findings }: Report): readonly string[] {
  return findings
    .filter(({ verdict }) => verdict !== 'unverified')
    .map(({ check, message, touches }) => `${check}: ${message} (${touches.map(({ operation }) => operation).join(', ')})`);
}

test('a workshop that conforms to its document has no findings, and nothing remains', async () => {
  const report = await judge();
  expect(findingsOf(report)).toEqual([]);
  expect(report.coverage.filter(({ verified }) => !verified).map(({ operation, reason }) => `${operation}: ${reason}`)).toEqual([]);
  expect(report.unfinished).toEqual([]);
});

test('sends at most as many valid requests with special values as allowed, for each operation', { tags: 'deep' }, async () => {
  for (const requests of [1, 4, MAX_VALID_REQUESTS]) {
    const { traffic } = await judge(undefined, requests);
    const sent = traffic.filter(({ purpose, operation }) => VALID.has(purpose) && operation === 'createProject');
    expect(sent.length).toBeLessThanOrEqual(requests);
    expect(sent.length).toBeGreaterThan(requests > 1 ? 3 : 0);
  }
});

/** Each defect is a run of its own. */
const chosen = byDepth({ usual: DEFECTS.filter((_, index) => index % 8 === 0), deep: DEFECTS });

describe('finds a workshop that', () => {
  test.each(chosen)('$name', async ({ operations, rules }) => {
    const { findings } = await judge(rules);
    const found = findings.filter(
      ({ verdict, touches }) => verdict !== 'unverified' && touches.some(({ operation }) => operations.includes(operation)),
    );
    expect(found).not.toEqual([]);
  });
});
