import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { expect, onTestFinished, test } from 'vitest';

import { describedStatuses } from './status-coverage.ts';

const VITEST = resolve(import.meta.dirname, '../node_modules/vitest/vitest.mjs');
const CONFIG = resolve(import.meta.dirname, 'fixtures/vitest.config.ts');

async function run(uncovered: number, given: readonly string[] = [], variables: Readonly<Record<string, string>> = {}) {
  const reports = mkdtempSync(join(tmpdir(), 'closing-line-test-'));
  onTestFinished(() => rmSync(reports, { recursive: true, force: true }));
  const child = spawn(process.execPath, [VITEST, 'run', '--config', CONFIG, ...given], {
    env: { PATH: process.env['PATH'], UNCOVERED: String(uncovered), REPORTS: reports, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stderr, lines: stdout.trim().split('\n'), report: () => readFileSync(join(reports, 'status-coverage.md'), 'utf8') };
}

const all = describedStatuses();

test('a run that covered every described response passes, and prints why tests were skipped', async () => {
  const { code, stderr, lines, report } = await run(0);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(lines).toEqual([
    'skipped: covers no response: there is nothing to do',
    'Tests left out, which npx -y pnpm@12 test:deep runs: 1',
    `The tests covered ${all.length} of ${all.length} described responses of the service`,
    '',
    '1 passed, 0 failed, 1 skipped',
  ]);
  expect(report()).toContain('None is missing.');
});

test('the programs that the machine lacks are in one line, with the command that installs them', async () => {
  const { lines } = await run(0, [], { ABSENT: 'umoci and dig are not installed; dig and php with curl are not installed' });
  expect(lines.filter((line) => line.startsWith('skipped: '))).toEqual([
    'skipped: covers no response: there is nothing to do',
    'skipped: 2 tests, which need dig, php, umoci. On Debian, install them with: apt-get install -y bind9-dnsutils php-cli php-curl umoci',
  ]);
});

test('a deep run leaves no test out', async () => {
  const { code, lines } = await run(0, [], { TEST_RING: 'deep' });
  expect([code, lines.at(-1)]).toEqual([0, '2 passed, 0 failed, 1 skipped']);
  expect(lines.filter((line) => line.includes('left out'))).toEqual([]);
});

test('a run that did not cover one described response fails and names it', async () => {
  const { code, lines, report } = await run(1);
  expect(code).toBe(1);
  expect(lines.at(-3)).toBe(
    `The tests covered ${all.length - 1} of ${all.length} described responses of the service. Missing: ${all[0]}; all are in reports/status-coverage.md`,
  );
  expect(lines.at(-1)).toBe('1 passed, 1 failed, 1 skipped');
  expect(report()).toContain(`Missing:\n\n- ${all[0]}\n`);
});

test('a run that covered no response fails', { tags: 'deep' }, async () => {
  const { code, lines } = await run(all.length);
  expect([code, lines.at(-1)]).toEqual([1, '1 passed, 1 failed, 1 skipped']);
});

test.each([['statuses'], ['--testNamePattern', 'all described']])(
  'a run of some tests, chosen by %s, does not check coverage',
  { tags: 'deep' },
  async (...given) => {
    const { code, lines } = await run(5, given);
    expect(code).toBe(0);
    expect(lines.at(-1)).toMatch(/^1 passed, 0 failed/);
  },
);
