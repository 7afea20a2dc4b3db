/** Every sample of the READMEs, and every example of the client, is compiled and run against the service. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { createReseller } from '@reseller/client/extension';
import { forms } from '@reseller/testing';
import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { tsc } from '../../../.config/tsc.ts';

const here = join(import.meta.dirname, '..');

function samplesOf(readme: string): string[] {
  return [...readFileSync(join(here, readme), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
}

const EXAMPLES = join(here, '../client/examples');

const samples = [
  ...['../client/README.md', '../client/REFERENCE.md', 'README.md'].flatMap((readme) =>
    samplesOf(readme).map((code, index) => [`${readme}, ${index + 1}`, code] as const),
  ),
  ...readdirSync(EXAMPLES).map((name) => [name, readFileSync(join(EXAMPLES, name), 'utf8')] as const),
];

let directory: string;

beforeAll(() => {
  mkdirSync(join(here, 'reports'), { recursive: true });
  // Within the package, where its dependencies are found.
  directory = mkdtempSync(join(here, 'reports', 'samples-'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A proxy in front of the service that loses the response to the first purchase. */
async function losePurchases(target: string): Promise<string> {
  let lost = false;
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const body = await text(request);
    const headers = new Headers();
    for (const name of ['x-service-apikey', 'content-type', 'idempotency-key']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const received = await fetch(target + url, { method, headers, ...(body && { body }) });
    if (method === 'PUT' && !lost) {
      lost = true;
      request.socket.resetAndDestroy();
    } else {
      for (const name of ['content-type', 'idempotency-key-lifetime']) response.setHeader(name, received.headers.get(name) ?? '');
      response.writeHead(received.status).end(await received.text());
    }
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}

/** Some examples use the first domain of the account, or read that a VM has stopped. */
async function prepareAccount(baseUrl: string, { apiKey }: TestService): Promise<void> {
  const reseller = createReseller({ baseUrl, apiKey });
  const { handle } = await reseller.domain.handle.create(forms.createHandle.withPhone);
  await reseller.domain.register({ domain: 'first-domain-of-the-account.net', handle });
  const { identifier } = await reseller.vm.create(forms.createVm.smallest);
  await reseller.vm.power(identifier, { mode: 'stop' });
}

test('there are samples', () => {
  expect(samples.length).toBeGreaterThan(18);
});

test('all samples compile', () => {
  samples.forEach(([, code], index) => writeFileSync(join(directory, `sample-${index}.ts`), code));
  const compilerOptions = {
    allowImportingTsExtensions: true,
    types: ['node'],
    lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
  };
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ extends: '../../../../tsconfig.base.json', compilerOptions, include: ['*.ts'] }),
  );
  expect(tsc('-p', directory)).toEqual({ status: 0, stdout: '' });
});

test('the sample that writes an error to a file finds out in a second process what the first one bought', async () => {
  const code = samples.find(([, source]) => source.includes('JSON.stringify(error)'))?.[1] ?? '';
  await using service = await createTestService();
  const baseUrl = await losePurchases(await service.listen());
  const cwd = mkdtempSync(join(directory, 'processes-'));
  writeFileSync(join(cwd, 'buy.ts'), code.replace("environment: 'sandbox'", `baseUrl: '${baseUrl}'`));
  const env = { ...process.env, RESELLER_API_KEY: service.apiKey };
  const run = async () => (await promisify(execFile)(process.execPath, ['buy.ts'], { cwd, env })).stdout;
  expect(await run()).toBe('not known whether it was bought. The next run finds out.\n');
  expect(readFileSync(join(cwd, 'lost-purchase.json'), 'utf8')).not.toContain(service.apiKey);
  expect(await run()).toBe('the purchase of the earlier run: committed\n');
  expect(readdirSync(cwd)).toEqual(['buy.ts']);
  expect(await service.store.read((db) => db.selectFrom('vms').select('id').execute())).toHaveLength(1);
});

/** Each is a process. */
const chosen = byDepth({ usual: samples.filter((_, index) => index % 3 === 0), deep: samples });

test.each(chosen)('%s runs without an error', async (name, code) => {
  await using service = await createTestService();
  const own = await service.listen();
  await prepareAccount(own, service);
  const baseUrl = code.includes('instanceof OutcomeUnknownError') ? await losePurchases(own) : own;
  const file = join(directory, `run-${name.replaceAll(/\W+/g, '-')}.ts`);
  // The service of the test listens on a free port.
  writeFileSync(file, code.replaceAll('http://127.0.0.1:4010', baseUrl).replaceAll("environment: 'sandbox'", `baseUrl: '${baseUrl}'`));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], {
    cwd: directory,
    env: { ...process.env, RESELLER_API_KEY: service.apiKey },
  });
  expect(stderr).toBe('');
  expect(stdout).not.toBe('');
});
