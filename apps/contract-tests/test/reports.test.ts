import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { OpenApiDocument } from '@reseller/contract';
import { readBaseline } from '@reseller/contract/engine';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { command } from './run-command.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';
import type { Tamper } from './selftest/fake-service.ts';
import { temporaryFolder } from './workspace.ts';

interface Run {
  readonly code: number;
  readonly output: string;
  readonly read: (name: string) => Promise<string>;
}

let document: OpenApiDocument;
let folder: string;
/** The reports on the defective service. */
let defects: Run;
const environment = { RESELLER_API_KEY: FAKE_KEY };

beforeAll(async () => {
  document = await loadDocument();
  folder = await mkdtemp(join(tmpdir(), 'contract-reports-'));
  defects = await reports(defective);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const MARKUP = '</script><img src=x onerror=alert(1)>';
const DAY = 86_400_000;

const defective: Tamper = ({ operation, outcome, response }) => {
  if (outcome !== 'success' || operation?.id !== 'getCurrentInvoice') return undefined;
  const body = Object(response.body);
  return { ...response, body: { ...body, [MARKUP]: 1, data: { ...body.data, creditLimit: MARKUP } } };
};

async function reports(tamper: Tamper, more: readonly string[] = []): Promise<Run> {
  const service = await startFakeService(document, tamper);
  const written = await mkdtemp(join(folder, 'run-'));
  try {
    const ended = await command(['--target', service.url, '--report', written, ...more], environment);
    return { ...ended, read: (name) => readFile(join(written, name), 'utf8') };
  } finally {
    await service.close();
  }
}

test('JUnit has a suite for each operation with the checks of its responses, the places of failures, and the reason where nothing was checked', async () => {
  const { read } = defects;
  const text = await read('junit.xml');
  expect(XMLValidator.validate(text)).toBe(true);
  const { testsuites } = new XMLParser({
    ignoreAttributes: false,
    isArray: (name) => ['testsuite', 'testcase', 'failure'].includes(name),
  }).parse(text);
  expect(testsuites.testsuite).toHaveLength(25);
  const suite = testsuites.testsuite.find((one: Record<string, unknown>) => one['@_name'] === 'getCurrentInvoice');
  expect(suite['@_failures']).toBe('1');
  const failed = suite.testcase.find((one: Record<string, unknown>) => one['failure'] !== undefined);
  expect(failed['@_name']).toBe('property-type');
  expect(failed.failure[0]['#text']).toContain('openapi/accounting.yaml:');
  const buying = testsuites.testsuite.find((one: Record<string, unknown>) => one['@_name'] === 'createVm');
  expect(buying.testcase.map((one: Record<string, unknown>) => one['@_name'])).toEqual(['verified', 'method-refused']);
  expect(buying.testcase[0].skipped['@_message']).toBe('costs money, and this run is read-only');
});

test('SARIF has the source location and the rule of each finding', async () => {
  const { read } = defects;
  const { version, runs } = JSON.parse(await read('report.sarif'));
  expect(version).toBe('2.1.0');
  const [{ tool, results }] = runs;
  const rules = new Set(tool.driver.rules.map(({ id }: { id: string }) => id));
  expect(results.every(({ ruleId }: { ruleId: string }) => rules.has(ruleId))).toBe(true);
  expect(results).toContainEqual(
    expect.objectContaining({
      ruleId: 'property-type',
      level: 'error',
      partialFingerprints: { contract: expect.stringMatching(/^f-[0-9a-f]{12}$/) },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'openapi/accounting.yaml' },
            region: { startLine: expect.any(Number), startColumn: expect.any(Number) },
          },
        },
      ],
    }),
  );
});

test('the Markdown summary, the JSON and the HAR have the same findings', async () => {
  const { read } = defects;
  const report = JSON.parse(await read('report.json'));
  const summary = await read('summary.md');
  expect(summary).toContain('# Contract of Reseller Infrastructure Service API: failed');
  expect(summary).toContain('creditLimit must be a number');
  // Markup in code blocks is text.
  expect(summary.replaceAll(/^(`{3,})[a-z]+\n[^]*?\n\1$/gm, '')).not.toMatch(/(?<!\\)<img/);
  const har = JSON.parse(await read('traffic.har'));
  expect(har.log.version).toBe('1.2');
  expect(har.log.entries).toHaveLength(report.traffic.length);
  expect(summary).toContain('+++ b/openapi/accounting.yaml');
});

test('each finding is a test for Node.js that needs no package and has no key, in place of those of an earlier run', async () => {
  const service = await startFakeService(document, defective);
  onTestFinished(() => service.close());
  const written = await temporaryFolder();
  await mkdir(join(written, 'tests'));
  await writeFile(join(written, 'tests', 'f-000000000000.test.mjs'), '');
  await writeFile(join(written, 'tests', 'mine.test.mjs'), '');
  await command(['--target', service.url, '--report', written], environment);
  const { findings } = JSON.parse(await readFile(join(written, 'report.json'), 'utf8'));
  const shown = findings.filter(({ verdict }: { verdict: string }) => verdict !== 'unverified');
  const names = shown.map(({ id }: { id: string }) => `${id}.test.mjs`);
  expect((await readdir(join(written, 'tests'))).toSorted()).toEqual([...names, 'mine.test.mjs'].toSorted());
  for (const name of names) {
    const text = await readFile(join(written, 'tests', name), 'utf8');
    expect(text).not.toContain(FAKE_KEY);
    expect([...text.matchAll(/^import .* from '(.*)';$/gm)].map(([, from]) => from)).toEqual(['node:assert/strict', 'node:test']);
  }
});

test('a baseline accepts a finding until it expires, and lists fixed findings', async () => {
  expect(defects.code).toBe(1);
  const { findings } = JSON.parse(await defects.read('report.json'));
  const violation = findings.find(({ verdict }: { verdict: string }) => verdict === 'violation');
  const baseline = async (finding: string, expires: string): Promise<string> => {
    const file = join(await temporaryFolder(), 'baseline.yaml');
    await writeFile(
      file,
      `accepted:\n  - finding: ${finding}\n    check: property-type\n    operations: all\n    reason: Known to the provider, ticket 7.\n    owner: accounting\n    expires: '${expires}'\n`,
    );
    return file;
  };
  const tomorrow = new Date(Date.now() + DAY).toISOString().slice(0, 10);

  const accepted = await reports(defective, ['--baseline', await baseline(violation.id, tomorrow)]);
  expect(accepted.code).toBe(0);
  expect(accepted.output).toContain('1 accepted');
  expect(await accepted.read('summary.md')).toContain('Known to the provider, ticket 7.');

  const over = await reports(defective, ['--baseline', await baseline(violation.id, '2020-01-01')]);
  expect(over.code).toBe(1);
  expect(over.output).toContain('accepted by accounting until 2020-01-01, which has expired');

  const fixed = await reports(() => undefined, ['--baseline', await baseline(violation.id, tomorrow)]);
  expect(fixed.code).toBe(0);
  expect(fixed.output).toContain('Fixed: remove these from the baseline');
  expect(fixed.output).toContain('1 fixed');
});

test.each([
  ['not YAML', 'accepted: [', /^The baseline is not YAML/],
  ['without a list', 'other: 1', 'The baseline has no list "accepted".'],
  [
    'without an owner',
    "accepted: [{finding: f-1, check: a, operations: all, reason: b, expires: '2030-01-01'}]",
    /^Entry 1 of the baseline needs/,
  ],
  [
    'without a day',
    'accepted: [{finding: f-1, check: a, operations: all, reason: b, owner: c, expires: soon}]',
    /^Entry 1 of the baseline needs/,
  ],
])('refuses a baseline that is %s', (_, text, message) => {
  expect(() => readBaseline(text)).toThrow(message);
});
