import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { keyOf } from './mutants.ts';
import { createResultsReporter, createSampleChecker, RESULTS_FILE, SAMPLE_FILE } from './stryker-plugins.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stryker-plugins-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const mutant = {
  fileName: 'src/full.ts',
  location: { start: { line: 1, column: 2 }, end: { line: 1, column: 9 } },
  mutatorName: 'ConditionalExpression',
  replacement: 'true',
};

test('only mutants of the sample are tested, not others of the same text', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, SAMPLE_FILE), JSON.stringify([keyOf(mutant)]));
  const fileName = join(folder, mutant.fileName);
  const mutants = [
    { ...mutant, fileName, id: 'sampled' },
    { ...mutant, fileName, id: 'other replacement', replacement: 'false' },
    { ...mutant, fileName, id: 'other place', location: { ...mutant.location, end: { line: 1, column: 10 } } },
    { ...mutant, fileName: join(folder, 'src/other.ts'), id: 'other file' },
  ];
  const checker = createSampleChecker(folder);
  await checker.init();
  expect(await checker.group(mutants)).toEqual([mutants.map(({ id }) => id)]);
  const checked = await checker.check(mutants);
  expect(Object.entries(checked).map(([id, { status }]) => [id, status])).toEqual([
    ['sampled', 'passed'],
    ['other replacement', 'compileError'],
    ['other place', 'compileError'],
    ['other file', 'compileError'],
  ]);
});

test('each result is in the file as soon as it is known', () => {
  const folder = temporaryFolder();
  const reporter = createResultsReporter(folder);
  const lines = () => readFileSync(join(folder, RESULTS_FILE), 'utf8').trim().split('\n');
  for (const [index, status] of (['Killed', 'Survived'] as const).entries()) {
    reporter.onMutantTested({ ...mutant, fileName: join(folder, mutant.fileName), status });
    expect(lines()).toHaveLength(index + 1);
  }
  expect(lines().map((line) => JSON.parse(line))).toEqual([
    { ...mutant, status: 'Killed' },
    { ...mutant, status: 'Survived' },
  ]);
});
