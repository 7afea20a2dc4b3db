import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { OpenApiDocument } from '@reseller/contract';
import { runContract, TargetError } from '@reseller/contract/engine';
import type { JournalEntry } from '@reseller/contract/engine';
import { expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { fileJournal } from '../src/file-journal.ts';
import { command } from './run-command.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';
import type { FakeService, Tamper } from './selftest/fake-service.ts';
import { THINGS } from './things.ts';
import { temporaryFolder } from './workspace.ts';

const SERVER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const environment = { RESELLER_API_KEY: FAKE_KEY };

async function start(document: OpenApiDocument, tamper?: Tamper): Promise<FakeService> {
  const service = await startFakeService(document, tamper);
  onTestFinished(() => service.close());
  return service;
}

test('changes and buys nothing without --yes, and lists what it would do', async () => {
  const service = await start(await loadDocument());
  const argv = ['--target', service.url, '--mode', 'full', '--only', 'createVm'];
  const first = await command(argv, environment);
  expect(first).toMatchObject({ code: 2, output: expect.stringContaining('COSTS    PUT /vm/create cores=2') });
  expect(first.output).toMatch(/Nothing was changed or bought\. To do this, add --budget 12\.38 --yes$/);
  const second = await command([...argv, '--budget', '12.38'], environment);
  expect(second).toMatchObject({ code: 2, output: expect.stringMatching(/To do this, add --yes$/) });
  // Only the prices were read.
  expect(new Set(service.requests)).toEqual(new Set(['GET /accounting/sales', 'GET /vm/list/hosts']));
});

test('refuses a purchase without a price until --allow-unknown-price allows it', async () => {
  const service = await start(await loadDocument(), ({ operation, outcome, response }) => {
    if (operation?.id !== 'listVmHosts' || outcome !== 'success') return undefined;
    const body = Object(response.body);
    const unpriced = body.data.map((host: object) => ({ ...host, prices: undefined }));
    return { ...response, body: { ...body, data: unpriced } };
  });
  const { code, output } = await command(['--target', service.url, '--mode', 'full', '--only', 'createVm', 'registerDomain'], environment);
  expect(code).toBe(2);
  expect(output).toMatch(/COSTS {4}PUT \/vm\/create .*\n +unknown price: no response of the API states it/);
  expect(output).toMatch(/In total \d.* and 1 purchase of unknown price\./);
  expect(output).toMatch(/To do this, add --budget \S+ --allow-unknown-price 1 --yes$/);
});

test('--plan lists every request and sends none', async () => {
  const service = await start(await loadDocument());
  const { code, output } = await command(
    ['--target', service.url, '--mode', 'full', '--plan', '--seed', '1', '--only', 'createVm', 'registerDomain'],
    {},
  );
  expect(code).toBe(0);
  expect(output).toContain('costs    PUT /vm/create cores=2');
  expect(output).toMatch(/costs {4}POST \/domain\/register domain=contract-1-\S+&handle=\{from a response\}/);
  expect(output).toContain('createHandle: it is not listed in --only');
  expect(service.requests).toEqual([]);
});

test('sends only the planned requests', async () => {
  const document = await loadDocument();
  const service = await start(document);
  const journal = fileJournal(join(await temporaryFolder(), 'journal.jsonl'));
  const report = await runContract({
    document,
    target: new URL(service.url),
    apiKey: FAKE_KEY,
    mode: 'full',
    only: new Map([['createVm', undefined]]),
    budget: { amount: 0n, unknown: 1 },
    journal,
  });
  expect(report.traffic.filter(({ operation, status }) => operation === 'createVm' && status === 200)).toHaveLength(1);
  expect(report.left).toEqual(['createVm (vmid 48213): the document has no operation that undoes it']);
  expect(service.requests.length).toBe(report.traffic.length);
});

test('stops purchases with invalid forms when the budget is spent', async () => {
  const document = await loadDocument();
  const service = await start(document, ({ outcome, success }) => (outcome === 'invalid-form' ? success() : undefined));
  const journal = fileJournal(join(await temporaryFolder(), 'journal.jsonl'));
  const report = await runContract({
    document,
    target: new URL(service.url),
    apiKey: FAKE_KEY,
    mode: 'full',
    only: new Map([['createVm', undefined]]),
    budget: { amount: 0n, unknown: 3 },
    journal,
  });
  expect(report.traffic.filter(({ operation, status }) => operation === 'createVm' && status === 200)).toHaveLength(3);
  expect(report.findings.filter(({ check }) => check === 'form-refused')).toHaveLength(2);
});

test('withdraws its own cancellation, and leaves no open entry in the journal', async () => {
  const document = await loadDocument();
  const service = await start(document);
  const file = join(await temporaryFolder(), 'journal.jsonl');
  const { code, output } = await command(
    ['--target', service.url, '--mode', 'full', '--only', `deleteDedicatedServer=${SERVER}`, '--yes'],
    environment,
    { journal: file },
  );
  expect({ code, output }).toMatchObject({ code: 0 });
  expect(service.requests.filter((request) => request.includes(SERVER) && !request.startsWith('GET'))).toEqual([
    `DELETE /dedicated/${SERVER}/delete`,
    // Once more, because a service must refuse the second one.
    `DELETE /dedicated/${SERVER}/delete`,
    `POST /dedicated/${SERVER}/undelete`,
  ]);
  expect(await fileJournal(file).open()).toEqual([]);
});

test('does not withdraw a cancellation that it did not make', async () => {
  const document = await loadDocument();
  const service = await start(document);
  const url = `${service.url}/dedicated/${SERVER}/delete`;
  expect((await fetch(url, { method: 'DELETE', headers: { 'x-service-apikey': FAKE_KEY } })).status).toBe(200);
  const { output } = await command(
    ['--target', service.url, '--mode', 'full', '--only', `deleteDedicatedServer=${SERVER}`, 'listDomains', '--yes'],
    environment,
  );
  expect(output).toContain('deleteDedicatedServer made no change that could be undone (1):\n    undeleteDedicatedServer');
  expect(service.requests.filter((request) => request.startsWith('POST /dedicated'))).toEqual([]);
});

test('removes the resources that it created, if the document has an operation for that', async () => {
  const service = await start(THINGS);
  const file = join(await temporaryFolder(), 'journal.jsonl');
  const report = await runContract({
    document: THINGS,
    target: new URL(service.url),
    apiKey: FAKE_KEY,
    mode: 'full',
    journal: fileJournal(file),
  });
  // The fake service returns the examples of its document, so a list never has what was created.
  expect(report.findings.filter(({ check }) => check !== 'state-kept')).toEqual([]);
  expect(report.left).toEqual([]);
  expect(service.requests).toEqual(expect.arrayContaining(['POST /things', 'DELETE /things/t-7', 'GET /things/t-7']));
  expect(report.coverage.map(({ operation, verified }) => [operation, verified])).toEqual([
    ['listThings', true],
    ['makeThing', true],
    ['getThing', true],
    ['removeThing', true],
  ]);
});

test('first undoes the changes that a crashed run left behind', async () => {
  const document = await loadDocument();
  const file = join(await temporaryFolder(), 'journal.jsonl');
  const service = await start(document);
  const target = new URL(service.url);
  // The process crashes after the cancellation took place, before it reads the response.
  const crashed = Promise.withResolvers<void>();
  let isCrashed = false;
  void runContract({
    document,
    target,
    apiKey: FAKE_KEY,
    mode: 'full',
    only: new Map([['deleteDedicatedServer', SERVER]]),
    journal: fileJournal(file),
    send: async (request) => {
      if (isCrashed) return new Promise<Response>(() => {});
      const response = await fetch(request);
      if (request.method !== 'DELETE' || !response.ok) return response;
      isCrashed = true;
      crashed.resolve();
      return new Promise<Response>(() => {});
    },
  });
  await crashed.promise;
  expect(await fileJournal(file).open()).toMatchObject([
    { state: 'intended', operation: 'deleteDedicatedServer', undo: { operation: 'undeleteDedicatedServer', path: { identifier: SERVER } } },
  ]);

  const plan = await command(['--target', service.url, '--mode', 'full', '--plan'], environment, { journal: file });
  expect(plan.output).toContain(`POST /dedicated/${SERVER}/undelete  (undo: left behind by deleteDedicatedServer of an earlier run)`);
  const sent = service.requests.length;
  const next = await command(['--target', service.url, '--mode', 'full', '--yes', '--only', 'listDomains'], environment, { journal: file });
  expect(next.code).toBe(0);
  expect(service.requests[sent]).toBe(`POST /dedicated/${SERVER}/undelete`);
  expect(await fileJournal(file).open()).toEqual([]);
});

test('ignores a truncated line of the journal', async () => {
  const file = join(await temporaryFolder(), 'journal.jsonl');
  const journal = fileJournal(file);
  const entry: JournalEntry = {
    id: '1',
    target: 'http://target.example/',
    operation: 'createVm',
    state: 'intended',
    at: '2026-01-01T00:00:00.000Z',
  };
  await journal.record(entry);
  await journal.record({ ...entry, id: '2', state: 'done' });
  await appendFile(file, '{"id":"3","tar');
  expect(await journal.open()).toEqual([entry, { ...entry, id: '2', state: 'done' }]);
  expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(3);
});

test('throws a TargetError when no service listens at the target', async () => {
  const document = await loadDocument();
  await expect(runContract({ document, target: new URL('http://127.0.0.1:9'), apiKey: FAKE_KEY })).rejects.toThrow(TargetError);
});
