import { runContract } from '@reseller/contract/engine';
import type { Report } from '@reseller/contract/engine';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { oneTimeCodes } from '../src/one-time-codes/extension.ts';
import { memoryJournal } from './memory-journal.ts';
import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';

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

test('lists the rules of one-time codes as unverified without an operator API', async () => {
  const { code, output } = await command(argv(), environment());
  expect(code).toBe(0);
  expect(output).toContain('the run could not check whether a code is valid once');
  expect(output).toContain('the run could not check whether a code is void once another is generated');
  expect(output).toContain('give the address of the operator API with --operator URL');
});

test('presents codes at the operator API, and the plan says so', async () => {
  const variables = environment({ RESELLER_OPERATOR_URL: sandbox.operatorUrl.href, RESELLER_OPERATOR_TOKEN: sandbox.operatorToken });
  const { code, output } = await command(argv(), variables);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.not.stringContaining('the run could not check') });
  expect(output).toContain(`Presents a one-time code 4 times at ${sandbox.operatorUrl.href}`);
  expect(output).not.toContain(sandbox.operatorToken);
  const plan = await command(argv('--plan', '--operator', sandbox.operatorUrl.href), {});
  expect(plan).toMatchObject({ code: 0, output: expect.stringContaining('Presents a one-time code 4 times at') });
});

test('reports a code without a verdict of the operator API as unverified', async () => {
  const { url } = await startServer(({ body }, response) => {
    const status = body.includes('""') ? 422 : 429;
    const problem = { type: 'about:blank', title: 'Later', status, detail: 'Later.', instance: '/' };
    sendJson(response, status, problem, { 'content-type': 'application/problem+json' });
  });
  const variables = environment({ RESELLER_OPERATOR_TOKEN: 'any-token' });
  const { output } = await command(argv('--operator', url.href), variables);
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
    'a token with characters that are not allowed in a header',
    ['--operator', 'http://127.0.0.1:9'],
    { RESELLER_OPERATOR_TOKEN: 'a b' },
    /characters that are not allowed in a header/,
  ],
  [
    'an address where no service listens',
    ['--operator', 'http://127.0.0.1:9'],
    { RESELLER_OPERATOR_TOKEN: 'x' },
    /The operator API at http:\/\/127\.0\.0\.1:9 does not respond\./,
  ],
])('exits with 2 for %s', async (_, more, variables, message) => {
  const { code, output } = await command(argv(...more), environment(variables));
  expect({ code, output }).toEqual({ code: 2, output: expect.stringMatching(message) });
});

test('exits with 2 for a wrong token, and for an address that is not that of an operator API', async () => {
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
])('reports each rule that a code breaks when it %s', async (_, taken, rules) => {
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
