/** The connection to PostgreSQL breaks between a commit and its confirmation, so the service cannot learn whether it has committed. */
import { expectInvariants } from '@reseller/service/test/invariants.ts';
import { sandboxDatabase } from '@reseller/service/test/prepared-store.ts';
import { expect, test, vi } from 'vitest';

import { query } from '../database.ts';
import { startServer } from '../process.ts';
import type { Server } from '../process.ts';
import { expectReservationsUndone } from './kept.ts';
import { postgresPlace } from './place.ts';
import type { Place } from './place.ts';
import { goToMidMonth, newAccount } from './provider.ts';
import type { Account } from './provider.ts';
import { proxyTo } from './proxy.ts';
import type { Connection, Watch } from './proxy.ts';
import { fetchOf, vmPurchase } from './request.ts';
import type { ServiceResponse, Request } from './request.ts';

const HOSTNAME = 'bought-once';
const PURCHASE = vmPurchase(HOSTNAME, { key: 'once' });
const WAIT = { timeout: 300_000, interval: 50 };

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

test('sends no success without a confirmed commit, logs the request at most once, and a repeated purchase buys one VM', async () => {
  const url = await sandboxDatabase();
  const gate = commitGate();
  const place = postgresPlace(url, (await proxyTo(url, gate.watch)).url);
  const server = await startServer(place.environment());
  await goToMidMonth(server);
  for (const { commit, account } of await withAccounts(server)) {
    const held = gate.holdAfter(commit.stored);
    let response: ServiceResponse | undefined;
    const sent = fetchOf(server.baseUrl, account.apiKey, commit.request).then((received) => (response = received));
    const connection = await held;
    await vi.waitFor(async () => expect(await query(url, commit.written(account)), `${commit.name} is committed`).toHaveLength(1), WAIT);
    expect(response, `${commit.name} has a response before its commit is confirmed`).toBeUndefined();
    connection.cut();
    const { status, body } = await sent;
    expect(status, `response for ${commit.name}`).toBe(503);

    const log = { method: 'POST', path: '/account/requests' } as const;
    const entries = (await fetchOf(server.baseUrl, account.apiKey, log)).body.data;
    const isOwn = ({ requestID }: { requestID: string }) => requestID === body.requestID;
    expect(entries.filter(isOwn).length, `log entries for ${commit.name}`).toBeLessThanOrEqual(1);
    await expectBoughtOnce(server, account, place);
  }
});

/** An account for each commit. */
async function withAccounts(server: Server): Promise<{ commit: Commit; account: Account }[]> {
  const pairs = [];
  for (const commit of commits) pairs.push({ commit, account: await newAccount(server) });
  return pairs;
}

/** Between the service and its database: holds back the confirmation of a commit. */
function commitGate() {
  let trigger: string | undefined;
  let reach = (_connection: Connection): void => {};
  let armed: Connection | undefined;
  const watch: Watch = (sent, connection) => {
    if (trigger !== undefined && sent.includes(trigger)) armed = connection;
    if (armed !== connection || !/\bcommit\b/.test(sent)) return;
    trigger = armed = undefined;
    connection.mute();
    reach(connection);
  };
  return {
    watch,
    /** Mutes the connection whose transaction contains a text, at its commit. */
    holdAfter(text: string): Promise<Connection> {
      const { promise, resolve } = Promise.withResolvers<Connection>();
      reach = resolve;
      trigger = text;
      return promise;
    },
  };
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
