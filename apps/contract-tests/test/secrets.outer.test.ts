import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { buffer, text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { describe, expect, onTestFinished, test } from 'vitest';

import { loadDocument } from '../src/document.ts';
import { runWithSecrets, filesIn, leaksIn, SECRETS, secretsOfExamples } from './leaks.ts';
import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { FAKE_KEY, startFakeService } from './selftest/fake-service.ts';
import type { Tamper } from './selftest/fake-service.ts';
import { copyOfSources, temporaryFolder } from './workspace.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
/** A secret that the service leaks into other fields. */
const LEAKED = 'leaked-password-"&<7>';
const OPERATIONS = ['createVm', 'generateOtp', 'createHandle', 'registerDomain', 'requestDomainAuthcode=reseller-customer.net'];

/** Adds secrets to described secret properties, and the same ones to names, messages, headers and undescribed properties. */
const leaking: Tamper = ({ operation, outcome, response }) => {
  if (outcome !== 'success') return undefined;
  const body = Object(response.body);
  switch (operation?.id) {
    case 'createVm':
      return {
        ...response,
        headers: { ...response.headers, 'x-debug': FAKE_KEY, etag: `"${FAKE_KEY}"`, location: `/vm?secret=${encodeURIComponent(LEAKED)}` },
        body: { ...body, data: { ...body.data, config: { ...body.data.config, password: LEAKED } } },
      };
    case 'listDedicatedServers': {
      const [first] = body.data.list;
      return {
        ...response,
        body: { ...body, data: { list: [{ ...first, management: { ...Object(first.management), password: LEAKED } }] } },
      };
    }
    case 'listDomains':
      return { ...response, body: { ...body, message: 7, note: LEAKED, [LEAKED]: FAKE_KEY, data: { list: [LEAKED, FAKE_KEY] } } };
    case 'getCurrentInvoice':
      return { ...response, body: { ...body, data: { ...body.data, creditLimit: LEAKED, nextInvoiceDate: FAKE_KEY } } };
    default:
      return undefined;
  }
};

/** A use of the command with its own folder. It adds all output to `streams`. */
type Scenario = (folder: string, streams: string[]) => Promise<void>;

async function leakingService(): Promise<string> {
  const service = await startFakeService(await loadDocument(), leaking);
  onTestFinished(() => service.close());
  return service.url;
}

/** An operator API that returns the token in every property. */
async function echoingOperator(): Promise<string> {
  const server = createServer(async (request, response) => {
    const asks = await textOf(request);
    const status = asks.includes('""') ? 422 : 500;
    const title = String(request.headers.authorization);
    response
      .writeHead(status, { 'content-type': 'application/problem+json' })
      .end(JSON.stringify({ type: title, title, status, detail: title, instance: title }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

const FULL = ['--mode', 'full', '--yes', '--budget', '99', '--allow-unknown-price', '99'];

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'a run in full mode, with an operator API and every report': async (folder, streams) => {
    const target = await leakingService();
    const argv = ['--target', target, ...FULL, '--operator', await echoingOperator()];
    const { code, output } = await runWithSecrets([...argv, '--report', join(folder, 'reports'), '--only', ...OPERATIONS], folder, streams);
    expect(code).toBe(1);
    expect(output).toContain('Left behind');
    expect(output).toContain('the run could not check whether a code is valid once');
    expect((await filesIn(folder)).filter((file) => !file.endsWith('.test.mjs')).length).toBe(6);
  },
  'a plan, and a refusal to spend': async (folder, streams) => {
    const target = await leakingService();
    expect((await runWithSecrets(['--target', target, '--plan'], folder, streams)).code).toBe(0);
    expect((await runWithSecrets(['--target', target, '--mode', 'full', '--only', ...OPERATIONS], folder, streams)).code).toBe(2);
  },
  'a run with a baseline, from its own findings': async (folder, streams) => {
    const target = await leakingService();
    await runWithSecrets(['--target', target, '--report', folder], folder, streams);
    const { findings } = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8'));
    const [{ id, check }] = findings;
    const baseline = join(folder, 'baseline.yaml');
    await writeFile(
      baseline,
      `accepted: [{ finding: ${id}, check: ${check}, operations: all, reason: Known., owner: us, expires: '2999-01-01' }]\n`,
    );
    const { output } = await runWithSecrets(
      ['--target', target, '--baseline', baseline, '--report', join(folder, 'again')],
      folder,
      streams,
    );
    expect(output).toContain('1 accepted');
  },
  'changes that are written into the document': async (folder, streams) => {
    const [root, before] = [await copyOfSources(), await copyOfSources()];
    const { output } = await runWithSecrets(['--target', await leakingService(), '--document', root, '--write'], folder, streams);
    expect(output).toContain('Changed: ');
    // The lines that the run has written. The others have the examples of the document, which the service sends.
    for (const name of (await readdir(dirname(root))).filter((file) => file.endsWith('.yaml'))) {
      const old = new Set((await readFile(join(dirname(before), name), 'utf8')).split('\n'));
      const lines = (await readFile(join(dirname(root), name), 'utf8')).split('\n');
      await writeFile(join(folder, name), lines.filter((line) => !old.has(line)).join('\n'));
    }
  },
  'a recording that is judged': async (folder, streams) => {
    const target = await leakingService();
    const file = join(await temporaryFolder(), 'recorded.har');
    await writeFile(
      file,
      JSON.stringify({
        log: {
          entries: [
            await entryOf(target, 'GET', '/dedicated/list'),
            await entryOf(target, 'GET', `/domain/list?hint=${LEAKED}`),
            await entryOf(target, 'PUT', '/vm/create', SECRET_FORM),
            await entryOf(target, 'POST', '/domain/register', SECRET_FORM),
          ],
        },
      }),
    );
    const { code } = await runWithSecrets(['--har', file, '--report', join(folder, 'reports')], folder, streams);
    expect(code).toBe(1);
  },
  'a comparison of documents': async (folder, streams) => {
    const [old, now] = [await copyOfSources(), await copyOfSources()];
    expect((await runWithSecrets(['diff', old, now], folder, streams)).code).toBe(0);
  },
  'what cannot run': async (folder, streams) => {
    const target = await leakingService();
    const wrong = [
      [FAKE_KEY],
      ['--nonsense', FAKE_KEY],
      ['--target', FAKE_KEY],
      ['--target', target, '--document', join(folder, 'none.yaml')],
      ['--target', target, '--api-key', `${FAKE_KEY}x`],
      ['--target', target, ...FULL, '--operator', target, '--only', 'generateOtp'],
    ];
    for (const argv of wrong) expect((await runWithSecrets(argv, folder, streams)).code).toBe(2);
  },
};

/** A secret of a client in a secret field and in an undescribed one. */
const SECRET_FORM = `${new URLSearchParams({ domain: 'a.net', handle: 'HDL-1', authcode: LEAKED, unknown: LEAKED })}`;

function send(base: string, method: string, path: string, form: string): Promise<Response> {
  const type = form === '' ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  return fetch(`${base}${path}`, { method, headers: { 'x-service-apikey': FAKE_KEY, ...type }, ...(form === '' ? {} : { body: form }) });
}

async function entryOf(target: string, method: string, path: string, form = ''): Promise<unknown> {
  const response = await send(target, method, path, form);
  return {
    startedDateTime: '2026-01-01T00:00:00.000Z',
    time: 1,
    request: {
      method,
      url: `${target}${path}`,
      headers: [
        { name: 'X-SERVICE-APIKEY', value: FAKE_KEY },
        { name: 'content-type', value: 'application/x-www-form-urlencoded' },
      ],
      ...(form === '' ? {} : { postData: { mimeType: 'application/x-www-form-urlencoded', text: form } }),
    },
    response: {
      status: response.status,
      headers: [...response.headers].map(([name, value]) => ({ name, value })),
      content: { mimeType: response.headers.get('content-type'), text: await response.text() },
    },
  };
}

describe('no file and no stream contains keys or secrets of', () => {
  test.each(Object.entries(SCENARIOS))(
    '%s',
    async (_, scenario) => {
      const folder = await temporaryFolder();
      const streams: string[] = [];
      await scenario(folder, streams);
      const secrets = [...SECRETS, LEAKED, ...(await secretsOfExamples())];
      expect(secrets.length).toBeGreaterThan(5);
      // The sources contain the examples of the document.
      const hasSources = (await filesIn(folder)).some((file) => file.includes('schemas'));
      const own = secrets.filter((secret) => !secret.startsWith('example-') || !hasSources);
      expect(await leaksIn(folder, streams, own)).toEqual([]);
    },
    240_000,
  );
});

test('does not print the key that is an argument of the process', async () => {
  const service = await startFakeService(await loadDocument(), leaking);
  onTestFinished(() => service.close());
  const child = spawn(process.execPath, [MAIN, '--target', service.url, '--api-key', FAKE_KEY], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, error, [code]] = await Promise.all([buffer(child.stdout), buffer(child.stderr), once(child, 'close')]);
  expect(code).toBe(1);
  expect(`${out}${error}`).not.toContain(FAKE_KEY);
  expect(`${out}`).toContain('violation');
});

describe('secrets of the service that the document does not mark', () => {
  const TSIG = 'kp4/24gyYsEzbuTVJRUMoqGFmN3LYgVDzJ/3oRSP7ys=';
  const TOKEN = '*:development.964a287e1b728cb5f4f3e0120df92cb5';
  const ONCE = 'whsec_Mf9bQ2kTz81LxRv07NpYs3Hd';
  const IDENTIFIER = 'prj5f2aa91c07be4d33';
  const text = { type: 'string' };
  const item = { type: 'object', properties: { id: text, name: text, key: text, apiToken: text, note: text, created: text } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Keys', version: '1' },
    paths: {
      '/keys': {
        get: {
          operationId: 'listKeys',
          responses: { 200: { description: 'All.', content: { 'application/json': { schema: { type: 'array', items: item } } } } },
        },
      },
      '/keys/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: text }],
        get: {
          operationId: 'getKey',
          responses: {
            200: { description: 'One.', content: { 'application/json': { schema: { ...item, required: ['missing'] } } } },
            404: { description: 'None.' },
          },
        },
      },
    },
  };

  test('are in no report, but identifiers, names and times are', async () => {
    const value = { id: IDENTIFIER, name: 'Weekly report', key: TSIG, apiToken: TOKEN, created: '2026-11-25T10:00:00Z' };
    const { url } = await startServer(({ path }, response) => {
      if (path === '/keys') return sendJson(response, 200, [value]);
      return sendJson(response, path.endsWith(IDENTIFIER) ? 200 : 404, path.endsWith(IDENTIFIER) ? { ...value, note: ONCE } : {});
    });
    const folder = await temporaryFolder();
    const file = join(folder, 'api.json');
    await writeFile(file, JSON.stringify(document));
    const { output } = await command(['--target', url.href, '--document', file, '--report', join(folder, 'report')], {});
    const files = await filesIn(join(folder, 'report'));
    const texts = [output, ...(await Promise.all(files.map((path) => readFile(path, 'utf8'))))];
    for (const secret of [TSIG, TOKEN, ONCE])
      expect([secret, ['terminal', ...files].filter((_, index) => texts[index]?.includes(secret) === true)]).toEqual([secret, []]);
    const har = await readFile(join(folder, 'report', 'traffic.har'), 'utf8');
    for (const shown of [IDENTIFIER, 'Weekly report', '2026-11-25T10:00:00Z']) expect(har).toContain(shown);
  });

  test('a short key of the user does not mask the letters of other words', async () => {
    const { url } = await startServer((_, response) => sendJson(response, 200, []));
    const file = join(await temporaryFolder(), 'api.json');
    const secured = {
      ...document,
      security: [{ Key: [] }],
      components: { securitySchemes: { Key: { type: 'apiKey', in: 'header', name: 'X-Key' } } },
    };
    await writeFile(file, JSON.stringify(secured));
    const { output } = await command(['--target', url.href, '--document', file, '--api-key', 't'], {});
    expect(output).toContain('the service accepts a request without an API key');
    expect(output).not.toContain('***');
  });
});
