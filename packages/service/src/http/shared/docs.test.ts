/** The documentation that a service serves. The service refuses other paths like a file server, and logs them as ordinary requests. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Writable } from 'node:stream';

import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';

import { SECRET, startService } from '../../../test/harness.ts';
import { exchange, requestText } from '../../../test/raw-http.ts';
import { createService } from '../../index.ts';

const POLICY = "default-src 'self'";
const ERROR_PAGE = '<!doctype html><title>404</title>';
const PAGE = '<!doctype html><title>Docs</title>';
/** Those of the specification, and then those about the extension. */
const PAGES = [
  'operations/reseller/createVm.html',
  'openapi/specification.json',
  'operations/extension/listVms.html',
  'concepts/extension/quotes.html',
  'openapi/reseller.json',
];

/** A service that serves one page, and the lines of its log. */
async function startWithDocs({ extension, mode = 'sandbox' }: { extension?: boolean; mode?: 'sandbox' | 'live' } = {}) {
  const { store, ports } = await startService({ mode });
  const directory = mkdtempSync(join(tmpdir(), 'docs-test-'));
  writeFileSync(join(directory, 'index.html'), PAGE);
  writeFileSync(join(directory, '404.html'), ERROR_PAGE);
  for (const path of PAGES) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), PAGE);
  }
  mkdirSync(join(directory, 'operator'));
  for (const name of ['index', 'reference']) writeFileSync(join(directory, `operator/${name}.html`), PAGE);
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const docs = { directory, contentSecurityPolicy: POLICY };
  const service = await createService({
    store,
    ports,
    secret: SECRET,
    docs,
    logger: pino({ level: 'trace' }, stream),
    mode,
    ...(extension !== undefined && { extension }),
  });
  onTestFinished(async () => {
    await service.close();
    rmSync(directory, { recursive: true });
  });
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const operatorUrl = await service.operator.listen({ host: '127.0.0.1', port: 0 });
  const send = (line: string, ...headers: string[]) => exchange(url, requestText(line, ['Host: localhost', ...headers]));
  const ask = (path: string, ...headers: string[]) => send(`GET ${path} HTTP/1.1`, ...headers);
  /** The levels of the lines, and whether any line has a stack trace. */
  const logSummary = () => ({
    levels: new Set(lines.map((line) => JSON.parse(line).level)),
    stacks: lines.filter((line) => line.includes('stack')),
  });
  return { ask, send, logSummary, operatorUrl };
}

const INFO = 30;

test('serves the page with the policy of the site, and redirects to it without the query', async () => {
  const { ask, operatorUrl } = await startWithDocs();
  const page = await ask('/docs/');
  expect([page.status, page.text]).toEqual([200, PAGE]);
  expect(page.headers.get('content-security-policy')).toBe(`${POLICY}; connect-src 'self' ${operatorUrl}`);
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  const redirect = await ask('/docs?key=secret');
  expect([redirect.status, redirect.headers.get('location')]).toEqual([301, './docs/']);
});

test('serves no pages about the extension without the extension', async () => {
  const statusesOf = ({ ask }: Awaited<ReturnType<typeof startWithDocs>>) =>
    Promise.all(PAGES.map(async (path) => (await ask(`/docs/${path}`)).status));
  expect(await statusesOf(await startWithDocs())).toEqual([200, 200, 200, 200, 200]);
  expect(await statusesOf(await startWithDocs({ extension: false }))).toEqual([200, 200, 404, 404, 404]);
});

test.each([
  '/docs//x',
  '/docs/.',
  '/docs/..',
  '/docs/%00',
  '/docs/a%00b',
  '/docs/../package.json',
  '/docs/../../../package.json',
  '/docs/%2e%2e/package.json',
  '/docs/..%2fpackage.json',
  '/docs/..%5cpackage.json',
  '/docs/index.html/x',
  '/docs/INDEX.html',
  '/docs/.git/config',
  '/docs/nothing',
  '/docs/nothing/',
  `/docs/${'x'.repeat(5_000)}`,
])('%s: responds with 404, and logs nothing above the level info', async (path) => {
  const { ask, logSummary } = await startWithDocs();
  const { status, text } = await ask(path);
  expect(status).toBe(404);
  expect(JSON.parse(text)).toMatchObject({ status: 'error', type: 'not_found', data: null });
  expect(logSummary()).toEqual({ levels: new Set([INFO]), stacks: [] });
});

test.each(['/docs/nothing', '/docs/nothing/', '/docs/a/b.html'])('%s: sends the error page of the site to a browser', async (path) => {
  const { ask, operatorUrl } = await startWithDocs();
  const { status, text, headers } = await ask(path, 'Accept: text/html,application/xhtml+xml');
  expect([status, headers.get('content-type'), text]).toEqual([404, 'text/html; charset=utf-8', ERROR_PAGE]);
  expect(headers.get('content-security-policy')).toBe(`${POLICY}; connect-src 'self' ${operatorUrl}`);
});

test.each([
  ['If-Match: "x"', 412, 'precondition_failed'],
  ['If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT', 412, 'precondition_failed'],
  ['Range: bytes=9999999999-', 416, 'range_not_satisfiable'],
  ['Range: bytes=-0', 416, 'range_not_satisfiable'],
])('%s: responds with %i, and logs nothing above the level info', async (header, expected, type) => {
  const { ask, logSummary } = await startWithDocs();
  const { status, text, headers } = await ask('/docs/index.html', header);
  expect([status, JSON.parse(text).type]).toEqual([expected, type]);
  if (expected === 416) expect(headers.get('content-range')).toBe(`bytes */${PAGE.length}`);
  expect(logSummary()).toEqual({ levels: new Set([INFO]), stacks: [] });
});

test('supports ranges and conditions like a file server', async () => {
  const { ask } = await startWithDocs();
  const part = await ask('/docs/index.html', 'Range: bytes=0-8');
  expect([part.status, part.text]).toEqual([206, PAGE.slice(0, 9)]);
  const whole = await ask('/docs/index.html', 'Range: nonsense');
  expect(whole.status).toBe(200);
  const same = await ask('/docs/index.html', `If-None-Match: ${whole.headers.get('etag')}`);
  expect([same.status, same.text]).toEqual([304, '']);
});

test('lists GET and HEAD in Allow for another method', async () => {
  const { send } = await startWithDocs();
  const { status, headers } = await send('DELETE /docs/index.html HTTP/1.1');
  expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('a live service serves the documentation of the operator API on the operator port only', async () => {
  const { ask, operatorUrl } = await startWithDocs({ mode: 'live' });
  for (const path of [
    '/docs/operator/',
    '/docs/operator/reference.html',
    '/docs/operator/reference',
    '/docs/openapi/operator.json',
    '/docs/%6fperator/reference.html',
  ])
    expect((await ask(path)).status).toBe(404);
  expect((await ask('/docs/operations/reseller/createVm.html')).status).toBe(200);
  const page = await fetch(`${operatorUrl}/`, { headers: { accept: 'text/html' } });
  expect([page.status, page.url]).toEqual([200, `${operatorUrl}/docs/operator/`]);
});

test('a sandbox serves the documentation of both APIs on the port of resellers', async () => {
  const { ask, operatorUrl } = await startWithDocs();
  expect((await ask('/docs/operator/reference')).status).toBe(200);
  expect((await fetch(`${operatorUrl}/docs/operator/reference`)).status).toBe(404);
});
