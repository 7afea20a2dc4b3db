/** The scripts of the root: they match the documentation, print no noise, and run on any system. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { text } from 'node:stream/consumers';

import { expect, onTestFinished, test } from 'vitest';

import { REPOSITORY } from './turbo.ts';

/** The pnpm that runs the tests. */
const PNPM = process.env['npm_execpath'] ?? 'pnpm';
/** Commands of pnpm itself that the documentation may show. */
const SHOWN_BUILT_INS = new Set(['exec', 'install']);

/** The workflow that publishes the packages runs these. */
const RUN_BY_WORKFLOWS = new Set(['version-packages', 'publish-packages']);
/** Other scripts run these. */
const PARTS = new Set(['lint:code', 'lint:english', 'typecheck:all']);

const scripts = scriptsOf('package.json');
const documentation = filesOf('**/*.md');

test.each(listedInReadme())('npx -y pnpm@12 %s runs the script, not a command of pnpm', { tags: 'deep' }, async (name) => {
  expect(Object.keys(scripts)).toContain(name);
  const folder = temporaryFolder();
  const stub = { private: true, scripts: { [name]: 'node script.cjs' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(stub));
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), 'packages: []\n');
  writeFileSync(join(folder, 'script.cjs'), "process.stdout.write('the script ran')");
  expect((await pnpm([name], { cwd: folder })).stdout).toContain('the script ran');
});

test('the README lists every script that a person runs', () => {
  const forPeople = Object.keys(scripts).filter((name) => !PARTS.has(name) && !RUN_BY_WORKFLOWS.has(name));
  expect(listedInReadme().toSorted()).toEqual(forPeople.toSorted());
});

test('every command in the documentation exists', () => {
  const commands = documentation.flatMap((file) =>
    [...readFileSync(join(REPOSITORY, file), 'utf8').matchAll(/pnpm@12 ([a-z][\w:-]*)/g)].map(([, name]) => ({ file, name })),
  );
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter(({ name = '' }) => !(name in scripts) && !SHOWN_BUILT_INS.has(name))).toEqual([]);
});

// npm 11 asks before each command: it never takes a range such as pnpm@12 from its cache.
test('no command on a page makes npx ask whether it may download pnpm', () => {
  const asking = documentation.filter((file) => /npx(?: --offline)? pnpm@12/.test(readFileSync(join(REPOSITORY, file), 'utf8')));
  expect(asking).toEqual([]);
});

test('every source file that a README names exists', () => {
  const tracked = execFileSync('git', ['ls-files'], { cwd: REPOSITORY, encoding: 'utf8' }).split('\n');
  const named = tracked
    .filter((file) => /(?:^|\/)README\.md$/.test(file))
    .flatMap((readme) =>
      [...readFileSync(join(REPOSITORY, readme), 'utf8').matchAll(/`([\w./-]+\.ts)`/g)].map(([, name = '']) => ({ readme, name })),
    );
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter(({ readme, name }) => !tracked.some((file) => isNamed(file, readme, name)))).toEqual([]);
});

test('every script consists of commands of plain words joined by &&, which also work on Windows', () => {
  const word = String.raw`(?:[\w@/.:,=-]+|"[\w@/.:,=* -]+")`;
  const script = new RegExp(String.raw`^(?!\w+=)${word}(?: ${word})*(?: && (?!\w+=)${word}(?: ${word})*)*$`);
  const manifests = filesOf('package.json', 'openapi/package.json', '{packages,apps}/*/package.json');
  const every = manifests.flatMap((file) => Object.entries(scriptsOf(file)).map(([name, line]) => ({ file, name, line })));
  expect(every.length).toBeGreaterThan(20);
  expect(every.filter(({ line }) => !script.test(line))).toEqual([]);
  const programs = every.flatMap(({ line }) => line.split(' && ').map((command) => command.split(' ')[0] ?? ''));
  const UNWANTED = new Set(['rm', 'cp', 'mv', 'mkdir', 'cat', 'sh', 'bash', 'env', 'sed', 'touch', 'export', 'pnpm', 'npx', 'turbo']);
  // pnpm and turbo print notices, so scripts use .config/turbo.ts and .config/run.mjs instead.
  expect(programs.filter((program) => UNWANTED.has(program))).toEqual([]);
});

test('sources decode file URLs, so that folders may have spaces in their names', () => {
  const sources = filesOf('{.config,openapi,packages,apps}/**/*.ts');
  const undecoded = /(?:import\.meta\.url|import\.meta\.resolve\([^)]*\))\)\.pathname/;
  expect(sources.length).toBeGreaterThan(300);
  expect(sources.filter((file) => undecoded.test(readFileSync(join(REPOSITORY, file), 'utf8')))).toEqual([]);
});

test('contract prints neither its command line nor the API key, and an error is one line', { tags: 'outer' }, async () => {
  expect(await pnpm(['contract', '--api-key', 'a-secret-key', '--mode', 'wild'])).toEqual({
    code: 2,
    stdout: '--mode must be read-only or full.\n',
    stderr: '',
  });
});

test.each([
  ['start', { RESELLER_PORT: 'http' }, /^RESELLER_PORT is 'http'\. .*\n$/],
  ['mock', { MOCK_PORT: 'http' }, /^MOCK_PORT is 'http'\. .*\n$/],
  ['site', { DOCS_PORT: 'http' }, /^DOCS_PORT is 'http'\. .*\n$/],
  ['move', { DATABASE_URL: 'database' }, /^The URL of the database is not valid\. .*\n$/],
])('%s that cannot run prints one line, and nothing of pnpm and turbo', { tags: 'outer' }, async (name, environment, line) => {
  const { code, stdout, stderr } = await pnpm([name], { environment });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(line);
});

test.each(listedInReadme())('npx -y pnpm@12 %s --help says how to use it', { tags: 'deep' }, async (name) => {
  const { code, stdout, stderr } = await pnpm([name, '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/usage/i);
});

function listedInReadme(): string[] {
  const rows = readFileSync(join(REPOSITORY, 'CONTRIBUTING.md'), 'utf8').split('## All scripts')[1]?.split('\n## ')[0] ?? '';
  return rows.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w:-]+)`/g)].map(([, name = '']) => name));
}

function scriptsOf(manifest: string): Record<string, string> {
  const { scripts: all = {} }: { scripts?: Record<string, string> } = JSON.parse(readFileSync(join(REPOSITORY, manifest), 'utf8'));
  return all;
}

function filesOf(...patterns: readonly string[]): string[] {
  return globSync(patterns, { cwd: REPOSITORY, exclude: (path) => /(?:^|[\\/])(?:node_modules|dist|generated)$/.test(path) });
}

/** Whether a README calls a file by its path from the root or from the README, or by the end of its path within the package. */
function isNamed(file: string, readme: string, name: string): boolean {
  if (file === name || file === posix.join(posix.dirname(readme), name)) return true;
  const [packageFolder = ''] = /^(?:packages|apps|examples)\/[^/]+\//.exec(readme) ?? [];
  return file.startsWith(packageFolder) && file.endsWith(`/${name}`);
}

interface Ran {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs pnpm like a new user of turbo, which announces its telemetry unless its configuration says that it already has. */
async function pnpm(given: readonly string[], { cwd = REPOSITORY, environment = {} } = {}): Promise<Ran> {
  const { TURBO_TELEMETRY_DISABLED: _, DATABASE_URL: _url, ...inherited } = process.env;
  const env = { ...inherited, XDG_CONFIG_HOME: temporaryFolder(), ...environment };
  const child = spawn(PNPM, given, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stdout, stderr };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scripts-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
