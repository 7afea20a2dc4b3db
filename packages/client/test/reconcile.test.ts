/** The result of `reconcile` after each kind of loss, by the request log and by the server's response to the key. */
import { describe, expect, test, vi } from 'vitest';

import { createReseller, OutcomeUnknownError } from '../src/index.ts';
import type { Reconciliation, RequestLogItem, RequestOptions } from '../src/index.ts';
import { createRequestHistory } from '../src/request-history.ts';
import { API_KEY, CREATED, cut, envelope, refusal, refusalBody, reset, scripted, silence, success, VM } from './scripted-service.ts';
import type { Reply, ScriptedService, Sent } from './scripted-service.ts';

const WAIT_MS = 60_000;
/** No other program makes changes with the account. */
const EXCLUSIVE = { exclusive: true };

/** Each way in which the response to a purchase is lost. */
const losses: Readonly<Record<string, Reply>> = {
  'a reset': reset,
  silence,
  'a cut response': cut,
  'a page of a gateway': () => new Response('<html>', { status: 502 }),
  'a redirect': () => new Response('', { status: 302 }),
  'a failure of the service': refusal(500, 'internal_error'),
  'a service that is unavailable': refusal(503, 'unavailable'),
  'a first request in progress': refusal(409, 'idempotency_key_in_progress'),
  'the data of another operation': () => Response.json(envelope({ list: [] })),
};

async function lose(
  service: ScriptedService,
  loss: Reply = reset,
  options: RequestOptions = {},
  ...next: readonly Reply[]
): Promise<OutcomeUnknownError> {
  service.plan(loss, ...next);
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
const responseBody = (identifier: number) => ({ response_body: JSON.stringify(envelope({ ...CREATED, identifier })) });

interface LogRow {
  /** Adds entries about the purchase to the log. */
  readonly entries: readonly (Partial<RequestLogItem> & { readonly earlierMs?: number })[];
  readonly outcome: Reconciliation['outcome'];
  /** Number of candidates, if the outcome is undecided. */
  readonly candidates?: number;
  /** Milliseconds after the attempt until the outcome is certain, or until the client gives up. */
  readonly afterMs: number;
}

const committed = { outcome: 'committed', afterMs: 0 } as const;
const undecided = (candidates: number, afterMs = WAIT_MS) => ({ outcome: 'undecided', candidates, afterMs }) as const;

const logs: Readonly<Record<string, LogRow>> = {
  nothing: { entries: [], ...undecided(0) },
  'the purchase': { entries: [{}], ...committed },
  'the purchase, two seconds early by its clock': { entries: [{ earlierMs: 2_000 }], ...committed },
  'the purchase and a repetition of it with the same response': { entries: [{}, {}], ...committed },
  'two purchases like it': { entries: [responseBody(1), responseBody(2)], ...undecided(2, 0) },
  'the purchase and a refusal of it': { entries: [REFUSAL, {}], ...committed },
  'a refusal of it': { entries: [REFUSAL], outcome: 'not-committed', afterMs: WAIT_MS },
  'a failure of the service': { entries: [FAILURE], ...undecided(1) },
  'a failure of an unknown kind': { entries: [{ success: 0, error_type: null, response_body: '{}' }], ...undecided(1) },
  'the purchase with its fields in another order': { entries: [bodyOf(Object.fromEntries(Object.entries(VM).toReversed()))], ...committed },
  'a purchase of something else': { entries: [bodyOf({ ...VM, cores: 2 })], ...undecided(1) },
  'the purchase and one of something else': { entries: [bodyOf({ ...VM, cores: 2 }), responseBody(1)], ...undecided(2, 0) },
  'a refusal of it, and a purchase of something else': { entries: [REFUSAL, bodyOf({ ...VM, cores: 2 })], ...undecided(1) },
  'a refusal of something else': { entries: [{ ...REFUSAL, ...bodyOf({ ...VM, cores: 2 }) }], ...undecided(0) },
  'a purchase with a further field': { entries: [bodyOf({ ...VM, ips: 2 })], ...undecided(1) },
  'an entry whose form is not JSON': { entries: [{ request_body: 'cut off' }], ...undecided(1) },
  'an entry whose response is not that of a purchase': {
    entries: [{ response_body: JSON.stringify(envelope({ list: [] })) }],
    ...undecided(1),
  },
  'another method': { entries: [{ method: 'POST' }], ...undecided(0) },
  'the method in lower case': { entries: [{ method: 'put' }], ...committed },
  'another path': { entries: [{ endpoint: '/vm/other' }], ...undecided(0) },
  'a path that is not percent-encoded well': { entries: [{ endpoint: '/vm/%E0%A4%A' }], ...undecided(0) },
  'a slash at the end of the path': { entries: [{ endpoint: '/vm/create/' }], ...committed },
  'the whole address': { entries: [{ endpoint: 'http://reseller.test/vm/create?a=b' }], ...committed },
  'a purchase like it, long before': { entries: [{ earlierMs: 602_001 }], ...undecided(0) },
  'a purchase like it, just before it was sent: the clock of the log may have been set': {
    entries: [{ earlierMs: 2_001 }],
    ...undecided(1),
  },
};

function expectOutcome(found: Reconciliation, { outcome, candidates }: LogRow, loss: string): void {
  expect.soft(found.outcome, loss).toBe(outcome);
  if (found.outcome === 'undecided') {
    expect.soft(found.candidates, loss).toHaveLength(candidates ?? 0);
    expect(found.read).toMatchObject({ entries: expect.any(Number), isComplete: true });
    expect(found.advice).toMatch(/candidates|proves nothing/);
  }
  if (found.outcome === 'not-committed') expect(found.entry).toMatchObject({ success: 0 });
  if (found.outcome !== 'committed') return;
  expect(found).toMatchObject({ operation: 'createVm', data: { config: { cores: 1 } }, entry: { success: 1 } });
  expect(found.data).toHaveProperty('identifier');
}

describe.each(Object.entries(logs))('the log has %s', (_, row) => {
  function fill(service: ScriptedService): void {
    for (const { earlierMs = 0, ...entry } of row.entries) {
      const purchase = sentBy(service);
      service.addEntry({ ...purchase, at: purchase.at - earlierMs }, entry);
    }
  }

  test('reconcile reports it after each loss of a response, at a server that honours no keys', async () => {
    for (const [name, loss] of Object.entries(losses)) {
      const service = scripted();
      const error = await lose(service, loss);
      fill(service);
      const found = await service.reseller.reconcile(error, EXCLUSIVE);
      expectOutcome(found, row, name);
      expect.soft(service.now() - sentBy(service).at, name).toBe(row.afterMs);
      expect.soft(service.sent, name).toHaveLength(1);
      const readings = service.logReadings();
      expect.soft((await service.reseller.reconcile(error, EXCLUSIVE)).outcome, name).toBe(found.outcome);
      if (row.outcome !== 'undecided') expect.soft(service.logReadings(), name).toBe(readings);
    }
  });

  test('on an account that other programs use too, no entry is certainly the purchase', async () => {
    const service = scripted();
    const error = await lose(service);
    fill(service);
    expect((await service.reseller.reconcile(error)).outcome).toBe('undecided');
  });
});

test('takes the entry of an operation that names what it changes, because two of them have the same effect as one', async () => {
  for (const endpoint of ['/domain/100%25/undelete', '/domain/100%/undelete']) {
    let method = '';
    const service = scripted({
      config: {
        middleware: [
          (next) => async (url, init) => {
            if (!url.endsWith('/undelete')) return next(url, init);
            method = init.method ?? '';
            const response = await next('http://reseller.test/domain/list', init);
            return response && reset({ init });
          },
        ],
      },
    });
    const error: unknown = await service.reseller.domain.undelete('100%').catch((thrown: unknown) => thrown);
    if (!(error instanceof OutcomeUnknownError)) throw error;
    const data = { domain: '100%' };
    service.addEntry({ key: null, body: '', at: service.now() }, { endpoint, method, response_body: JSON.stringify(envelope(data)) });
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed', entry: { endpoint } });
  }
});

test('drops the masks of the log, which could be mistaken for secrets, and names them', async () => {
  for (const mask of ['***', '[hidden]', '(masked)', '••••']) {
    const service = scripted();
    const error = await lose(service);
    const config = { ...CREATED.config, password: mask };
    service.addEntry(sentBy(service), { response_body: JSON.stringify(envelope({ ...CREATED, config })) });
    const found = await service.reseller.reconcile(error, EXCLUSIVE);
    expect(found).toMatchObject({ outcome: 'committed', masked: ['config.password'] });
    expect(found).not.toHaveProperty('data.config.password');
  }
});

describe('at a server that honours keys', () => {
  const KEYS = { lifetime: '60' };

  /** Loses the response to the only attempt of a purchase. */
  async function loseOnce(service: ScriptedService, options: RequestOptions = {}): Promise<OutcomeUnknownError> {
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

  test.each<[number, string]>([
    [400, 'InvalidError'],
    [402, 'CreditLimitError'],
    [404, 'NotFoundError'],
    [409, 'ConflictError'],
    [422, 'InvalidError'],
  ])('reports that the purchase was not carried out if the key is refused with status %i', async (status, name) => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    service.plan(refusal(status), refusal(status));
    const lostAt = service.now();
    const found = await service.reseller.reconcile(error);
    expect(found).toMatchObject({ outcome: 'not-committed', error: { name, status, uncertain: false } });
    expect(await service.reseller.reconcile(error)).toEqual(found);
    // The second one is sent when the first request can no longer arrive.
    expect(service.sent.map(({ at }) => at - lostAt >= 60_000)).toEqual([false, false, true]);
  });

  test.each([400, 402, 404, 409, 422])(
    'a refusal %i of a retry settles nothing while the first attempt may still arrive',
    async (status) => {
      const service = scripted(KEYS);
      await service.reseller.vm.hosts();
      // The retry overtakes the first attempt, which a gateway holds back, and is refused. Then the first attempt arrives.
      const error = await lose(service, reset, { maxRetries: 1 }, refusal(status));
      expect(error).toMatchObject({ name: 'OutcomeUnknownError', uncertain: true, cause: { status } });
      expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed', data: CREATED });
    },
  );

  test('asks the key although the signal of the call has ended it', async () => {
    const service = scripted(KEYS);
    await service.reseller.vm.hosts();
    const controller = new AbortController();
    service.plan((request) => {
      const response = silence(request);
      controller.abort();
      return response;
    });
    const error = await service.reseller.vm.create(VM, { signal: controller.signal }).catch((thrown: unknown) => thrown);
    if (!(error instanceof OutcomeUnknownError)) throw error;
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed', data: CREATED });
    expect(service.logReadings()).toBe(0);
  });

  test.each([
    [86_399_999, 2],
    [86_400_000, 1],
  ])('a key that was sent %i ms ago by the clock of the machine, which had slept, is sent %i times', async (slept, times) => {
    const start = Date.UTC(2026, 10, 25);
    let date = start;
    const service = scripted({ ...KEYS, lifetime: '86400', date: () => date });
    const error = await loseOnce(service);
    date = start + slept;
    await service.reseller.reconcile(error);
    expect(service.sent).toHaveLength(times);
  });

  test.each([
    ['readOnly', { readOnly: true }],
    [
      'beforeBillable',
      {
        beforeBillable() {
          throw new Error('no budget');
        },
      },
    ],
  ])('does not send the purchase again through a client whose %s forbids it', async (_, guard) => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    expect(await service.reseller.withOptions(guard).reconcile(error)).toMatchObject({ outcome: 'undecided' });
    expect(service.sent).toHaveLength(1);
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
      [() => {}, 'undecided'],
    ] as const) {
      const service = scripted(KEYS);
      const error = await loseOnce(service);
      service.plan(...Array.from({ length: 199 }, () => reply));
      fill(service);
      expect((await service.reseller.reconcile(error, EXCLUSIVE)).outcome).toBe(outcome);
      expect(service.sent.length).toBeGreaterThan(3);
      expect(new Set(service.sent.map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
    }
  });

  test('waits while the first request is in progress, for a minute and longer', async () => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    const began = service.now();
    const inProgress: Reply = (request) =>
      service.now() - began < 59_000 ? refusal(409, 'idempotency_key_in_progress')(request) : success(request);
    service.plan(...Array.from({ length: 199 }, () => inProgress));
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed', data: CREATED });
  });

  test('stops at the first response that settles the outcome', async () => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    service.plan(refusal(401), refusal(429, 'rate_limited', { 'retry-after': '61' }), success);
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed' });
    expect(service.sent).toHaveLength(4);
  });

  test.each([
    ['60', 59_999, 2],
    ['60', 60_000, 1],
    // Without a usable lifetime, an hour.
    ['0', 3_599_999, 2],
    ['forever', 3_600_000, 1],
  ])('that keeps keys for %s s: after %i ms, the purchase has been sent %i times', async (lifetime, milliseconds, attempts) => {
    const service = scripted({ lifetime });
    const error = await loseOnce(service);
    service.advance(milliseconds);
    await service.reseller.reconcile(error);
    expect(service.sent).toHaveLength(attempts);
  });

  test('a key that was first sent longer ago than the server keeps it is not sent again, however late the last attempt was', async () => {
    const service = scripted(KEYS);
    await service.reseller.vm.hosts();
    const late: Reply = (request) => {
      service.advance(40_000);
      return reset(request);
    };
    const error = await lose(service, late, { maxRetries: 1 }, late);
    await service.reseller.reconcile(error);
    expect(service.sent).toHaveLength(2);
  });

  test('a client without a response yet learns it from a harmless request', async () => {
    const service = scripted(KEYS);
    expect(await service.reseller.reconcile(await lose(service))).toMatchObject({ outcome: 'committed' });
    expect([service.count('/domain/list'), service.sent.length]).toEqual([1, 2]);
  });

  test('only reads the log with resend: false', async () => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    expect(await service.reseller.reconcile(error, { resend: false })).toMatchObject({ outcome: 'undecided', candidates: [] });
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
            const sent = new Headers(init.headers);
            if (url.endsWith('/vm/create')) headers.push(sent.get('x-trace'), sent.get('content-type'));
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
    const form = 'application/x-www-form-urlencoded';
    expect(headers).toEqual(['call', form, 'reconcile', form]);
  });
});

describe('the reads of the log', () => {
  test('are after 0, 4, 20 and 60 seconds after the last attempt, and each may find the purchase', async () => {
    for (const found of [1, 2, 3, 4]) {
      const times: number[] = [];
      const service = scripted({
        onLogRead: (self, readings) => {
          times.push(self.now() - sentBy(self).at);
          if (readings === found) self.addEntry(sentBy(self));
        },
      });
      expect(await service.reseller.reconcile(await lose(service), EXCLUSIVE)).toMatchObject({ outcome: 'committed' });
      expect(times).toEqual([0, 4_000, 20_000, 60_000].slice(0, found));
    }
  });

  test('count the wait from the end of the last attempt', async () => {
    const service = scripted({ onLogRead: (self) => void (self.now() - sentBy(self).at >= 85_000 && self.addEntry(sentBy(self))) });
    service.plan(() => {
      service.advance(30_000);
      return reset({ init: {} });
    });
    const error: unknown = await service.reseller.vm.create(VM).catch((thrown: unknown) => thrown);
    if (!(error instanceof OutcomeUnknownError)) throw error;
    expect(await service.reseller.reconcile(error, EXCLUSIVE)).toMatchObject({ outcome: 'committed' });
  });

  test('go back to the purchase, however many requests came later, and no further', async () => {
    for (const later of [0, 49, 60, 480]) {
      const service = scripted();
      for (let count = 0; count < 100; count++) await service.reseller.domain.list();
      service.advance(10_000);
      const error = await lose(service);
      service.addEntry(sentBy(service));
      service.advance(5_000);
      for (let count = 0; count < later; count++) await service.reseller.domain.list();
      const before = service.count('/account/requests');
      expect(await service.reseller.reconcile(error, EXCLUSIVE)).toMatchObject({ outcome: 'committed' });
      expect(service.count('/account/requests') - before).toBeLessThanOrEqual(Math.ceil((later + 2) / 49) + 1);
    }
  });

  test('cost later requests nothing after a lost one that nobody asked about', async () => {
    const service = scripted();
    await lose(service);
    service.advance(100_000);
    for (let count = 0; count < 500; count++) await service.reseller.domain.list();
    service.advance(10_000);
    const error = await lose(service);
    service.addEntry(sentBy(service, 1));
    const before = service.count('/account/requests');
    await service.reseller.reconcile(error, EXCLUSIVE);
    expect(service.count('/account/requests') - before).toBe(1);
  });

  test('prove nothing if the log has none of the requests of the client', async () => {
    const service = scripted({ withoutReadsInLog: true });
    const error = await lose(service);
    service.addEntry(sentBy(service));
    expect(await service.reseller.reconcile(error, EXCLUSIVE)).toMatchObject({
      outcome: 'undecided',
      candidates: [{ endpoint: '/vm/create' }],
      read: { entries: 1, isComplete: false },
    });
  });

  test('end with the reason of a signal that aborts the wait between them', async () => {
    const controller = new AbortController();
    const service = scripted({ onLogRead: () => controller.abort(new Error('enough')) });
    await expect(service.reseller.reconcile(await lose(service), { signal: controller.signal })).rejects.toThrow('enough');
  });
});

describe('several identical purchases', () => {
  test.each([
    [1, 'undecided'],
    [2, 'committed'],
    [3, 'undecided'],
  ])('two lost ones and %i in the log: %s', async (entries, outcome) => {
    const service = scripted();
    const errors = [await lose(service), await lose(service)];
    for (let id = 0; id < entries; id++) service.addEntry(sentBy(service), responseBody(id));
    const found: Reconciliation[] = [];
    for (const error of errors) found.push(await service.reseller.reconcile(error, EXCLUSIVE));
    expect(found.map((each) => each.outcome)).toEqual([outcome, outcome]);
    const ids = found.map((each) => (each.outcome === 'committed' && each.operation === 'createVm' ? each.data.identifier : undefined));
    if (outcome === 'committed') expect(new Set(ids)).toEqual(new Set([0, 1]));
  });

  test('both stay undecided after one refusal, because it does not say which one was refused', async () => {
    const service = scripted();
    const errors = [await lose(service), await lose(service)];
    service.addEntry(sentBy(service), REFUSAL);
    for (const error of errors) expect((await service.reseller.reconcile(error, EXCLUSIVE)).outcome).toBe('undecided');
  });

  test('do not share an entry', async () => {
    const service = scripted();
    const first = await lose(service);
    service.addEntry(sentBy(service), responseBody(1));
    expect((await service.reseller.reconcile(first, EXCLUSIVE)).outcome).toBe('committed');
    const second = await lose(service);
    service.addEntry(sentBy(service, 1), responseBody(2));
    expect(await service.reseller.reconcile(second, EXCLUSIVE)).toMatchObject({ outcome: 'committed', data: { identifier: 2 } });
  });
});

test('a clock of the machine that is set while the client waits changes nothing', async () => {
  const service = scripted();
  let entries: RequestLogItem[] = [];
  const fetch = async (url: string) => {
    if (url.endsWith('/vm/create')) return reset({ init: {} });
    if (url.endsWith('/account/requests')) return Response.json(envelope(entries, { requestID: null }));
    return Response.json(envelope({ list: [] }, { requestID: 'contact' }));
  };
  const reseller = createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test', fetch });
  const error: unknown = await reseller.vm.create(VM).catch((thrown: unknown) => thrown);
  if (!(error instanceof OutcomeUnknownError)) throw error;
  // The log of the service has the purchase and the read that follows it.
  const now = Date.now();
  service.addEntry(
    { key: null, body: new URLSearchParams(Object.entries(VM).map(([name, value]) => [name, String(value)])).toString(), at: 0 },
    { requestDate: new Date(now).toISOString() },
  );
  const [entry] = service.log;
  if (!entry) throw new Error('The log is empty.');
  entries = [{ ...entry, requestID: 'contact', endpoint: '/domain/list', method: 'GET' }, entry];
  vi.spyOn(Date, 'now').mockReturnValue(now + 60_000);
  expect(await reseller.reconcile(error, EXCLUSIVE)).toMatchObject({ outcome: 'committed' });
});

test('remembers the last thousand requests with a response', () => {
  const { remember, respondedAt } = createRequestHistory();
  for (let index = 0; index < 1_001; index++) remember(`id-${index}`, index);
  remember(null, 0);
  expect([respondedAt.size, respondedAt.has('id-0'), respondedAt.get('id-1')]).toEqual([1_000, false, 1]);
});

test('refuses the error of a client in another process', async () => {
  const service = scripted();
  const error = await lose(service);
  const other = createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test' });
  await expect(other.reconcile(error)).rejects.toThrow('reconcile() takes an OutcomeUnknownError of this program and account, or');
});
