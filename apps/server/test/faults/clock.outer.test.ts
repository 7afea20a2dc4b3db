/** The clock of a machine is wrong: at the start of the service, or from some moment on. */

import { createAccount } from '@reseller/operator-client';
import { expect, test, vi } from 'vitest';

import { runServer, startServer, temporaryDirectory } from '../process.ts';
import type { Server } from '../process.ts';
import { tell } from './figures.ts';
import { expectUnavailable } from './kept.ts';
import { newPlace, sqlitePlace } from './place.ts';
import type { Place } from './place.ts';
import { newAccount, operatorOf, OPERATOR_TOKEN } from './provider.ts';
import { fetchOf, vmPurchase } from './request.ts';
import { wrongClock } from './wrong-clock.ts';
import type { WrongClock } from './wrong-clock.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WRONG_BY = 45 * DAY;
const DEEP = { tags: 'deep' };

/** The rows that a wrong clock would change: invoices of this month and later ones, and the beginning of each account's month. */
async function billing(place: Place) {
  return place.examine((store) =>
    store.read(async (db) => ({
      invoices: await db.selectFrom('invoices').select('id').where('period_start', '>=', thisMonth()).execute(),
      months: await db.selectFrom('accounts').select('period_start').distinct().execute(),
    })),
  );
}

async function expectNothingBilled(place: Place): Promise<void> {
  expect(await billing(place)).toEqual({ invoices: [], months: [{ period_start: thisMonth() }] });
}

/** The month of the real clock. */
function thisMonth(): number {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth()) / 1000;
}

async function readiness({ baseUrl }: Server): Promise<unknown> {
  const response = await fetch(`${baseUrl}/readyz`);
  return [response.status, await response.json()];
}

const READY = [200, { status: 'ready', infrastructure: 'simulated' }];
const NOT_READY = [503, { status: 'unavailable', reason: 'clock' }];

/** A clock jumps while the server runs, and is set right again. */
async function expectRefusedUntilRight(server: Server, clock: WrongClock, place: Place): Promise<void> {
  const { baseUrl, operatorUrl } = server;
  const { apiKey } = await newAccount(server);
  expect((await fetchOf(baseUrl, apiKey, vmPurchase('before'))).status).toBe(200);
  clock.set(server, WRONG_BY);
  await vi.waitFor(async () => expect(await readiness(server)).toEqual(NOT_READY), { timeout: 300_000, interval: 20 });
  for (const request of [vmPurchase('meanwhile'), { method: 'GET', path: '/accounting/invoices' }] as const)
    expectUnavailable(await fetchOf(baseUrl, apiKey, request));
  const operator = await fetch(`${operatorUrl}/accounts`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
  expect(operator.status).toBe(503);
  expect(await operator.json()).toMatchObject({ detail: expect.stringMatching(/^The clock of this machine /) });
  expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200);
  // Scheduled jobs run each second.
  await vi.waitFor(() => expect(server.logged()).toContain('scheduled jobs failed'), { timeout: 300_000 });
  expect(server.logged().match(/"msg":"The clock of this machine/g)).toHaveLength(1);
  clock.set(server, 0);
  await vi.waitFor(async () => expect(await readiness(server)).toEqual(READY), { timeout: 300_000, interval: 20 });
  expect((await fetchOf(baseUrl, apiKey, vmPurchase('after'))).status).toBe(200);
  await expectNothingBilled(place);
}

test('one of two instances starts with a clock that is 45 days ahead: it refuses, and nothing is billed', async () => {
  const place = await newPlace('postgres');
  const right = await startServer(place.environment());
  const { apiKey } = await newAccount(right);
  for (const name of ['one', 'two', 'three']) expect((await fetchOf(right.baseUrl, apiKey, vmPurchase(name))).status).toBe(200);
  let refused = 0;
  for (const ahead of [WRONG_BY, -WRONG_BY]) {
    const { code, stderr } = await runServer({ ...place.environment(), ...wrongClock(ahead).environment });
    expect(code).toBe(1);
    refused++;
    expect(stderr.split('\n').filter((line) => !line.startsWith('{'))).toEqual([
      expect.stringMatching(/^The clock of this machine is 45 days (ahead of|behind) the clock of the database, .* with NTP\.$/),
      '',
    ]);
  }
  await expectNothingBilled(place);
  expect((await fetchOf(right.baseUrl, apiKey, vmPurchase('four'))).status).toBe(200);
  expect(await place.examine((store) => store.read((db) => db.selectFrom('instances').selectAll().execute()))).toHaveLength(1);
  const { invoices } = await billing(place);
  const vms = await place.examine((store) => store.read((db) => db.selectFrom('vms').select('id').execute()));
  tell(`wrong clock at the start: ${refused} instances refused, ${invoices.length} invoices, ${vms.length} VMs sold by the other instance`);
});

test('the clock of one of two instances jumps 45 days: it is not ready and bills nothing until its clock is right', DEEP, async () => {
  const place = await newPlace('postgres');
  const clock = wrongClock(0);
  const [right, wrong] = await Promise.all([
    startServer(place.environment()),
    startServer({ ...place.environment(), ...clock.environment, RESELLER_LEASE_SECONDS: '2' }),
  ]);
  await expectRefusedUntilRight(wrong, clock, place);
  expect(await readiness(right)).toEqual(READY);
});

test('a difference within RESELLER_MAX_CLOCK_SKEW_SECONDS is accepted, and a larger one is not', DEEP, async () => {
  const place = await newPlace('postgres');
  const settings = { ...place.environment(), RESELLER_MAX_CLOCK_SKEW_SECONDS: '60' };
  await startServer({ ...settings, ...wrongClock(40_000).environment });
  const { code, stderr } = await runServer({ ...settings, ...wrongClock(80_000).environment });
  expect([code, stderr]).toEqual([1, expect.stringContaining('may differ by at most 60 seconds')]);
});

test('the clock of an embedded store jumps 45 days: the service is not ready and bills nothing until the clock is right', async () => {
  const place = sqlitePlace(temporaryDirectory());
  const clock = wrongClock(0);
  const server = await startServer({ ...place.environment(), ...clock.environment, RESELLER_MAX_CLOCK_JUMP_HOURS: '48' });
  await expectRefusedUntilRight(server, clock, place);
  expect(server.process.exitCode).toBeNull();
});

/** Of a live service. */
const LIVE = {
  RESELLER_MODE: 'live',
  RESELLER_INFRASTRUCTURE: 'simulated',
  RESELLER_EXTENSION: 'on',
  RESELLER_PUBLIC_URL: 'https://api.example.com',
};

const LIVE_READY = [200, expect.objectContaining({ infrastructure: 'simulated' })];

test('at the end of a month, the clock of a live service jumps 47 hours: it bills nothing until the clock is right', async () => {
  const place = sqlitePlace(temporaryDirectory());
  // The service takes the last hour of the month for the present.
  const now = new Date();
  const lastHour = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - HOUR - now.getTime();
  const clock = wrongClock(lastHour);
  const server = await startServer({ ...place.environment(), ...LIVE, ...clock.environment });
  const before = await billing(place);
  await createAccount({ client: operatorOf(server), body: { name: 'Customer', credit_limit: '100.00' } });
  clock.set(server, lastHour + 47 * HOUR);
  await vi.waitFor(async () => expect(await readiness(server)).toEqual(NOT_READY), { timeout: 300_000, interval: 20 });
  clock.set(server, lastHour);
  await vi.waitFor(async () => expect(await readiness(server)).not.toEqual(NOT_READY), { timeout: 300_000, interval: 20 });
  expect(await billing(place)).toEqual({ ...before, months: [{ period_start: thisMonth() }] });
});

test.each([3, 20, 72])(
  'a live service that was off for %d hours starts by itself when NTP keeps the clock right, and not before',
  async (hours) => {
    const environment = { ...sqlitePlace(temporaryDirectory()).environment(), ...LIVE };
    const first = await startServer(environment);
    expect(await first.end('SIGTERM')).toBe(0);
    const clock = wrongClock(hours * HOUR);
    const refused = await runServer({ ...environment, ...clock.environment });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('unless NTP keeps the clock right')]);
    clock.synchronize();
    const begun = performance.now();
    const second = await startServer({ ...environment, ...clock.environment });
    tell(
      `off for ${hours} hours: refused without NTP, ready ${((performance.now() - begun) / 1_000).toFixed(1)} s after NTP set the clock`,
    );
    expect(await readiness(second)).toEqual(LIVE_READY);
  },
);

test('the clock of a running live service jumps 20 hours, as after a pause of its machine: it goes on when NTP keeps it right', async () => {
  const clock = wrongClock(0);
  const server = await startServer({ ...sqlitePlace(temporaryDirectory()).environment(), ...LIVE, ...clock.environment });
  clock.set(server, 20 * HOUR);
  await vi.waitFor(async () => expect(await readiness(server)).toEqual(NOT_READY), { timeout: 300_000, interval: 20 });
  clock.synchronize();
  await vi.waitFor(async () => expect(await readiness(server)).toEqual(LIVE_READY), { timeout: 300_000, interval: 20 });
});

test('an embedded store that rested for 45 days needs the confirmation of an operator in live mode, and then bills', DEEP, async () => {
  const directory = temporaryDirectory();
  const environment = {
    ...sqlitePlace(directory).environment(),
    ...LIVE,
  };
  const first = await startServer(environment);
  expect(await first.end('SIGTERM')).toBe(0);
  const later = wrongClock(WRONG_BY).environment;
  const refused = await runServer({ ...environment, ...later });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(
    /the store was last in use at .*, and at most 60 minutes .* unless NTP .* confirm it with RESELLER_CLOCK_CONFIRMED_UNTIL, /,
  );
  const tooEarly = new Date(Date.now() + WRONG_BY - DAY).toISOString();
  expect((await runServer({ ...environment, ...later, RESELLER_CLOCK_CONFIRMED_UNTIL: tooEarly })).code).toBe(1);
  const confirmed = new Date(Date.now() + WRONG_BY + DAY).toISOString();
  const second = await startServer({ ...environment, ...later, RESELLER_CLOCK_CONFIRMED_UNTIL: confirmed });
  expect(await second.end('SIGTERM')).toBe(0);
  // The store knows the new time now.
  const third = await startServer({ ...environment, ...later });
  expect(await readiness(third)).toEqual(LIVE_READY);
});

test('a sandbox that rested for 45 days starts and bills them', async () => {
  const place = sqlitePlace(temporaryDirectory());
  const first = await startServer(place.environment());
  const { apiKey } = await newAccount(first);
  expect((await fetchOf(first.baseUrl, apiKey, vmPurchase('one'))).status).toBe(200);
  await first.end('SIGTERM');
  const second = await startServer({ ...place.environment(), ...wrongClock(WRONG_BY).environment });
  expect(await readiness(second)).toEqual(READY);
  expect((await billing(place)).invoices.length).toBeGreaterThan(0);
});
