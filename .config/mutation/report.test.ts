import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { REPOSITORY } from '../turbo.ts';
import { equivalents } from './equivalents.ts';
import type { Equivalent } from './equivalents.ts';
import { sampleOf } from './mutants.ts';
import { percentage, scoreOf, scoresOf, textOf } from './report.ts';
import type { Result } from './report.ts';

const SOURCE = 'export function isFull(count: number): boolean {\n  return count >= 3\n    && true;\n}\n';
const at = (line: number, start: number, end: number, endLine = line) => ({
  fileName: 'src/full.ts',
  location: { start: { line, column: start }, end: { line: endLine, column: end } },
  mutatorName: 'Any',
});
const results: Result[] = [
  { ...at(2, 10, 20), status: 'Killed', replacement: 'true' },
  { ...at(2, 10, 20), status: 'Timeout', replacement: 'false' },
  { ...at(2, 10, 20), status: 'Survived', replacement: 'count > 3' },
  { ...at(2, 10, 12, 3), status: 'NoCoverage', replacement: 'false' },
  { ...at(3, 8, 12), status: 'Survived', replacement: 'false' },
  { ...at(2, 10, 20), status: 'RuntimeError', replacement: '' },
  { ...at(2, 10, 20), status: 'Ignored', replacement: '' },
  { ...at(1, 1, 2), fileName: 'src/empty.ts', status: 'Killed', replacement: '' },
  { ...at(1, 1, 2), fileName: 'src/untested.ts', status: 'CompileError', replacement: '' },
];
const scores = (withoutEffect: readonly Equivalent[]) => scoresOf(results, () => SOURCE, withoutEffect);
const equivalent = { file: 'src/full.ts', original: 'true', replacement: 'false', reason: 'nothing reads it' };

test('counts noticed changes, without those that have no effect or cannot run', () => {
  expect(scoreOf(scores([]))).toMatchObject({ noticed: 3, tested: 6, value: 50 });
  expect(scoreOf(scores([equivalent]))).toMatchObject({ noticed: 3, tested: 5, value: 60 });
  expect(scoreOf(scores([{ ...equivalent, file: 'src/other.ts' }]))).toMatchObject({ tested: 6 });
  expect(scoreOf([])).toEqual({ noticed: 0, tested: 0, value: 100, interval: [0, 100] });
});

// The values of R: prop.test(x, n, correct = FALSE)$conf.int
test.each([
  [81, 263, [25.53, 36.62]],
  [0, 10, [0, 27.75]],
  [10, 10, [72.25, 100]],
] as const)('the interval of %i of %i is %j', (noticed, tested, [low, high]) => {
  const survivor = { file: '', line: 1, original: '', replacement: '', isCovered: true, equivalent: undefined };
  const { interval } = scoreOf([{ file: '', noticed, survivors: Array.from({ length: tested - noticed }, () => survivor) }]);
  expect(interval[0]).toBeCloseTo(low, 2);
  expect(interval[1]).toBeCloseTo(high, 2);
});

test('names each survivor with its line and both texts, and apart from it those that have no effect', () => {
  const text = textOf(scores([equivalent]));
  expect(text).toContain('50.0 %         2         2         1  src/full.ts');
  expect(text).toContain('100.0 %         1         0         0  src/empty.ts');
  expect(text).not.toContain('src/untested.ts');
  const [, missed = '', without = ''] = text.split(/No test notices these changes:|These changes have no effect:/);
  expect(missed.trim().split('\n')).toEqual([
    'src/full.ts:2  count >= 3  ->  count > 3',
    'src/full.ts:2  count >= 3 && true  ->  false  (no test runs it)',
  ]);
  expect(without.trim()).toBe('src/full.ts:3  true  ->  false  (nothing reads it)');
});

test('a seed always picks the same sample, another seed another one, and a larger sample contains the smaller one', () => {
  const all = Array.from({ length: 100 }, (_, line) => ({ ...at(line, 1, 2), replacement: 'false' }));
  const lines = (size: number, seed: number) => sampleOf(all, size, seed).map(({ location }) => location.start.line);
  expect(lines(10, 1)).toEqual(lines(10, 1));
  expect(lines(20, 1).slice(0, 10)).toEqual(lines(10, 1));
  expect(lines(10, 2)).not.toEqual(lines(10, 1));
  expect(new Set(lines(200, 1)).size).toBe(100);
});

test('a percentage is rounded down, so that a score below a threshold does not look like it', () => {
  expect([100, 84.99, 85, 0].map(percentage)).toEqual(['100.0 %', '84.9 %', '85.0 %', '0.0 %']);
});

test('each change without an effect is one of a source that still exists', () => {
  expect(equivalents.length).toBeGreaterThan(0);
  const isGone = ({ file, original }: (typeof equivalents)[number]) => !readFileSync(join(REPOSITORY, file), 'utf8').includes(original);
  expect(equivalents.filter(isGone)).toEqual([]);
});
