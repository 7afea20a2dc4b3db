/** The built client against a service on a socket, in each supported runtime. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../../.config/browser.ts';
import { binaryOf, Miniflare } from '../../../../.config/runtimes.ts';
import { compile } from '../../../../.config/tsc.ts';
import { vmsOf } from '../client/purchases.ts';
import { serveWith } from './browser.ts';
import type { Report, Task } from './program.ts';

const here = join(import.meta.dirname, '../..');
const client = join(here, '../client');
/** More than two pages of the log. */
const READS = 120;

let directory: string;
/** The program as one module that exports `run`. */
let program: string;

beforeAll(async () => {
  mkdirSync(join(here, 'reports'), { recursive: true });
  directory = mkdtempSync(join(here, 'reports', 'runtimes-'));
  // Not into `dist`, which other tests build at the same time.
  const built = join(directory, 'client');
  compile(join(client, 'tsconfig.build.json'), '--outDir', built);
  const outfile = join(directory, 'program.js');
  const alias = { '@reseller/client': join(built, 'index.js') };
  await build({
    entryPoints: [join(import.meta.dirname, 'program.ts')],
    bundle: true,
    outfile,
    format: 'esm',
    platform: 'neutral',
    target: 'es2024',
    alias,
  });
  program = readFileSync(outfile, 'utf8');
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function start(): Promise<{ service: TestService; task: Task }> {
  const service = await createTestService();
  onTestFinished(() => service.close());
  const gone = await createTestService();
  const nowhere = await gone.listen();
  await gone.close();
  return { service, task: { baseUrl: await service.listen(), apiKey: service.apiKey, reads: READS, nowhere } };
}

/** The report that a runtime must return, from the data of the service. */
async function keptBy(service: TestService, nobody: 'ConnectionError' | 'OutcomeUnknownError'): Promise<Report> {
  const kept = await service.store.read((db) => db.selectFrom('request_log').select('endpoint').orderBy('number', 'desc').execute());
  // Reads of the log are logged too. The first one is not in its own page.
  const log = kept.map(({ endpoint }) => endpoint).slice(Math.ceil((READS + 2) / 50));
  expect([log.length, await vmsOf(service)]).toEqual([READS + 2, 1]);
  const errors = [
    ['NotFoundError', 'reinstallVm', 1],
    ['InvalidError', 'createVm', 0],
  ];
  return { cores: 1, attempts: 1, errors, log, distinct: log.length, nobody };
}

const { platform, arch } = process;
const bunArch = arch === 'arm64' ? 'aarch64' : arch;
const binaries: readonly (readonly [string, string | undefined, readonly string[]])[] = [
  ['Node', process.execPath, []],
  ['Bun', binaryOf('bun', [`@oven/bun-${platform}-${bunArch}`, `@oven/bun-${platform}-${bunArch}-musl`], 'bin/bun'), []],
  // It may connect only to this machine, and may not read files.
  [
    'Deno',
    binaryOf('deno', [`@deno/${platform}-${arch}`, `@deno/${platform}-${arch}-glibc`], 'deno'),
    ['run', '--no-remote', '--no-config', '--allow-net=127.0.0.1'],
  ],
];

for (const [name, binary, options] of binaries) {
  test(`${name}: buys, fails and pages`, async ({ skip }) => {
    if (binary === undefined) return skip(`the npm package of ${name} has no program for ${platform} ${arch}`);
    const { service, task } = await start();
    const file = join(directory, `${name}.mjs`);
    const main = `console.log(JSON.stringify(await run(${JSON.stringify(task)})));`;
    writeFileSync(file, program + main);
    const { stdout } = await promisify(execFile)(binary, [...options, file], { env: { NO_COLOR: '1', HOME: directory } });
    expect(JSON.parse(stdout)).toEqual(await keptBy(service, 'ConnectionError'));
  });
}

/** A service that keeps connections open, carries out each purchase, and then closes the connection without a response. */
async function startClosing(): Promise<{ baseUrl: string; purchases: () => number }> {
  let purchases = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'PUT') {
        purchases++;
        request.socket.destroy();
      } else response.setHeader('content-type', 'application/json').end('{"status":"success","requestID":null,"message":"","data":[]}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  onTestFinished(() => server.closeAllConnections());
  const address = server.address();
  return { baseUrl: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`, purchases: () => purchases };
}

for (const [name, binary, options] of binaries) {
  test(`${name}: sends a purchase once if a connection that was kept open closes`, async ({ skip }) => {
    if (binary === undefined) return skip(`the npm package of ${name} has no program for ${platform} ${arch}`);
    const { baseUrl, purchases } = await startClosing();
    const file = join(directory, `${name}-closing.mjs`);
    writeFileSync(file, `${program}console.log(JSON.stringify(await buyAfterRead(${JSON.stringify(baseUrl)})));`);
    const { stdout } = await promisify(execFile)(binary, [...options, file], { env: { NO_COLOR: '1', HOME: directory } });
    expect([JSON.parse(stdout), purchases()]).toEqual(['OutcomeUnknownError', 1]);
  });
}

test('an edge worker: buys, fails and pages', async ({ skip }) => {
  const { service, task } = await start();
  const handler = `export default { async fetch(request) {
    try { return Response.json(await run(await request.json())); } catch (error) { return Response.json(error.stack, { status: 500 }); }
  } };`;
  const worker = new Miniflare({ modules: true, script: program + handler, compatibilityDate: '2026-07-01', cf: false });
  onTestFinished(() => worker.dispose());
  const ready = await worker.ready.catch((error: unknown) => String(error));
  if (typeof ready === 'string') return skip(`workerd does not start here: ${ready}`);
  const response = await worker.dispatchFetch('http://worker.test/', {
    method: 'POST',
    body: JSON.stringify(task),
  });
  expect(JSON.parse(await response.text())).toEqual(await keptBy(service, 'OutcomeUnknownError'));
});

test('Chromium: buys, fails and pages', { timeout: 300_000 }, async ({ skip }) => {
  if (noBrowser !== undefined) return skip(noBrowser);
  const { service, task } = await start();
  const { origin, server } = await serveWith(program, task.baseUrl);
  onTestFinished(() => void server.close());
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${origin}/page`);
  const report: unknown = await page.evaluate(
    `import('/program.js').then(({ run }) => run(${JSON.stringify({ ...task, baseUrl: origin })}))`,
  );
  expect(report).toEqual(await keptBy(service, 'OutcomeUnknownError'));
});
