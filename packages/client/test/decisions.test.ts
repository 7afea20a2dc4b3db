/**
 * The effect of each kind of response on a call: whether the client sends it again, and how it ends. Each row of the table states the
 * facts of one response. The tests put each row before and after responses of every kind, at servers with and without support for keys.
 */
import { describe, expect, test } from 'vitest';

import { OutcomeUnknownError, ResellerError } from '../src/index.ts';
import type { Call } from '../src/index.ts';
import { cut, envelope, CREATED, refusal, refused, reset, scripted, silence, success, VM } from './scripted-service.ts';
import type { Reply, ScriptedService } from './scripted-service.ts';

interface Row {
  readonly reply: Reply;
  /** The class of the error that describes the response. */
  readonly error: string;
  /** Whether the request may have been carried out, as far as this response tells. */
  readonly isLost?: true;
  /** Whether the client retries: always, only after a lost response, or never. */
  readonly again: boolean;
  readonly reason?: string;
  readonly status?: number;
}

const page = (status: number, headers?: Record<string, string>): Reply => {
  return () => new Response('<html><h1>Bad gateway</h1></html>', { status, ...(headers && { headers }) });
};
const text = (body: string, status = 200): Reply => {
  return () => new Response(body, { status });
};

/** A response that says that nothing was done, and that a retry would be refused as well. */
const final = (status: number, error: string): Row => ({ reply: refusal(status), error, again: false, status });
/** A refusal of the caller or of any request at this moment. */
const passing = (status: number, error: string, again: boolean): Row => ({ reply: refusal(status), error, again, status });
const lost = (status: number, error: string): Row => ({ reply: refusal(status), error, isLost: true, again: true, status });
const failed = (status: number): Row => lost(status, 'ServerError');
const foreign = (reply: Reply, status: number, reason: string): Row => {
  return { reply, error: 'ResponseError', isLost: true, again: true, status, reason };
};

const rows: Readonly<Record<string, Row>> = {
  'no connection': { reply: refused, error: 'ConnectionError', again: true },
  'a reset': { reply: reset, error: 'ConnectionError', isLost: true, again: true },
  silence: { reply: silence, error: 'TimeoutError', isLost: true, again: true },
  'a cut response': { reply: cut, error: 'ResponseError', isLost: true, again: true, status: 200, reason: 'cut' },
  'half an envelope that ends well': foreign(text('{"status":"succ'), 200, 'cut'),
  'nothing with status 200': foreign(text(''), 200, 'not-json'),
  'JSON of something else': foreign(text('{"ok":true}'), 200, 'no-envelope'),
  'JSON of something else with status 404': foreign(text('{"error":"no route"}', 404), 404, 'no-envelope'),
  'a page with status 200': foreign(page(200), 200, 'html'),
  'a page with status 400': foreign(page(400), 400, 'html'),
  'a page with status 404': foreign(page(404), 404, 'html'),
  'a page with status 429': foreign(page(429), 429, 'html'),
  'a page with status 501': foreign(page(501), 501, 'html'),
  'a page with status 502': foreign(page(502), 502, 'html'),
  'a page with status 503': foreign(page(503), 503, 'html'),
  'a redirect (302)': foreign(page(302, { location: 'http://a.test/login' }), 302, 'redirect'),
  'a redirect (307) with an envelope': foreign(refusal(307), 307, 'redirect'),
  'an envelope of success with status 500': {
    reply: () => Response.json(envelope(CREATED), { status: 500 }),
    error: 'ServerError',
    isLost: true,
    again: true,
    status: 500,
  },
  'an envelope of failure with status 200': final(200, 'ResellerError'),
  '400': final(400, 'InvalidError'),
  '401': passing(401, 'AuthenticationError', false),
  '402': final(402, 'CreditLimitError'),
  '403': passing(403, 'PermissionError', false),
  '404': final(404, 'NotFoundError'),
  '405': final(405, 'ResellerError'),
  '408': lost(408, 'ResellerError'),
  '409': final(409, 'ConflictError'),
  '409, the first request is in progress': {
    reply: refusal(409, 'idempotency_key_in_progress'),
    error: 'ConflictError',
    isLost: true,
    again: true,
    status: 409,
  },
  '409, the key was used before': {
    reply: refusal(409, 'idempotency_key_reused'),
    error: 'ConflictError',
    again: false,
    status: 409,
  },
  '413': final(413, 'InvalidError'),
  '415': final(415, 'InvalidError'),
  '418': final(418, 'ResellerError'),
  '422': final(422, 'InvalidError'),
  '425': lost(425, 'ResellerError'),
  '429': passing(429, 'RateLimitError', true),
  '499': final(499, 'ResellerError'),
  '500': failed(500),
  '501': passing(501, 'ServerError', false),
  '502': failed(502),
  '503': failed(503),
  '504': failed(504),
  '599': failed(599),
};
const entries = Object.entries(rows);
const ONE_OF_EACH_KIND = [
  'no connection',
  'a reset',
  'a page with status 404',
  '400',
  '401',
  '409, the first request is in progress',
  '429',
  '503',
];

function rowOf(name: string): Row {
  const row = rows[name];
  if (!row) throw new Error(`The table has no row ${name}.`);
  return row;
}

/** The end of a call, for comparison. */
interface End {
  readonly outcome: string;
  readonly attempts: number;
  readonly uncertain?: boolean;
  readonly cause?: string;
}

const KEYS = { lifetime: '86400' };
/** Short only if no response comes, because a good response can take longer on a busy machine. */
const timeoutFor = (...planned: readonly Row[]) => (planned.some(({ reply }) => reply === silence) ? { timeoutMs: 3 } : {});

async function endOf(call: Call<unknown>): Promise<End> {
  try {
    return { outcome: 'returned', attempts: (await call.withMeta()).attempts };
  } catch (error) {
    if (!(error instanceof ResellerError)) throw error;
    const { name, attempts, uncertain, cause } = error;
    const isUnknown = error instanceof OutcomeUnknownError;
    return { outcome: name, attempts, uncertain, ...(isUnknown && cause instanceof Error && { cause: cause.name }) };
  }
}

/** A service, and a client that knows whether it honours keys. */
async function start(honours: boolean): Promise<ScriptedService> {
  const service = scripted(honours ? KEYS : {});
  await service.reseller.vm.hosts();
  return service;
}

/** The end of a purchase that gets these responses, one after another, and then succeeds. */
function expectedEnd(responses: readonly Row[], honours: boolean, maxRetries: number): End {
  let isLost = false;
  for (const [index, { error, isLost: losesIt = false, again }] of responses.entries()) {
    // A refusal does not settle an earlier attempt that may still arrive.
    isLost ||= losesIt;
    const isSentAgain = index < maxRetries && again && (!isLost || honours);
    if (isSentAgain) continue;
    const attempts = index + 1;
    return isLost
      ? { outcome: 'OutcomeUnknownError', attempts, uncertain: true, cause: error }
      : { outcome: error, attempts, uncertain: false };
  }
  return { outcome: 'returned', attempts: responses.length + 1 };
}

describe.each(entries)('%s', (_, row) => {
  test('as the only response to a purchase: the error has its class, status and reason', async () => {
    const service = await start(true);
    service.plan(row.reply);
    const error: unknown = await service.reseller.vm
      .create(VM, { maxRetries: 0, idempotencyKey: 'order-1', ...timeoutFor(row) })
      .catch((thrown: unknown) => thrown);
    const shown = error instanceof OutcomeUnknownError ? error.cause : error;
    expect(error).toMatchObject({
      name: row.isLost ? 'OutcomeUnknownError' : row.error,
      operation: 'createVm',
      attempts: 1,
      uncertain: row.isLost ?? false,
      idempotencyKey: 'order-1',
      ...(row.status !== undefined && { status: row.status }),
    });
    expect(shown).toMatchObject({ name: row.error, uncertain: row.isLost ?? false, ...(row.reason && { reason: row.reason }) });
    for (const thrown of [error, shown]) expect(Object.values(Object(thrown))).not.toContain(undefined);
    if (row.status === undefined) expect(error).not.toHaveProperty('status');
    expect(service.sent).toHaveLength(1);
  });

  test.each([
    ['honours keys', true],
    ['honours no keys', false],
  ])('before and after other responses, at a server that %s', async (__, honours) => {
    const found: Record<string, End> = {};
    const expected: Record<string, End> = {};
    const pairs = ONE_OF_EACH_KIND.flatMap((other): [string, readonly Row[]][] => [
      [`then ${other}`, [row, rowOf(other)]],
      [`after ${other}`, [rowOf(other), row]],
    ]);
    for (const [pair, responses] of pairs) {
      for (const maxRetries of [1, 2]) {
        const service = await start(honours);
        service.plan(...responses.map(({ reply }) => reply));
        const name = `${pair}, with at most ${maxRetries} retries`;
        found[name] = await endOf(service.reseller.vm.create(VM, { maxRetries, ...timeoutFor(...responses) }));
        expected[name] = expectedEnd(responses, honours, maxRetries);
        // Every attempt sends the same request.
        expect(new Set(service.sent.map(({ key, body }) => `${key} ${body}`)).size).toBe(1);
      }
    }
    expect(found).toEqual(expected);
  });

  test('as the response to a read: the outcome is never unknown, and the read is retried if that can help', async () => {
    for (const honours of [true, false]) {
      let calls = 0;
      const service = scripted({
        ...(honours ? KEYS : {}),
        config: { middleware: [(next) => async (url, init) => (calls++ === 0 ? row.reply({ init }) : next(url, init))] },
      });
      const end = await endOf(service.reseller.domain.list(timeoutFor(row)));
      expect(end).toEqual(row.again ? { outcome: 'returned', attempts: 2 } : { outcome: row.error, attempts: 1, uncertain: false });
    }
  });
});

test.each([[{ list: [] }], [{ domain: { name: 'a.test' } }], [[]], [null]])(
  'does not take the data of another operation, %j, for the purchase',
  async (data) => {
    const { reseller, plan } = scripted();
    plan(() => Response.json(envelope(data)));
    await expect(reseller.vm.create(VM)).rejects.toMatchObject({
      name: 'OutcomeUnknownError',
      cause: { name: 'ResponseError', reason: 'other-data' },
    });
  },
);

test('sends a purchase that succeeds once', async () => {
  const service = await start(true);
  service.plan(success);
  expect(await service.reseller.vm.create(VM).withMeta()).toMatchObject({
    data: CREATED,
    requestID: 'id-of-the-purchase',
    message: 'Done.',
    status: 200,
    attempts: 1,
  });
  expect(service.sent).toHaveLength(1);
});
