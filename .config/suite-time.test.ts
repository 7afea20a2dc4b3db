import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { expect, onTestFinished, test } from 'vitest';

const VITEST = resolve(import.meta.dirname, '../node_modules/vitest/vitest.mjs');
const CONFIG = resolve(import.meta.dirname, 'fixtures/vitest.config.ts');

function newFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'suite-time-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, 'suite-time.json');
}

async function run(file: string, given: readonly string[] = [], variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(process.execPath, [VITEST, 'run', '--config', CONFIG, ...given], {
    env: { PATH: process.env['PATH'], UNCOVERED: '0', REPORTS: resolve(file, '..'), SUITE_TIME_FILE: file, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(code).toBe(0);
  return stdout;
}

test('a run of all tests prints its seconds next to those of the recorded run', async () => {
  const file = newFile();
  expect(await run(file, [], { SUITE_TIME: 'record' })).not.toContain('Seconds of the tests');
  const recorded = JSON.parse(readFileSync(file, 'utf8'));
  expect(recorded).toEqual({
    run: expect.stringMatching(/^\d+ x .+, \d{4}-\d\d-\d\d$/),
    total: expect.any(Number),
    packages: { 'deep.fixture.ts': 0, 'other.fixture.ts': 0, 'statuses.fixture.ts': expect.any(Number) },
  });
  const printed = await run(file);
  expect(printed).toContain(`Seconds of the tests, and of a recorded run (${recorded.run}):\n`);
  expect(printed).toMatch(/^ +\d+ +\d+ {2}statuses\.fixture\.ts$/m);
  expect(printed).toMatch(new RegExp(`^ +\\d+ +${recorded.total} {2}from start to end$`, 'm'));
});

test('a run of some tests, and a deep run, print and record no seconds', async () => {
  const file = newFile();
  await run(file, ['statuses'], { SUITE_TIME: 'record' });
  await run(file, [], { SUITE_TIME: 'record', TEST_DEPTH: 'deep' });
  expect(existsSync(file)).toBe(false);
});
