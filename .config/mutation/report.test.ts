import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { REPOSITORY } from '../turbo.ts';
import { equivalents } from './equivalents.ts';
import { percentage, scoreOf, scoresOf, textOf } from './report.ts';
import type { MutationReport } from './report.ts';

const SOURCE = 'export function isFull(count: number): boolean {\n  return count >= 3\n    && true;\n}\n';
const at = (line: number, start: number, end: number, endLine = line) => ({
  location: { start: { line, column: start }, end: { line: endLine, column: end } },
  mutatorName: 'Any',
});
const report: MutationReport = {
  files: {
    'src/full.ts': {
      source: SOURCE,
      mutants: [
        { ...at(2, 10, 20), status: 'Killed', replacement: 'true' },
        { ...at(2, 10, 20), status: 'Timeout', replacement: 'false' },
        { ...at(2, 10, 20), status: 'Survived', replacement: 'count > 3' },
        { ...at(2, 10, 12, 3), status: 'NoCoverage', replacement: 'false' },
        { ...at(3, 8, 12), status: 'Survived', replacement: 'false' },
        { ...at(2, 10, 20), status: 'RuntimeError', replacement: '' },
        { ...at(2, 10, 20), status: 'Ignored', replacement: '' },
      ],
    },
    'src/empty.ts': { source: '', mutants: [] },
  },
};
const equivalent = { file: 'src/full.ts', original: 'true', replacement: 'false', reason: 'nothing reads it' };

test('counts noticed changes, without those that have no effect or cannot run', () => {
  expect(scoreOf(scoresOf(report, []))).toBe(40);
  expect(scoreOf(scoresOf(report, [equivalent]))).toBe(50);
  expect(scoreOf(scoresOf(report, [{ ...equivalent, file: 'src/other.ts' }]))).toBe(40);
  expect(scoreOf([])).toBe(100);
});

test('names each survivor with its line and both texts, and apart from it those that have no effect', () => {
  const text = textOf(scoresOf(report, [equivalent]));
  expect(text).toContain('50.0 %         2         2         1  src/full.ts');
  expect(text).toContain('100.0 %         0         0         0  src/empty.ts');
  const [, missed = '', without = ''] = text.split(/No test notices these changes:|These changes have no effect:/);
  expect(missed.trim().split('\n')).toEqual([
    'src/full.ts:2  count >= 3  ->  count > 3',
    'src/full.ts:2  count >= 3 && true  ->  false  (no test runs it)',
  ]);
  expect(without.trim()).toBe('src/full.ts:3  true  ->  false  (nothing reads it)');
});

test('a percentage is rounded down, so that a score below a threshold does not look like it', () => {
  expect([100, 84.99, 85, 0].map(percentage)).toEqual(['100.0 %', '84.9 %', '85.0 %', '0.0 %']);
});

test('each change without an effect is one of a source that still exists', () => {
  expect(equivalents.length).toBeGreaterThan(0);
  const isGone = ({ file, original }: (typeof equivalents)[number]) => !readFileSync(join(REPOSITORY, file), 'utf8').includes(original);
  expect(equivalents.filter(isGone)).toEqual([]);
});
