import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ServerOptions } from 'node:https';
import { connect, createServer as createNetServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { createServiceInside as createTestService } from '@reseller/testing/inside';
import type { ServiceInside as TestService } from '@reseller/testing/inside';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { TestContext } from 'vitest';

import { launchBrowser, noBrowser } from '../../../../.config/browser.ts';
import { byDepth } from '../../../../.config/depth.ts';
import { freePort } from '../../../../.config/free-ports.ts';
import { QUIET_TOOLS } from '../../../../.config/quiet-tools.ts';
import { binaryOf, Miniflare } from '../../../../.config/runtimes.ts';
import { compile } from '../../../../.config/tsc.ts';
import { lossesThenPages, pagesAfterPurchase } from '../client/kinds.ts';
import type { Kind } from '../client/kinds.ts';
import { startProxy } from '../client/proxy.ts';
import { vmsOf } from '../client/purchases.ts';
import { serveWith } from './browser.ts';
/**
 * The built client against a service on a socket, in each supported runtime.
 *
 * PURCHASES sets the number of purchases for each kind of broken network, up to 10.
 */
import type * as Program from './program.ts';
import type { Address, BrokenTask, Report, Task } from './program.ts';

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
  const nowhere = `http://127.0.0.1:${await freePort()}`;
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

/** A runtime that can call the functions of the program. */
interface Runtime {
  readonly name: string;
  /** Skips the test if the runtime is not on this machine. */
  call(test: TestContext, name: keyof typeof Program, input: Address, environment?: Environment): Promise<unknown>;
}

type Environment = Readonly<Record<string, string>>;

const { platform, arch } = process;
const bunArch = arch === 'arm64' ? 'aarch64' : arch;

/** A runtime that runs a file. */
function programAt(name: string, binary: string | undefined, options: readonly string[] = []): Runtime {
  return {
    name,
    async call({ skip }, called, input, environment = {}) {
      if (binary === undefined) return skip(`the npm package of ${name} has no program for ${platform} ${arch}`);
      const file = join(mkdtempSync(join(directory, 'run-')), 'program.mjs');
      writeFileSync(file, `${program}console.log(JSON.stringify(await ${called}(${JSON.stringify(input)})));`);
      const { stdout } = await promisify(execFile)(binary, [...options, file], {
        env: { NO_COLOR: '1', HOME: directory, ...QUIET_TOOLS, ...environment },
      });
      return JSON.parse(stdout);
    },
  };
}

const node = programAt('Node', process.execPath);
const bun = programAt('Bun', binaryOf('bun', [`@oven/bun-${platform}-${bunArch}`, `@oven/bun-${platform}-${bunArch}-musl`], 'bin/bun'));
// It may connect only to some addresses, and may not read files.
const deno = programAt('Deno', binaryOf('deno', [`@deno/${platform}-${arch}`, `@deno/${platform}-${arch}-glibc`], 'deno'), [
  'run',
  '--no-remote',
  '--no-config',
  '--allow-net=127.0.0.1,255.255.255.255,reseller.invalid',
]);

const workerd: Runtime = {
  name: 'an edge worker',
  async call({ skip }, called, input) {
    const handler = `export default { async fetch(request) {
      try { return Response.json(await ${called}(await request.json())); } catch (error) { return Response.json(error.stack, { status: 500 }); }
    } };`;
    const worker = new Miniflare({ modules: true, script: program + handler, compatibilityDate: '2026-07-01', cf: false });
    onTestFinished(() => worker.dispose());
    const ready = await worker.ready.catch((error: unknown) => String(error));
    if (typeof ready === 'string') return skip(`workerd does not start here: ${ready}`);
    const response = await worker.dispatchFetch('http://worker.test/', { method: 'POST', body: JSON.stringify(input) });
    return JSON.parse(await response.text());
  },
};

const chromium: Runtime = {
  name: 'Chromium',
  async call({ skip }, called, input) {
    if (noBrowser !== undefined) return skip(noBrowser);
    const { origin, server } = await serveWith(program, input.baseUrl);
    onTestFinished(() => void server.close());
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${origin}/page`);
    return page.evaluate(`import('/program.js').then(({ ${called} }) => ${called}(${JSON.stringify({ ...input, baseUrl: origin })}))`);
  },
};

const runtimes: readonly Runtime[] = byDepth({ usual: [node, deno], deep: [node, bun, deno, workerd, chromium] });
/** They report that no connection was made. */
const exact: readonly Runtime[] = byDepth({ usual: [node, deno], deep: [node, bun, deno] });

test.for(runtimes)('$name: buys, fails and pages', async (runtime, context) => {
  const { service, task } = await start();
  const report = await runtime.call(context, 'run', task);
  expect(report).toEqual(await keptBy(service, exact.includes(runtime) ? 'ConnectionError' : 'OutcomeUnknownError'));
});

/** The base address of a server that listens on a free port, until the test ends. */
async function addressOf(server: Server, scheme = 'http'): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  return `${scheme}://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
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
  });
  onTestFinished(() => server.closeAllConnections());
  return { baseUrl: await addressOf(server), purchases: () => purchases };
}

test.for(exact)('$name: sends a purchase once if a connection that was kept open closes', async (runtime, context) => {
  const { baseUrl, purchases } = await startClosing();
  expect([await runtime.call(context, 'buyAfterRead', { baseUrl }), purchases()]).toEqual(['OutcomeUnknownError', 1]);
});

describe('TLS and routes', () => {
  /** A key and a certificate that it has signed. */
  function makeCertificate({ skip }: TestContext): { key: Buffer; cert: Buffer; file: string } {
    if (spawnSync('openssl', ['version']).error) return skip('openssl is not installed');
    const folder = mkdtempSync(join(directory, 'certificate-'));
    const [key, file] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-addext', 'basicConstraints=critical,CA:FALSE'];
    const making = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', file, ...subject];
    execFileSync('openssl', making, { stdio: 'ignore' });
    return { key: readFileSync(key), cert: readFileSync(file), file };
  }

  const servers: readonly (readonly [string, ServerOptions])[] = [
    ['with a certificate that is signed by itself', {}],
    ['with an old version of TLS', { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }],
  ];
  const cases = exact.flatMap((runtime) => servers.map(([server, options]) => ({ name: runtime.name, runtime, server, options })));

  test.for(cases)('$name, at a server $server: reports whether a purchase was sent', async ({ runtime, options }, context) => {
    let received = 0;
    const server = createTlsServer({ ...makeCertificate(context), ...options }, (_, response) => {
      received++;
      response.end();
    });
    const baseUrl = await addressOf(server, 'https');
    const [name, uncertain] = Object.values(Object(await runtime.call(context, 'buyAt', { baseUrl })));
    // Bun describes every failure of TLS as a failed handshake, also when the request has arrived.
    const isUnknown = runtime === bun && 'maxVersion' in options;
    expect([name, uncertain, received]).toEqual([isUnknown ? 'OutcomeUnknownError' : 'ConnectionError', isUnknown, 0]);
  });

  /** Bytes that a machine between client and server could put into the stream. */
  const injected = {
    'plain text': Buffer.from('HTTP/1.1 502 Bad Gateway\r\n\r\n'),
    'an alert about the version of TLS': Buffer.from('15030300020246', 'hex'),
    'a record that no key has encrypted': Buffer.from(`1703030020${'00'.repeat(32)}`, 'hex'),
  };
  const broken = exact.flatMap((runtime) =>
    Object.entries(injected).map(([what, bytes]) => ({ name: runtime.name, runtime, what, bytes })),
  );

  test.for(broken)('$name: the outcome is unknown if $what follows the arrival of a purchase', async ({ runtime, bytes }, context) => {
    const { file, ...certificate } = makeCertificate(context);
    let arrivals = 0;
    let inject = () => {};
    const server = createTlsServer(certificate, () => {
      arrivals++;
      inject();
    });
    const target = new URL(await addressOf(server, 'https'));
    const between = createNetServer((inward) => {
      const onward = connect(Number(target.port), '127.0.0.1');
      for (const socket of [inward, onward]) socket.on('error', () => {});
      inward.pipe(onward).pipe(inward);
      inject = () => void inward.write(bytes, () => inward.destroySoon());
    });
    const environment = { NODE_EXTRA_CA_CERTS: file, DENO_CERT: file };
    const baseUrl = await addressOf(between, 'https');
    expect(await runtime.call(context, 'buyAt', { baseUrl }, environment)).toEqual(['OutcomeUnknownError', true, expect.any(String)]);
    expect(arrivals).toBe(1);
  });

  test.for(exact)('$name: reports that a purchase was not sent to an address that no route leads to', async (runtime, context) => {
    const report = await runtime.call(context, 'buyAt', { baseUrl: 'http://255.255.255.255:81' });
    expect(report).toEqual(['ConnectionError', false, expect.stringMatching(/^createVm: no response: .*(ENETUNREACH|unreachable)/i)]);
  });
});

/** A proxy that responds to requests itself and refuses tunnels, and the requests that it received. */
async function startForwardProxy(): Promise<{ url: string; asked: readonly string[] }> {
  const asked: string[] = [];
  const proxy = createServer(({ method = '', url = '' }, response) => {
    asked.push(`${method} ${url}`);
    const data = { identifier: 10_001, config: { cores: 1, mem: 1024, disk: 10 } };
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ status: 'success', requestID: 'purchase', message: '', data }));
  });
  proxy.on('connect', ({ url = '' }, socket) => {
    asked.push(`CONNECT ${url}`);
    socket.on('error', () => {}).end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  return { url: await addressOf(proxy), asked };
}

test.for(exact)('$name: a purchase goes through the proxy of the environment, and is not sent if it refuses', async (runtime, context) => {
  const { url, asked } = await startForwardProxy();
  const environment = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: url, HTTPS_PROXY: url };
  const buy = (baseUrl: string) => runtime.call(context, 'buyAt', { baseUrl }, environment);
  expect(await buy('http://reseller.invalid')).toEqual(['bought', false, '']);
  expect(await buy('https://reseller.invalid')).toEqual(['ConnectionError', false, expect.any(String)]);
  expect(asked).toEqual(['PUT http://reseller.invalid/vm/create', 'CONNECT reseller.invalid:443']);
});

describe('purchases through a broken network, on connections that are kept open', () => {
  const DEFAULT_PURCHASES = 1;
  const purchases = Math.min(10, Math.max(DEFAULT_PURCHASES, Number(process.env['PURCHASES'] ?? 0)));
  const kinds: readonly Kind[] = [
    ...lossesThenPages.filter((_, index) => index % 17 === 0),
    ...pagesAfterPurchase.filter((_, index) => index % 4 === 0),
  ];
  const plans = new Map(
    kinds.flatMap(([, fates], kind) => Array.from({ length: purchases }, (_, index) => [`kind-${kind}-${index}`, fates])),
  );
  const servers = { 'honours keys': {}, 'honours no keys': { withoutKeys: true } };
  const cases = runtimes.flatMap((runtime) =>
    Object.entries(servers)
      // A browser may send a request again, and nothing prevents it.
      .filter(([server]) => runtime !== chromium || server === 'honours keys')
      .map(([server, options]) => ({ name: runtime.name, runtime, server, options })),
  );

  test.for(cases)('$name, at a server that $server: none is doubled or reported wrongly', async (given, context) => {
    const service = await createTestService();
    onTestFinished(() => service.close());
    const { apiKey } = await service.addAccount('1000000.00');
    const advance = (milliseconds: number) => service.clock.advance(milliseconds);
    const proxy = await startProxy(await service.listen(), { ...given.options, advance });
    onTestFinished(() => proxy.close());
    proxy.planEach((purchase) => {
      // Later than any effect of the purchase before.
      advance(120_000);
      return plans.get(purchase) ?? [];
    });
    const task: BrokenTask = { baseUrl: proxy.baseUrl, apiKey, hostnames: [...plans.keys()] };
    const outcomes = await given.runtime.call(context, 'buyThroughBrokenNetwork', task);
    const vms = await service.store.read((db) => db.selectFrom('vms').select('hostname').execute());
    const bought = task.hostnames.map((name) => vms.filter(({ hostname }) => hostname === name).length);
    const told = Array.isArray(outcomes) ? outcomes.map(String) : [];
    const wrong = task.hostnames.filter((_, index) => !isTrue(told[index], bought[index], given.options));
    process.stdout.write(
      `${given.name}, a server that ${given.server}: ${kinds.length} kinds, ${told.length} purchases, ${vms.length} bought, ${told.filter((outcome) => outcome === 'undecided').length} undecided, ${wrong.length} wrong or doubled\n`,
    );
    expect([told.length, wrong]).toEqual([plans.size, []]);
  });

  /** Without keys, nothing proves that a purchase was not made. With keys, its outcome is always found. */
  function isTrue(outcome: string | undefined, bought: number | undefined, { withoutKeys = false }: { withoutKeys?: boolean }): boolean {
    if (outcome === 'undecided') return withoutKeys && (bought === 0 || bought === 1);
    return outcome === 'committed' ? bought === 1 : outcome === 'not-committed' && bought === 0;
  }
});
