/** The limits of times: the timeout of an attempt, the wait before a retry, and the time for which a server keeps a key. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { createReseller } from '../src/index.ts';
import type { ClientEvent, Fetch } from '../src/index.ts';
import { createClient, listDomains } from '../src/operations.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { connect } from '../src/runtime/connection.ts';
import { AbortedError, TimeoutError } from '../src/runtime/errors.ts';
import { sendOnce } from '../src/runtime/send.ts';
import { API, envelope, refusal, reset, scripted, silence, VM } from './scripted-service.ts';
import type { Reply } from './scripted-service.ts';

function useFakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
}

/**
 * Watches the fake timers of one delay. Other modules in the process of the tests have timers too.
 *
 * @returns How many of them were set and not cleared. At least one must have been set.
 */
function watchTimers(delayMs: number): () => number {
  const set = vi.spyOn(globalThis, 'setTimeout');
  const clear = vi.spyOn(globalThis, 'clearTimeout');
  return () => {
    const timers = set.mock.results.filter((_, index) => set.mock.calls[index]?.[1] === delayMs).map(({ value }) => value);
    expect(timers).not.toEqual([]);
    const cleared = new Set<unknown>(clear.mock.calls.map(([timer]) => timer));
    return timers.filter((timer) => !cleared.has(timer)).length;
  };
}

describe('the timeout of an attempt', () => {
  const request = { url: 'http://a.test/', method: 'GET', headers: new Headers(), body: null };
  const connectionOf = (fetch: Fetch) => connect({ baseUrl: 'http://a.test', fetch }, API);
  const silent = (_: string, init: RequestInit) => Promise.resolve(silence({ init }));
  /** The headers arrive at once, and the body never ends. */
  const endless = async (_: string, { signal }: RequestInit) =>
    new Response(
      new ReadableStream({
        start: (controller) => signal?.addEventListener('abort', () => controller.error(signal.reason)),
      }),
      { status: 202 },
    );

  test.each([
    ['no response comes', silent, 1, undefined],
    ['no response comes', silent, 30_000, undefined],
    ['the body does not end', endless, 30_000, 202],
    // A timer with a longer delay fires at once.
    ['no response comes', silent, 2 ** 31 - 1, undefined],
  ])('ends an attempt of which %s, and not a millisecond early (%#)', async (_, fetch, timeoutMs, status) => {
    useFakeTimers();
    const timersLeft = watchTimers(timeoutMs);
    const ended = vi.fn<(attempt: unknown) => void>();
    const attempt = sendOnce(connectionOf(fetch), request, timeoutMs).then(ended);
    await vi.advanceTimersByTimeAsync(timeoutMs - 1);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await attempt;
    expect(ended.mock.calls).toMatchObject([[{ Class: TimeoutError, notCarriedOut: undefined, details: { status } }]]);
    expect(timersLeft()).toBe(0);
  });

  test.each([2 ** 31, Infinity])('of %d ms is the longest possible delay of a timer', async (timeoutMs) => {
    useFakeTimers();
    const ended = vi.fn<(attempt: unknown) => void>();
    void sendOnce(connectionOf(silent), request, timeoutMs).then(ended);
    await vi.advanceTimersByTimeAsync(2 ** 31 - 2);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalledOnce();
  });

  test('leaves no timer behind after a response, a failure or an abort', async () => {
    useFakeTimers();
    const timersLeft = watchTimers(1_000);
    const signal = AbortSignal.abort();
    await sendOnce(
      connectionOf(async () => new Response('')),
      request,
      1_000,
    );
    await sendOnce(
      connectionOf(async () => Promise.reject(new Error('broken'))),
      request,
      1_000,
    );
    await sendOnce(connectionOf(silent), request, 1_000, signal);
    expect(timersLeft()).toBe(0);
  });

  test('a caller that aborts while the timeout runs gets the abort with its reason', async () => {
    const controller = new AbortController();
    const attempt = sendOnce(connectionOf(silent), request, 60_000, controller.signal);
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await attempt).toMatchObject({ Class: AbortedError, notCarriedOut: undefined, cause: reason });
  });

  test('is 30 seconds unless the client or the call says otherwise, and a message names it', async () => {
    const timeouts: string[] = [];
    useFakeTimers();
    const fetch = silent;
    const clock = { now: Date.now, sleep: async () => {} };
    const connection = { apiKey: 'key', baseUrl: 'http://a.test', fetch, clock, maxRetries: 0 };
    for (const [config, options, after] of [
      [{}, {}, 30_000],
      [{ timeoutMs: 700 }, {}, 700],
      [{ timeoutMs: 700 }, { timeoutMs: 50 }, 50],
    ] as const) {
      const ended = createReseller({ ...connection, ...config })
        .vm.hosts(options)
        .then(
          () => '',
          (error: Error) => `${error.name}: ${error.message}`,
        );
      await vi.advanceTimersByTimeAsync(after - 1);
      await vi.advanceTimersByTimeAsync(1);
      timeouts.push(await ended);
    }
    expect(timeouts).toEqual(
      [30_000, 700, 50].map((milliseconds) => `TimeoutError: listVmHosts: no complete response within ${milliseconds} ms`),
    );
  });
});

describe('the wait before a retry', () => {
  /** The delays of a purchase whose first response is this one. */
  async function delaysAfter(reply: Reply, more: { readonly maxRetries?: number } = {}): Promise<{ delays: unknown[]; error: unknown }> {
    const delays: unknown[] = [];
    const onEvent = (event: ClientEvent) => void (event.type === 'failure' && delays.push(event.delay));
    const service = scripted({ lifetime: '86400', config: { onEvent } });
    await service.reseller.vm.hosts();
    service.plan(reply, reply, reply, reply, reply, reply, reply);
    const began = service.now();
    const error: unknown = await service.reseller.vm.create(VM, { maxRetries: 1, ...more }).catch((thrown: unknown) => thrown);
    expect(service.now() - began).toBeCloseTo(delays.reduce<number>((sum, delay) => sum + Number(delay ?? 0), 0));
    return { delays, error };
  }

  const after = (status: number, value: string) => refusal(status, 'rate_limited', { 'retry-after': value });

  test.each([
    ['1', 1_000],
    ['7', 7_000],
    [' 7 ', 7_000],
    ['007', 7_000],
    ['60', 60_000],
  ])('is as long as Retry-After: %j says', async (value, expected) => {
    for (const status of [408, 425, 429, 500, 503]) expect((await delaysAfter(after(status, value))).delays).toEqual([expected, undefined]);
    const page = () => new Response('<html>', { status: 503, headers: { 'retry-after': value } });
    expect((await delaysAfter(page)).delays).toEqual([expected, undefined]);
  });

  test.each(['61', '3600', '9999999999'])('does not happen if Retry-After: %j asks for more than a minute', async (value) => {
    const { delays, error } = await delaysAfter(after(429, value));
    expect(delays).toEqual([undefined]);
    expect(error).toMatchObject({ name: 'RateLimitError', attempts: 1, retryAfter: Number(value) });
  });

  test.each(['0', '', 'soon', '-1', '1.5', '0x10', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
    'is the backoff if Retry-After: %j does not name a later time',
    async (value) => {
      const { delays, error } = await delaysAfter(after(429, value));
      expect(delays[0]).toBeGreaterThanOrEqual(250);
      expect(delays[0]).toBeLessThan(500);
      expect(error).not.toHaveProperty('retryAfter');
    },
  );

  test('follows the HTTP date of Retry-After, to the millisecond, up to a minute', async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 22, 12, 0, 0), toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const at = (seconds: number) => after(503, new Date(Date.now() + seconds * 1_000).toUTCString());
    expect((await delaysAfter(at(60))).delays).toEqual([60_000, undefined]);
    expect((await delaysAfter(at(1))).delays).toEqual([1_000, undefined]);
    expect((await delaysAfter(at(61))).delays).toEqual([undefined]);
    expect((await delaysAfter(at(0))).delays[0]).toBeGreaterThanOrEqual(250);
    vi.setSystemTime(Date.now() + 400);
    // The error rounds the seconds up, so that a program that waits for them is not early.
    const { delays, error } = await delaysAfter(after(429, new Date(Date.UTC(2026, 10, 22, 12, 0, 2)).toUTCString()));
    expect([delays, error]).toMatchObject([[1_600, undefined], { retryAfter: 2 }]);
  });

  test('doubles from a quarter of a second to four seconds, and jitter adds less than the delay itself', async () => {
    for (const [random, jitter] of [
      [0, 1],
      [0.5, 1.5],
    ] as const) {
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const { delays } = await delaysAfter(reset, { maxRetries: 6 });
      expect(delays).toEqual([...[250, 500, 1_000, 2_000, 4_000, 4_000].map((delay) => delay * jitter), undefined]);
    }
  });

  test('there are two retries unless the client or the call says otherwise', async () => {
    for (const [config, options, attempts] of [
      [{}, {}, 3],
      [{ maxRetries: 4 }, {}, 5],
      [{ maxRetries: 4 }, { maxRetries: 0 }, 1],
    ] as const) {
      const service = scripted({ config: { ...config, middleware: [() => async () => new Response('', { status: 503 })] } });
      await expect(service.reseller.vm.hosts(options)).rejects.toMatchObject({ name: 'ResponseError', attempts });
    }
  });

  test('ends at once when the caller aborts, and the request is not sent again', async () => {
    const controller = new AbortController();
    let sent = 0;
    const fetch = async () => {
      sent++;
      return new Response('', { status: 503 });
    };
    const client = createClient({ apiKey: 'key', baseUrl: 'http://a.test', fetch });
    const call = listDomains({ client, signal: controller.signal });
    setTimeout(() => controller.abort(new Error('enough')), 20);
    await expect(call).rejects.toMatchObject({ name: 'AbortedError', attempts: 1, cause: { message: 'enough' } });
    expect(sent).toBe(1);
  });

  test('the system clock waits until the time is over or the signal aborts, and leaves no timer behind', async () => {
    useFakeTimers();
    const timersLeft = watchTimers(500);
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, 'removeEventListener');
    const ended = vi.fn<() => void>();
    void systemClock.sleep(500, signal).then(ended);
    await vi.advanceTimersByTimeAsync(499);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalledOnce();
    expect(remove).toHaveBeenCalledOnce();
    const controller = new AbortController();
    const aborted = systemClock.sleep(500, controller.signal);
    controller.abort();
    await aborted;
    await systemClock.sleep(500, AbortSignal.abort());
    expect(timersLeft()).toBe(0);
  });
});

describe('the support of idempotency keys', () => {
  /** The number of attempts of a purchase whose first response is lost. */
  async function attemptsAfterLoss(service: ReturnType<typeof scripted>): Promise<number> {
    const before = service.sent.length;
    service.plan(reset);
    await service.reseller.vm.create(VM).catch(() => {});
    return service.sent.length - before;
  }

  test('is learned from any response that names a lifetime, also from a failure', async () => {
    for (const lifetime of ['86400', '0', 'forever', '']) {
      const service = scripted({ lifetime });
      expect(await attemptsAfterLoss(service)).toBe(1);
      await service.reseller.vm.hosts();
      expect(await attemptsAfterLoss(service)).toBe(2);
    }
    const cold = scripted({ lifetime: '86400' });
    cold.plan(refusal(500));
    expect(await cold.reseller.vm.create(VM).withMeta()).toMatchObject({ attempts: 2 });
    const none = scripted();
    await none.reseller.vm.hosts();
    expect(await attemptsAfterLoss(none)).toBe(1);
  });

  test('is as the caller says, whatever the responses say', async () => {
    const never = scripted({ lifetime: '86400', config: { honoursIdempotencyKey: false } });
    await never.reseller.vm.hosts();
    expect(await attemptsAfterLoss(never)).toBe(1);
    const always = scripted({ config: { honoursIdempotencyKey: true } });
    expect(await attemptsAfterLoss(always)).toBe(2);
  });

  test('every purchase has its own key, unless the caller passes one, and all its attempts have the same key', async () => {
    const service = scripted({ lifetime: '86400' });
    await service.reseller.vm.hosts();
    service.plan(reset, reset);
    await service.reseller.vm.create(VM);
    await service.reseller.vm.create(VM);
    await service.reseller.vm.create(VM, { idempotencyKey: 'order-1' });
    const [first, second, third, fourth, fifth] = service.sent.map(({ key }) => key);
    expect(first).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect([second, third]).toEqual([first, first]);
    expect(fourth).not.toBe(first);
    expect(fifth).toBe('order-1');
  });

  test('a read has no key', async () => {
    const headers: Headers[] = [];
    const fetch = async (_: string, init: RequestInit) => {
      headers.push(new Headers(init.headers));
      return Response.json(envelope({ list: [] }));
    };
    await createReseller({ apiKey: 'key', baseUrl: 'http://a.test', fetch }).domain.list({ idempotencyKey: 'order-1' });
    expect(headers.map((each) => each.has('idempotency-key'))).toEqual([false]);
  });
});
