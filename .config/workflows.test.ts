/** The workflow files, by the validator of GitHub's own editor, and the facts that it cannot know. */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { parse } from 'yaml';

import { PUBLISHED } from './publish/packages.ts';
import { REPOSITORY } from './turbo.ts';

// The validator imports JSON without the import attribute that Node requires.
const hooks = registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    return specifier.endsWith('.json') ? { ...resolved, importAttributes: { type: 'json' } } : resolved;
  },
});
const { validate } = await import('@actions/languageservice');
// The other test files of the worker import JSON as Node requires.
hooks.deregister();

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly 'runs-on': string; readonly steps: readonly { readonly run?: string }[] }>>;
}

const files = globSync(['.github/workflows/*.yml', 'examples/github-actions/*.yml'], { cwd: REPOSITORY }).toSorted();

describe.each(files)('%s', (file) => {
  test('is valid', async () => {
    expect(await findingsOf(read(file))).toEqual([]);
  });

  test('has shell scripts that Bash can parse', { tags: 'outer' }, () => {
    const { jobs }: Workflow = parse(read(file));
    for (const [name, { 'runs-on': system, steps }] of Object.entries(jobs)) {
      // PowerShell runs those of Windows.
      if (system.startsWith('windows')) continue;
      for (const { run } of steps) {
        if (run === undefined) continue;
        const { status, stderr } = spawnSync('bash', ['-n'], { input: run.replaceAll(/\$\{\{.*?\}\}/g, 'value'), encoding: 'utf8' });
        expect({ status, stderr }, `${name}: ${run}`).toEqual({ status: 0, stderr: '' });
      }
    }
  });

  test('runs scripts of this repository that exist', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
    const used = [...read(file).matchAll(/\bpnpm(?:@12)? ([a-z][\w:-]*)/g)].map(([, name = '']) => name);
    expect(used.filter((name) => !(name in scripts) && !['install', 'exec'].includes(name))).toEqual([]);
  });
});

test('there are workflows', () => {
  expect(files.length).toBeGreaterThan(3);
});

test.each([
  ['an unknown key', 'timeout-minutes: 45', 'timeout: 45', /Unexpected value 'timeout'/],
  ['an unknown job', 'jobs:\n  test:', 'jobs:\n  test:\n    needs: build', /unknown job 'build'/],
  ['an unknown permission', 'contents: read', 'content: read', /Unexpected value 'content'/],
  ['a broken expression', '${{ matrix.os }}', '${{ matrix.os == }}', /Unexpected end of expression/],
])('the validator finds %s', async (_, sound, broken, message) => {
  const text = read('.github/workflows/test.yml');
  expect(text).toContain(sound);
  expect((await findingsOf(text.replace(sound, broken))).join('\n')).toMatch(message);
});

test('the tests that run on Windows start no process', () => {
  const [, folders = ''] = /vitest run --config \S+ (.+)/.exec(read('.github/workflows/test.yml')) ?? [];
  const tests = globSync(
    folders.split(' ').map((folder) => `${folder}/**/*.ts`),
    { cwd: REPOSITORY, exclude: (path) => path.includes('node_modules') },
  );
  expect(tests.length).toBeGreaterThan(100);
  // No test imports the generator of the bundles.
  expect(tests.filter((file) => file !== join('openapi', 'generate.ts') && /node:child_process|process\.kill/.test(read(file)))).toEqual(
    [],
  );
});

test('Dependabot updates, and pnpm audits, each folder with a lock file', () => {
  const { updates }: { updates: { directories?: string[]; directory?: string }[] } = parse(read('.github/dependabot.yml'));
  const updated = new Set(updates.flatMap(({ directories = [], directory }) => [...directories, directory]));
  const locked = globSync('{,.config/,.config/*/,apps/*/*/}pnpm-lock.yaml', { cwd: REPOSITORY }).map((file) => join('/', dirname(file)));
  expect(locked.length).toBe(4);
  const security = read('SECURITY.md');
  expect(locked.filter((folder) => !security.includes(`\`${join(folder, 'pnpm-lock.yaml').slice(1)}\``))).toEqual([]);
  expect(locked.filter((folder) => !updated.has(folder))).toEqual([]);
  const { jobs }: { jobs: { audit: { strategy: { matrix: { folder: string[] } } } } } = parse(read('.github/workflows/audit.yml'));
  const audited = jobs.audit.strategy.matrix.folder.map((folder) => join('/', folder));
  expect(audited.toSorted()).toEqual(locked.toSorted());
});

test('the workflow that publishes names the repository in each published package', () => {
  const [, packages = ''] = /for package in (.*); do/.exec(read('.github/workflows/publish.yml')) ?? [];
  expect(packages.split(' ')).toEqual(PUBLISHED);
});

let documents = 0;

/** Errors and warnings, each with its line. */
async function findingsOf(text: string): Promise<string[]> {
  // The validator caches documents by their addresses.
  documents += 1;
  const found = await validate(TextDocument.create(`file:///${documents}.yml`, 'yaml', 1, text));
  return found.map(({ message, range }) => `line ${range.start.line + 1}: ${message}`);
}

function read(file: string): string {
  return readFileSync(join(REPOSITORY, file), 'utf8');
}
