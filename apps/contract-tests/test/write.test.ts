import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runContract, type Report } from '@reseller/contract/engine';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { OpenApiDocument } from '@reseller/contract';
import { loadDocument, openDocument, sourcesOf, writeProposals } from '../src/document.ts';
import { FAKE_KEY, startFakeService, type Tamper } from '../src/fake/fake-service.ts';
import { copyOfSources } from './workspace.ts';

let service: OpenApiDocument;

beforeAll(async () => {
  service = await loadDocument();
});

/** What the real document says of a service that is made of it and then changed. */
async function judge(document: OpenApiDocument, tamper: Tamper): Promise<Report> {
  const fake = await startFakeService(service, tamper);
  onTestFinished(() => fake.close());
  return runContract({ document, target: new URL(fake.url), apiKey: FAKE_KEY });
}

/** A service that has gone on since its document was written, in every way that a proposal can describe. */
const ahead: Tamper = ({ operation, outcome, answer }) => {
  if (outcome !== 'success') return undefined;
  const body = Object(answer.body);
  switch (operation?.id) {
    case 'listDomains':
      return { ...answer, headers: { ...answer.headers, 'x-requests-left': '41', 'x-requests-reset': '9' }, body: { ...body, page: 1 } };
    case 'getDomain':
      return { ...answer, body: { ...body, data: { ...body.data, domain: { ...body.data.domain, status: 'PARKED' } } } };
    case 'listVmHosts':
      return {
        ...answer,
        body: { ...body, data: body.data.map((host: object) => ({ ...host, name: 7, displayname: undefined, hardware: null })) },
      };
    case 'listSales':
      return { ...answer, status: 206 };
    case 'listHandleCountries':
      return {
        ...answer,
        status: 418,
        body: { status: 'error', type: 'unavailable', requestID: body.requestID, message: 'Short and stout.', data: null },
      };
    default:
      return undefined;
  }
};

test('what is written into the YAML describes what was observed, and a second run finds nothing more', async () => {
  const root = await copyOfSources();
  const before = await openDocument(root);
  const first = await judge(before.document, ahead);
  const proposed = first.findings.filter(({ proposals }) => proposals.length > 0);
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

  const files = await writeProposals(before, first.findings);
  expect(files.length).toBeGreaterThan(5);

  const after = await openDocument(root);
  const second = await judge(after.document, ahead);
  expect(second.findings.filter(({ verdict }) => verdict !== 'unverified').map(({ check, message }) => `${check} ${message}`)).toEqual([]);
}, 60_000);

test('a change is small: every other line of the file is as it was, comments too', async () => {
  const root = await copyOfSources();
  const before = await openDocument(root);
  const { findings } = await judge(before.document, ahead);
  const file = join(dirname(root), 'components/schemas/domain/DomainStatus.yaml');
  const text = await readFile(file, 'utf8');
  await writeProposals(before, findings);
  const changed = await readFile(file, 'utf8');
  const lines = changed.split('\n');
  const old = text.split('\n');
  expect(lines).toHaveLength(old.length);
  expect(lines.filter((line, index) => line !== old[index])).toEqual([expect.stringMatching(/enum: \[.*, PARKED\]$/)]);
});

test('a failure of a kind that is described elsewhere is proposed as a reference to its file', async () => {
  const root = await copyOfSources();
  const before = await openDocument(root);
  const { findings } = await judge(before.document, ahead);
  await writeProposals(before, findings);
  const text = await readFile(join(dirname(root), 'paths/domain@handle@countries.yaml'), 'utf8');
  expect(text).toContain("    '418':\n");
  expect(text).toContain('            $ref: ../components/schemas/common/ErrorEnvelope.yaml\n');
});

test('every pointer of the bundle leads to a line of a file', async () => {
  const loaded = await openDocument(undefined);
  const sources = await sourcesOf(loaded);
  const status = new URL('../../../openapi/components/schemas/domain/DomainStatus.yaml', import.meta.url);
  const lines = (await readFile(status, 'utf8')).split('\n');
  expect(sources.locate('/components/schemas/DomainStatus/anyOf/0/enum')).toMatchObject({
    file: 'openapi/components/schemas/domain/DomainStatus.yaml',
    line: lines.findIndex((line) => line.includes('enum: [OK, LOCK]')) + 1,
    column: 5,
    missing: [],
  });
  expect(sources.locate('/paths/~1domain~1list/get/responses/200')).toMatchObject({ file: 'openapi/paths/domain@list.yaml', missing: [] });
  expect(sources.locate('/components/responses/NotFound/headers')).toMatchObject({
    file: 'openapi/components/responses/NotFound.yaml',
    missing: ['headers'],
  });
  const schemas = Object.keys(Object(loaded.document.components?.['schemas']));
  const lost = schemas.filter((name) => !sources.locate(`/components/schemas/${name}`).file.endsWith(`/${name}.yaml`));
  expect(lost).toEqual([]);
});
