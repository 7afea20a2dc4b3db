/** The result of `reconcile` after each kind of loss, by the request log and by the server's response to the key. */
import { describe, expect, test, vi } from 'vitest';

import { createReseller, OutcomeUnknownError, ResellerError } from '../src/index.ts';
import type { CallOptions, Reconciliation, RequestLogItem } from '../src/index.ts';
import { looksOf } from '../src/look.ts';
import { memoryOf } from '../src/memory.ts';
import { API_KEY, CREATED, cut, envelope, refusal, refusalBody, reset, scripted, silence, success, VM } from './scripted-service.ts';
import type { Reply, ScriptedService, Sent } from './scripted-service.ts';

const SETTLE_MS = 15_000;

/** Each way in which the response to a purchase is lost. */
const losses: Readonly<Record<string, Reply>> = {
  'a reset': reset,
  silence,
  'a cut response': cut,
  'a page of a gateway': () => new Response('<html>', { status: 502 }),
  'a redirect': () => new Response('', { status: 302 }),
  'a failure of the service': refusal(500, 'internal_error'),
  'a first request in progress': refusal(409, 'idempotency_key_in_progress'),
};

async function lose(service: ScriptedService, loss: Reply = reset, options: CallOptions = {}): Promise<OutcomeUnknownError> {
  service.plan(loss);
  // Short only if no response comes.
  const timeout = loss === silence ? { timeoutMs: 3 } : {};
  const error: unknown = await service.reseller.vm.create(VM, { ...timeout, ...options }).catch((thrown: unknown) => thrown);
  if (!(error instanceof OutcomeUnknownError)) throw new Error('The response was not lost.', { cause: error });
  return error;
}

function sentBy(service: ScriptedService, index = 0): Sent {
  const sent = service.sent.at(index);
  if (!sent) throw new Error('No purchase was sent.');
  return sent;
}

const REFUSAL: Partial<RequestLogItem> = {
  success: 0,
  error_type: 'credit_limit_exceeded',
  response_body: JSON.stringify(refusalBody('credit_limit_exceeded')),
};
const FAILURE: Partial<RequestLogItem> = { success: 0, error_type: 'internal_error', response_body: '{}' };
const bodyOf = (form: object) => ({ request_body: JSON.stringify(form) });
/** The fields of a purchase in reverse order, as another program may send them. */
const reversed = ({ body }: Sent) => bodyOf(Object.fromEntries([...new URLSearchParams(body)].toReversed()));
const responseBody = (identifier: number) => ({ response_body: JSON.stringify(envelope({ ...CREATED, identifier })) });

interface LogRow {
  /** Adds entries about the purchase to the log. */
  readonly fill: (service: ScriptedService, purchase: Sent) => void;
  readonly outcome: Reconciliation['outcome'];
  /** Number of candidates, if the outcome is undecided. */
  readonly candidates?: number;
  /** Milliseconds after the attempt until the outcome is certain. */
  readonly afterMs: number;
}

const logs: Readonly<Record<string, LogRow>> = {
  nothing: { fill: () => {}, outcome: 'not-committed', afterMs: SETTLE_MS },
  'the purchase': { fill: (service, purchase) => service.addEntry(purchase), outcome: 'committed', afterMs: 0 },
  'the purchase, two seconds early by its clock': {
    fill: (service, purchase) => service.addEntry({ ...purchase, at: purchase.at - 2_000 }),
    outcome: 'committed',
    afterMs: 0,
  },
  'the purchase and a repetition of it with the same response': {
    fill: (service, purchase) => (service.addEntry(purchase), service.addEntry(purchase)),
    outcome: 'committed',
    afterMs: 0,
  },
  'two purchases like it': {
    fill: (service, purchase) => (service.addEntry(purchase, responseBody(1)), service.addEntry(purchase, responseBody(2))),
    outcome: 'undecided',
    candidates: 2,
    afterMs: 0,
  },
  'the purchase and a refusal of it': {
    fill: (service, purchase) => (service.addEntry(purchase, REFUSAL), service.addEntry(purchase)),
    outcome: 'committed',
    afterMs: 0,
  },
  'a refusal of it': { fill: (service, purchase) => service.addEntry(purchase, REFUSAL), outcome: 'not-committed', afterMs: 0 },
  'a failure of the service': {
    fill: (service, purchase) => service.addEntry(purchase, FAILURE),
    outcome: 'undecided',
    candidates: 1,
    afterMs: SETTLE_MS,
  },
  'a purchase of another program': {
    fill: (service, purchase) => service.addEntry(purchase, reversed(purchase)),
    outcome: 'undecided',
    candidates: 1,
    afterMs: SETTLE_MS,
  },
  'a refusal of a purchase of another program': {
    fill: (service, purchase) => service.addEntry(purchase, { ...REFUSAL, ...reversed(purchase) }),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'the purchase and one of another program': {
    fill: (service, purchase) => (service.addEntry(purchase, reversed(purchase)), service.addEntry(purchase)),
    outcome: 'committed',
    afterMs: 0,
  },
  'a purchase of something else': {
    fill: (service, purchase) => service.addEntry(purchase, bodyOf({ ...VM, cores: 2 })),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'a purchase with a further field': {
    fill: (service, purchase) => service.addEntry(purchase, bodyOf({ ...VM, ips: 2 })),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'an entry whose form is not JSON': {
    fill: (service, purchase) => service.addEntry(purchase, { request_body: 'cut off' }),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'an entry whose form is a list': {
    fill: (service, purchase) => service.addEntry(purchase, { request_body: '["cores"]' }),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'another method': {
    fill: (service, purchase) => service.addEntry(purchase, { method: 'POST' }),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'another path': {
    fill: (service, purchase) => service.addEntry(purchase, { endpoint: '/vm/other' }),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'an end of the path that is not a path': {
    fill: (service, purchase) => service.addEntry(purchase, { endpoint: 'create' }),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'a path that is not percent-encoded well': {
    fill: (service, purchase) => service.addEntry(purchase, { endpoint: '/vm/%E0%A4%A' }),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'the path of the base address as well': {
    fill: (service, purchase) => service.addEntry(purchase, { endpoint: '/reseller.test/vm/create' }),
    outcome: 'committed',
    afterMs: 0,
  },
  'a purchase like it, long before': {
    fill: (service, purchase) => service.addEntry({ ...purchase, at: purchase.at - 602_001 }),
    outcome: 'not-committed',
    afterMs: SETTLE_MS,
  },
  'a purchase like it, ten minutes before: the clock of the log may have been set': {
    fill: (service, purchase) => service.addEntry({ ...purchase, at: purchase.at - 602_000 }),
    outcome: 'undecided',
    candidates: 1,
    afterMs: SETTLE_MS,
  },
  'a purchase like it, just before it was sent': {
    fill: (service, purchase) => service.addEntry({ ...purchase, at: purchase.at - 2_001 }),
    outcome: 'undecided',
    candidates: 1,
    afterMs: SETTLE_MS,
  },
};
const logRows = Object.entries(logs);

function expectOutcome(found: Reconciliation, { outcome, candidates }: LogRow): void {
  expect(found.outcome).toBe(outcome);
  if (found.outcome === 'undecided') expect(found.candidates).toHaveLength(candidates ?? 0);
  if (found.outcome !== 'committed') return;
  expect(found).toMatchObject({ operation: 'createVm', data: { identifier: CREATED.identifier }, masked: ['config.password'] });
  expect(found.data).not.toHaveProperty('config.password');
  expect(found.entry).toMatchObject({ success: 1, method: 'PUT' });
}

describe.each(logRows)('the log has %s', (_, row) => {
  test.each(Object.entries(losses))('after %s, at a server that honours no keys', async (__, loss) => {
    const service = scripted();
    const error = await lose(service, loss);
    row.fill(service, sentBy(service));
    const found = await service.reseller.reconcile(error);
    expectOutcome(found, row);
    expect(service.now() - sentBy(service).at).toBe(row.afterMs);
    expect(service.sent).toHaveLength(1);
    // A second call returns the same.
    const looks = service.logReadings();
    expect(await service.reseller.reconcile(error)).toEqual(found);
    if (row.outcome !== 'undecided') expect(service.logReadings()).toBe(looks);
  });

  test('a call with reconcile: true returns the data, throws the refusal, or throws that the outcome is unknown', async () => {
    const service = scripted({
      onLogRead: (self, readings) => void (readings === 1 && row.fill(self, sentBy(self))),
    });
    service.plan(reset);
    const end: unknown = await service.reseller.vm
      .create(VM, { reconcile: true, idempotencyKey: 'order-1' })
      .withMeta()
      .catch((thrown: unknown) => thrown);
    if (row.outcome === 'committed') {
      const { config, identifier } = CREATED;
      const { password: _password, ...shown } = config;
      const data = { identifier, config: shown };
      const own = JSON.stringify(Object.fromEntries(new URLSearchParams(sentBy(service).body)));
      expect(end).toMatchObject({
        data,
        masked: ['config.password'],
        attempts: 1,
        status: 200,
        requestID: service.log.findLast((entry) => entry.success === 1 && entry.request_body === own)?.requestID,
        message: 'Done.',
      });
      expect(end).not.toHaveProperty('data.config.password');
    } else if (row.outcome === 'undecided') {
      expect(end).toMatchObject({ name: 'OutcomeUnknownError', uncertain: true, attempts: 1, idempotencyKey: 'order-1' });
    } else {
      expect(end).toBeInstanceOf(ResellerError);
      expect(end).toMatchObject({ uncertain: false, attempts: 1, operation: 'createVm', cause: { name: 'OutcomeUnknownError' } });
      expect(String(end)).not.toContain('undefined');
    }
  });
});

test('returns the response of a call from the log, without its secrets', async () => {
  const service = scripted({ onLogRead: (self) => self.addEntry(sentBy(self)) });
  service.plan(reset);
  const response = await service.reseller.vm.create(VM, { reconcile: true }).asResponse();
  expect([response.status, await response.json()]).toEqual([
    200,
    envelope({ identifier: CREATED.identifier, config: { cores: 1, username: 'root' } }),
  ]);
});

test.each<[string, Partial<RequestLogItem>, object, string]>([
  ['its words and its kind', REFUSAL, { name: 'ResellerError', type: 'credit_limit_exceeded' }, 'createVm: Refused.'],
  [
    'a body that is not an envelope',
    { ...REFUSAL, response_body: 'cut off' },
    { name: 'ResellerError', type: 'credit_limit_exceeded' },
    'createVm: the service refused it, as the request log shows',
  ],
  ['no kind at all', { success: 0, error_type: null, response_body: '{"message":"No."}' }, { name: 'ResellerError' }, 'createVm: No.'],
])('throws a refusal that the log has with %s', async (_, entry, expected, message) => {
  const service = scripted({ onLogRead: (self) => self.addEntry(sentBy(self), entry) });
  service.plan(reset);
  const error: unknown = await service.reseller.vm.create(VM, { reconcile: true }).catch((thrown: unknown) => thrown);
  const { requestID } = service.log.find((logged) => logged.success === 0) ?? {};
  expect(error).toMatchObject({ ...expected, message, requestID, uncertain: false, attempts: 1 });
  if (!('type' in expected)) expect(error).not.toHaveProperty('type');
});

test.each(['/domain/100%25/undelete', '/domain/100%/undelete'])('finds a request if the log has the path %s', async (endpoint) => {
  let method = '';
  const service = scripted({
    config: {
      middleware: [
        (next) => async (url, init) => {
          if (!url.endsWith('/undelete')) return next(url, init);
          method = init.method ?? '';
          return reset({ init });
        },
      ],
    },
  });
  const error: unknown = await service.reseller.domain.undelete('100%').catch((thrown: unknown) => thrown);
  if (!(error instanceof OutcomeUnknownError)) throw error;
  service.addEntry({ key: null, body: '', at: service.now() }, { endpoint, method, response_body: JSON.stringify(envelope({})) });
  expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed', entry: { endpoint } });
});

test('reports that a purchase never arrived if the log does not have it', async () => {
  const service = scripted();
  service.plan(reset);
  await expect(service.reseller.vm.create(VM, { reconcile: true })).rejects.toMatchObject({
    name: 'ConnectionError',
    message: 'createVm: the request never arrived, as the request log shows',
    uncertain: false,
  });
});

describe('at a server that honours keys', () => {
  const KEYS = { lifetime: '60' };

  /** Loses the response to the only attempt of a purchase. */
  async function loseOnce(service: ScriptedService, options: CallOptions = {}): Promise<OutcomeUnknownError> {
    await service.reseller.vm.hosts();
    return lose(service, reset, { maxRetries: 0, ...options });
  }

  test('returns the response to the key, with its secrets', async () => {
    const service = scripted(KEYS);
    const found = await service.reseller.reconcile(await loseOnce(service));
    expect(found).toEqual({ outcome: 'committed', operation: 'createVm', data: CREATED, masked: [] });
    const [first, second] = service.sent;
    expect([service.sent.length, second?.key, second?.body]).toEqual([2, first?.key, first?.body]);
    expect(service.logReadings()).toBe(0);
  });

  test('a call with reconcile: true returns that response unchanged', async () => {
    const service = scripted(KEYS);
    await service.reseller.vm.hosts();
    service.plan(reset);
    const { response, ...meta } = await service.reseller.vm.create(VM, { maxRetries: 0, reconcile: true }).withMeta();
    expect(meta).toEqual({ data: CREATED, requestID: 'id-of-the-purchase', message: 'Done.', status: 200, attempts: 1 });
    expect(await response.json()).toEqual(envelope(CREATED));
  });

  test.each<[number, string]>([
    [400, 'InvalidError'],
    [402, 'CreditLimitError'],
    [404, 'NotFoundError'],
    [409, 'ConflictError'],
    [422, 'InvalidError'],
  ])('reports that the purchase was not carried out if the key is refused with status %i', async (status, name) => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    service.plan(refusal(status));
    const found = await service.reseller.reconcile(error);
    expect(found).toMatchObject({ outcome: 'not-committed', error: { name, status, uncertain: false } });
    expect(await service.reseller.reconcile(error)).toEqual(found);
    expect(service.sent).toHaveLength(2);
  });

  test.each<[string, Reply]>([
    ['401', refusal(401)],
    ['403', refusal(403)],
    ['429', refusal(429)],
    ['501', refusal(501)],
    ['503', refusal(503)],
    ['500', refusal(500)],
    ['409, the key was used before', refusal(409, 'idempotency_key_reused')],
    ['409, in progress', refusal(409, 'idempotency_key_in_progress')],
    ['a page', () => new Response('<html>', { status: 404 })],
    ['a reset', reset],
  ])('reads the log after %s, which decides nothing', async (_, reply) => {
    for (const [fill, outcome] of [
      [(service: ScriptedService) => service.addEntry(sentBy(service)), 'committed'],
      [() => {}, 'not-committed'],
    ] as const) {
      const service = scripted(KEYS);
      const error = await loseOnce(service);
      service.plan(...Array.from({ length: 99 }, () => reply));
      fill(service);
      expect((await service.reseller.reconcile(error)).outcome).toBe(outcome);
      expect(service.sent.length).toBeGreaterThan(3);
      expect(new Set(service.sent.map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
    }
  });

  test('stops at the first response that settles the outcome', async () => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    service.plan(refusal(401), refusal(429, 'rate_limited', { 'retry-after': '61' }), success);
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed' });
    expect(service.sent).toHaveLength(4);
  });

  test.each([
    [7_750, 5],
    [7_751, 6],
    [250, 1],
    [251, 2],
  ])('with settleMs %i, sends the key %i more times', async (settleMs, attempts) => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    service.plan(...Array.from({ length: 99 }, () => refusal(401)));
    await service.reseller.reconcile(error, { settleMs, maxRetries: 0 });
    expect(service.sent.slice(1).map(({ at }) => at - sentBy(service).at)).toEqual([0, 250, 750, 1_750, 3_750, 7_750].slice(0, attempts));
  });

  test.each([
    [59_999, 2],
    [60_000, 1],
  ])('after %i ms of a minute for which keys are kept, the purchase has been sent %i times', async (milliseconds, attempts) => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    service.advance(milliseconds);
    await service.reseller.reconcile(error);
    expect(service.sent).toHaveLength(attempts);
  });

  test.each([
    ['0', 3_599_999, 2],
    ['0', 3_600_000, 1],
    ['forever', 3_599_999, 2],
    ['forever', 3_600_000, 1],
  ])(
    'takes an hour as the lifetime of keys from %j: after %i ms, the purchase has been sent %i times',
    async (lifetime, milliseconds, attempts) => {
      const service = scripted({ lifetime });
      const error = await loseOnce(service);
      service.advance(milliseconds);
      await service.reseller.reconcile(error);
      expect(service.sent).toHaveLength(attempts);
    },
  );

  test('a client without a response yet sends a harmless request first', async () => {
    const service = scripted(KEYS);
    expect(await service.reseller.reconcile(await lose(service))).toMatchObject({ outcome: 'committed' });
    expect([service.count('/domain/list'), service.sent.length]).toEqual([1, 2]);
  });

  test('sends one harmless request for all concurrent callers, and none after a later response', async () => {
    const service = scripted();
    const errors = [await lose(service), await lose(service), await lose(service)];
    await Promise.all(errors.map((error) => service.reseller.reconcile(error)));
    expect(service.count('/domain/list')).toBe(1);
    const error = await lose(service);
    service.advance(1);
    await service.reseller.vm.hosts();
    await service.reseller.reconcile(error);
    expect(service.count('/domain/list')).toBe(1);
  });

  test('only reads the log with resend: false', async () => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    expect(await service.reseller.reconcile(error, { resend: false })).toEqual({ outcome: 'not-committed' });
    expect(service.sent).toHaveLength(1);
  });

  test('applies the options of reconcile to its attempts, and a signal ends it with the reason', async () => {
    const headers: (string | null)[] = [];
    const controller = new AbortController();
    const service = scripted({
      ...KEYS,
      config: {
        middleware: [
          (next) => (url, init) => {
            headers.push(new Headers(init.headers).get('x-trace'));
            return next(url, init);
          },
        ],
      },
    });
    const error = await loseOnce(service, { headers: { 'x-trace': 'call' } });
    service.plan(() => {
      controller.abort(new Error('enough'));
      return reset({ init: {} });
    });
    const found = service.reseller.reconcile(error, { signal: controller.signal, headers: { 'x-trace': 'reconcile' }, maxRetries: 0 });
    await expect(found).rejects.toMatchObject({ name: 'OutcomeUnknownError', cause: { name: 'AbortedError' } });
    expect(headers.filter((value) => value !== null)).toEqual(['call', 'reconcile']);
    expect(service.sent).toHaveLength(2);
  });
});

describe('the reads of the log', () => {
  test('are after 0, 4 and 15 seconds, and the last one decides', async () => {
    const readings: number[] = [];
    const service = scripted({ onLogRead: (self) => void readings.push(self.now() - sentBy(self).at) });
    expect((await service.reseller.reconcile(await lose(service))).outcome).toBe('not-committed');
    expect(readings).toEqual([0, 4_000, SETTLE_MS]);
  });

  test.each([
    [1, [0, 1]],
    [4_000, [0, 4_000]],
    [20_000, [0, 4_000, 20_000]],
    [90_000, [0, 4_000, 20_000, 84_000, 90_000]],
  ])('with settleMs %i, are after %j ms', async (settleMs, expected) => {
    const readings: number[] = [];
    const service = scripted({ onLogRead: (self) => void readings.push(self.now() - sentBy(self).at) });
    await service.reseller.reconcile(await lose(service), { settleMs });
    expect(readings).toEqual(expected);
  });

  test('happen only once if the purchase was sent long ago', async () => {
    const service = scripted();
    const error = await lose(service);
    service.advance(SETTLE_MS);
    await service.reseller.reconcile(error);
    expect(service.logReadings()).toBe(1);
  });

  test('find a purchase that arrives between two of them', async () => {
    for (const reading of [2, 3]) {
      const service = scripted({ onLogRead: (self, count) => void (count === reading && self.addEntry(sentBy(self))) });
      expect((await service.reseller.reconcile(await lose(service))).outcome).toBe('committed');
      expect(service.logReadings()).toBe(reading);
    }
  });

  test('continue until there is a refusal for each attempt, because an attempt may still be on its way', async () => {
    for (const [refusals, afterMs] of [
      [1, SETTLE_MS],
      [2, 0],
    ] as const) {
      const service = scripted({ lifetime: '0' });
      await service.reseller.vm.hosts();
      service.plan(reset, reset);
      const error: unknown = await service.reseller.vm.create(VM, { maxRetries: 1 }).catch((thrown: unknown) => thrown);
      if (!(error instanceof OutcomeUnknownError)) throw error;
      const began = service.now();
      for (let count = 0; count < refusals; count++) service.addEntry(sentBy(service), REFUSAL);
      const found = await service.reseller.reconcile(error, { resend: false });
      expect(found).toMatchObject({ outcome: 'not-committed', entry: { error_type: 'credit_limit_exceeded' } });
      // The wait counts from the first attempt.
      expect(service.now()).toBe(afterMs === 0 ? began : sentBy(service).at + afterMs);
    }
  });

  test('are shared by all callers within a quarter of a second', async () => {
    for (const [age, readings] of [
      [0, 1],
      [250, 1],
      [251, 2],
    ] as const) {
      const service = scripted();
      const errors = [await lose(service, reset, { idempotencyKey: 'a' }), await lose(service, reset, { idempotencyKey: 'b' })];
      service.advance(1);
      await service.reseller.domain.list();
      for (const sent of service.sent) service.addEntry(sent);
      for (const [index, error] of errors.entries()) {
        if (index === 1) service.advance(age);
        expect((await service.reseller.reconcile(error)).outcome).toBe('committed');
      }
      expect(service.logReadings()).toBe(readings);
    }
  });

  test('decide two purchases in quick succession, each by a read after its own wait', async () => {
    const service = scripted();
    const first = await lose(service, reset, { idempotencyKey: 'a' });
    service.advance(100);
    const second = await lose(service, reset, { idempotencyKey: 'b' });
    const found = await Promise.all([service.reseller.reconcile(first), service.reseller.reconcile(second)]);
    expect(found.map(({ outcome }) => outcome)).toEqual(['not-committed', 'not-committed']);
  });

  test('do not use a read from before the purchase was sent', async () => {
    const service = scripted();
    const first = await lose(service, reset, { idempotencyKey: 'a' });
    service.advance(1);
    service.addEntry(sentBy(service));
    await service.reseller.reconcile(first);
    service.advance(100);
    const second = await lose(service, reset, { idempotencyKey: 'b' });
    service.addEntry(sentBy(service, 1));
    expect((await service.reseller.reconcile(second)).outcome).toBe('committed');
    expect(service.logReadings()).toBe(2);
  });

  test('are repeated after a failure', async () => {
    let failures = 1;
    const service = scripted({
      config: {
        maxRetries: 0,
        middleware: [
          (next) => (url, init) =>
            url.endsWith('/account/requests') && failures-- > 0 ? Promise.resolve(new Response('', { status: 503 })) : next(url, init),
        ],
      },
    });
    const error = await lose(service);
    service.addEntry(sentBy(service));
    await expect(service.reseller.reconcile(error)).rejects.toMatchObject({ name: 'ResponseError', operation: 'listRequests' });
    expect((await service.reseller.reconcile(error)).outcome).toBe('committed');
  });

  test('share the newer one of two, also if the older one fails late', async () => {
    let now = 0;
    const readings: PromiseWithResolvers<RequestLogItem[]>[] = [];
    const look = looksOf({
      clock: { now: () => now, sleep: async () => {} },
      memory: memoryOf(),
      readPage: () => {
        const reading = Promise.withResolvers<RequestLogItem[]>();
        readings.push(reading);
        return reading.promise;
      },
    });
    const first = look(0);
    now = 251;
    const second = look(0);
    readings[0]?.reject(new Error('broken'));
    await expect(first).rejects.toThrow('broken');
    expect(look(0)).toBe(second);
    expect(readings).toHaveLength(2);
    readings[1]?.resolve([]);
    expect(await second).toMatchObject({ entries: [] });
  });

  test('end at the newest request with a response before the purchase, even if the times are too close to compare', async () => {
    const service = scripted();
    for (let count = 0; count < 200; count++) service.addEntry({ key: null, body: '', at: service.now() }, { endpoint: '/other' });
    await service.reseller.domain.list();
    const error = await lose(service);
    for (let count = 0; count < 60; count++) service.addEntry({ key: null, body: '', at: service.now() }, { endpoint: '/other' });
    service.advance(1);
    await service.reseller.domain.list();
    service.addEntry(sentBy(service));
    expect((await service.reseller.reconcile(error)).outcome).toBe('committed');
    expect(service.count('/account/requests')).toBe(2);
  });

  test('go back to the purchase, whatever was logged since, and no further', async () => {
    for (const [older, between, pages] of [
      [200, 0, 1],
      [200, 49, 2],
      [200, 149, 4],
      [0, 149, 4],
    ] as const) {
      const service = scripted();
      for (let count = 0; count < older; count++) service.addEntry({ key: null, body: '', at: service.now() }, { endpoint: '/other' });
      service.advance(60_000);
      const error = await lose(service);
      service.addEntry(sentBy(service));
      for (let count = 0; count < between; count++) service.addEntry({ key: null, body: '', at: service.now() }, { endpoint: '/other' });
      expect((await service.reseller.reconcile(error)).outcome).toBe('committed');
      expect(service.count('/account/requests')).toBe(pages);
    }
  });

  test('decide nothing but a missing purchase if no entry dates the log', async () => {
    const service = scripted({ withoutReadsInLog: true });
    expect((await service.reseller.reconcile(await lose(service))).outcome).toBe('not-committed');
    const other = scripted({ withoutReadsInLog: true });
    const error = await lose(other);
    other.addEntry(sentBy(other));
    expect(await other.reseller.reconcile(error)).toMatchObject({ outcome: 'undecided', candidates: [{ method: 'PUT' }] });
  });

  test('end with the reason of a signal that aborts the wait between them', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const service = scripted({ onLogRead: (_, count) => void (count === 2 && controller.abort(reason)) });
    const found = service.reseller.reconcile(await lose(service), { signal: controller.signal });
    await expect(found).rejects.toBe(reason);
    expect(service.logReadings()).toBe(2);
  });
});

describe('several purchases', () => {
  /** Two identical purchases: the same key gives the same order of fields. */
  const alike = async (service: ScriptedService) => [
    await lose(service, reset, { idempotencyKey: 'order' }),
    await lose(service, reset, { idempotencyKey: 'order' }),
  ];
  const outcomesOf = async (service: ScriptedService, errors: readonly OutcomeUnknownError[]) =>
    Promise.all(errors.map((error) => service.reseller.reconcile(error)));

  test('that are identical are decided only if the request log has none or exactly all of them', async () => {
    for (const [identifiers, expected] of [
      [[], ['not-committed', 'not-committed']],
      [[1], ['undecided', 'undecided']],
      [
        [1, 2],
        ['committed', 'committed'],
      ],
      [
        [1, 2, 3],
        ['undecided', 'undecided'],
      ],
    ] as const) {
      const service = scripted();
      const errors = await alike(service);
      for (const identifier of identifiers) service.addEntry(sentBy(service), responseBody(identifier));
      const found = await outcomesOf(service, errors);
      expect(found.map(({ outcome }) => outcome)).toEqual(expected);
      const data = found.map((each) => each.outcome === 'committed' && each.data);
      if (expected[0] === 'committed') expect(data).toMatchObject([{ identifier: 1 }, { identifier: 2 }]);
    }
  });

  test('both wait after one refusal, because it does not say which one was refused', async () => {
    const service = scripted();
    const errors = await alike(service);
    service.addEntry(sentBy(service), REFUSAL);
    const found = await outcomesOf(service, errors);
    expect(found.map(({ outcome }) => outcome)).toEqual(['not-committed', 'not-committed']);
    expect(service.now() - sentBy(service).at).toBe(SETTLE_MS);
  });

  test('do not share an entry: one that belongs to a purchase is not used for the next identical one', async () => {
    const service = scripted();
    const first = await lose(service, reset, { idempotencyKey: 'order' });
    service.addEntry(sentBy(service));
    service.addEntry(sentBy(service));
    expect((await service.reseller.reconcile(first)).outcome).toBe('committed');
    const second = await lose(service, reset, { idempotencyKey: 'order' });
    expect((await service.reseller.reconcile(second)).outcome).toBe('not-committed');
    const third = await lose(service, reset, { idempotencyKey: 'order' });
    service.addEntry(sentBy(service, 2), REFUSAL);
    expect(await service.reseller.reconcile(third)).toMatchObject({ outcome: 'not-committed', entry: REFUSAL });
    const fourth = await lose(service, reset, { idempotencyKey: 'order' });
    expect(await service.reseller.reconcile(fourth)).toEqual({ outcome: 'not-committed' });
  });

  test('with and without a response do not share an entry', async () => {
    const service = scripted();
    const error = await lose(service, reset, { idempotencyKey: 'order' });
    await service.reseller.vm.create(VM, { idempotencyKey: 'order' });
    service.addEntry(sentBy(service, 1), { requestID: 'id-of-the-purchase' });
    expect((await service.reseller.reconcile(error)).outcome).toBe('not-committed');
    const other = scripted();
    const lost = await lose(other, reset, { idempotencyKey: 'order' });
    other.plan(refusal(402));
    await other.reseller.vm.create(VM, { idempotencyKey: 'order' }).catch(() => {});
    other.addEntry(sentBy(other, 1), { ...REFUSAL, requestID: 'id-of-the-refusal' });
    expect(await other.reseller.reconcile(lost)).toEqual({ outcome: 'not-committed' });
  });

  test('ignore entries before the last response that preceded the purchase', async () => {
    const service = scripted();
    service.addEntry({
      key: null,
      body: new URLSearchParams(Object.entries(VM).map(([name, value]) => [name, String(value)])).toString(),
      at: service.now(),
    });
    await service.reseller.vm.hosts();
    expect((await service.reseller.reconcile(await lose(service))).outcome).toBe('not-committed');
  });

  test('have an order of fields that follows from the key, and few keys share an order', async () => {
    const service = scripted();
    const keys = Array.from({ length: 60 }, (_, index) => `order-${index}`);
    for (const idempotencyKey of [...keys, ...keys]) await service.reseller.vm.create(VM, { idempotencyKey });
    const bodies = service.sent.map(({ body }) => body);
    expect(bodies.slice(0, 60)).toEqual(bodies.slice(60));
    expect(new Set(bodies).size).toBeGreaterThan(30);
    for (const body of bodies)
      expect([...new URLSearchParams(body)].toSorted()).toEqual(
        Object.entries(VM)
          .map(([name, value]) => [name, String(value)])
          .toSorted(),
      );
  });

  test.each([
    ['of another client', new OutcomeUnknownError('a', { operation: 'createVm', attempts: 1, curl: '' })],
    ['of another kind', new Error('a')],
  ])('refuses an error %s', async (_, error) => {
    const { reseller } = scripted();
    await expect(Reflect.apply(reseller.reconcile, undefined, [error])).rejects.toThrow('Pass the error to the client that made the call.');
  });

  test.each([
    [{ settle: 5 }, 'reconcile has no option settle'],
    [{ settleMs: 0 }, 'settleMs must be a positive number of milliseconds, got 0'],
    [{ timeoutMs: -1 }, 'timeoutMs must be a positive number'],
    [{ maxRetries: 0.5 }, 'maxRetries must be a whole number from 0, got 0.5'],
  ])('refuses options such as %j and names them', async (options, message) => {
    const { reseller } = scripted();
    expect(() => Reflect.apply(reseller.reconcile, undefined, [new Error('a'), options])).toThrow(message);
  });
});

test('remembers the last thousand requests with a response', () => {
  const memory = memoryOf();
  for (const nothing of [null, undefined]) memory.remember(nothing, 1);
  expect([memory.newest, memory.respondedAt.size]).toEqual([undefined, 0]);
  for (let count = 0; count < 1_000; count++) memory.remember(`r-${count}`, count);
  expect([memory.respondedAt.size, memory.respondedAt.get('r-0'), memory.newest]).toEqual([1_000, 0, 'r-999']);
  memory.remember('r-1000', 1_000);
  expect([memory.respondedAt.size, memory.respondedAt.has('r-0'), memory.respondedAt.has('r-1'), memory.newest]).toEqual([
    1_000,
    false,
    true,
    'r-1000',
  ]);
});

test('refuses the error of a client in another process', async () => {
  const service = scripted();
  const error = await lose(service);
  const other = createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test' });
  await expect(other.reconcile(error)).rejects.toBeInstanceOf(TypeError);
});
