/** The steps in CONTRIBUTING.md that add an operation, followed in a copy of the repository. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

import { expect, inject, onTestFinished, test } from 'vitest';

import { REPOSITORY } from './turbo.ts';

const TSC = 'node_modules/typescript/bin/tsc';
const VITEST = 'node_modules/vitest/vitest.mjs';
/** The test of the sample, and tests of all operations: those without input, and the commands. */
const TESTS =
  'packages/service/src/reseller/domain/get-domain-count.test.ts packages/service/test/isolation.test.ts apps/cli/test/names.test.ts';
const NAMES = '"counts the domains|no list shows|has a command"';

/** Files that git shows after an operation was added, the generated ones included. */
const MOST_FILES = 15;

test('the steps add an operation that passes the lint, compiles and works over HTTP', { tags: 'deep' }, async ({ skip }) => {
  if (process.platform === 'win32') skip('pnpm links packages by absolute paths on Windows, so a copy would use the original');
  const copy = copyRepository();
  git(copy, 'init', '--quiet');
  git(copy, 'add', '--all');
  followSteps(copy, sectionOf('Add an operation, step by step'));

  await runScript(copy, 'openapi', 'generate');
  await Promise.all([
    runIn(join(copy, 'openapi'), 'redocly lint service service@bundle'),
    runScript(copy, 'packages/client', 'generate'),
    runScript(copy, 'packages/service', 'generate'),
  ]);

  const files = [...git(copy, 'diff', '--name-only'), ...git(copy, 'ls-files', '--others', '--exclude-standard')];
  expect(files.slice(MOST_FILES)).toEqual([]);

  // The tables that are total over all operations, and the new files.
  const compiled = [
    'src/reseller/table.ts',
    'test/good-calls.ts',
    'src/reseller/domain/get-domain-count.test.ts',
    '../../.config/provided.ts',
  ];
  writeFileSync(
    join(copy, 'packages/service/tsconfig.sample.json'),
    JSON.stringify({ extends: './tsconfig.json', include: [], files: compiled }),
  );
  await Promise.all([
    runIn(copy, `node ${TSC} -p packages/service/tsconfig.sample.json --checkers 1`),
    runIn(copy, `node ${VITEST} run --config .config/vitest.config.ts --maxWorkers=1 ${TESTS} --testNamePattern ${NAMES}`).then((output) =>
      expect(output).toContain('4 passed, 0 failed'),
    ),
  ]);
});

function sectionOf(heading: string): string {
  const [, section] = readFileSync(join(REPOSITORY, 'CONTRIBUTING.md'), 'utf8').split(`\n## ${heading}\n`);
  const [steps] = section?.split('\n## ') ?? [];
  if (steps === undefined) throw new Error(`CONTRIBUTING.md has no section "${heading}".`);
  return steps;
}

/** The sources of this repository in another folder, with the installed packages of this one. */
function copyRepository(): string {
  const copy = mkdtempSync(join(tmpdir(), 'contributing-test-'));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const left = new Set(['dist', 'reports', '.turbo', '.git', '.data']);
  const command = join(REPOSITORY, 'apps/cli');
  const shared = ['node_modules', '.config/node_modules'].map((path) => join(REPOSITORY, path));
  cpSync(REPOSITORY, copy, {
    recursive: true,
    // The links between the packages of the workspace are relative, so they lead to the copy.
    verbatimSymlinks: true,
    filter: (path) => !left.has(basename(path)) && !shared.includes(path) && (dirname(path) !== dirname(command) || path === command),
  });
  for (const path of shared) symlinkSync(path, join(copy, path.slice(REPOSITORY.length)));
  return copy;
}

/** Runs git in a copy, and returns the lines that it prints. */
function git(copy: string, ...given: readonly string[]): readonly string[] {
  const { status, stdout, stderr } = spawnSync('git', ['-C', copy, ...given], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${given.join(' ')}: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}

const FILE = /`(?<path>[^`\s]+\/[^`\s]+)`:\n\n```\w+\n(?<code>[^]*?)^```$/gm;
const ADDITION = /In `(?<path>[^`\s]+)`, after `(?<line>[^`]+)`\n\n```\w+\n(?<code>[^]*?)^```$/gm;

/** Writes the files that the steps show, and adds the lines that they add. */
function followSteps(root: string, steps: string): void {
  const files = [...steps.matchAll(FILE)];
  const additions = [...steps.matchAll(ADDITION)];
  expect(files.length + additions.length, 'every block is a file or an addition').toBe([...steps.matchAll(/^```\w+$/gm)].length);
  for (const { groups: { path = '', code = '' } = {} } of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), code);
  }
  for (const { groups: { path = '', line = '', code = '' } = {} } of additions) {
    const lines = readFileSync(join(root, path), 'utf8').split('\n');
    // A line that is named with its indentation exists in other places, too.
    const at = lines.findIndex((candidate) => (line.startsWith(' ') ? candidate : candidate.trim()) === line);
    if (at === -1) throw new Error(`${path} has no line "${line}", after which CONTRIBUTING.md adds lines.`);
    lines.splice(at + 1, 0, code.trimEnd());
    writeFileSync(join(root, path), lines.join('\n'));
  }
}

function runScript(root: string, folder: string, name: string): Promise<string> {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  return runIn(join(root, folder), scripts[name] ?? '');
}

/** Runs a command line as a script of a package. pnpm itself would first install the copy. */
async function runIn(folder: string, line: string): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'));
  const child = spawn(line, {
    shell: true,
    cwd: folder,
    env: {
      ...Object.fromEntries(inherited),
      PATH: [join(folder, 'node_modules/.bin'), dirname(process.execPath), process.env['PATH']].join(delimiter),
      TEST_DATABASE_URL: inject('postgresUrl'),
      NO_COLOR: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}
