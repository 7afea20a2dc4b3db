/** Runs the curl commands of reports in shells. The server must receive the request of the run, byte for byte. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { HOSTILE_TEXTS, runInShells, SHELL_COUNT, startRecorder, whyNoCommandLines } from '../../../../.config/command-line.ts';
import type { ArrivedRequest, Recorder } from '../../../../.config/command-line.ts';
import { parseDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { readOperations } from '../document/operations.ts';
import { writeBody } from '../form/body.ts';
import { buildRequest } from '../run/request.ts';
import type { Step } from '../run/step.ts';
import { curlCommand, curlOf } from './curl.ts';
import { readExchange } from './exchange.ts';
import type { Credential } from './exchange.ts';

/** Without characters that are encoded in cookies and URLs, because the shell variable has the unencoded key. */
const KEY = 'key-of_the.account';

const schemes = {
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  hostileHeader: { type: 'apiKey', in: 'header', name: 'X-$HOME`id`!1' },
  query: { type: 'apiKey', in: 'query', name: 'api[key]&$HOME!1' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  bearer: { type: 'http', scheme: 'bearer' },
  basic: { type: 'http', scheme: 'basic' },
};
const TEXT = { type: 'string' };
const bodies = {
  form: { 'application/x-www-form-urlencoded': { schema: { type: 'object', properties: { a: TEXT, b: TEXT } } } },
  json: { 'application/json': { schema: { type: 'object', properties: { a: TEXT, b: TEXT } } } },
  patch: { 'application/merge-patch+json': { schema: { type: 'object', properties: { a: TEXT, b: TEXT } } } },
};

const document = parseDocument({
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: Object.fromEntries(
    Object.keys(schemes).flatMap((scheme) =>
      Object.entries({ ...bodies, none: undefined }).map(([format, content]) => [
        `/${scheme}/${format}/{thing}`,
        {
          [format === 'none' ? 'delete' : 'post']: {
            operationId: `${scheme}-${format}`,
            security: [{ [scheme]: [] }],
            parameters: [
              { name: 'thing', in: 'path', required: true, schema: TEXT },
              { name: 'filter[a]', in: 'query', schema: TEXT },
              { name: 'X-Tenant', in: 'header', required: true, schema: TEXT },
              { name: 'tenant', in: 'cookie', required: true, schema: TEXT },
            ],
            ...(content && { requestBody: { content } }),
            responses: { 200: { description: 'Done.' } },
          },
        },
      ]),
    ),
  ),
  components: { securitySchemes: schemes },
});
const operations = readOperations(document);

function operationOf(id: string): Operation {
  const operation = operations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`The document has no operation ${id}.`);
  return operation;
}

let recorder: Recorder;
beforeAll(async () => {
  recorder = await startRecorder();
});
afterAll(() => recorder.close());

interface Values {
  readonly value: string;
  readonly credential?: Credential;
  readonly key?: string;
}

/** Sends a request as a run does, and returns its curl command. */
async function sendAs(id: string, { value, credential = 'account', key = KEY }: Values): Promise<string> {
  const operation = operationOf(id);
  const step: Step = {
    operation,
    purpose: 'call',
    method: operation.method,
    credential,
    path: { thing: `x${value}` },
    form: undefined,
    parameters: { query: [['filter[a]', value]], headers: { 'X-Tenant': 'north & south' }, cookies: { tenant: value } },
    detail: '',
    times: 1,
    phase: 1,
    effect: 'reads',
  };
  const keyOf = { account: key, wrong: 'no-such-key', none: undefined }[credential];
  const fields = { a: value, b: 'b' };
  const body = operation.body === undefined ? undefined : writeBody(operation, fields);
  const request = buildRequest({ target: new URL(recorder.baseUrl), step, path: { thing: `x${value}` }, body, keyFor: () => keyOf });
  const headers = Object.fromEntries(request.headers);
  const { method, url } = request;
  await fetch(request);
  const sent = { method, url, headers, body, credential, purpose: 'call', detail: '', at: '' } as const;
  return curlOf(document, readExchange(operation, sent, { status: 200, headers: {}, bytes: new Uint8Array(), milliseconds: 1 }));
}

function relevant({ method, url, headers, body }: ArrivedRequest) {
  const type = headers['content-type'];
  const isJson = String(type).endsWith('json');
  return {
    method,
    // curl writes %3d, and the URL of a run %3D.
    url: url?.replaceAll(/%[0-9a-f]{2}/gi, (octet) => octet.toUpperCase()),
    credentials: [headers.authorization, headers.cookie, headers['x-key'], headers['x-$home`id`!1']],
    tenant: headers['x-tenant'],
    type: body === '' ? undefined : type,
    // The command has JSON escapes instead of invisible characters.
    body: isJson ? JSON.parse(body || 'null') : body,
  };
}

type Requested = readonly [id: string, values: Values];

async function sendTwice(requests: readonly Requested[], key = KEY) {
  const from = recorder.arrived.length;
  const lines: string[] = [];
  for (const [id, values] of requests) lines.push(await sendAs(id, { key, ...values }));
  await runInShells(lines, { CONTRACT_API_KEY: key });
  const arrived = recorder.arrived.slice(from).map(relevant);
  const byRun = arrived.slice(0, requests.length);
  return { lines, byShells: arrived.slice(requests.length), expected: Array.from({ length: SHELL_COUNT }, () => byRun).flat() };
}

describe.skipIf(whyNoCommandLines !== undefined)('a curl command sends the same request', () => {
  test('with hostile texts in the path, the query, a cookie and the body', async () => {
    const { lines, byShells, expected } = await sendTwice([
      ...HOSTILE_TEXTS.map((value): Requested => ['header-json', { value }]),
      ['header-form', { value: HOSTILE_TEXTS.join('') }],
    ]);
    expect(byShells).toEqual(expected);
    expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test('for each security scheme, each kind of key and each type of body', async () => {
    const { lines, byShells, expected } = await sendTwice([
      ...Object.keys(schemes).flatMap((scheme) =>
        (['account', 'wrong', 'none'] as const).map((credential): Requested => [`${scheme}-form`, { value: 'v', credential }]),
      ),
      ...[...Object.keys(bodies), 'none'].map((format): Requested => [`query-${format}`, { value: 'v' }]),
    ]);
    expect(byShells).toEqual(expected);
    expect(lines.join('')).not.toContain(KEY);
  });

  test.each(['user', 'user:', 'user:password', 'user:pass:word', 'it\'s:$(id)`id`"'])('with basic authentication by %j', async (key) => {
    const { lines, byShells, expected } = await sendTwice([['basic-form', { value: 'v' }]], key);
    expect(byShells).toEqual(expected);
    expect(lines.join('')).not.toContain('pass');
  });

  test('with a key that is encoded in the query', async () => {
    const { byShells, expected } = await sendTwice(
      [
        ['query-form', { value: 'v' }],
        ['query-none', { value: 'v' }],
      ],
      'a&b=c+d #%',
    );
    expect(byShells).toEqual(expected);
  });

  test('and does not execute the method of a recorded request', async () => {
    const line = curlCommand(operationOf('header-none'), {
      method: '$(touch made)',
      url: `${recorder.baseUrl}/header/none/1`,
      headers: {},
      body: undefined,
      credential: 'none',
    });
    expect(line).toContain(`-X '$(touch made)'`);
    await runInShells([line], {});
  });
});
