import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { loadDocument } from '../src/document.ts';
import { FAKE_KEY, startFakeService, type Tamper } from '../src/fake/fake-service.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
/** What the examples of the document mark as secret, and what the service below lets out where it does not belong. */
const LEAKED = 'leaked-password-"&<7>';
const OPERATIONS = ['createVm', 'generateOtp', 'createHandle', 'registerDomain', 'requestDomainAuthcode=reseller-customer.net'];

/** Secrets where the document has them, and the same ones in names, messages, headers and properties that nobody described. */
const leaking: Tamper = ({ operation, outcome, answer }) => {
  if (outcome !== 'success') return undefined;
  const body = Object(answer.body);
  switch (operation?.id) {
    case 'createVm':
      return {
        ...answer,
        headers: { ...answer.headers, 'x-debug': FAKE_KEY },
        body: { ...body, data: { ...body.data, config: { ...body.data.config, password: LEAKED } } },
      };
    case 'listDomains':
      return { ...answer, body: { ...body, message: 7, note: LEAKED, [LEAKED]: FAKE_KEY, data: { list: [LEAKED, FAKE_KEY] } } };
    case 'getCurrentInvoice':
      return { ...answer, body: { ...body, data: { ...body.data, creditLimit: LEAKED, nextInvoiceDate: FAKE_KEY } } };
    default:
      return undefined;
  }
};

async function secretsOfExamples(): Promise<readonly string[]> {
  const text = JSON.stringify(await loadDocument());
  return [...text.matchAll(/"(?:password|otp_code|authcode)":"([^"*]{6,})"/g)].map(([, secret]) => secret ?? '');
}

/** A secret as it is, and as the formats of the reports would write it. */
function formsOf(secret: string): readonly string[] {
  const xml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret), xml, xml.replaceAll('"', '&quot;')];
}

test('keys and secrets stand in no file and on no stream that a run writes', async () => {
  const service = await startFakeService(await loadDocument(), leaking);
  onTestFinished(() => service.close());
  const folder = await temporaryFolder();
  const reports = join(folder, 'reports');
  const journal = join(folder, 'journal.jsonl');
  const streams: string[] = [];
  const argv = [
    '--target',
    service.url,
    '--mode',
    'full',
    '--yes',
    '--budget',
    '99',
    '--allow-unknown-price',
    '99',
    '--report',
    reports,
    '--only',
    ...OPERATIONS,
  ];
  const environment = { RESELLER_API_KEY: FAKE_KEY };
  const { code, output } = await command(argv, environment, {
    journal,
    onPrint: (text) => streams.push(text),
    onProgress: (line) => streams.push(line),
  });
  expect(code).toBe(1);
  expect(output).toContain('Left behind');

  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.length).toBe(8);
  const texts = [
    ...streams.map((text) => ['a stream', text] as const),
    ...(await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const))),
  ];
  const secrets = [FAKE_KEY, LEAKED, ...(await secretsOfExamples())];
  expect(secrets.length).toBeGreaterThan(4);
  const found = texts.flatMap(([place, text]) =>
    secrets.flatMap((secret) => (formsOf(secret).some((form) => text.includes(form)) ? [`${secret} in ${place}`] : [])),
  );
  expect(found).toEqual([]);
});

test('nor on the streams of the process, with the key as an argument', async () => {
  const service = await startFakeService(await loadDocument(), leaking);
  onTestFinished(() => service.close());
  const child = spawn(process.execPath, [MAIN, '--target', service.url, '--api-key', FAKE_KEY], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, error, [code]] = await Promise.all([buffer(child.stdout), buffer(child.stderr), once(child, 'close')]);
  expect(code).toBe(1);
  expect(`${out}${error}`).not.toContain(FAKE_KEY);
  expect(`${out}`).toContain('violation');
});
