/** The steps of a request, each separately: one attempt, its classification, the decision to retry, and the result of the call. */
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';

import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';

import { freePort } from '../../../.config/free-ports.ts';
import type { Middleware } from '../src/index.ts';
import { connect } from '../src/runtime/connection.ts';
import { classifyEnvelope } from '../src/runtime/envelope.ts';
import { AbortedError, ConnectionError, ResponseError, ServerError, TimeoutError } from '../src/runtime/errors.ts';
import { backoffMs, retryAfterMs, retryDelayMs } from '../src/runtime/retry.ts';
import { sendOnce } from '../src/runtime/send.ts';
import type { Failure, Received, Verdict } from '../src/runtime/wire.ts';
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
    const attempt = await sendOnce(connection, request(url), 60_000);
    expect(attempt).toMatchObject({ status: 418, text: 'short and stout' });
  });

  test('does not follow a redirect', async () => {
    const url = await serve((_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
    expect(await sendOnce(connection, request(url), 60_000)).toMatchObject({ status: 302 });
  });

  test('reports a timeout if no response comes in time', async () => {
    expect(await sendOnce(connection, request(await serve(() => {})), 200)).toMatchObject({
      Class: TimeoutError,
      message: 'no complete response within 200 ms',
      notCarriedOut: undefined,
      transient: true,
    });
  });

  test.each<[string, RequestListener, Partial<Failure>]>([
    [
      'a connection that is reset, with the innermost cause',
      (incoming) => void incoming.socket.resetAndDestroy(),
      { Class: ConnectionError, message: 'no response: Error: read ECONNRESET' },
    ],
    [
      'a response that breaks off',
      (incoming, response) => void response.writeHead(200, { 'content-length': '9' }).write('{', () => incoming.socket.resetAndDestroy()),
      {
        Class: ResponseError,
        message: 'the response broke off: Error: read ECONNRESET',
        details: { status: 200, headers: expect.anything(), reason: 'cut' },
      },
    ],
  ])('reports %s, which may have been carried out', async (_, listener, expected) => {
    const failure = await sendOnce(connection, request(await serve(listener)), 60_000);
    expect(failure).toMatchObject({ ...expected, notCarriedOut: undefined, transient: true });
  });

  test('reports that a request did not leave if no server listens', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    expect(await sendOnce(connection, request(url), 60_000)).toMatchObject({ Class: ConnectionError, notCarriedOut: 'attempt' });
  });

  const failureOf = (message: string, facts: object) => Object.assign(new Error(message), facts);
  const refused = failureOf('connect ECONNREFUSED', { code: 'ECONNREFUSED', syscall: 'connect' });

  test.each<[string, Error, 'attempt' | undefined]>([
    ['no route, in Node', failureOf('connect EHOSTUNREACH', { code: 'EHOSTUNREACH', syscall: 'connect' }), 'attempt'],
    ['no route, in Bun', failureOf('EHOSTUNREACH: Unable to connect. Is the computer able', { code: 'EHOSTUNREACH' }), 'attempt'],
    ['a permission that Deno does not have', new Error('Requires net access to "a.test:80"'), 'attempt'],
    ['a port that `fetch` refuses', new Error('bad port'), 'attempt'],
    ['several addresses, none of which listens', new AggregateError([refused, refused]), 'attempt'],
    ['an address that does not listen, and a connection that broke', new AggregateError([refused, failureOf('read', {})]), undefined],
    [
      'a route that is lost while the response is awaited',
      failureOf('read EHOSTUNREACH', { code: 'EHOSTUNREACH', syscall: 'read' }),
      undefined,
    ],
    ['an alert about the certificate of the client', failureOf('x', { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }), undefined],
  ])('says what %s proves', async (_, cause, notCarriedOut) => {
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }));
    const failed = await sendOnce(connect({ baseUrl: 'http://a.test', fetch }, API), request('http://a.test/'), 60_000);
    expect(failed).toMatchObject({ Class: ConnectionError, notCarriedOut });
  });

  test('a refused connection proves nothing after a middleware has sent the request before', async () => {
    const causes = [failureOf('read ECONNRESET', { code: 'ECONNRESET', syscall: 'read' }), refused, refused];
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: causes.shift() }));
    const repeating: Middleware = (next) => async (url, init) => {
      try {
        return await next(url, init);
      } catch {
        return next(url, init);
      }
    };
    const connected = connect({ baseUrl: 'http://a.test', fetch, middleware: [repeating] }, API);
    expect(await sendOnce(connected, request('http://a.test/'), 60_000)).toMatchObject({ notCarriedOut: undefined });
  });

  test('a refused connection proves that nothing was sent, whatever other calls send at the same time', async () => {
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: refused }));
    const passing: Middleware = (next) => (url, init) => next(url, init);
    const connected = connect({ baseUrl: 'http://a.test', fetch, middleware: [passing] }, API);
    const attempts = await Promise.all([1, 2, 3].map(() => sendOnce(connected, request('http://a.test/'), 60_000)));
    expect(attempts).toMatchObject([1, 2, 3].map(() => ({ notCarriedOut: 'attempt' })));
  });

  test('reports an abort, and whether the request had been sent', async () => {
    const url = await serve(() => {});
    const before = await sendOnce(connection, request(url), 60_000, AbortSignal.abort());
    expect(before).toMatchObject({ Class: AbortedError, notCarriedOut: 'attempt', transient: false });
    const controller = new AbortController();
    const during = sendOnce(connection, request(url), 60_000, controller.signal);
    controller.abort(new Error('enough'));
    expect(await during).toMatchObject({
      Class: AbortedError,
      message: 'the signal aborted the call',
      notCarriedOut: undefined,
      transient: false,
      cause: { message: 'enough' },
    });
  });
});

const received = (status: number, text: string, headers: Record<string, string> = {}): Received => ({
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

const classify = (response: Received): Verdict => classifyEnvelope(response, { operation: { id: 'createVm', effect: 'purchase' } });

describe('classify', () => {
  test('accepts an envelope with the status "success" and an HTTP status below 300', () => {
    const text = JSON.stringify({ status: 'success', requestID: null, message: '', data: [] });
    expect(classify(received(200, text))).toMatchObject({ data: [] });
    expect(classify(received(500, text))).toMatchObject({ Class: ServerError });
  });

  test.each<[string, Received, Partial<Failure>, string]>([
    ['a refusal of the input', envelope(422, 'validation_failed'), { notCarriedOut: 'request', transient: false }, 'InvalidError'],
    ['a refusal of the key', envelope(401, 'unauthorized'), { notCarriedOut: 'attempt', transient: false }, 'AuthenticationError'],
    ['a suspended account', envelope(403, 'account_suspended'), { notCarriedOut: 'attempt', transient: false }, 'PermissionError'],
    ['a limit', envelope(429, 'rate_limited'), { notCarriedOut: 'attempt', transient: true }, 'RateLimitError'],
    ['a service that is unavailable', envelope(503, 'unavailable'), { notCarriedOut: undefined, transient: true }, 'ServerError'],
    ['a service that failed', envelope(500, 'internal_error'), { notCarriedOut: undefined, transient: true }, 'ServerError'],
    [
      'a first request in progress',
      envelope(409, 'idempotency_key_in_progress'),
      { notCarriedOut: undefined, transient: true },
      'ConflictError',
    ],
    [
      'a key that was used before',
      envelope(409, 'idempotency_key_reused'),
      { notCarriedOut: 'attempt', transient: false },
      'ConflictError',
    ],
    ['an unknown status', envelope(418), { notCarriedOut: 'request' }, 'ResellerError'],
    ['a page', received(404, '<html>'), { notCarriedOut: undefined, transient: false }, 'ResponseError'],
    ['a page with status 503', received(503, '<html>'), { notCarriedOut: undefined, transient: true }, 'ResponseError'],
    ['a redirect', received(302, ''), { notCarriedOut: undefined }, 'ResponseError'],
  ])('%s', (_, response, expected, name) => {
    const verdict = classify(response);
    expect({ notCarriedOut: undefined, ...verdict }).toMatchObject(expected);
    expect('Class' in verdict && verdict.Class.name).toBe(name);
  });

  test.each<[number, unknown, object]>([
    [412, { net: 12.38, max_price: 10 }, { price: 12.38, maxPrice: 10 }],
    [412, { net: 0, max_price: 0 }, { price: 0, maxPrice: 0 }],
    [412, { net: '12.38' }, {}],
    [412, null, {}],
    [409, { net: 12.38, max_price: 10 }, {}],
  ])('a refusal with status %i and the data %j has the prices %j', (status, data, prices) => {
    const text = JSON.stringify({ status: 'error', type: 'some_type', requestID: null, message: 'No.', data });
    const { price, maxPrice } = Object(Object(classify(received(status, text))).details);
    expect({ price, maxPrice }).toEqual({ price: undefined, maxPrice: undefined, ...prices });
  });

  test.each<[string, Received, string, object]>([
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
  ])('describes %s', (_, response, message, details) => {
    expect(classify(response)).toMatchObject({ message, details });
  });

  test('keeps the broken rules that the service names, and omits other values in their list', () => {
    const withFields = (fields: unknown) =>
      received(422, JSON.stringify({ status: 'error', requestID: null, message: '', data: { fields } }));
    const fieldsOf = (fields: unknown) => {
      const verdict = classify(withFields(fields));
      return 'details' in verdict ? verdict.details.fields : undefined;
    };
    const field = { field: 'cores', rule: 'max', message: 'is at most 8' };
    expect(fieldsOf([field, null, 'text', [1], { ...field, field: 5, more: 1 }])).toEqual([field, { ...field, field: '5' }]);
    expect(fieldsOf([])).toEqual([]);
    for (const other of [undefined, null, 'text', { 0: field }]) expect(fieldsOf(other)).toBeUndefined();
  });

  test.each(['status', 'requestID', 'message', 'data'])('does not accept JSON without %s as an envelope of the API', (name) => {
    const whole = { status: 'error', requestID: 'a', message: 'No.', data: null };
    expect(classify(received(404, JSON.stringify(whole)))).toMatchObject({ notCarriedOut: 'request' });
    const { [name]: _, ...rest }: Record<string, unknown> = whole;
    expect(classify(received(404, JSON.stringify(rest)))).toMatchObject({ Class: ResponseError });
    if (name !== 'data') expect(classify(received(404, JSON.stringify({ ...whole, [name]: 5 })))).toMatchObject({ Class: ResponseError });
  });

  test.each([
    ['seconds', '7', 7_000],
    ['a date', new Date(Date.now() + 3_600_000).toUTCString(), 3_600_000],
    ['a date that has passed', new Date(0).toUTCString(), undefined],
    ['words', 'soon', undefined],
  ])('reads Retry-After in %s', (_, value, expected) => {
    const delay = retryAfterMs(new Headers({ 'retry-after': value }));
    if (expected === undefined) expect(delay).toBeUndefined();
    else expect(Math.abs((delay ?? 0) - expected)).toBeLessThan(5_000);
  });

  test('never concludes from anything but an envelope of the API that a request was not carried out', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ status: fc.string(), data: fc.jsonValue() }).map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), text, (status, body) => {
        const verdict = classify(received(status, body));
        expect(verdict).toMatchObject({ Class: ResponseError });
        expect(verdict).not.toHaveProperty('notCarriedOut');
      }),
    );
  });
});

describe('retryDelayMs', () => {
  const failure = { transient: true, details: {} };
  const state = { isRepeatable: false, mayBeCarriedOut: false, retries: 0, maxRetries: 2, remainingMs: Infinity };

  test('does not retry a request that may have been carried out, unless it is repeatable', () => {
    expect(retryDelayMs(failure, { ...state, mayBeCarriedOut: true })).toBeUndefined();
    expect(retryDelayMs(failure, { ...state, mayBeCarriedOut: true, isRepeatable: true })).toBeGreaterThan(0);
  });

  test('retries a request that was certainly not carried out', () => {
    expect(retryDelayMs(failure, state)).toBeGreaterThan(0);
  });

  test('retries after a page that follows a lost response, for any status', () => {
    const page = { transient: false, details: { reason: 'html' } } as const;
    expect(retryDelayMs(page, { ...state, isRepeatable: true })).toBeUndefined();
    expect(retryDelayMs(page, { ...state, isRepeatable: true, mayBeCarriedOut: true })).toBeGreaterThan(0);
  });

  test('does not retry after a final refusal or after the last retry', () => {
    expect(retryDelayMs({ ...failure, transient: false }, state)).toBeUndefined();
    expect(retryDelayMs(failure, { ...state, retries: 2 })).toBeUndefined();
    expect(retryDelayMs(failure, { ...state, maxRetries: 0 })).toBeUndefined();
  });

  test('takes the delay from Retry-After, up to a minute', () => {
    const asking = (seconds: string) => ({ ...failure, details: { headers: new Headers({ 'retry-after': seconds }) } });
    expect(retryDelayMs(asking('60'), state)).toBe(60_000);
    expect(retryDelayMs(asking('61'), state)).toBeUndefined();
  });

  test('does not retry if the deadline would pass meanwhile', () => {
    const asking = { ...failure, details: { headers: new Headers({ 'retry-after': '2' }) } };
    expect(retryDelayMs(asking, { ...state, remainingMs: 2_001 })).toBe(2_000);
    expect(retryDelayMs(asking, { ...state, remainingMs: 2_000 })).toBeUndefined();
  });

  test('doubles the backoff up to its limit, with jitter', () => {
    for (const [retries, least] of [250, 500, 1_000, 2_000, 4_000, 4_000].entries()) {
      const delay = backoffMs(retries);
      expect(delay).toBeGreaterThanOrEqual(least);
      expect(delay).toBeLessThan(2 * least);
    }
  });
});
