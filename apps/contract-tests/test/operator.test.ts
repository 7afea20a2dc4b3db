import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { FAKE_KEY, startFakeService } from '../src/fake/fake-service.ts';
import { memoryJournal } from '../src/memory-journal.ts';
import { oneTimeCodes } from '../src/one-time-codes/extension.ts';
import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';

const document = await loadDocument();
const OTP = ['--mode', 'full', '--yes', '--only', 'generateOtp'];
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});

afterAll(() => sandbox.close());

function argv(...more: readonly string[]): readonly string[] {
  return ['--target', sandbox.url.href, ...OTP, ...more];
}

function environment(more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return { RESELLER_API_KEY: sandbox.apiKey, ...more };
}

test('without an operator API the laws of one-time codes are listed as unverified', async () => {
  const { code, output } = await command(argv(), environment());
  expect(code).toBe(0);
  expect(output).toContain('unverified  the run did not see whether a code is valid once');
  expect(output).toContain('unverified  the run did not see whether a code is void once another is generated');
  expect(output).toContain('--operator URL says where');
});

test('with one, codes are presented there, and the plan says so', async () => {
  const told = environment({ RESELLER_OPERATOR_URL: sandbox.operatorUrl.href, RESELLER_OPERATOR_TOKEN: sandbox.operatorToken });
  const { code, output } = await command(argv(), told);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringContaining('the run did not see') });
  expect(output).toContain(`4 times a one-time code is presented at ${sandbox.operatorUrl.href}`);
  expect(output).not.toContain(sandbox.operatorToken);
  const plan = await command(argv('--plan', '--operator', sandbox.operatorUrl.href), {});
  expect(plan).toMatchObject({ code: 0, output: expect.stringContaining('4 times a one-time code is presented at') });
});

test('a code on which the operator API gives no verdict is unverified, and no violation', async () => {
  const { url } = await startServer(({ body }, response) => {
    const status = body.includes('""') ? 422 : 429;
    const problem = { type: 'about:blank', title: 'Later', status, detail: 'Later.', instance: '/' };
    sendJson(response, status, problem, { 'content-type': 'application/problem+json' });
  });
  const told = environment({ RESELLER_OPERATOR_TOKEN: 'any-token' });
  const { output } = await command(argv('--operator', url.href), told);
  expect(output).toMatch(/\(the operator API at \S+ returned 429/);
  expect(output).toContain('0 violation');
});

test.each([
  [
    'no token',
    ['--operator', 'https://operator.reseller.invalid'],
    {},
    /^There is no token for the operator API\. Set RESELLER_OPERATOR_TOKEN/,
  ],
  [
    'a token that no header can carry',
    ['--operator', 'http://127.0.0.1:9'],
    { RESELLER_OPERATOR_TOKEN: 'a b' },
    /characters that a header cannot carry/,
  ],
  [
    'nobody there',
    ['--operator', 'http://127.0.0.1:9'],
    { RESELLER_OPERATOR_TOKEN: 'x' },
    /The operator API at http:\/\/127\.0\.0\.1:9 does not respond\./,
  ],
])('%s: exit code 2', async (_, more, told, message) => {
  const { code, output } = await command(argv(...more), environment(told));
  expect({ code, output }).toEqual({ code: 2, output: expect.stringMatching(message) });
});

test('a wrong token, and an address that is not that of an operator API: exit code 2', async () => {
  const refused = await command(argv('--operator', sandbox.operatorUrl.href), environment({ RESELLER_OPERATOR_TOKEN: 'not-the-token' }));
  expect(refused).toMatchObject({ code: 2, output: expect.stringContaining('refuses the token (401). Check RESELLER_OPERATOR_TOKEN.') });
  const wrong = await command(argv('--operator', sandbox.url.href), environment({ RESELLER_OPERATOR_TOKEN: sandbox.operatorToken }));
  expect(wrong).toMatchObject({ code: 2, output: expect.stringContaining('is not the base address of an operator API') });
  const reading = await command(['--target', sandbox.url.href, '--operator', sandbox.operatorUrl.href], environment());
  expect(reading).toMatchObject({ code: 2, output: expect.stringContaining('--operator is for full mode') });
});

test.each([
  ['stays valid', () => true, ['a code is valid once', 'a code is void once another is generated']],
  ['is never valid', () => false, ['a fresh code is valid', 'the newest code is valid']],
])('a code that %s is a violation of each law that it breaks', async (_, taken, rules) => {
  const service = await startFakeService(document);
  onTestFinished(() => service.close());
  const report: Report = await runContract({
    document,
    target: new URL(service.url),
    apiKey: FAKE_KEY,
    mode: 'full',
    only: new Map([['generateOtp', undefined]]),
    journal: memoryJournal(),
    extensions: [oneTimeCodes(document, async () => taken())],
  });
  expect(report.findings.map(({ check, verdict, message }) => [check, verdict, message])).toEqual(
    rules.map((rule) => ['otp-rules', 'violation', rule]),
  );
});
