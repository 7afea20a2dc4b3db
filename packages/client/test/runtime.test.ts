/** The steps of a request, each separately: one attempt, its classification, the decision to retry, and the result of the call. */
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';

import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';

import { classifyNoResponse } from '../src/runtime/classify.ts';
import type { Failure, Verdict } from '../src/runtime/classify.ts';
import { connect } from '../src/runtime/connection.ts';
import { classifyEnvelope } from '../src/runtime/envelope.ts';
import { backoffMs, retryDelayMs } from '../src/runtime/retry.ts';
import { sendOnce } from '../src/runtime/send.ts';
import type { Attempt } from '../src/runtime/send.ts';
import { API } from './scripted-service.ts';

describe('sendOnce', () => {
  const connection = connect({ baseUrl: 'http://a.test' }, API);
  const request = (url: string) => ({ url, method: 'GET', headers: new Headers(), body: null });

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  }

  test('returns a whole response, whatever its status', async () => {
    const url = await serve((_, response) => void response.writeHead(418, { 'x-a': 'b' }).end('short and stout'));
    const attempt = await sendOnce(connection, request(url), 10_000);
    expect(attempt).toMatchObject({ kind: 'received', status: 418, text: 'short and stout' });
  });

  test('does not follow a redirect', async () => {
    const url = await serve((_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
    expect(await sendOnce(connection, request(url), 10_000)).toMatchObject({ kind: 'received', status: 302 });
  });

  test('reports a timeout if no response comes in time', async () => {
    expect(await sendOnce(connection, request(await serve(() => {})), 200)).toMatchObject({ kind: 'timeout', left: true });
  });

  test.each<[string, RequestListener, Partial<Attempt>]>([
    ['a connection that is reset', (incoming) => void incoming.socket.resetAndDestroy(), { kind: 'disconnected', left: true }],
    [
      'a response that breaks off',
      (incoming, response) => void response.writeHead(200, { 'content-length': '9' }).write('{', () => incoming.socket.resetAndDestroy()),
      { kind: 'disconnected', left: true, status: 200 },
    ],
  ])('reports %s', async (_, listener, expected) => {
    expect(await sendOnce(connection, request(await serve(listener)), 60_000)).toMatchObject(expected);
  });

  test('reports that a request did not leave if no server listens', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    await new Promise((resolve) => server.close(resolve));
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
    expect(await sendOnce(connection, request(url), 10_000)).toMatchObject({ kind: 'disconnected', left: false });
  });

  test('reports an abort, and whether the request had been sent', async () => {
    const url = await serve(() => {});
    const before = await sendOnce(connection, request(url), 10_000, AbortSignal.abort());
    expect(before).toMatchObject({ kind: 'aborted', left: false });
    const controller = new AbortController();
    const during = sendOnce(connection, request(url), 10_000, controller.signal);
    controller.abort(new Error('enough'));
    expect(await during).toMatchObject({ kind: 'aborted', left: true, cause: { message: 'enough' } });
  });
});

const received = (status: number, text: string, headers: Record<string, string> = {}): Attempt => ({
  kind: 'received',
  status,
  statusText: '',
  headers: new Headers(headers),
  text,
});
const envelope = (status: number, type?: string, headers?: Record<string, string>) =>
  received(
    status,
    JSON.stringify({ status: 'error', ...(type !== undefined && { type }), requestID: null, message: 'No.', data: null }),
    headers,
  );

const classify = (attempt: Attempt, timeoutMs: number): Verdict =>
  attempt.kind === 'received' ? classifyEnvelope(attempt, {}) : classifyNoResponse(attempt, timeoutMs);

describe('classify', () => {
  test('accepts an envelope with the status "success" and an HTTP status below 300', () => {
    const text = JSON.stringify({ status: 'success', requestID: null, message: '', data: [] });
    expect(classify(received(200, text), 1)).toMatchObject({ kind: 'success', data: [] });
    expect(classify(received(500, text), 1)).toMatchObject({ kind: 'failure' });
  });

  test.each<[string, Attempt, Partial<Failure>, string]>([
    [
      'a refusal of the input',
      envelope(422, 'validation_failed'),
      { source: 'api', carriedOut: 'no', settles: true, transient: false },
      'InvalidError',
    ],
    ['a refusal of the key', envelope(401, 'unauthorized'), { carriedOut: 'no', settles: false, transient: false }, 'AuthenticationError'],
    ['a suspended account', envelope(403, 'account_suspended'), { carriedOut: 'no', settles: false, transient: false }, 'PermissionError'],
    ['a limit', envelope(429, 'rate_limited'), { carriedOut: 'no', settles: false, transient: true }, 'RateLimitError'],
    [
      'a service that is unavailable',
      envelope(503, 'unavailable'),
      { carriedOut: 'unknown', settles: false, transient: true },
      'ServerError',
    ],
    ['a service that failed', envelope(500, 'internal_error'), { carriedOut: 'unknown', settles: false, transient: true }, 'ServerError'],
    [
      'a first request in progress',
      envelope(409, 'idempotency_key_in_progress'),
      { carriedOut: 'unknown', settles: false, transient: true },
      'ConflictError',
    ],
    [
      'a key that was used before',
      envelope(409, 'idempotency_key_reused'),
      { carriedOut: 'no', settles: false, transient: false },
      'ConflictError',
    ],
    ['an unknown status', envelope(418), { carriedOut: 'no', settles: true }, 'ResellerError'],
    ['a page', received(404, '<html>'), { source: 'foreign', carriedOut: 'unknown', settles: false, transient: false }, 'ResponseError'],
    ['a page with status 503', received(503, '<html>'), { carriedOut: 'unknown', transient: true }, 'ResponseError'],
    ['a redirect', received(302, ''), { carriedOut: 'unknown', settles: false }, 'ResponseError'],
    [
      'a request that did not leave',
      { kind: 'disconnected', left: false, cause: new Error('refused') },
      { carriedOut: 'no', transient: true },
      'ConnectionError',
    ],
    ['a timeout', { kind: 'timeout', left: true, cause: undefined }, { carriedOut: 'unknown', transient: true }, 'TimeoutError'],
    ['an abort', { kind: 'aborted', left: true, cause: undefined }, { carriedOut: 'unknown', transient: false }, 'AbortedError'],
  ])('%s', (_, attempt, expected, name) => {
    const verdict = classify(attempt, 1_000);
    expect(verdict).toMatchObject({ kind: 'failure', ...expected });
    expect(verdict.kind === 'failure' && verdict.error.Class.name).toBe(name);
  });

  test.each<[string, Attempt, string, object]>([
    ['an abort', { kind: 'aborted', left: true, cause: undefined }, 'the signal aborted the call', {}],
    ['a timeout', { kind: 'timeout', left: true, cause: undefined }, 'no complete response within 1000 ms', {}],
    [
      'a connection that breaks, with the innermost cause',
      { kind: 'disconnected', left: true, cause: new TypeError('fetch failed', { cause: new Error('read ECONNRESET') }) },
      'no response: Error: read ECONNRESET',
      {},
    ],
    [
      'a body that breaks off',
      { kind: 'disconnected', left: true, status: 200, cause: new Error('closed') },
      'the response broke off: Error: closed',
      { status: 200, reason: 'cut' },
    ],
    ['a page', received(502, ' \n<html>'), 'the response is not from the API: status 502, html. Is the baseUrl right?', { reason: 'html' }],
    [
      'words with <',
      received(502, 'a < b'),
      'the response is not from the API: status 502, not-json. Is the baseUrl right?',
      { reason: 'not-json' },
    ],
    [
      'words with {',
      received(502, 'a {'),
      'the response is not from the API: status 502, not-json. Is the baseUrl right?',
      { reason: 'not-json' },
    ],
    [
      'half an object',
      received(200, '\n {"a"'),
      'the response is not from the API: status 200, cut. Is the baseUrl right?',
      { reason: 'cut' },
    ],
    [
      'a redirect',
      received(302, '', { location: 'https://a.test/login' }),
      'the response is not from the API: status 302, redirect to https://a.test/login. Is the baseUrl right?',
      { reason: 'redirect', status: 302 },
    ],
    // Browsers hide a redirect: its status is 0 and it has no headers.
    [
      'a hidden redirect',
      received(0, ''),
      'the response is not from the API: status 0, redirect. Is the baseUrl right?',
      { reason: 'redirect' },
    ],
    [
      'a status below 200',
      received(199, '{}'),
      'the response is not from the API: status 199, redirect. Is the baseUrl right?',
      { status: 199 },
    ],
    [
      'a page with an address',
      received(404, '<', { location: '/' }),
      'the response is not from the API: status 404, html. Is the baseUrl right?',
      {},
    ],
    ['an envelope with a message', envelope(418), 'No.', { status: 418 }],
    [
      'an envelope without words',
      received(418, '{"status":"error","requestID":null,"message":"","data":null}'),
      'the service responded with status 418',
      { requestID: null },
    ],
  ])('describes %s', (_, attempt, message, details) => {
    const verdict = classify(attempt, 1_000);
    expect(verdict).toMatchObject({ error: { message, details } });
  });

  test('keeps the broken rules that the service names, and omits other values in their list', () => {
    const withFields = (fields: unknown) =>
      received(422, JSON.stringify({ status: 'error', requestID: null, message: '', data: { fields } }));
    const fieldsOf = (fields: unknown) => {
      const verdict = classify(withFields(fields), 1);
      return verdict.kind === 'failure' ? verdict.error.details.fields : undefined;
    };
    const field = { field: 'cores', rule: 'max', message: 'is at most 8' };
    expect(fieldsOf([field, null, 'text', [1], { ...field, field: 5, more: 1 }])).toEqual([field, { ...field, field: '5' }]);
    expect(fieldsOf([])).toEqual([]);
    for (const other of [undefined, null, 'text', { 0: field }]) expect(fieldsOf(other)).toBeUndefined();
  });

  test.each(['status', 'requestID', 'message', 'data'])('does not accept JSON without %s as an envelope of the API', (name) => {
    const whole = { status: 'error', requestID: 'a', message: 'No.', data: null };
    expect(classify(received(404, JSON.stringify(whole)), 1)).toMatchObject({ source: 'api' });
    const { [name]: _, ...rest }: Record<string, unknown> = whole;
    expect(classify(received(404, JSON.stringify(rest)), 1)).toMatchObject({ source: 'foreign' });
    if (name !== 'data') expect(classify(received(404, JSON.stringify({ ...whole, [name]: 5 })), 1)).toMatchObject({ source: 'foreign' });
  });

  test.each([
    ['seconds', '7', 7_000],
    ['a date', new Date(Date.now() + 3_600_000).toUTCString(), 3_600_000],
    ['a date that has passed', new Date(0).toUTCString(), undefined],
    ['words', 'soon', undefined],
  ])('reads Retry-After in %s, on a refusal and on a page', (_, value, expected) => {
    for (const attempt of [envelope(429, 'rate_limited', { 'retry-after': value }), received(429, '<html>', { 'retry-after': value })]) {
      const verdict = classify(attempt, 1);
      const delay = verdict.kind === 'failure' ? verdict.retryAfterMs : undefined;
      if (expected === undefined) expect(delay).toBeUndefined();
      else expect(Math.abs((delay ?? 0) - expected)).toBeLessThan(5_000);
    }
  });

  test('never concludes from anything but an envelope of the API that a request was not carried out', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ status: fc.string(), data: fc.jsonValue() }).map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), text, (status, body) => {
        const verdict = classify(received(status, body), 1);
        expect(verdict).toMatchObject({ kind: 'failure', carriedOut: 'unknown', settles: false });
      }),
    );
  });
});

const failure = (more: Partial<Failure>): Failure => {
  const verdict = classify(envelope(503), 1);
  if (verdict.kind !== 'failure') throw new Error('An error is not a success.');
  return { ...verdict, ...more };
};

describe('retryDelayMs', () => {
  const state = { isRepeatable: false, mayBeCarriedOut: false, retries: 0, maxRetries: 2 };

  test('does not retry a request that may have been carried out, unless it is repeatable', () => {
    const lost = failure({ carriedOut: 'unknown' });
    expect(retryDelayMs(lost, { ...state, mayBeCarriedOut: true })).toBeUndefined();
    expect(retryDelayMs(lost, { ...state, mayBeCarriedOut: true, isRepeatable: true })).toBeGreaterThan(0);
  });

  test('retries a request that was certainly not carried out', () => {
    expect(retryDelayMs(failure({ carriedOut: 'no' }), state)).toBeGreaterThan(0);
  });

  test('retries after a page that follows a lost response, for any status', () => {
    const page = failure({ source: 'foreign', transient: false });
    expect(retryDelayMs(page, { ...state, isRepeatable: true })).toBeUndefined();
    expect(retryDelayMs(page, { ...state, isRepeatable: true, mayBeCarriedOut: true })).toBeGreaterThan(0);
  });

  test('does not retry after a final refusal or after the last retry', () => {
    expect(retryDelayMs(failure({ transient: false }), state)).toBeUndefined();
    expect(retryDelayMs(failure({}), { ...state, retries: 2 })).toBeUndefined();
    expect(retryDelayMs(failure({}), { ...state, maxRetries: 0 })).toBeUndefined();
  });

  test('takes the delay from Retry-After, up to a minute', () => {
    expect(retryDelayMs(failure({ retryAfterMs: 60_000 }), state)).toBe(60_000);
    expect(retryDelayMs(failure({ retryAfterMs: 60_001 }), state)).toBeUndefined();
  });

  test('doubles the backoff up to its limit, with jitter', () => {
    for (const [retries, least] of [250, 500, 1_000, 2_000, 4_000, 4_000].entries()) {
      const delay = backoffMs(retries);
      expect(delay).toBeGreaterThanOrEqual(least);
      expect(delay).toBeLessThan(2 * least);
    }
  });
});
