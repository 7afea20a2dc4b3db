/** Each sample of the references compiles and runs against a sandbox, which has the data of a fresh one before each. */
import { execFile, fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { createClient } from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { REPOSITORY, startSandbox } from '../../../.config/sandbox.ts';
import type { Sandbox } from '../../../.config/sandbox.ts';
import { operationsOf, readDocument } from '../src/document.ts';
import { references } from '../src/references.ts';
import { samplesOf } from '../src/samples.ts';
import { compile } from './compile.ts';
import { keepFresh, prepare } from './preconditions.ts';

const run = promisify(execFile);

const samples = (
  await Promise.all(
    references.map(async (reference) => {
      const document = await readDocument(reference.bundle);
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

test('all TypeScript samples compile', { timeout: 300_000 }, () => {
  for (const { api, id, typescript } of samples) writeFileSync(join(folder, `${api}-${id}.ts`), typescript);
  expect(compile(folder, { lib: ['es2024', 'dom', 'dom.iterable'] })).toEqual({ status: 0, stdout: '' });
});

describe.each(references)('the samples of the $name API', ({ name }) => {
  test.each(samples.filter(({ api }) => api === name))('$id', async ({ api, id, method, curl, typescript }) => {
    const operation = { operation: `${api}.${id}`, method };
    const command = `${await prepare(operation, curl, sandbox, operator)} --silent --show-error --fail-with-body`;
    await run('bash', ['-c', command], { env: sandbox.environment });

    const file = join(folder, `run-${api}-${id}.ts`);
    writeFileSync(file, await prepare(operation, typescript, sandbox, operator));
    importer.send(file);
    const [failure] = await once(importer, 'message');
    expect(failure).toBeNull();
  });
});
