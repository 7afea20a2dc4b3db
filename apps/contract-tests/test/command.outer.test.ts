import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { readArguments, readKey } from '../src/options.ts';
import { command } from './run-command.ts';
import type { CommandResult } from './run-command.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';
import type { FakeService } from './selftest/fake-service.ts';
import { temporaryFolder } from './workspace.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const SECRET = 'example-management-password';

let correct: FakeService;
let broken: FakeService;
let failing: FakeService;

beforeAll(async () => {
  const document = await loadDocument();
  correct = await startFakeService(document);
  broken = await startFakeService(document, ({ operation, outcome, response }) => {
    if (outcome !== 'success') return undefined;
    if (operation?.id === 'getCurrentInvoice') return { ...response, body: { ...Object(response.body), status: 'fine\u001B[31m' } };
    if (operation?.id !== 'listDedicatedServers') return undefined;
    return { ...response, body: { ...Object(response.body), data: { list: [{ management: { password: SECRET }, identifier: SECRET }] } } };
  });
  const body = { status: 'error', type: 'unavailable', requestID: null, message: 'Later.', data: null };
  failing = await startFakeService(document, ({ response, key }) => (key === 'account' ? { ...response, status: 503, body } : undefined));
});

afterAll(async () => {
  for (const service of [correct, broken, failing]) await service.close();
});

function run(
  argv: readonly string[],
  environment: Readonly<Record<string, string>> = { RESELLER_API_KEY: FAKE_KEY },
): Promise<CommandResult> {
  return command(argv, environment);
}

describe('exits with 0', () => {
  test('when nothing failed, and prints a table and the unverified operations', async () => {
    const { code, output } = await run(['--target', correct.url]);
    expect(code).toBe(0);
    expect(output).toMatch(/^ {2}listDomains +GET \/domain\/list +200 401 +passed$/m);
    expect(output).toMatch(/14 of 25 operations verified; 0 violation, 0 discovered, 0 learned; unverified: 11 operations/);
    expect(output).toMatch(/^Unverified operations \(11\)\n {2}costs money, and this run is read-only \(\d\):\n {4}createVm, /m);
  });

  test('as a separate process', async () => {
    const child = spawn(process.execPath, [MAIN, '--target', correct.url], {
      env: { ...process.env, RESELLER_API_KEY: FAKE_KEY },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    expect(code).toBe(0);
    expect(output).toContain('14 of 25 operations verified');
  });

  test('for --help', async () => {
    const { code, output } = await run(['--help'], {});
    expect(code).toBe(0);
    expect(output).toContain('--target URL');
  });
});

describe('exits with 1', () => {
  test('when there are violations, and prints what was expected and observed', async () => {
    const folder = await temporaryFolder();
    const { code, output } = await run(['--target', broken.url, '--api-key', FAKE_KEY, '--report', folder], {});
    expect(code).toBe(1);
    expect(output).toMatch(/^violation {2}\/data\/list\/\*\/deployed is required$/m);
    expect(output).toMatch(/^ {2}expected {2}is required$/m);
    expect(output).toMatch(/^ {2}observed {2}nothing$/m);
    expect(output).toMatch(/^ {2}document {2}openapi\/dedicated\.yaml:\d+:\d+$/m);
    // The terminal has at most 100 lines of a report; the files have all of it.
    expect(output).toContain(`more lines: all of it is in ${folder}\nReports: ${folder}`);
    expect(output.split('\n').length).toBeLessThanOrEqual(101);
    expect(await readFile(join(folder, 'summary.md'), 'utf8')).toContain('/status must be "success"');
  });

  test('with only the result, when --quiet is given', async () => {
    const { code, output } = await run(['--target', broken.url, '--api-key', FAKE_KEY, '--quiet'], {});
    expect({ code, output }).toEqual({ code: 1, output: expect.stringMatching(/^failed .*\n\d+ responses judged; .*$/) });
  });

  test('without secrets or control characters in the output', async () => {
    const { output } = await run(['--target', broken.url]);
    expect(output).not.toContain(SECRET);
    expect(output).not.toContain(FAKE_KEY);
    expect(output).not.toContain('\u001B');
  });
});

describe('exits with 2 and one line that says what to do, for', () => {
  test.each([
    ['an unknown option', ['--speed', 'full'], 'The option --speed is unknown. See npx -y pnpm@12 contract --help.'],
    ['a mode that does not exist', ['--mode', 'wild'], '--mode must be read-only or full.'],
    ['an amount that is not a number', ['--budget', 'many'], '--budget must be an amount such as 12.50, with at most eight decimals.'],
    [
      'an operation that does not exist',
      ['--only', 'buyHouse'],
      expect.stringContaining('The document has no operation buyHouse. It has createVm,'),
    ],
    [
      'a document that does not exist',
      ['--document', 'nowhere.yaml'],
      expect.stringContaining('The document nowhere.yaml cannot be read.'),
    ],
    ['a comparison of a single document', ['diff', 'one.yaml'], 'diff needs two documents: npx -y pnpm@12 contract diff OLD NEW.'],
    ['a recording that does not exist', ['--har', 'nowhere.har'], 'The file nowhere.har cannot be read.'],
    ['an argument without an option', ['my-secret-key'], 'Unexpected argument. See npx -y pnpm@12 contract --help.'],
    [
      'an option without its value',
      ['--target'],
      'The option --target needs a value, or does not take one. See npx -y pnpm@12 contract --help.',
    ],
    [
      'a value for an option that takes none',
      ['--yes=my-secret-key'],
      'The option --yes needs a value, or does not take one. See npx -y pnpm@12 contract --help.',
    ],
    [
      'a target that is not an address',
      ['--target', 'localhost'],
      'The target is not an http or https address. Give one such as --target http://127.0.0.1:4010.',
    ],
    [
      'a target with a password',
      ['--target', 'http://a:b@127.0.0.1'],
      'The target must be a plain base address, without user, password, query or fragment.',
    ],
    [
      'a key with characters that are not allowed in a header',
      ['--api-key', 'a b'],
      'The API key has characters that are not allowed in a header. Check that you copied all of it, without spaces.',
    ],
    [
      'a target where no service listens',
      ['--target', 'http://127.0.0.1:9'],
      expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:9 does not respond: .+\. Start the service there \(npx -y pnpm@12 start for the sandbox\), or give another address with --target\.$/,
      ),
    ],
  ])('%s', async (_, argv, line) => {
    expect(await run(argv)).toEqual({ code: 2, output: line });
  });

  test('a missing key', async () => {
    const { code, output } = await run(['--target', 'https://api.reseller.invalid'], {});
    expect({ code, output }).toEqual({
      code: 2,
      output: 'There is no API key. Set CONTRACT_API_KEY to the key of the account at the target.',
    });
  });

  test('a document without an operation that a read-only run may call', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'contract-'));
    const operation = { responses: { 200: { description: 'Done.' } } };
    const document = {
      openapi: '3.1.0',
      info: { title: 'Orders', version: '1' },
      paths: { '/orders': { post: { operationId: 'placeOrder', ...operation } }, '/returns': { post: operation } },
    };
    await writeFile(join(folder, 'orders.json'), JSON.stringify(document));
    const { code, output } = await run(['--target', correct.url, '--document', join(folder, 'orders.json')]);
    await rm(folder, { recursive: true });
    expect({ code, output }).toEqual({
      code: 2,
      output:
        'The document has no operation that this run may call, so nothing was checked. 2 operations: changes state, and this run is read-only. Run with --plan to see why each operation is left out, and with --mode full --yes to call those that change something.',
    });
  });

  test('a key that the service refuses', async () => {
    const { code, output } = await run(['--target', correct.url, '--api-key', 'another-key'], {});
    expect(code).toBe(2);
    expect(output).toMatch(/refuses the API key \(401\)\. Check CONTRACT_API_KEY/);
    expect(output).not.toContain('another-key');
  });

  test('a website instead of an API', async () => {
    const site = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>'));
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const address = site.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    const { code, output } = await run(['--target', url]);
    await new Promise((resolve) => site.close(resolve));
    expect({ code, output }).toEqual({
      code: 2,
      output: expect.stringContaining('responds to every request with an HTML page, so it does not look like an API'),
    });
  });

  test('an unusable baseline or report folder, before the first request', async () => {
    const before = correct.requests.length;
    const baseline = await run(['--target', correct.url, '--baseline', 'nowhere.yaml']);
    expect(baseline).toEqual({ code: 2, output: 'The baseline nowhere.yaml cannot be read.' });
    const folder = await run(['--target', correct.url, '--report', `${MAIN}/below-a-file`]);
    expect(folder).toMatchObject({
      code: 2,
      output: expect.stringContaining('for the reports cannot be created. Choose another with --report.'),
    });
    expect(correct.requests).toHaveLength(before);
  });

  test('a service that fails for every request', async () => {
    const { code, output } = await run(['--target', failing.url]);
    expect(code).toBe(2);
    expect(output).toContain('so nothing was checked');
  });
});

describe('the local sandbox', () => {
  const inFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
    const folder = await mkdtemp(join(tmpdir(), 'contract-'));
    await use(folder).finally(() => rm(folder, { recursive: true }));
  };

  test('is found by RESELLER_PORT and RESELLER_DATA_DIR', async () => {
    await inFolder(async (folder) => {
      await writeFile(join(folder, 'demo-api-key'), `${FAKE_KEY}\n`, { mode: 0o600 });
      const { code, output } = await run([], { RESELLER_PORT: new URL(correct.url).port, RESELLER_DATA_DIR: folder });
      expect(code).toBe(0);
      expect(output).toContain('14 of 25 operations verified');
    });
  });

  test.each(['0', 'http', '65536'])('is not found by RESELLER_PORT=%s, and one line says so', async (port) => {
    expect(await run([], { RESELLER_PORT: port, RESELLER_API_KEY: FAKE_KEY })).toEqual({
      code: 2,
      output: `RESELLER_PORT is '${port}', which is not a port from 1 to 65535. Give the address of the service with --target.`,
    });
    expect((await run(['--help'], { RESELLER_PORT: port })).code).toBe(0);
    expect((await run(['--target', correct.url], { RESELLER_PORT: port, RESELLER_API_KEY: FAKE_KEY })).code).toBe(0);
  });

  test('gives its key to targets on this machine only', async () => {
    await inFolder(async (folder) => {
      await writeFile(join(folder, 'demo-api-key'), 'demo-key\n', { mode: 0o600 });
      const key = (argv: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> =>
        readKey(readArguments(argv), { RESELLER_DATA_DIR: folder, ...environment });
      expect(await key([], {})).toBe('demo-key');
      await expect(key(['--target', 'https://api.reseller.invalid'], {})).rejects.toThrow('There is no API key');
      const missing = join(folder, 'missing');
      await expect(key([], { RESELLER_DATA_DIR: missing })).rejects.toThrow(
        `Start the sandbox once (npx -y pnpm@12 start), which writes ${join(missing, 'demo-api-key')}`,
      );
      expect(await key([], { RESELLER_API_KEY: 'mine' })).toBe('mine');
    });
  });
});
