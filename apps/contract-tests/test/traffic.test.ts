import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { OpenApiDocument } from '@reseller/contract';
import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { command } from './run-command.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';
import type { FakeService, Tamper } from './selftest/fake-service.ts';
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

/** A request to a service and its response, as a recorder of traffic writes them. */
async function entryOf(base: string, method: string, path: string, form?: URLSearchParams): Promise<unknown> {
  const response = await fetch(`${base}${path}`, { method, headers, ...(form === undefined ? {} : { body: form }) });
  const type = { name: 'content-type', value: 'application/x-www-form-urlencoded;charset=UTF-8' };
  return {
    startedDateTime: '2026-01-01T00:00:00.000Z',
    time: 12,
    request: {
      method,
      url: `${base}${path}`,
      headers: [...Object.entries(headers).map(([name, value]) => ({ name, value })), ...(form === undefined ? [] : [type])],
      ...(form === undefined ? {} : { postData: { mimeType: type.value, text: String(form) } }),
    },
    response: {
      status: response.status,
      headers: [...response.headers].map(([name, value]) => ({ name, value })),
      content: { mimeType: response.headers.get('content-type'), text: await response.text() },
    },
  };
}

test('judges recorded responses, the requests of the client, and requests that the document does not describe', async () => {
  const { url } = await start(wrongType);
  const file = join(await temporaryFolder(), 'client.har');
  const entries = [
    await entryOf(url, 'GET', '/accounting/invoices/current'),
    await entryOf(url, 'PUT', '/vm/create', new URLSearchParams({ cores: 'x' })),
    await entryOf(url, 'GET', '/nothing'),
  ];
  await writeFile(file, JSON.stringify({ log: { entries } }));
  const { code, output } = await command(['--har', file], {});
  expect(code).toBe(1);
  expect(output).toContain('violation  /data/creditLimit must be a number');
  expect(output).toContain('2 responses judged');
  expect(output).toContain("violation of the client  the client's form: cores must be an integer");
  expect(output).toContain('a client requests GET /nothing, which the document does not describe');
  expect(output).not.toContain(FAKE_KEY);
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
