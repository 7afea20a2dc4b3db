/** Each sample of the references compiles. In a deep run, each runs against a sandbox, which has the data of a fresh one before each. */
import { execFile, fork, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { createClient } from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { REPOSITORY, startSandbox } from '../../../.config/sandbox.ts';
import type { Sandbox } from '../../../.config/sandbox.ts';
import { operationsOf, readDocument } from '../src/document.ts';
import { references } from '../src/references.ts';
import { samplesOf } from '../src/samples.ts';
import { compile } from './compile.ts';
import { keepFresh, NEED_MACHINES, prepare } from './preconditions.ts';

const run = promisify(execFile);

const samples = (
  await Promise.all(
    references.map(async (reference) => {
      const document = await readDocument(reference);
      return operationsOf(document).map((placed) => ({
        api: reference.name,
        id: placed.id,
        method: placed.method,
        ...samplesOf(document, placed, reference),
      }));
    }),
  )
).flat();

let sandbox: Sandbox;
let operator: Client;
let folder: string;
let importer: ChildProcess;

beforeAll(async () => {
  const reports = join(REPOSITORY, 'apps/docs/reports');
  mkdirSync(reports, { recursive: true });
  // Within the package, where its dependencies are found.
  folder = mkdtempSync(join(reports, 'samples-'));
  sandbox = await startSandbox();
  operator = createClient({ baseUrl: sandbox.operatorUrl, token: sandbox.operatorToken });
  await keepFresh(sandbox, operator);
  importer = fork(join(import.meta.dirname, 'import-samples.ts'), {
    env: sandbox.environment,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
});

afterAll(async () => {
  importer?.kill();
  await sandbox?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('each operation has samples', () => {
  expect(samples.length).toBeGreaterThan(80);
});

test('all TypeScript samples compile', () => {
  for (const { api, id, typescript } of samples) writeFileSync(join(folder, `${api}-${id}.ts`), typescript);
  expect(compile(folder, { lib: ['es2024', 'dom', 'dom.iterable'] })).toEqual({ status: 0, stdout: '' });
});

/** Parses each file in one process, because `php -l` reads one file in a call. */
const PHP_SYNTAX = `
  $failed = 0;
  foreach (array_slice($argv, 1) as $file) {
    try {
      token_get_all(file_get_contents($file), TOKEN_PARSE);
    } catch (ParseError $error) {
      echo "$file: {$error->getMessage()}\n";
      $failed = 1;
    }
  }
  exit($failed);`;

const LANGUAGES = [
  { language: 'python', extension: 'py', check: ['python3', '-m', 'py_compile'], start: ['python3'] },
  { language: 'php', extension: 'php', check: ['php', '-r', PHP_SYNTAX], start: ['php'] },
  { language: 'go', extension: 'go', check: ['gofmt', '-e', '-l'], start: ['go', 'run'] },
] as const;

function isInstalled(program: string): boolean {
  return spawnSync(program, ['--help']).error === undefined;
}

test.for(LANGUAGES)('all $language samples have valid syntax', ({ language, extension, check }, { skip }) => {
  const [program, ...options] = check;
  if (!isInstalled(program)) return skip(`${program} is not installed`);
  const files = samples.map(({ api, id, [language]: code }) => {
    const file = join(folder, `${api}-${id}.${extension}`);
    writeFileSync(file, `${code}\n`);
    return file;
  });
  const { status, stdout, stderr } = spawnSync(program, [...options, ...files], { encoding: 'utf8' });
  expect(status === 0 ? '' : stdout + stderr).toBe('');
});

/** PHP and Go print a refusal as they print a success. Both APIs have its status in the body. */
function isFailure(output: string): boolean {
  return /^Error|^[45]\d\d |"status": ?(?:"error"|[45]\d\d)/.test(output);
}

describe.for(LANGUAGES)('the $language samples', ({ language, extension, start }) => {
  const [program, ...options] = start;
  /** The names of the samples that fail, with the reason. */
  async function failuresOf(some: typeof samples): Promise<string[]> {
    const failures: string[] = [];
    for (const { api, id, method, [language]: sample } of some) {
      const file = join(folder, `run-${api}-${id}.${extension}`);
      writeFileSync(file, `${await prepare({ operation: `${api}.${id}`, method }, sample, sandbox, operator)}\n`);
      const environment = { ...process.env, ...sandbox.environment };
      const { stdout } = await run(program, [...options, file], { env: environment }).catch((error: unknown) => ({
        stdout: String(error),
      }));
      if (isFailure(stdout)) failures.push(`${api}.${id}: ${stdout}`);
    }
    return failures;
  }
  const bodies = new Map(samples.map((sample) => [`${sample.api} ${sample.request.mediaType}`, sample]));
  test('one of each API and kind of body runs', async ({ skip }) => {
    if (!isInstalled(program)) return skip(`${program} is not installed`);
    expect(await failuresOf([...bodies.values()])).toEqual([]);
  });
  test('all of them run', { tags: 'deep' }, async ({ skip }) => {
    if (!isInstalled(program)) return skip(`${program} is not installed`);
    expect(await failuresOf(samples.filter(({ id }) => !NEED_MACHINES.has(id)))).toEqual([]);
  });
});

describe.each(references)('the samples of the $name API', ({ name }) => {
  const ofApi = samples.filter(({ api }) => api === name);
  // All samples compile in each run. The usual run sends every sixth.
  test.for(byDepth({ usual: ofApi.filter((_, index) => index % 6 === 0), deep: ofApi }))(
    '$id',
    async ({ api, id, method, curl, typescript }, { skip }) => {
      if (NEED_MACHINES.has(id)) return skip('a sandbox with simulated machines has none that its store does not know');
      const operation = { operation: `${api}.${id}`, method };
      const command = `${await prepare(operation, curl, sandbox, operator)} --silent --show-error --fail-with-body`;
      await run('bash', ['-c', command], { env: sandbox.environment });

      const file = join(folder, `run-${api}-${id}.ts`);
      writeFileSync(file, await prepare(operation, typescript, sandbox, operator));
      importer.send(file);
      const [failure] = await once(importer, 'message');
      expect(failure).toBeNull();
    },
  );
});
