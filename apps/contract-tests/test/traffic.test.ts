import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { OpenApiDocument } from '@reseller/contract';
import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { FAKE_KEY, startFakeService } from '../src/fake/fake-service.ts';
import type { FakeService, Tamper } from '../src/fake/fake-service.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

let document: OpenApiDocument;

beforeAll(async () => {
  document = await loadDocument();
});

async function start(tamper?: Tamper): Promise<FakeService> {
  const service = await startFakeService(document, tamper);
  onTestFinished(() => service.close());
  return service;
}

const wrongType: Tamper = ({ operation, outcome, response }) =>
  operation?.id === 'getCurrentInvoice' && outcome === 'success'
    ? { ...response, body: { ...Object(response.body), data: { ...Object(response.body).data, creditLimit: '1000' } } }
    : undefined;

const headers = { 'x-service-apikey': FAKE_KEY };

test('the proxy forwards and judges traffic, and prints the report when it is stopped', async () => {
  const service = await start(wrongType);
  const stop = new AbortController();
  const address = Promise.withResolvers<string>();
  const ended = command(
    ['proxy', '--target', service.url, '--port', '0'],
    {},
    {
      signal: stop.signal,
      onPrint(text) {
        const url = /^Contract proxy: (\S+)/.exec(text)?.[1];
        if (url !== undefined) address.resolve(url);
      },
    },
  );
  const proxy = await address.promise;
  const passed = await fetch(`${proxy}/accounting/invoices/current`, { headers });
  expect(await passed.json()).toMatchObject({ status: 'success', data: { creditLimit: '1000' } });
  expect((await fetch(`${proxy}/vm/create`, { method: 'PUT', headers, body: new URLSearchParams({ cores: 'x' }) })).status).toBe(422);
  expect((await fetch(`${proxy}/nothing`, { headers })).status).toBe(404);
  stop.abort();
  const { code, output } = await ended;
  expect(code).toBe(1);
  expect(output).toContain('violation  /data/creditLimit must be a number');
  expect(output).toContain('2 responses judged');
  expect(output).toContain("violation of the client  the client's form: cores must be an integer");
  expect(output).not.toContain(FAKE_KEY);
});

test('the proxy responds with 502 when its target does not respond, and continues', async () => {
  const stop = new AbortController();
  const address = Promise.withResolvers<string>();
  const ended = command(
    ['proxy', '--target', 'http://127.0.0.1:9', '--port', '0'],
    {},
    {
      signal: stop.signal,
      onPrint: (text) => address.resolve(/^Contract proxy: (\S+)/.exec(text)?.[1] ?? ''),
    },
  );
  expect((await fetch(`${await address.promise}/domain/list`, { headers })).status).toBe(502);
  stop.abort();
  expect(await ended).toMatchObject({ code: 2, output: expect.stringContaining('so nothing was checked') });
});

test('judges the HAR file of a run like the run itself', async () => {
  const service = await start(wrongType);
  const folder = await temporaryFolder();
  const first = await command(['--target', service.url, '--report', folder], { RESELLER_API_KEY: FAKE_KEY });
  expect(first.code).toBe(1);
  const { code, output } = await command(['--har', join(folder, 'traffic.har')], {});
  expect(code).toBe(1);
  // Requests that this program made invalid on purpose are not findings about a client.
  expect(output).not.toContain('of the client');
  expect(output).toContain('violation  /data/creditLimit must be a number');
});

test('judges a recording of a browser with any base address', async () => {
  const file = join(await temporaryFolder(), 'browser.har');
  const entry = (url: string, text: string, encoding?: string): unknown => ({
    startedDateTime: '2026-01-01T00:00:00.000Z',
    time: 12,
    request: {
      method: 'GET',
      url,
      headers: [
        { name: ':authority', value: 'api' },
        { name: 'X-SERVICE-APIKEY', value: FAKE_KEY },
      ],
    },
    response: {
      status: 200,
      headers: [{ name: 'Content-Type', value: 'application/json' }],
      content: { mimeType: 'application/json', text, encoding },
    },
  });
  const body = JSON.stringify({ status: 'success', requestID: null, message: FAKE_KEY, data: { list: ['a.example'] } });
  const entries = [
    entry('https://api.example/v1/domain/list', Buffer.from(body).toString('base64'), 'base64'),
    entry('https://api.example/logo.png', ''),
  ];
  await writeFile(file, JSON.stringify({ log: { entries } }));
  const { code, output } = await command(['--har', file], {});
  expect(code).toBe(1);
  expect(output).toContain('1 entry matches no operation of the document and was skipped.');
  expect(output).toContain('/requestID must be a string');
  expect(output).not.toContain(FAKE_KEY);
});

test.each([
  ['not JSON', 'x', 'The HAR file is not JSON.'],
  ['not HAR', '{}', 'The file is not HAR: it has no log with entries.'],
  ['without a matching entry', '{"log":{"entries":[]}}', /None of the 0 entries/],
])('refuses a file that is %s', async (_, text, message) => {
  const file = join(await temporaryFolder(), 'recorded.har');
  await writeFile(file, text);
  const { code, output } = await command(['--har', file], {});
  expect({ code, output }).toEqual({ code: 2, output: expect.stringMatching(message) });
});

test('sends at most as many requests per second as the rate allows', async () => {
  const service = await start();
  const leaving: number[] = [];
  const report: Report = await runContract({
    document,
    target: new URL(service.url),
    apiKey: FAKE_KEY,
    rate: 200,
    send: (request) => {
      leaving.push(performance.now());
      return fetch(request);
    },
  });
  const [first = 0, last = 0] = [leaving.at(0), leaving.at(-1)];
  expect(last - first).toBeGreaterThan(((report.traffic.length - 1) / 200) * 1_000 * 0.95);
});
