/** The result of `reconcile` after each kind of loss, by the request log and by the server's response to the key. */
import { describe, expect, test } from 'vitest';

import { createReseller, OutcomeUnknownError } from '../src/index.ts';
import type { Reconciliation, RequestLogItem, RequestOptions } from '../src/index.ts';
import { API_KEY, CREATED, cut, envelope, refusal, refusalBody, reset, scripted, silence, success, VM } from './scripted-service.ts';
import type { LoggedItem, Reply, ScriptedService, Sent } from './scripted-service.ts';

const WAIT_MS = 60_000;

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
  readonly entries: readonly (Partial<LoggedItem> & { readonly earlierMs?: number })[];
  /** The outcome by the key, if the log names it. */
  readonly outcome: Reconciliation['outcome'];
  /** Number of candidates, if the outcome is undecided. */
  readonly candidates?: number;
  /** Milliseconds after the attempt until the outcome is certain, or until the client gives up. */
  readonly afterMs: number;
  /** Number of candidates where the log names no keys: then nothing proves a purchase. */
  readonly keyless: number;
}

const committed = { outcome: 'committed', afterMs: 0, keyless: 1 } as const;
const undecided = (candidates: number, keyless = candidates, afterMs = WAIT_MS) =>
  ({ outcome: 'undecided', candidates, keyless, afterMs }) as const;
/** A purchase without a key. */
const OTHER = { idempotency_key_hash: null, ...responseBody(10_007) };

const logs: Readonly<Record<string, LogRow>> = {
  nothing: { entries: [], ...undecided(0) },
  'the purchase': { entries: [{}], ...committed },
  'the purchase, two seconds early by its clock': { entries: [{ earlierMs: 2_000 }], ...committed },
  'the purchase, early because its clock was set': { entries: [{ earlierMs: 2_001 }], ...committed },
  'the purchase, much too early': { entries: [{ earlierMs: 602_001 }], ...committed, keyless: 0 },
  'the purchase and a repetition of it with the same response': { entries: [{}, {}], ...committed },
  'two purchases with its key': { entries: [responseBody(10_001), responseBody(10_002)], ...undecided(2, 2, 0) },
  'the purchase and a refusal of it': { entries: [REFUSAL, {}], ...committed },
  'a refusal of it': { entries: [REFUSAL], outcome: 'not-committed', afterMs: 0, keyless: 0 },
  'a failure of the service': { entries: [FAILURE], ...undecided(1) },
  'a service that was unavailable': { entries: [{ ...FAILURE, error_type: 'unavailable' }], ...undecided(1) },
  'a failure of an unknown kind': { entries: [{ success: 0, error_type: null, response_body: '{}' }], ...undecided(1) },
  'a refusal of it and a failure of the service': { entries: [REFUSAL, FAILURE], ...undecided(1) },
  'the purchase with its fields in another order': { entries: [bodyOf(Object.fromEntries(Object.entries(VM).toReversed()))], ...committed },
  'an equal purchase without a key': { entries: [OTHER], ...undecided(1) },
  'the purchase and an equal one without a key': { entries: [OTHER, {}], ...committed, keyless: 2 },
  'a refusal of somebody else': { entries: [{ ...REFUSAL, idempotency_key_hash: null }], ...undecided(0) },
  'a purchase of something else without a key': { entries: [{ ...OTHER, ...bodyOf({ ...VM, cores: 2 }) }], ...undecided(1) },
  'an entry whose form is not JSON': { entries: [{ request_body: 'cut off' }], ...committed },
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
};

function expectOutcome(found: Reconciliation, { outcome, candidates }: LogRow, loss: string): void {
  expect.soft(found.outcome, loss).toBe(outcome);
  if (found.outcome === 'undecided') {
    expect.soft(found.candidates, loss).toHaveLength(candidates ?? 0);
    expect(found.read).toMatchObject({ entries: expect.any(Number), isComplete: true });
    expect.soft(found.advice, loss).toMatch(candidates ? /candidates|still arrive/ : /still arrive|proves nothing/);
  }
  if (found.outcome === 'not-committed') expect(found.entry).toMatchObject({ success: 0 });
  if (found.outcome !== 'committed') return;
  expect(found).toMatchObject({ operation: 'createVm', data: { config: { cores: 1 } }, entry: { success: 1 } });
  expect(found.data).toHaveProperty('identifier');
}

describe.each(Object.entries(logs))('the log has %s', (_, row) => {
  function fill(service: ScriptedService): void {
    for (const { earlierMs = 0, idempotency_key_hash: keyHash, ...entry } of row.entries) {
      const purchase = sentBy(service);
      service.addEntry({ ...purchase, ...(keyHash === null && { key: null }), at: purchase.at - earlierMs }, entry);
    }
  }

  test('and names keys: reconcile reports it after each loss of a response', async () => {
    for (const [name, loss] of Object.entries(losses)) {
      const service = scripted({ namesKeys: true });
      const error = await lose(service, loss);
      fill(service);
      expectOutcome(await service.reseller.reconcile(error), row, name);
      expect.soft(service.now() - sentBy(service).at, name).toBe(row.afterMs);
      expect.soft(service.sent, name).toHaveLength(1);
    }
  });

  test('and names no keys: nothing is certainly the purchase', async () => {
    const service = scripted();
    const error = await lose(service);
    fill(service);
    const found = await service.reseller.reconcile(error);
    expect(found).toMatchObject({ outcome: 'undecided', advice: expect.stringMatching(/candidates|proves nothing/) });
    expect(found.outcome === 'undecided' && found.candidates.length).toBe(row.keyless);
    expect(service.now() - sentBy(service).at).toBe(row.keyless > 0 ? 0 : WAIT_MS);
  });
});

test.each([1, 2_001, 59_999, 90_000])('gives up %i ms after the last attempt if the caller says so', async (waitMs) => {
  const service = scripted({ namesKeys: true });
  const error = await lose(service);
  expect(await service.reseller.reconcile(error, { waitMs })).toMatchObject({ outcome: 'undecided' });
  expect(service.now() - sentBy(service).at).toBe(waitMs);
});

test('drops the masks of the log, which could be mistaken for secrets, and names them', async () => {
  for (const mask of ['***', '[hidden]', '(masked)', '••••']) {
    const service = scripted({ namesKeys: true });
    const error = await lose(service);
    const config = { ...CREATED.config, password: mask };
    service.addEntry(sentBy(service), { response_body: JSON.stringify(envelope({ ...CREATED, config })) });
    const found = await service.reseller.reconcile(error);
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

  test.each([400, 402, 404, 409, 422])(
    'a refusal %i of the key settles it as soon as the log shows that each attempt was refused',
    async (status) => {
      for (const arrived of [1, 2]) {
        const service = scripted({ ...KEYS, namesKeys: true });
        const error = await loseOnce(service);
        service.plan(refusal(status));
        for (let count = 0; count < arrived; count++) service.addEntry(sentBy(service), REFUSAL);
        const lostAt = service.now();
        // With one entry of two, an attempt may still arrive, however late.
        expect(await service.reseller.reconcile(error)).toMatchObject(
          arrived === 2
            ? { outcome: 'not-committed', entry: REFUSAL }
            : { outcome: 'undecided', advice: expect.stringContaining('1 of 2 attempts') },
        );
        expect(service.sent).toHaveLength(2);
        expect(service.now() - lostAt < WAIT_MS).toBe(arrived === 2);
      }
    },
  );

  test.each([400, 402, 404, 409, 422])(
    'a refusal %i of a retry says nothing about the first attempt, whose response was lost',
    async (status) => {
      const service = scripted(KEYS);
      await service.reseller.vm.hosts();
      const error = await lose(service, reset, { maxRetries: 1 }, refusal(status));
      expect(error).toMatchObject({
        name: 'OutcomeUnknownError',
        message: expect.stringContaining('says nothing about the earlier one: Refused.'),
        uncertain: true,
        cause: { status },
      });
      // A gateway held it back, for hours.
      service.advance(20_000);
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
    [86_369_999, 2],
    [86_370_000, 1],
  ])('a key that was sent %i ms ago by the clock of the machine, which had slept, is sent %i times', async (slept, times) => {
    const start = Date.UTC(2026, 10, 25);
    let date = start;
    const service = scripted({ lifetime: '86400', date: () => date });
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
      const service = scripted({ ...KEYS, namesKeys: true });
      const error = await loseOnce(service);
      service.plan(...Array.from({ length: 199 }, () => reply));
      fill(service);
      expect((await service.reseller.reconcile(error)).outcome).toBe(outcome);
      expect(new Set(service.sent.map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
    }
  });

  test('waits while the first request is in progress, for a minute and longer', async () => {
    const service = scripted({ lifetime: '86400' });
    const error = await loseOnce(service);
    const began = service.now();
    const inProgress: Reply = (request) =>
      service.now() - began < 59_000 ? refusal(409, 'idempotency_key_in_progress')(request) : success(request);
    service.plan(...Array.from({ length: 199 }, () => inProgress));
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed', data: CREATED });
  });

  test('sends again what may pass, until a response settles the outcome', async () => {
    const service = scripted(KEYS);
    const error = await loseOnce(service);
    service.plan(refusal(503), refusal(429, 'rate_limited', { 'retry-after': '1' }), reset, success);
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed' });
    expect(service.sent).toHaveLength(5);
  });

  test.each([
    // The key must outlive the attempt, which may take 30 s.
    ['60', 29_999, 2],
    ['60', 30_000, 1],
    // Without a usable lifetime, an hour.
    ['0', 3_569_999, 2],
    ['forever', 3_570_000, 1],
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
      service.advance(20_000);
      return reset(request);
    };
    const error = await lose(service, late, { maxRetries: 1 }, late);
    await service.reseller.reconcile(error);
    expect(service.sent).toHaveLength(2);
  });

  test.each([5_000, 31_000, 100_000])(
    'a key that ends in %i ms is not sent after its end, although the service is down until then',
    async (left) => {
      const service = scripted({ lifetime: '86400' });
      const error = await loseOnce(service);
      service.advance(86_400_000 - left);
      const downUntil = service.now() + left + 1_000;
      service.plan(...Array.from({ length: 199 }, (): Reply => (request) => (service.now() < downUntil ? refusal(503) : success)(request)));
      expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'undecided' });
      expect(Math.max(...service.sent.map(({ at }) => at - sentBy(service).at))).toBeLessThan(86_400_000);
    },
  );

  test('a machine that sleeps for a day between two attempts does not send the key again', async () => {
    let slept = 0;
    const service = scripted({ lifetime: '86400', date: () => service.now() + slept });
    await service.reseller.vm.hosts();
    const error = await lose(service, () => {
      slept = 86_400_000;
      return reset({ init: {} });
    });
    expect(error.attempts).toBe(1);
    expect(service.sent).toHaveLength(1);
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
        namesKeys: true,
        onLogRead: (self, readings) => {
          times.push(self.now() - sentBy(self).at);
          if (readings === found) self.addEntry(sentBy(self));
        },
      });
      expect(await service.reseller.reconcile(await lose(service))).toMatchObject({ outcome: 'committed' });
      expect(times).toEqual([0, 4_000, 20_000, 60_000].slice(0, found));
    }
  });

  test('count the wait from the end of the last attempt', async () => {
    const service = scripted({
      namesKeys: true,
      onLogRead: (self) => void (self.now() - sentBy(self).at >= 85_000 && self.addEntry(sentBy(self))),
    });
    service.plan(() => {
      service.advance(30_000);
      return reset({ init: {} });
    });
    const error: unknown = await service.reseller.vm.create(VM).catch((thrown: unknown) => thrown);
    if (!(error instanceof OutcomeUnknownError)) throw error;
    expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed' });
  });

  test('go back to the purchase, however many requests came later, and no further', async () => {
    for (const later of [0, 49, 60, 480]) {
      const service = scripted({ namesKeys: true });
      for (let count = 0; count < 100; count++) await service.reseller.domain.list();
      service.advance(10_000);
      const error = await lose(service);
      service.addEntry(sentBy(service));
      service.advance(5_000);
      for (let count = 0; count < later; count++) await service.reseller.domain.list();
      const before = service.count('/account/requests');
      expect(await service.reseller.reconcile(error)).toMatchObject({ outcome: 'committed' });
      expect(service.count('/account/requests') - before).toBeLessThanOrEqual(Math.ceil((later + 2) / 49) + 1);
    }
  });

  test('cost later requests nothing after a lost one that nobody asked about', async () => {
    const service = scripted({ namesKeys: true });
    await lose(service);
    service.advance(100_000);
    for (let count = 0; count < 500; count++) await service.reseller.domain.list();
    service.advance(10_000);
    const error = await lose(service);
    service.addEntry(sentBy(service, 1));
    const before = service.count('/account/requests');
    await service.reseller.reconcile(error);
    expect(service.count('/account/requests') - before).toBe(1);
  });

  test('prove nothing if the log has none of the requests of the client', async () => {
    const service = scripted({ withoutReadsInLog: true });
    const error = await lose(service);
    service.addEntry(sentBy(service));
    expect(await service.reseller.reconcile(error)).toMatchObject({
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

test('two identical purchases do not share an entry, because each has a key of its own', async () => {
  const service = scripted({ namesKeys: true });
  const errors = [await lose(service), await lose(service)];
  service.addEntry(sentBy(service, 1), responseBody(10_002));
  const [first, second] = await Promise.all(errors.map((error) => service.reseller.reconcile(error)));
  expect(first).toMatchObject({ outcome: 'undecided' });
  expect(second).toMatchObject({ outcome: 'committed', data: { identifier: 10_002 } });
});

test('refuses the error of a client in another process', async () => {
  const service = scripted();
  const error = await lose(service);
  const other = createReseller({ apiKey: API_KEY, baseUrl: 'http://reseller.test' });
  await expect(other.reconcile(error)).rejects.toThrow('reconcile() takes an OutcomeUnknownError of this program and account, or');
});
