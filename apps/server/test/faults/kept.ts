/** Conditions that must hold for a load after any fault. */
import type { Store } from '@reseller/service';
import { expectInvariants } from '@reseller/service/test/invariants.ts';
import { expect, vi } from 'vitest';

import { send } from './load.ts';
import type { Load, Sent } from './load.ts';
import type { Place } from './place.ts';
import { fetchOf } from './request.ts';
import type { ServiceResponse } from './request.ts';

/** A load, and the instance and store to check after the fault. */
export interface Survey {
  readonly load: Load;
  readonly place: Place;
  /** Base URL of a running instance. */
  readonly instance: string;
  /**
   * Whether a purchase with a 503 may have been made nevertheless, because the store was unavailable for a while.
   * A database may carry out a commit whose response is lost; the embedded store cannot.
   */
  readonly outage?: { readonly mayHaveBought: boolean };
  /** Whether Idempotency-Keys have expired, so that a repeated purchase would be a new one. */
  readonly keysAreOver?: boolean;
}

/**
 * Every purchase with a response exists and is charged once. A purchase without a response was made at most once, and
 * exactly once after it is repeated with its key. Every request with a response is in the log.
 * No reservation remains, and the invariants of the store hold.
 */
export async function expectAllKept(survey: Survey): Promise<void> {
  const { load, place } = survey;
  await expectReservationsUndone(place);
  if (!survey.keysAreOver) await repeatPurchases(survey);
  expectExpectedStatuses(survey);
  await expectChargedOnce(survey);
  await expectLogged(survey);
  await place.examine(async (store) => {
    await expectInvariants(store);
    await expectExactSpending(store);
    await expectInStore(store, load);
  });
}

/** Waits until no interrupted purchase is left. */
export async function expectReservationsUndone(place: Place): Promise<void> {
  await place.waitFor(async (store) => expect(await leftReservations(store)).toEqual([]));
}

/** The sums under each spending limit are the prices of the purchases that were made. Undone purchases have given their part back. */
async function expectExactSpending(store: Store): Promise<void> {
  const { limits, vms, charges } = await store.read(async (db) => ({
    limits: await db
      .selectFrom('spending_limits')
      .innerJoin('spendings', 'spendings.limit_id', 'spending_limits.id')
      .select(['account_id', 'period', 'spent'])
      .execute(),
    vms: await db.selectFrom('vms').select(['account_id', 'monthly_price as price']).execute(),
    charges: await db.selectFrom('charges').select(['account_id', 'amount as price']).where('type', '!=', 'RENEW').execute(),
  }));
  expect(limits.length).toBeGreaterThan(0);
  const sums: Record<string, { days: number; months: number; bought: number }> = {};
  for (const { account_id, period, spent } of limits) {
    const sum = (sums[account_id] ??= { days: 0, months: 0, bought: 0 });
    sum[period.length === 'YYYY-MM'.length ? 'months' : 'days'] += spent;
  }
  for (const { account_id, price } of [...vms, ...charges]) {
    const sum = sums[account_id];
    if (sum) sum.bought += price;
  }
  for (const [account, { days, months, bought }] of Object.entries(sums))
    expect([account, days, months]).toEqual([account, bought, bought]);
}

/** Reservations in the store, and keys whose first request is in progress. */
export async function leftReservations(store: Store): Promise<string[]> {
  return store.read(async (db) => {
    const reservations = await db.selectFrom('reservations').select('id').execute();
    const keys = await db.selectFrom('idempotency_keys').select('key_hash').where('state', '=', 'pending').execute();
    return [...reservations.map(({ id }) => id), ...keys.map(({ key_hash }) => key_hash)];
  });
}

/** On a busy machine, PostgreSQL may take longer than the time limit of a statement, which is a short outage. */
export const BUSY_DATABASE = { mayHaveBought: true };

/** Runs a check. After an outage it retries, because a request on a connection that broke in the outage may still get a 503. */
function onceRecovered<T>({ outage }: Survey, act: () => Promise<T>): Promise<T> {
  return outage ? vi.waitFor(act, { timeout: 300_000, interval: 250 }) : act();
}

/** Number of purchases that are repeated concurrently. */
const REPEAT_BATCH_SIZE = 8;

/** Repeats each purchase with a key. It gets its first response again, or is made now. */
async function repeatPurchases(survey: Survey): Promise<void> {
  const { load, instance } = survey;
  const { sent, account } = load;
  const repeatable = sent.filter(({ buys, request }) => buys && request.key !== undefined);
  for (let from = 0; from < repeatable.length; from += REPEAT_BATCH_SIZE) {
    await Promise.all(
      repeatable.slice(from, from + REPEAT_BATCH_SIZE).map(async (purchase) => {
        const before = successOf(purchase);
        const again = await onceRecovered(survey, async () => {
          // A server may close an idle connection while a request is on its way. The next attempt has another connection.
          const response = (await send(purchase, instance, account)) ?? (await send(purchase, instance, account));
          expect([purchase.request, response?.status, response?.body.message]).toEqual([purchase.request, 200, expect.any(String)]);
          return response;
        });
        if (before) expect(again?.body).toEqual(before.body);
      }),
    );
  }
}

/** Callers get only responses of a healthy service, 409 while another instance has the request, and 503 while the store is unavailable. */
function expectExpectedStatuses({ load: { sent }, outage }: Survey): void {
  for (const { request, buys, responses } of sent) {
    for (const response of responses) {
      const { status, body } = response;
      if (outage && status === 503) {
        expectUnavailable(response);
        continue;
      }
      const usual = request.path.endsWith('/authcode') ? 404 : 200;
      const expected = buys && body.type === 'idempotency_key_in_progress' ? 409 : usual;
      expect(status, `${request.method} ${request.path}: ${JSON.stringify(body)}`).toBe(expected);
    }
  }
}

/** Expects the envelope of a service that cannot reach its store, with Retry-After. */
export function expectUnavailable({ status, headers, body }: ServiceResponse): void {
  expect({ status, body }).toEqual({
    status: 503,
    body: { status: 'error', type: 'unavailable', requestID: body.requestID, message: expect.any(String), data: null },
  });
  expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(headers.get('content-type')).toMatch(/^application\/json/);
}

/** The closed and current invoices of the account charge each purchase once. */
async function expectChargedOnce(survey: Survey): Promise<void> {
  const { load, instance, outage } = survey;
  const { sent, account } = load;
  const data = (path: string) =>
    onceRecovered(survey, async () => {
      const { status, body } = await fetchOf(instance, account.apiKey, { method: 'GET', path });
      expect(status).toBe(200);
      return body.data;
    });
  const ids = Object.keys(await data('/accounting/invoices'));
  const pages = await Promise.all(['current', ...ids].map((id) => data(`/accounting/invoices/${id}`)));
  const creations = (positions: Readonly<Record<string, readonly { type: string }[]>> = {}) =>
    Object.entries(positions).flatMap(([subject, items]) => items.filter(({ type }) => type === 'CREATE').map(() => subject));
  const vms = pages.flatMap(({ positions }) => creations(positions.vms));
  const domains = pages.flatMap(({ positions }) => creations(positions.domains));
  expect(vms.length, 'a VM is charged twice').toBe(new Set(vms).size);
  expect(domains.length, 'a domain is charged twice').toBe(new Set(domains).size);
  const bought = sent.flatMap((purchase) => {
    const response = successOf(purchase);
    return response ? [String(purchase.buys?.kind === 'vm' ? response.body.data.identifier : response.body.data.domain.name)] : [];
  });
  expect(new Set(bought).size, 'two purchases got the same response').toBe(bought.length);
  const charged = new Set([...vms, ...domains]);
  expect(bought.filter((subject) => !charged.has(subject))).toEqual([]);
  // All other charges belong to requests whose response was lost and that cannot be repeated.
  const isLost = ({ status }: ServiceResponse): boolean => outage?.mayHaveBought === true && status === 503;
  const unknown = sent.filter(({ buys, request, responses }) => buys && request.key === undefined && responses.every(isLost));
  expect(charged.size - bought.length).toBeLessThanOrEqual(unknown.length);
}

/** The request log has every request with a response, and no request that was not sent. */
async function expectLogged(survey: Survey): Promise<void> {
  const { instance } = survey;
  const { sent, account } = survey.load;
  const log = await onceRecovered(survey, () => readLog(instance, account.apiKey));
  const byId = new Map(log.map((entry) => [entry.requestID, entry]));
  expect(byId.size).toBe(log.length);
  const bySubject = Map.groupBy(log, ({ request_body }) => {
    const { hostname, domain } = JSON.parse(request_body);
    return String(hostname ?? domain ?? '');
  });
  for (const { request, buys, times, responses } of sent) {
    if (buys) {
      const entries = bySubject.get(buys.name) ?? [];
      expect(entries.length, `entries of ${buys.name}`).toBeGreaterThanOrEqual(responses.filter(isLogged).length);
      expect(entries.length, `entries of ${buys.name}`).toBeLessThanOrEqual(times);
    }
    for (const { status, body } of responses.filter(isLogged)) {
      if (body.requestID === null) continue;
      expect(byId.get(body.requestID), `${request.method} ${request.path} ${status}`).toMatchObject({
        endpoint: request.path,
        method: request.method,
        success: status === 200 ? 1 : 0,
      });
    }
  }
  // Responses of these operations have no request ID.
  for (const path of ['/account/otp', '/accounting/sales']) {
    const entries = log.filter(({ endpoint }) => endpoint === path).length;
    const own = sent.filter(({ request }) => request.path === path);
    expect(entries).toBeGreaterThanOrEqual(own.flatMap(({ responses }) => responses.filter(isLogged)).length);
    expect(entries).toBeLessThanOrEqual(own.reduce((sum, { times }) => sum + times, 0));
  }
}

/** A store that cannot be written to has no log entry for this response. */
function isLogged({ status }: ServiceResponse): boolean {
  return status !== 503;
}

interface LogItem {
  readonly requestID: string;
  readonly endpoint: string;
  readonly method: string;
  readonly success: number;
  readonly request_body: string;
}

/**
 * The whole log of an account, newest first.
 *
 * @throws If a page of it is refused.
 */
async function readLog(instance: string, apiKey: string): Promise<LogItem[]> {
  const log: LogItem[] = [];
  for (let page = 0; ; page++) {
    // Each request for the log adds an entry to the log.
    const form = page === 0 ? {} : { offset: String(log.length + page) };
    const { status, body } = await fetchOf(instance, apiKey, { method: 'POST', path: '/account/requests', form });
    expect(status).toBe(200);
    const items: readonly LogItem[] = body.data;
    log.push(...items);
    if (items.length < 50) return log;
  }
}

/** The store has each purchase at most once, and every purchase with a response. */
async function expectInStore(store: Store, { sent, account }: Load): Promise<void> {
  const { vms, domains } = await store.read(async (db) => ({
    vms: await db.selectFrom('vms').select(['hostname as name', 'state']).where('account_id', '=', account.id).execute(),
    domains: await db.selectFrom('domains').select(['name', 'state']).where('account_id', '=', account.id).execute(),
  }));
  const names = [...vms, ...domains].map(({ name }) => name);
  expect(names.length, 'a purchase was made twice').toBe(new Set(names).size);
  expect([...vms, ...domains].filter(({ state }) => state !== 'running' && state !== 'registered')).toEqual([]);
  const there = new Set(names);
  expect(sent.filter((purchase) => successOf(purchase) && purchase.buys && !there.has(purchase.buys.name))).toEqual([]);
  const asked = new Set(sent.map(({ buys }) => buys?.name));
  expect(names.filter((name) => !asked.has(name))).toEqual([]);
}

/** The response of a successful purchase. */
function successOf({ buys, responses }: Sent): ServiceResponse | undefined {
  return buys && responses.find(({ status }) => status === 200);
}
