/**
 * README, quickstart and guides, as a reader uses them: the test types their command lines in a clone of the repository, on the Node of the
 * machine. The shell blocks of a page are one script. Blocks with the marker `start` are not part of it. Those that start a sandbox are typed
 * alone, and the others are named here with what types them, or why nothing does.
 *
 * The usual run types those of README, quickstart and two guides, and compiles the programs of all pages. A deep run types all of them twice.
 * The pages run one after another in one sandbox, which a deep run resets after each page.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { blocksOf, programOf, shownOutput } from '../../../.config/blocks.ts';
import { isDeep } from '../../../.config/depth.ts';
import { areFree, cloneRepository, otherPorts, type } from '../../../.config/newcomer.ts';
import type { Clone, Typed } from '../../../.config/newcomer.ts';
import { REPOSITORY } from '../../../.config/sandbox.ts';
import { guideGroups } from '../src/guides.ts';
import { compile } from './compile.ts';

const SITE = join(REPOSITORY, 'apps/docs/site');
const files = [join(REPOSITORY, 'README.md'), join(SITE, 'quickstart.md'), ...globSync(join(SITE, 'guides/*.md'))].map((path) => ({
  path,
  name: basename(path, '.md'),
}));

const BANNER = /^curl .*\/vm\/create.*\n/m;

let folder: string;
let clone: Clone;
let sandbox: Typed;
const RESET = 'npx -y pnpm@12 try --reset';
const TASKS = join(SITE, 'guides/five-tasks.md');
const ALWAYS_TYPED = new Set(['README', 'five-tasks', 'quickstart', 'first-purchase', 'lost-responses']);

/** Empty if the ports of the documentation are free, as on the machine of most readers. Otherwise the ports to use instead. */
let settings: Readonly<Record<string, string>>;

beforeAll(async () => {
  const reports = join(REPOSITORY, 'apps/docs/reports');
  mkdirSync(reports, { recursive: true });
  // Within the package, where its dependencies are found.
  folder = mkdtempSync(join(reports, 'guides-'));
  clone = cloneRepository();
  settings = (await areFree([4010, 4011])) ? {} : await otherPorts();
  sandbox = await startWith('npx -y pnpm@12 start');
});

afterAll(async () => {
  if (sandbox) await stop(sandbox);
  clone?.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function startWith(line: string): Promise<Typed> {
  const typed = type(line, clone.folder, settings);
  await vi.waitFor(() => expect(typed.stdout()).toMatch(BANNER), { timeout: 300_000, interval: 100 });
  return typed;
}

async function stop(typed: Typed): Promise<void> {
  typed.signal('SIGINT');
  await typed.ended;
}

/** Types lines in the root of the clone, and returns what they print. */
async function typeLines(lines: string): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  const typed = type(withPorts(lines), clone.folder, settings);
  onTestFinished(() => typed.signal('SIGKILL'));
  const code = await typed.ended;
  return { code, stdout: typed.stdout(), stderr: typed.stderr() };
}

function withPorts(text: string): string {
  const { RESELLER_PORT: port = '4010', RESELLER_OPERATOR_PORT: operatorPort = '4011' } = settings;
  return text.replaceAll('127.0.0.1:4010', `127.0.0.1:${port}`).replaceAll('127.0.0.1:4011', `127.0.0.1:${operatorPort}`);
}

test('the navigation lists every guide, and every listed guide exists', () => {
  const listed = guideGroups.flatMap(({ guides }) => guides.map(({ name }) => name));
  const written = globSync(join(SITE, 'guides/*.md')).map((path) => basename(path, '.md'));
  expect(listed.toSorted()).toEqual(written.toSorted());
});

// Those of the five tasks are files of the workspace, which the type check compiles.
test('all programs of the pages compile', () => {
  for (const { path, name } of files.filter(({ path: file }) => file !== TASKS)) {
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
  const known = new Set(['ts', 'ts test', 'ts panel', 'sh', 'sh start', 'php', 'text', 'text start', 'yaml', 'mermaid']);
  expect(
    blocksOf(path)
      .map(({ language, marker }) => `${language} ${marker}`.trim())
      .filter((kind) => !known.has(kind)),
  ).toEqual([]);
});

const withCommands = files.filter(({ path }) => programOf(blocksOf(path), 'sh') !== '');

test('every page with TypeScript says how to run it', () => {
  const silent = files.filter(({ path }) => {
    const blocks = blocksOf(path);
    const commands = programOf(blocks, 'sh');
    return (
      path !== TASKS &&
      blocks.some(({ language, marker }) => language === 'ts' && marker !== 'panel') &&
      !commands.includes(`npx -y pnpm@12 try ${relative(REPOSITORY, path)}\n`)
    );
  });
  expect(silent).toEqual([]);
});

test('the programs of the five tasks are the files that they run', () => {
  const blocks = blocksOf(TASKS);
  const programs = blocks.filter(({ language }) => language === 'ts').map(({ code }) => code);
  const run = [...programOf(blocks, 'sh').matchAll(/^npx -y pnpm@12 try (\S+\.ts)$/gm)].map(([, file = '']) =>
    readFileSync(join(REPOSITORY, file), 'utf8'),
  );
  expect(run.length).toBeGreaterThan(2);
  expect(programs).toEqual(run);
});

const typed = withCommands.filter(({ name }) => isDeep || ALWAYS_TYPED.has(name));

/** The first word of each block with the marker `start` that starts no sandbox. */
const OTHER_STARTS: Readonly<Record<string, string>> = {
  dig: 'name-server.test.ts of the service asks the same question, because a reader may have no dig',
  npm: '.config/publish/packages.outer.test.ts installs the tarballs',
  sudo: 'it installs packages on the machine',
  curl: 'the curl of a purchase is typed in README and quickstart',
  socat: 'it needs a machine of QEMU and a terminal',
  'RESELLER_API_KEY=$(cat': 'php.outer.test.ts runs the programs of the guide',
  export: 'apps/server/test/instances.outer.test.ts runs instances on a database',
  'npx move': 'apps/server/test/move.outer.test.ts moves a store',
  'npx start --real': 'apps/server/test/real.outer.test.ts starts it',
};
const OWN_FOLDER = '/var/lib/reseller';
const starts = files.flatMap(({ path, name }) =>
  blocksOf(path).flatMap(({ language, marker, code }) => (language === 'sh' && marker === 'start' ? [{ name, code }] : [])),
);
const [sandboxes, others] = [starts.filter(isSandbox), starts.filter((start) => !isSandbox(start))];

function isSandbox({ code }: { readonly code: string }): boolean {
  return /pnpm@12 start$|src\/main\.ts$/m.test(code) && !code.includes('DATABASE_URL');
}

test('every block with the marker start is typed, or says what types it', () => {
  const words = others.map(({ code }) => code.replace('npx -y pnpm@12', 'npx').split(' ').slice(0, 3));
  const unknown = words.filter((first) => [1, 2, 3].every((count) => OTHER_STARTS[first.slice(0, count).join(' ').trim()] === undefined));
  expect(unknown).toEqual([]);
  expect(sandboxes.map(({ name }) => name)).toEqual(expect.arrayContaining(['README', 'quickstart', 'polling', 'embedded-and-postgresql']));
});

// The sandbox of this file was started by the lines of README and quickstart.
test.each(sandboxes.filter(({ code }) => code.trim() !== 'npx -y pnpm@12 start'))(
  'the lines of $name start a sandbox',
  { tags: 'deep' },
  async ({ code }) => {
    const data = mkdtempSync(join(folder, 'data-'));
    const own = { ...(await otherPorts()), RESELLER_DATA_DIR: data };
    const typedStart = type(code.replace(OWN_FOLDER, data), clone.folder, own);
    onTestFinished(() => stop(typedStart));
    await vi.waitFor(() => expect(typedStart.stdout()).toMatch(BANNER), { timeout: 300_000, interval: 100 });
  },
);

describe.each(typed)('$name', ({ path }) => {
  test('does what it says', async () => {
    const blocks = blocksOf(path);
    const first = await typeLines(programOf(blocks, 'sh'));
    expect({ code: first.code, errors: first.code === 0 ? '' : `${first.stderr}${first.stdout}` }).toEqual({ code: 0, errors: '' });
    expect(`${sandbox.stdout()}\n${first.stdout}`).toMatch(shownOutput(blocks, withPorts));
  });

  test('does it a second time, or says that an earlier run has changed the sandbox', { tags: 'deep' }, async () => {
    const again = programOf(blocksOf(path), 'sh').match(/^npx -y pnpm@12 try \S+\.(?:md|ts)$/gm) ?? [];
    const { code, stderr } = await typeLines(again.join('\n'));
    expect(code === 0 ? '' : stderr).toMatch(/^$|idempotency_key_reused[^]*npx -y pnpm@12 try --reset/);
    expect(await typeLines(RESET)).toMatchObject({ code: 0 });
  });
});

test('try shows the message of an error of the client without its stack, and the stack of any other error', async () => {
  const program = 'examples/quickstart/wrong.ts';
  const file = join(clone.folder, program);
  const lines = "import { createReseller } from '@reseller/client';\nconst reseller = createReseller({ environment: 'sandbox' });\n";
  writeFileSync(file, `${lines}await reseller.vm.create({ cores: 2, mem: 4096, disk: 40, os: 'none', hostsystem: 'nl_ryzen' });\n`);
  const refused = await typeLines(`npx -y pnpm@12 try ${program}`);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/InvalidError \(validation_failed\): .+\nThe request was: curl /),
  ]);
  expect(refused.stderr).not.toMatch(/^ +at /m);
  writeFileSync(file, "throw new TypeError('wrong');\n");
  const wrong = await typeLines(`npx -y pnpm@12 try ${program}`);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/TypeError: wrong\n +at .*wrong\.ts/)]);
});

test('try says what is wrong with a file that it cannot run', { tags: 'deep' }, async () => {
  const wrong = ['examples/quickstart/nothing.ts', 'package.json', 'SECURITY.md'];
  const { code, stderr } = await typeLines(wrong.map((file) => `npx -y pnpm@12 try ${file} || true`).join('\n'));
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(
      /There is no file .*nothing\.ts\.[^]*package\.json is not a TypeScript program or a Markdown page\.[^]*SECURITY\.md has no TypeScript that try could run\./,
    ),
  ]);
});

test('try --reset brings the sandbox back to its first start', async () => {
  expect(await typeLines(RESET)).toMatchObject({ code: 0, stdout: expect.stringContaining('after its first start') });
});

test('try says that no sandbox is running', { tags: 'deep' }, async () => {
  await stop(sandbox);
  const { code, stderr } = await typeLines('npx -y pnpm@12 try examples/quickstart/buy.ts');
  expect(code).toBe(1);
  expect(stderr).toContain('No sandbox is running. Start one in another terminal: npx -y pnpm@12 start\n');
});

test('the parts of the panel in the guide are in its files', () => {
  const parts = blocksOf(join(SITE, 'guides/billing-panel.md')).filter(({ marker }) => marker === 'panel');
  const panel = globSync(join(REPOSITORY, 'examples/panel/src/*.ts'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  expect(parts.length).toBeGreaterThan(0);
  for (const { code } of parts) expect(panel).toContain(code);
});

test('the workflow in the guide is the file that it names', () => {
  const block = blocksOf(join(SITE, 'guides/contract-tests.md')).find(({ language }) => language === 'yaml');
  expect(block?.code).toBe(readFileSync(join(REPOSITORY, 'examples/github-actions/contract.yml'), 'utf8'));
});
