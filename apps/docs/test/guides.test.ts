/**
 * The code of README, quickstart and guides, word for word. The TypeScript blocks of a file are one program, its shell blocks are one script.
 * Both run against a sandbox with the data of a fresh one. Blocks with the marker `start` are not run: the test has started and installed already.
 * Blocks with the marker `test` are a file for `node --test`.
 */
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import { createClient } from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { PNPM, PNPM_ARGUMENTS } from '../../../.config/install.mjs';
import { guideGroups } from '../src/guides.ts';
import { blocksOf, programOf, shownOutput } from './blocks.ts';
import type { Block } from './blocks.ts';
import { compile } from './compile.ts';
import { keepFresh, restoreFresh } from './preconditions.ts';
import { REPOSITORY, startSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';

const SITE = join(REPOSITORY, 'apps/docs/site');
const files = [join(REPOSITORY, 'README.md'), join(SITE, 'quickstart.md'), ...globSync(join(SITE, 'guides/*.md'))].map((path) => ({
  path,
  name: basename(path, '.md'),
}));

let folder: string;
let usual: Sandbox;
let operator: Client;

beforeAll(async () => {
  const reports = join(REPOSITORY, 'apps/docs/reports');
  mkdirSync(reports, { recursive: true });
  // Within the package, where its dependencies are found.
  folder = mkdtempSync(join(reports, 'guides-'));
  usual = await startSandbox();
  operator = createClient({ baseUrl: usual.operatorUrl, token: usual.operatorToken });
  await keepFresh(usual, operator);
});

afterAll(async () => {
  await usual?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = promisify(execFile);

/** Only the README runs npx itself, which takes seconds to find pnpm. The guides run the same pnpm as the test. */
function scriptOf(name: string, blocks: readonly Block[]): string {
  const script = programOf(blocks, 'sh');
  if (name === 'README') return script;
  return script.replaceAll('npx pnpm@12', [PNPM, ...PNPM_ARGUMENTS].map((word) => `'${word}'`).join(' '));
}

test('the navigation lists every guide, and every listed guide exists', () => {
  const listed = guideGroups.flatMap(({ guides }) => guides.map(({ name }) => name));
  const written = globSync(join(SITE, 'guides/*.md')).map((path) => basename(path, '.md'));
  expect(listed.toSorted()).toEqual(written.toSorted());
});

test('all programs compile', { timeout: 300_000 }, () => {
  for (const { path, name } of files) {
    for (const marker of ['', 'test']) {
      const program = programOf(blocksOf(path), 'ts', marker);
      if (program !== '') writeFileSync(join(folder, `${name}${marker}.ts`), program);
    }
  }
  expect(compile(folder, { lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'], noUnusedLocals: false })).toEqual({
    status: 0,
    stdout: '',
  });
});

test.each(files)('$name has only blocks whose purpose is known', ({ path }) => {
  const known = new Set(['ts', 'ts test', 'ts panel', 'sh', 'sh start', 'text', 'yaml', 'mermaid']);
  expect(
    blocksOf(path)
      .map(({ language, marker }) => `${language} ${marker}`.trim())
      .filter((kind) => !known.has(kind)),
  ).toEqual([]);
});

const withPrograms = files.filter(({ path }) =>
  blocksOf(path).some(({ language, marker }) => ['ts', 'sh'].includes(language) && marker === ''),
);

test.each(withPrograms)('$name does what it says', { timeout: 300_000 }, async ({ path, name }) => {
  const blocks = blocksOf(path);
  try {
    const printed = [usual.welcome];
    const runFile = async (program: string, extension: string, code: string): Promise<void> => {
      if (code === '') return;
      const file = join(folder, `run-${name}.${extension}`);
      writeFileSync(file, usual.withAddresses(code));
      const { stdout } = await run(program, [file], { cwd: REPOSITORY, env: usual.environment });
      printed.push(stdout);
    };
    const script = scriptOf(name, blocks);
    await runFile('bash', 'sh', script === '' ? '' : `set -euo pipefail\n${script}`);
    await runFile(process.execPath, 'ts', programOf(blocks, 'ts'));
    expect(printed.join('\n')).toMatch(shownOutput(blocks, usual.withAddresses));
  } finally {
    await restoreFresh(operator);
  }
});

test('the tests of README and guides pass', { timeout: 300_000 }, async () => {
  const all = files.flatMap(({ path, name }) => {
    const tests = programOf(blocksOf(path), 'ts', 'test');
    return tests === '' ? [] : [{ file: join(folder, `${name}.test.ts`), tests }];
  });
  for (const { file, tests } of all) writeFileSync(file, tests);
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  // One process for all files, because loading the service takes longer than their tests.
  const options = ['--test', '--test-isolation=none', '--test-reporter=tap'];
  const { stdout } = await run(process.execPath, [...options, ...all.map(({ file }) => file)], { env: environment });
  expect(stdout).toMatch(/# fail 0\n/);
  const written = all.flatMap(({ tests }) => [...tests.matchAll(/^test\(/gm)]);
  expect(written.length).toBeGreaterThan(1);
  expect(Number(/# pass (\d+)/.exec(stdout)?.[1])).toBe(written.length);
});

test('the parts of the panel in the guide are in the file', () => {
  const parts = blocksOf(join(SITE, 'guides/billing-panel.md')).filter(({ marker }) => marker === 'panel');
  const panel = readFileSync(join(REPOSITORY, 'examples/panel/src/panel.ts'), 'utf8');
  expect(parts.length).toBeGreaterThan(0);
  for (const { code } of parts) expect(panel).toContain(code);
});

test('the workflow in the guide is the file that it names', () => {
  const block = blocksOf(join(SITE, 'guides/contract-tests.md')).find(({ language }) => language === 'yaml');
  expect(block?.code).toBe(readFileSync(join(REPOSITORY, 'examples/github-actions/contract.yml'), 'utf8'));
});
