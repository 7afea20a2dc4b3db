import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { lint as lintDocument, loadConfig } from '@redocly/openapi-core';
import type { OpenApiDocument } from '@reseller/contract';
import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { loadDocument, openDocument, sourcesOf, writeProposals } from '../src/document.ts';
import type { LoadedDocument } from '../src/document.ts';
import { resellerRules } from '../src/reseller.ts';
import { memoryJournal } from './memory-journal.ts';
import type { FakeResponse } from './selftest/defect.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';
import type { Tamper } from './selftest/fake-service.ts';
import { named } from './selftest/selftest.ts';
import { tamperEnvelope } from './selftest/tamper.ts';
import { copyOfSources } from './workspace.ts';

let service: OpenApiDocument;
let folder: string;
/** The document, read from a copy of its sources. */
let original: LoadedDocument;

beforeAll(async () => {
  service = await loadDocument();
  folder = await mkdtemp(join(tmpdir(), 'contract-write-'));
  original = await openDocument(await copyOfSources(join(folder, 'original')));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A document with its own copy of the sources. All copies of a document share its compiled schemas. */
async function copyOf(document: LoadedDocument): Promise<LoadedDocument> {
  const copy = await mkdtemp(join(folder, 'copy-'));
  await cp(dirname(document.root), copy, { recursive: true });
  return { ...document, root: join(copy, 'openapi.yaml') };
}

/** The report on a fake service of the original document with defects, judged by another version of the document. */
async function judge(document: OpenApiDocument, tamper: Tamper, mode: 'read-only' | 'full' = 'read-only'): Promise<Report> {
  const fake = await startFakeService(service, tamper);
  try {
    return await runContract({
      document,
      target: new URL(fake.url),
      apiKey: FAKE_KEY,
      mode,
      extensions: resellerRules(document),
      ...(mode === 'full' ? { only: named(service), budget: { amount: 0n, unknown: 99 }, journal: memoryJournal() } : {}),
    });
  } finally {
    await fake.close();
  }
}

/** Marks an operation of a file as inferred, so that contradictions are learned. */
async function assume(file: string, id: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(`      operationId: ${id}\n`, '$&      x-provenance: inferred\n'));
}

/** The lint problems of the sources by Redocly with our own rules. */
async function lint(root: string): Promise<readonly string[]> {
  const config = await loadConfig({ configPath: join(dirname(root), 'redocly.yaml') });
  const problems = await lintDocument({ ref: root, config: config.forAlias('service') });
  return problems.map(
    ({ message, location: [at] }) => `${at?.source.absoluteRef.slice(dirname(root).length + 1)} ${at?.pointer}: ${message}`,
  );
}

/** A service that is newer than its document, with every kind of difference that a proposal can describe. */
const ahead: Tamper = ({ operation, outcome, response }) => {
  if (outcome !== 'success') return undefined;
  const body = Object(response.body);
  switch (operation?.id) {
    case 'listDomains':
      return {
        ...response,
        headers: { ...response.headers, 'x-requests-left': '41', 'x-requests-reset': '9' },
        body: { ...body, page: 1 },
      };
    case 'getDomain':
      return { ...response, body: { ...body, data: { ...body.data, domain: { ...body.data.domain, status: 'PARKED' } } } };
    case 'listVmHosts':
      return {
        ...response,
        body: { ...body, data: body.data.map((host: object) => ({ ...host, name: 7, displayname: undefined, hardware: null })) },
      };
    case 'listSales':
      return { ...response, status: 206 };
    case 'listHandleCountries':
      return {
        ...response,
        status: 418,
        body: { status: 'error', type: 'unavailable', requestID: body.requestID, message: 'Short and stout.', data: null },
      };
    default:
      return undefined;
  }
};

describe('proposals for a service that is newer than its document', () => {
  let sources: LoadedDocument;
  let findings: Report['findings'];
  let files: readonly string[];

  beforeAll(async () => {
    sources = await copyOf(original);
    ({ findings } = await judge(sources.document, ahead));
    files = await writeProposals(sources, findings);
  });

  test('describe the observations, so that a second run has no findings', async () => {
    const proposed = findings.filter(({ proposals }) => proposals.length > 0);
    expect(new Set(proposed.map(({ check }) => check))).toEqual(
      new Set([
        'header-described',
        'property-described',
        'value-seen',
        'property-type',
        'property-required',
        'property-null',
        'status-documented',
      ]),
    );
    expect(files.length).toBeGreaterThan(3);
    const after = await openDocument(sources.root);
    const second = await judge(after.document, ahead);
    expect(second.findings.filter(({ verdict }) => verdict !== 'unverified').map(({ check, message }) => `${check} ${message}`)).toEqual(
      [],
    );
  });

  test('change no other line of a file', async () => {
    const file = 'domain.yaml';
    const lines = (await readFile(join(dirname(sources.root), file), 'utf8')).split('\n');
    const old = (await readFile(join(dirname(original.root), file), 'utf8')).split('\n');
    expect(lines.filter((line) => !old.includes(line))).toContainEqual(expect.stringMatching(/enum: \[.*, PARKED\]$/));
    expect(old.filter((line) => !lines.includes(line))).toEqual([expect.stringMatching(/enum: \[PENDING, .*\]$/)]);
  });

  test('refer to the file of a failure that is described elsewhere', async () => {
    const text = await readFile(join(dirname(sources.root), 'handle.yaml'), 'utf8');
    expect(text).toContain("        '418':\n");
    expect(text).toContain("$ref: 'common.yaml#/components/schemas/ErrorEnvelope'\n");
  });
});

type Difference = readonly [what: string, tamper: Tamper, found: readonly string[]];

/** Differences between a service and the assumptions of its document, with checks that find them and the operations. */
const REFUSALS: Difference = [
  'refusals',
  (exchange) => {
    const { operation, outcome, key, response } = exchange;
    const refused = (status: number): FakeResponse => ({ ...response, status });
    if (outcome === 'unauthorized' && key === 'none' && operation?.id === 'listDomains') return refused(404);
    if (outcome === 'unauthorized' && key === 'wrong' && operation?.id === 'getHandle') return refused(404);
    if (outcome === 'unauthorized' && operation?.id === 'listSales')
      return { ...response, headers: { 'content-type': 'text/html' }, body: '<p>Sign in</p>' };
    if (outcome === 'unauthorized' && operation?.id === 'getDomainPricings')
      return { ...refused(429), headers: { ...response.headers, 'retry-after': 'soon' } };
    if (outcome === 'unknown-id' && operation?.id === 'getDomain') return refused(400);
    return outcome === 'unknown-id' && operation?.id === 'getDedicatedServer' ? refused(418) : undefined;
  },
  [
    'key-required listDomains',
    'key-checked getHandle',
    'content-type-documented listSales',
    'body-readable listSales',
    'header-present getDomainPricings',
    'identifier-unknown getDomain',
    'status-documented getDedicatedServer',
  ],
];
const SUCCESSES: Difference = [
  'successes',
  (exchange) => {
    const { operation, outcome, response, method } = exchange;
    if (outcome === 'wrong-method' && method === 'GET')
      return { ...response, status: 200, body: { status: 'success', requestID: null, message: 'x', data: null } };
    if (operation?.id === 'listVmHosts') return tamperEnvelope(exchange, 200);
    if (outcome === 'success' && operation?.id === 'listInvoices')
      return { ...response, headers: { 'content-type': 'application/vnd.reseller' } };
    return outcome === 'success' && operation?.id === 'listDomains'
      ? { ...response, headers: { ...response.headers, 'idempotency-key-lifetime': '86400' } }
      : undefined;
  },
  ['method-refused createVm', 'status-agrees listVmHosts', 'content-type-documented listInvoices', 'header-described listDomains'],
];
const ACCEPTED_FORMS: Difference = [
  'invalid forms that are accepted',
  ({ operation, outcome, success }) => (operation?.id === 'editDomainDns' && outcome === 'invalid-form' ? success() : undefined),
  ['form-refused editDomainDns'],
];
const REFUSED_FORMS: Difference = [
  'valid forms that are refused, and a missing body',
  ({ operation, outcome, response }) => {
    if (operation?.id === 'editDomainDns' && outcome === 'success')
      return {
        ...response,
        status: 422,
        body: Object.values(operation.responses['422']?.content['application/json']?.examples ?? {})[0]?.value,
      };
    return outcome === 'unauthorized' && operation?.id === 'listSales' ? { ...response, headers: {}, body: '' } : undefined;
  },
  ['form-accepted editDomainDns', 'body-readable listSales'],
];

/** The differences of two services. Those of one service concern different responses. */
const SERVICES: readonly (readonly Difference[])[] = [
  [['additions', ahead, []], REFUSALS, ACCEPTED_FORMS],
  [SUCCESSES, REFUSED_FORMS],
];

describe('proposes a change for every difference from the assumptions of the document, and the document stays valid', () => {
  let assumed: LoadedDocument;

  beforeAll(async () => {
    const { root } = await copyOf(original);
    await assume(join(dirname(root), 'domain-dns.yaml'), 'editDomainDns');
    await assume(join(dirname(root), 'vm-hosts.yaml'), 'listVmHosts');
    assumed = await openDocument(root);
    // Only other responses describe the common header then.
    const { get } = Object(assumed.document.paths?.['/domain/list']);
    delete get.responses['200'].headers['Idempotency-Key-Lifetime'];
  });

  test.each(SERVICES.map((differences) => [differences.map(([what]) => what).join('; '), differences] as const))(
    '%s',
    async (_, differences) => {
      const before = await copyOf(assumed);
      const tamper: Tamper = (exchange) => differences.map(([, alter]) => alter(exchange)).find((altered) => altered !== undefined);
      const first = await judge(before.document, tamper, 'full');
      const open = first.findings.filter(({ verdict }) => verdict === 'learned' || verdict === 'discovered');
      const found = open.flatMap(({ check, touches }) => touches.map(({ operation }) => `${check} ${operation}`));
      expect(found).toEqual(expect.arrayContaining(differences.flatMap(([, , expected]) => expected)));
      expect(open.filter(({ proposals }) => proposals.length === 0).map(({ check, message }) => `${check}: ${message}`)).toEqual([]);
      await writeProposals(before, first.findings);
      expect(await lint(before.root)).toEqual([]);
      const after = await judge((await openDocument(before.root)).document, tamper, 'full');
      const still = new Set(after.findings.map(({ id }) => id));
      expect(open.filter(({ id }) => still.has(id)).map(({ check, message }) => `${check}: ${message}`)).toEqual([]);
    },
  );
});

test('finds a line of a file for every pointer of the bundle', async () => {
  const loaded = await openDocument(undefined);
  const sources = await sourcesOf(loaded);
  const status = new URL('../../../openapi/domain.yaml', import.meta.url);
  const lines = (await readFile(status, 'utf8')).split('\n');
  expect(sources.locate('/components/schemas/DomainStatus/anyOf/0/enum')).toMatchObject({
    file: 'openapi/domain.yaml',
    line: lines.findIndex((line) => line.includes('enum: [OK, LOCK]')) + 1,
    column: 11,
    missing: [],
  });
  expect(sources.locate('/paths/~1domain~1list/get/responses/200')).toMatchObject({ file: 'openapi/domain.yaml', missing: [] });
  expect(sources.locate('/components/responses/NotFound/headers/Retry-After')).toMatchObject({
    file: 'openapi/common.yaml',
    missing: ['Retry-After'],
  });
  const schemas = Object.keys(Object(loaded.document.components?.['schemas']));
  const lost = schemas.filter((name) => sources.locate(`/components/schemas/${name}`).missing.length > 0);
  expect(lost).toEqual([]);
});
