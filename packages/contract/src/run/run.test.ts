import { describe, expect, test } from 'vitest';

import type { OpenApiDocument } from '../document/document.ts';
import type { Finding } from '../judge/finding.ts';
import type { Report } from '../report/report.ts';
import { TargetError } from './contract-options.ts';
import { runContract } from './run.ts';

const KEY = 'key-of-the-account';
const SECRET = 'hunter2-secret';

const document: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  security: [{ Key: [] }],
  paths: {
    '/thing/{thing}': {
      get: {
        operationId: 'getThing',
        parameters: [{ name: 'thing', in: 'path', schema: { type: 'string', pattern: '^t' } }],
        responses: returning('Thing'),
      },
    },
    '/thing': { get: { operationId: 'listThings', responses: returning('Things') } },
    '/other/{code}': {
      get: {
        operationId: 'getOther',
        parameters: [{ name: 'code', in: 'path', schema: { type: 'string' } }],
        responses: returning('Thing'),
      },
    },
    '/thing/buy': { post: { operationId: 'buyThing', 'x-billable': true, responses: returning('Thing') } },
  },
  components: {
    securitySchemes: { Key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    schemas: {
      Things: envelope({ type: 'object', additionalProperties: { type: 'object', properties: { size: { type: 'integer' } } } }),
      Thing: envelope({
        type: 'object',
        required: ['size', 'guess'],
        properties: {
          size: { type: 'integer' },
          guess: { type: 'string', 'x-provenance': 'not-shown' },
          kind: { anyOf: [{ type: 'string', enum: ['A'], 'x-seen': true }, { type: 'string' }] },
          password: { type: 'string', 'x-secret': true },
        },
      }),
      Failure: { type: 'object', required: ['status', 'message'], properties: { status: { const: 'error' }, message: { type: 'string' } } },
    },
  },
};

function envelope(data: unknown): unknown {
  return {
    type: 'object',
    required: ['status', 'message', 'data'],
    properties: { status: { const: 'success' }, message: { type: 'string' }, data },
  };
}

function content(name: string): unknown {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } };
}

function returning(schema: string): unknown {
  return {
    200: { description: 'What was asked for.', content: content(schema), links: {} },
    401: { description: 'No key.', 'x-provenance': 'not-shown', content: content('Failure') },
    404: { description: 'No such thing.', 'x-provenance': 'not-shown', content: content('Failure') },
  };
}

type Reply = (url: URL, request: Request) => Response | undefined;

function success(data: unknown, init: ResponseInit = {}): Response {
  return Response.json({ status: 'success', message: 'OK', data }, init);
}

function failure(status: number): Response {
  return Response.json({ status: 'error', message: 'none' }, { status });
}

/** Made-up identifiers of the engine. */
const MADE_UP = /dead|unknown/;

const calls: string[] = [];

function run(reply: Reply = () => undefined): Promise<Report> {
  calls.length = 0;
  const send = async (request: Request): Promise<Response> => {
    const url = new URL(request.url);
    if (request.headers.get('x-key') !== KEY) return failure(401);
    if (MADE_UP.test(url.pathname)) return failure(404);
    calls.push(`${request.method} ${url.pathname}`);
    return (
      reply(url, request) ??
      (url.pathname === '/thing'
        ? success({ t1: { size: 1 }, t2: { size: 2 }, x3: {} })
        : success({ size: 1, guess: 'g', kind: 'A', password: SECRET }))
    );
  };
  return runContract({ document, target: new URL('http://target.example'), apiKey: KEY, send });
}

/** The findings when reads of a resource have this response. */
async function findingsFor(response: () => Response): Promise<readonly Finding[]> {
  const { findings } = await run(({ pathname }) => (pathname.startsWith('/thing/') ? response() : undefined));
  // Another test covers unverified findings.
  return findings.filter(({ verdict }) => verdict !== 'unverified');
}

describe('a run', () => {
  test.each([
    ['404', 'violation'],
    ['4XX', 'violation'],
    ['default', 'violation'],
    ['401', 'discovered'],
  ])('judges success for an unknown identifier where the document describes %s: %s', async (described, verdict) => {
    const responses = { 200: { description: 'Found.' }, [described]: { description: 'Refused.' } };
    const report = await runContract({
      document: {
        openapi: '3.1.0',
        info: { title: 'A', version: '1' },
        paths: {
          '/notes/{id}': {
            get: {
              operationId: 'getNote',
              parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' }, example: 'n1' }],
              responses,
            },
          },
        },
      },
      target: new URL('http://target.example'),
      send: async () => new Response(null, { status: 200 }),
    });
    expect(report.findings.map((finding) => [finding.check, finding.verdict])).toContainEqual(['identifier-unknown', verdict]);
  });

  test('has no findings on conforming responses, and takes identifiers from them', async () => {
    const report = await run();
    expect(report.findings).toEqual([]);
    // The key x3 does not match the parameter's pattern.
    expect(calls).toEqual(['GET /thing', 'GET /thing/t1', 'GET /thing/t2']);
    expect(report.coverage.map(({ operation, verdict, reason }) => [operation, verdict, reason])).toEqual([
      ['getThing', 'passed', ''],
      ['listThings', 'passed', ''],
      ['getOther', 'unverified', 'no response has a value for code'],
      ['buyThing', 'unverified', 'costs money, and this run is read-only'],
    ]);
  });

  test('never counts a failure as a pass', async () => {
    const report = await run(({ pathname }) =>
      pathname.startsWith('/thing/') ? Response.json({ status: 'error', message: 'none' }, { status: 404 }) : undefined,
    );
    expect(report.findings).toEqual([]);
    expect(report.coverage[0]).toMatchObject({
      operation: 'getThing',
      verdict: 'unverified',
      statuses: [{ status: '200' }, { status: '401' }, { status: '404', times: 3 }],
      reason: 'it responded only with 404',
    });
  });

  test('retries once after a 429', async () => {
    let asked = 0;
    const report = await run(({ pathname }) =>
      pathname === '/thing' && ++asked === 1 ? new Response(null, { status: 429, headers: { 'retry-after': '0' } }) : undefined,
    );
    expect(asked).toBe(2);
    expect(report.coverage[1]).toMatchObject({
      verdict: 'passed',
      statuses: [{ status: '200', times: 1 }, { status: '401' }, { status: '404' }],
    });
  });

  test('continues after a request without a response', async () => {
    const report = await run(({ pathname }) => {
      if (pathname === '/thing/t1') throw new Error('fetch failed', { cause: new Error('socket hang up') });
      return undefined;
    });
    expect(report.coverage[0]).toMatchObject({ operation: 'getThing', verified: true });
  });

  test('stops when no service listens at the target', async () => {
    await expect(
      run(() => {
        throw new Error('fetch failed', { cause: new Error('connect ECONNREFUSED') });
      }),
    ).rejects.toThrow(new TargetError('http://target.example does not respond: connect ECONNREFUSED'));
  });
});

describe('verdicts', () => {
  test('a contradiction of a shown fact is a violation', async () => {
    expect(await findingsFor(() => success({ size: '1', guess: 'g' }))).toMatchObject([
      {
        check: 'property-type',
        at: '/components/schemas/Thing/properties/data/properties/size/type',
        verdict: 'violation',
        message: '/data/size must be an integer',
        expected: 'must be an integer',
        observed: '"1"',
        touches: [{ operation: 'getThing', status: 200, times: 2 }],
        samples: [{ pointer: '/data/size' }],
        client: expect.stringContaining("Type Thing['size']."),
        curl: `curl -i -X GET -H 'accept: application/json' -H "X-Key: $CONTRACT_API_KEY" 'http://target.example/thing/t1'`,
        proposals: [],
      },
    ]);
  });

  test.each([
    [{ size: 1, guess: 1 }, 'property-type', { kind: 'allow-type', type: 'integer' }],
    [{ size: 1, guess: null }, 'property-null', { kind: 'allow-type', type: 'null' }],
    [{ size: 1 }, 'property-required', { kind: 'remove-item', value: 'guess' }],
  ])('a contradiction of a fact that is not shown is learned: %j', async (data, check, proposal) => {
    expect(await findingsFor(() => success(data))).toMatchObject([
      { check, verdict: 'learned', samples: [{ pointer: '/data/guess' }], proposals: [proposal] },
    ]);
  });

  test('the parts of a response inherit that it is not shown', async () => {
    const found = await findingsFor(() => Response.json({ status: 'error', message: 1 }, { status: 404 }));
    expect(found).toMatchObject([
      { check: 'property-type', touches: [{ status: 404 }], samples: [{ pointer: '/message' }], verdict: 'learned' },
    ]);
  });

  test('an undescribed property is discovered', async () => {
    expect(await findingsFor(() => success({ size: 1, guess: 'g', more: { token: 't' } }))).toMatchObject([
      { check: 'property-described', samples: [{ pointer: '/data/more' }], verdict: 'discovered', observed: 'an object {token: string}' },
    ]);
  });

  test('an unlisted value is discovered', async () => {
    expect(await findingsFor(() => success({ size: 1, guess: 'g', kind: 'B' }))).toMatchObject([
      { check: 'value-seen', samples: [{ pointer: '/data/kind' }], verdict: 'discovered', observed: '"B"', expected: 'A' },
    ]);
    expect(await findingsFor(() => success({ size: 1, guess: 'g', kind: 'A' }))).toEqual([]);
  });

  test('an undescribed status is discovered, and a failure is a violation', async () => {
    expect(await findingsFor(() => Response.json({ status: 'x', message: 'y' }, { status: 418 }))).toMatchObject([
      { check: 'status-documented', verdict: 'discovered', expected: '200, 401, 404' },
    ]);
    expect(await findingsFor(() => new Response('<html>', { status: 502 }))).toMatchObject([
      { check: 'server-error', verdict: 'violation' },
    ]);
  });

  test('another content type is discovered, another body a violation', async () => {
    const data = { size: 1, guess: 'g' };
    expect(await findingsFor(() => success(data, { headers: { 'content-type': 'text/json' } }))).toMatchObject([
      { check: 'content-type-documented', verdict: 'discovered', observed: 'text/json' },
    ]);
    expect(await findingsFor(() => new Response('<html>', { headers: { 'content-type': 'text/html' } }))).toMatchObject([
      { check: 'body-readable', verdict: 'violation' },
      { check: 'content-type-documented', verdict: 'discovered' },
    ]);
    expect(
      await findingsFor(() => new Response(new Uint8Array([0xff]), { headers: { 'content-type': 'application/json' } })),
    ).toMatchObject([{ check: 'body-readable', verdict: 'violation', observed: '1 bytes that are not UTF-8' }]);
  });

  test('an error with the status of a success has its own finding', async () => {
    expect(await findingsFor(() => Response.json({ status: 'error', message: 'none' }))).toMatchObject([
      { check: 'status-agrees', verdict: 'violation', message: 'the HTTP status says success, but the body says the opposite' },
    ]);
  });

  test('a redirect is not followed', async () => {
    const found = await findingsFor(() => new Response(null, { status: 302, headers: { location: 'http://other.example/' } }));
    expect(found.map(({ check, touches }) => [check, touches[0]?.status])).toEqual([['status-documented', 302]]);
  });
});

describe('secrets', () => {
  test('are not in the report, wherever the response has them', async () => {
    const report = await run(({ pathname }) =>
      pathname.startsWith('/thing/') ? success({ size: SECRET, guess: KEY.length, kind: KEY, password: SECRET, [SECRET]: 1 }) : undefined,
    );
    const text = JSON.stringify(report);
    expect(report.findings.length).toBeGreaterThan(2);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(KEY);
    expect(report.findings.find(({ check }) => check === 'property-type')?.samples[0]?.observed).toBe('"***"');
  });

  test('of the wrong type are not in the report either', async () => {
    const found = await findingsFor(() => success({ size: 1, guess: 'g', password: { inside: SECRET } }));
    expect(found).toMatchObject([{ check: 'property-type', samples: [{ pointer: '/data/password', observed: '***' }] }]);
    expect(JSON.stringify(found)).not.toContain(SECRET);
  });
});
