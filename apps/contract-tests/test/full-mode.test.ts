import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { OpenApiDocument } from '@reseller/contract';
import { runContract, TargetError } from '@reseller/contract/engine';
import type { JournalEntry } from '@reseller/contract/engine';
import { expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { FAKE_KEY, startFakeService } from '../src/fake/fake-service.ts';
import type { FakeService, Tamper } from '../src/fake/fake-service.ts';
import { fileJournal } from '../src/file-journal.ts';
import { command } from './run-command.ts';
import { THINGS } from './things.ts';
import { temporaryFolder } from './workspace.ts';

const SERVER = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const environment = { RESELLER_API_KEY: FAKE_KEY };

async function start(document: OpenApiDocument, tamper?: Tamper): Promise<FakeService> {
  const service = await startFakeService(document, tamper);
  onTestFinished(() => service.close());
  return service;
}

test('changes and buys nothing before somebody agreed, and says what it would do', async () => {
  const service = await start(await loadDocument());
  const argv = ['--target', service.url, '--mode', 'full', '--only', 'createVm'];
  const first = await command(argv, environment);
  expect(first).toMatchObject({ code: 2, output: expect.stringContaining('COSTS    PUT /vm/create cores=2') });
  expect(first.output).toMatch(/Nothing was changed or bought\. To do this, add --budget 12\.376 --yes$/);
  const second = await command([...argv, '--budget', '12.376'], environment);
  expect(second).toMatchObject({ code: 2, output: expect.stringMatching(/To do this, add --yes$/) });
  // What things cost is all that was asked.
  expect(new Set(service.requests)).toEqual(new Set(['GET /accounting/sales', 'GET /vm/list/hosts']));
});

test('a purchase that nothing prices is of unknown price, and has to be allowed by number', async () => {
  const service = await start(await loadDocument(), ({ operation, outcome, response }) => {
    if (operation?.id !== 'listVmHosts' || outcome !== 'success') return undefined;
    const body = Object(response.body);
    const unpriced = body.data.map((host: object) => ({ ...host, prices: undefined }));
    return { ...response, body: { ...body, data: unpriced } };
  });
  const { code, output } = await command(['--target', service.url, '--mode', 'full', '--only', 'createVm', 'registerDomain'], environment);
  expect(code).toBe(2);
  expect(output).toMatch(/COSTS {4}PUT \/vm\/create .*\n +unknown price: no response of the API shows it/);
  expect(output).toMatch(/In total \d.* and 1 purchase of unknown price\./);
  expect(output).toMatch(/To do this, add --budget \S+ --allow-unknown-price 1 --yes$/);
});

test('a plan names every request before the first is sent, and sends none', async () => {
  const service = await start(await loadDocument());
  const { code, output } = await command(
    ['--target', service.url, '--mode', 'full', '--plan', '--seed', '1', '--only', 'createVm', 'registerDomain'],
    {},
  );
  expect(code).toBe(0);
  expect(output).toContain('costs    PUT /vm/create cores=2');
  expect(output).toMatch(/costs {4}POST \/domain\/register domain=contract-1-\S+&handle=\{from a response\}/);
  expect(output).toContain('createHandle: it is not among those that --only names');
  expect(service.requests).toEqual([]);
});

test('what leaves is what the plan said', async () => {
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

test('of purchases that should have been refused no more than the budget is bought', async () => {
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

test('a cancellation is withdrawn, and the journal ends with nothing open', async () => {
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
    `DELETE /dedicated/${SERVER}/delete`,
    `POST /dedicated/${SERVER}/undelete`,
  ]);
  expect(await fileJournal(file).open()).toEqual([]);
});

test('a cancellation that somebody else made is not withdrawn', async () => {
  const document = await loadDocument();
  const service = await start(document);
  const url = `${service.url}/dedicated/${SERVER}/delete`;
  expect((await fetch(url, { method: 'DELETE', headers: { 'x-service-apikey': FAKE_KEY } })).status).toBe(200);
  const { output } = await command(
    ['--target', service.url, '--mode', 'full', '--only', `deleteDedicatedServer=${SERVER}`, '--yes'],
    environment,
  );
  expect(output).toContain('undeleteDedicatedServer  deleteDedicatedServer did nothing that could be undone');
  expect(service.requests.filter((request) => request.startsWith('POST /dedicated'))).toEqual([]);
});

test('what a run made is removed by it, where the document can', async () => {
  const service = await start(THINGS);
  const file = join(await temporaryFolder(), 'journal.jsonl');
  const report = await runContract({
    document: THINGS,
    target: new URL(service.url),
    apiKey: FAKE_KEY,
    mode: 'full',
    journal: fileJournal(file),
  });
  expect(report.findings).toEqual([]);
  expect(report.left).toEqual([]);
  expect(service.requests).toEqual(expect.arrayContaining(['POST /things', 'DELETE /things/t-7', 'GET /things/t-7']));
  expect(report.coverage.map(({ operation, verified }) => [operation, verified])).toEqual([
    ['listThings', true],
    ['makeThing', true],
    ['getThing', true],
    ['removeThing', true],
  ]);
});

test('after a crash the next run undoes what the last one left, before anything else', async () => {
  const document = await loadDocument();
  const file = join(await temporaryFolder(), 'journal.jsonl');
  const service = await start(document);
  const target = new URL(service.url);
  // The process dies while the cancellation is on its way: it happened, and its response was never read.
  const dying = runContract({
    document,
    target,
    apiKey: FAKE_KEY,
    mode: 'full',
    only: new Map([['deleteDedicatedServer', SERVER]]),
    journal: fileJournal(file),
    send: async (request) => {
      const response = await fetch(request);
      if (request.method === 'DELETE' && response.ok) throw new Crash('killed');
      return response;
    },
    onProgress: ({ status, step }) => {
      if (status === undefined && step.startsWith('DELETE')) throw new Crash('killed');
    },
  });
  await expect(dying).rejects.toThrow(Crash);
  expect(await fileJournal(file).open()).toMatchObject([
    { state: 'intended', operation: 'deleteDedicatedServer', undo: { operation: 'undeleteDedicatedServer', path: { identifier: SERVER } } },
  ]);

  const plan = await command(['--target', service.url, '--mode', 'full', '--plan'], {}, { journal: file });
  expect(plan.output).toContain(`POST /dedicated/${SERVER}/undelete  (undo: left behind by deleteDedicatedServer of an earlier run)`);
  const sent = service.requests.length;
  const next = await command(['--target', service.url, '--mode', 'full', '--yes', '--only', 'listDomains'], environment, { journal: file });
  expect(next.code).toBe(0);
  expect(service.requests[sent]).toBe(`POST /dedicated/${SERVER}/undelete`);
  expect(await fileJournal(file).open()).toEqual([]);
});

test('a line that a crash cut short is not an entry', async () => {
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

test('a target that is not there is distinguished from one whose response is wrong', async () => {
  const document = await loadDocument();
  await expect(runContract({ document, target: new URL('http://127.0.0.1:9'), apiKey: FAKE_KEY })).rejects.toThrow(TargetError);
});

class Crash extends Error {}
