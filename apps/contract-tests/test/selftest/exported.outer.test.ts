/** A finding as a file for `node --test`: red on a service with the defect, and green on one without, for each check. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { toNodeTest } from '@reseller/contract/engine';
import { expect, onTestFinished, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
import { loadDocument } from '../../src/document.ts';
import { temporaryFolder } from '../workspace.ts';
import { SELFTEST_DEFECTS } from './defects.ts';
import { FAKE_KEY, startFakeService } from './fake-service.ts';
import type { Tamper } from './fake-service.ts';
import { ALL_CHECKS, findDefect, runAgainstFake } from './selftest.ts';
import type { Found } from './selftest.ts';

const document = await loadDocument();
const { info } = document;

/** The checks whose findings no test of a few requests can show. */
const UNTESTABLE = ALL_CHECKS.flatMap(({ id, untestable }) => (untestable === undefined ? [] : [id]));

test('the findings of all checks can be exported, except of those about a client, a whole run or another API', () => {
  expect(UNTESTABLE.toSorted()).toEqual(['operation-described', 'otp-rules', 'part-seen', 'request-described']);
});

interface Outcome {
  readonly code: number;
  readonly passed: number;
  readonly output: string;
}

/** Runs an exported test in a process of its own. */
async function run(file: string, { finding, key }: Pick<Found, 'finding' | 'key'>, target: string | URL, isNamed = true): Promise<Outcome> {
  const also = isNamed && typeof finding.replay !== 'string' ? finding.replay.named.join(',') : '';
  const env = { CONTRACT_TARGET: String(target), CONTRACT_API_KEY: key, CONTRACT_ALSO: also };
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file], { env });
    return { code: 0, passed: passedIn(stdout), output: stdout };
  } catch (error) {
    const { code, stdout } = Object(error);
    return { code, passed: passedIn(String(stdout)), output: String(stdout) };
  }
}

/** Runs an exported test against a new service. */
async function runOn(file: string, found: Found, tamper?: Tamper): Promise<Outcome> {
  const service = await found.start(tamper);
  try {
    return await run(file, found, service.url);
  } finally {
    await service.close();
  }
}

function passedIn(output: string): number {
  return Number(/^# pass (\d+)$/m.exec(output)?.[1]);
}

async function exported({ finding }: Pick<Found, 'finding'>): Promise<string> {
  const file = join(await temporaryFolder(), `${finding.id}.test.mjs`);
  await writeFile(file, toNodeTest({ document: info, target: 'http://127.0.0.1:9/' }, finding));
  return file;
}

const testable = SELFTEST_DEFECTS.filter(({ check }) => !UNTESTABLE.includes(check));
const chosen = byDepth({ usual: testable.filter((_, index) => index % 3 === 0), deep: testable });

test.each(chosen)('$check: $description', async (defect) => {
  const found = await findDefect(document, defect);
  if (found === undefined) throw new Error('There is no finding.');
  const file = await exported(found);
  const [red, green] = await Promise.all([runOn(file, found, defect.tamper), runOn(file, found)]);
  expect(red).toMatchObject({ code: 1, passed: 0 });
  expect(green).toMatchObject({ code: 0, passed: 1 });
});

test.each(SELFTEST_DEFECTS.filter(({ check }) => UNTESTABLE.includes(check)))(
  'says why there is no test: $check: $description',
  async (defect) => {
    const found = await findDefect(document, defect);
    if (found === undefined) throw new Error('There is no finding.');
    const { code, passed, output } = await runOn(await exported(found), found);
    expect([code, passed]).toEqual([0, 0]);
    expect(output).toContain('# SKIP There is no test of this finding: it ');
  },
);

test('removes what it makes', async () => {
  const defect = SELFTEST_DEFECTS.find(({ check }) => check === 'state-kept');
  const found = defect === undefined ? undefined : await findDefect(document, defect);
  if (defect === undefined || found === undefined) throw new Error('There is no finding.');
  const service = await found.start(defect.tamper);
  onTestFinished(() => service.close());
  async function countProjects(): Promise<string | null> {
    const response = await fetch(new URL('/projects', service.url), { headers: { authorization: `Bearer ${found?.key}` } });
    return response.headers.get('x-total');
  }
  const before = await countProjects();
  const { code, output } = await run(await exported(found), found, service.url);
  expect([code, await countProjects()]).toEqual([1, before]);
  expect(output).toContain('createProject');
});

test('buys nothing, and changes nothing that it does not make, unless the user names the operation', async () => {
  const tamper: Tamper = ({ operation, outcome, response }) =>
    operation?.id === 'createVm' && outcome === 'success' ? { ...response, status: 206 } : undefined;
  const { findings } = await runAgainstFake(document, tamper);
  const finding = findings.find(({ check, touches }) => check === 'status-documented' && touches[0]?.operation === 'createVm');
  if (finding === undefined) throw new Error('There is no finding.');
  const service = await startFakeService(document, tamper);
  onTestFinished(() => service.close());
  const file = await exported({ finding });
  const unnamed = await run(file, { finding, key: FAKE_KEY }, service.url, false);
  expect([unnamed.code, unnamed.passed, service.called]).toEqual([0, 0, []]);
  expect(unnamed.output).toContain('# SKIP Name what it changes in CONTRACT_ALSO.');
  const named = await run(file, { finding, key: FAKE_KEY }, service.url);
  expect([named.code, service.called]).toEqual([1, ['createVm']]);
});
