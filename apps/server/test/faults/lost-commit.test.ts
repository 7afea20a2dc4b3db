/**
 * PostgreSQL crashes or fails over between a commit and the moment at which its log is on the disk. The service commits without waiting for
 * the disk, and flushes the log before it responds. A proxy holds the flush back.
 */
import { expectInvariants } from '@reseller/service/test/invariants.ts';
import { sandboxDatabase } from '@reseller/service/test/prepared-store.ts';
import { expect, onTestFinished, test, vi } from 'vitest';

import { query } from '../database.ts';
import { startServer } from '../process.ts';
import type { Server } from '../process.ts';
import { expectReservationsUndone } from './kept.ts';
import { ownPostgres, ownPostgresPair } from './own-postgres.ts';
import { postgresPlace } from './place.ts';
import type { Place } from './place.ts';
import { goToMidMonth, newAccount } from './provider.ts';
import type { Account } from './provider.ts';
import { proxyTo } from './proxy.ts';
import type { Passes } from './proxy.ts';
import { fetchOf, vmPurchase } from './request.ts';
import type { ServiceResponse, Request } from './request.ts';

/** A part of the statement that waits for the disk. */
const FLUSH = 'pg_logical_emit_message';
const HOSTNAME = 'bought-once';
const PURCHASE = vmPurchase(HOSTNAME, { key: 'once' });
const WAIT = { timeout: 60_000, interval: 50 };

interface Commit {
  readonly name: string;
  readonly request: Request;
  /** A value that its transaction stores, and no earlier one. */
  readonly stored: string;
  /** A query for the rows of an account that the transaction has written. */
  written(account: Account): string;
}

const commits: readonly Commit[] = [
  {
    name: 'the reservation of a purchase',
    request: PURCHASE,
    stored: HOSTNAME,
    written: ({ id }) => `select 1 from vms where account_id = '${id}'`,
  },
  {
    name: 'the confirmation of a purchase',
    request: PURCHASE,
    stored: '/vm/create',
    written: ({ id }) => `select 1 from positions where account_id = '${id}'`,
  },
  {
    name: 'the log entry of a read',
    request: { method: 'GET', path: '/vm/list/hosts' },
    stored: '/vm/list/hosts',
    written: ({ id }) =>
      `select 1 from (select account_id, endpoint from request_log_inbox union all select account_id, endpoint from request_log) as entries
       where account_id = '${id}' and endpoint = '/vm/list/hosts'`,
  },
];

test(
  'sends no success for a commit that a crash of the database undoes, and a repeated purchase buys one VM',
  { timeout: 300_000 },
  async () => {
    const database = await ownPostgres();
    const flushes = flushGate();
    const place = postgresPlace(database.url, (await proxyTo(database.url, flushes.passes)).url);
    const server = await startServer(place.environment());
    await goToMidMonth(server);
    for (const { commit, account } of await withAccounts(server)) {
      const rows = () => query(database.url, commit.written(account));
      const writers = await stopLogWriters(database.url);
      const held = flushes.holdAfter(commit.stored);
      let response: ServiceResponse | undefined;
      const sent = fetchOf(server.baseUrl, account.apiKey, commit.request).then((received) => (response = received));
      await held;
      await vi.waitFor(async () => expect(await rows(), `${commit.name} is committed`).toHaveLength(1), WAIT);
      expect(response, `${commit.name} has a response before its log is on the disk`).toBeUndefined();

      const crashed = database.crash();
      expect((await sent).status, `response for ${commit.name}`).toBe(503);
      writers.resume();
      await crashed;
      flushes.open();
      await database.start();
      expect(await rows(), `the crash has not undone ${commit.name}, so the test shows nothing`).toEqual([]);
      await expectBoughtOnce(server, account, place);
    }
  },
);

test('logs a request once when it cannot learn whether its transaction was committed', async () => {
  const url = await sandboxDatabase();
  const flushes = flushGate();
  const proxy = await proxyTo(url, flushes.passes);
  const server = await startServer(postgresPlace(url, proxy.url).environment());
  await goToMidMonth(server);
  for (const { commit, account } of await withAccounts(server)) {
    const held = flushes.holdAfter(commit.stored);
    const sent = fetchOf(server.baseUrl, account.apiKey, commit.request);
    await held;
    await vi.waitFor(async () => expect(await query(url, commit.written(account)), `${commit.name} is committed`).toHaveLength(1), WAIT);
    flushes.open();
    flushes.cut();
    const { status, body } = await sent;
    expect(status, `response for ${commit.name}`).toBe(503);

    const log = { method: 'POST', path: '/account/requests' } as const;
    const entries = (await fetchOf(server.baseUrl, account.apiKey, log)).body.data;
    const isOwn = ({ requestID }: { requestID: string }) => requestID === body.requestID;
    expect(entries.filter(isOwn).length, `log entries for ${commit.name}`).toBeLessThanOrEqual(1);
  }
});

/** An account for each commit. */
async function withAccounts(server: Server): Promise<{ commit: Commit; account: Account }[]> {
  const pairs = [];
  for (const commit of commits) pairs.push({ commit, account: await newAccount(server) });
  return pairs;
}

test('sends no success for a purchase whose commit does not reach the promoted standby', { timeout: 120_000, tags: 'deep' }, async () => {
  const pair = await ownPostgresPair();
  const flushes = flushGate();
  const proxy = await proxyTo(pair.url, flushes.passes);
  const server = await startServer(postgresPlace(pair.url, proxy.url).environment());
  await goToMidMonth(server);
  const account = await newAccount(server);

  const writers = await stopLogWriters(pair.url);
  const held = flushes.holdAfter('/vm/create');
  const sent = fetchOf(server.baseUrl, account.apiKey, PURCHASE);
  await held;
  const crashed = pair.crash();
  expect((await sent).status).toBe(503);
  writers.resume();
  await crashed;
  flushes.open();
  await query(pair.standbyUrl, 'select pg_promote()');
  proxy.moveTo(pair.standbyUrl);
  await expectBoughtOnce(server, account, postgresPlace(pair.standbyUrl));
});

test('sends no success for a commit of the old primary once its flushes reach the new one', { timeout: 240_000 }, async () => {
  // A lease that is renewed in between makes the instance leave the old primary before it commits. Then the same is tried again.
  for (let attempt = 1; !(await commitsToOldPrimary()); attempt++)
    expect(attempt, 'no attempt committed to the old primary').toBeLessThan(5);
});

/** @returns Whether the old primary had the commit. If it had none, nothing was shown. */
async function commitsToOldPrimary(): Promise<boolean> {
  const pair = await ownPostgresPair();
  const flushes = flushGate();
  const proxy = await proxyTo(pair.url, flushes.passes);
  const server = await startServer(postgresPlace(pair.url, proxy.url).environment());
  await goToMidMonth(server);
  const account = await newAccount(server);
  expect((await fetchOf(server.baseUrl, account.apiKey, vmPurchase('before'))).status).toBe(200);

  await vi.waitFor(async () => expect(await hasVm(pair.standbyUrl, 'before')).toBe(true), WAIT);
  await query(pair.standbyUrl, 'select pg_promote()');
  proxy.moveTo(pair.standbyUrl);
  // The connections that do the work still lead to the old primary.
  flushes.cut();
  const response = await fetchOf(server.baseUrl, account.apiKey, PURCHASE);
  const isOnOldPrimary = await hasVm(pair.url, HOSTNAME);
  if (isOnOldPrimary) expect(response.status).toBe(503);
  await expectBoughtOnce(server, account, postgresPlace(pair.standbyUrl));
  return isOnOldPrimary;
}

async function hasVm(url: string, hostname: string): Promise<boolean> {
  return (await query(url, `select 1 from vms where hostname = '${hostname}'`)).length > 0;
}

/** Between the service and its database: holds back the statement that waits for the disk. */
function flushGate() {
  let state: 'open' | 'armed' | 'holding' = 'open';
  let trigger = '';
  let reach = (): void => {};
  let cutLast = (): void => {};
  const passes: Passes = (sent, cut) => {
    if (state === 'armed' && sent.includes(trigger)) state = 'holding';
    if (!sent.includes(FLUSH)) return true;
    cutLast = cut;
    if (state !== 'holding') return true;
    reach();
    return false;
  };
  return {
    passes,
    /** Holds flushes back once a text has passed. Resolves when one is held back. */
    holdAfter(text: string): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      reach = resolve;
      trigger = text;
      state = 'armed';
      return promise;
    },
    open() {
      state = 'open';
    },
    /** Breaks the connection that waits for the disk. */
    cut: () => cutLast(),
  };
}

/** Stops the processes of a server that write its log to the disk, so that only a flush does. */
async function stopLogWriters(url: string): Promise<{ resume(): void }> {
  const rows = await query(
    url,
    `select pid from pg_stat_activity where backend_type in ('walwriter', 'background writer', 'checkpointer', 'autovacuum launcher')`,
  );
  const signal = (name: NodeJS.Signals): void => {
    for (const { pid } of rows) process.kill(Number(pid), name);
  };
  signal('SIGSTOP');
  let areStopped = true;
  const resume = (): void => {
    if (areStopped) signal('SIGCONT');
    areStopped = false;
  };
  onTestFinished(resume);
  return { resume };
}

/** Repeats the purchase with its key until it succeeds. */
async function expectBoughtOnce(server: Server, account: Account, place: Place): Promise<void> {
  const bought = await vi.waitFor(async () => {
    const response = await fetchOf(server.baseUrl, account.apiKey, PURCHASE);
    expect(response.status).toBe(200);
    return response;
  }, WAIT);
  expect((await fetchOf(server.baseUrl, account.apiKey, PURCHASE)).body).toEqual(bought.body);
  await expectReservationsUndone(place);
  await place.examine(async (store) => {
    const vms = await store.read((db) =>
      db.selectFrom('vms').select(['id', 'state']).where('account_id', '=', account.id).where('hostname', '=', HOSTNAME).execute(),
    );
    expect(vms).toEqual([{ id: bought.body.data.identifier, state: 'running' }]);
    await expectInvariants(store);
  });
}
