/**
 * An action that sends many concurrent requests, of which only some can succeed. PostgreSQL commits them in any order, so the model
 * cannot predict each outcome. Instead, it applies the outcomes and rejects those that no order explains.
 */
import { expect } from 'vitest';

import type { Fault, Purpose } from '../ports/port-calls.ts';
import { runScheduledJobs } from './actions-time.ts';
import { forgetSkipped } from './actions-usage.ts';
import {
  concurrentChange,
  concurrentRegistrations,
  concurrentJobs,
  concurrentOrders,
  concurrentPurchases,
  concurrentRead,
  concurrentResize,
} from './concurrent-requests.ts';
import type { ConcurrentRequest } from './concurrent-requests.ts';
import { less } from './fraction.ts';
import { heldUnits, isOpen, remainingCents, unpaidCents } from './model-billing.ts';
import { runAllJobs, nextJobTime } from './model-jobs.ts';
import { balanceCredit, balanceOf } from './model-payments.ts';
import { listedAt, priceOf } from './model-prices.ts';
import { freeAddresses, usedOn } from './model-room.ts';
import type { ModelAccount } from './model.ts';
import { randomPurchaseRequest } from './purchases.ts';
import type { Simulation } from './simulation.ts';
import { monthAfter, monthOf } from './virtual-clock.ts';

/** Sends many concurrent requests, sometimes just after the end of a month. Sometimes the service crashes while they are in progress. */
export async function sendConcurrently(sim: Simulation): Promise<void> {
  const { dice, model, clock, world, client, openRequests } = sim;
  // Other requests in progress would influence the outcomes of these requests.
  if (openRequests.length > 0) {
    await client.restart(false);
    for (const { release } of openRequests.splice(0)) release();
  }
  const hasMonthEnded = advanceToNextMonth(sim);
  const crashes = dice.chance(0.25);
  const requests = randomConcurrentRequests(sim, hasMonthEnded);
  const before = new Map(model.accounts.map((account) => [account, { requests: account.requests.length, used: usedCredit(sim, account) }]));
  sim.describe(`concurrently${crashes ? ', until the service crashes' : ''}: ${requests.map(({ text }) => text).join(', ')}`);
  world.calls.plan = [];
  const injected = { failures: 0 };
  world.calls.defaultFault = faultsOf(sim, crashes, injected);
  await sendAll(sim, requests);
  world.calls.defaultFault = () => 'none';
  if (crashes) await client.restart(dice.chance(0.5));
  sim.describe(`outcomes: ${requests.map(({ outcome }) => outcome?.errorType ?? outcome?.status ?? 'none').join(', ')}`);

  runAllJobs(model, world.fleet, clock.seconds());
  for (const request of requests.toSorted((one, other) => one.order - other.order))
    if (request.outcome?.status === 200) await request.applyToModel();
  expectOneWinner(requests);
  const failed = requests.flatMap(({ text, outcome }) => (outcome && outcome.status >= 500 ? [`${text} (${outcome.text})`] : []));
  expect(failed.length, `failures, where ports failed ${injected.failures} times: ${failed.join(', ')}`).toBeLessThanOrEqual(
    injected.failures,
  );
  for (const request of requests) {
    const used = request.account && before.get(request.account)?.used;
    if (used !== undefined) expectPossibleOutcome(sim, request, requests, used);
  }
  expectLimitsKept(sim, requests);
  for (const account of model.accounts) await applyLog(sim, account, before.get(account)?.requests ?? 0);
  await forgetSkipped(sim);
  await runScheduledJobs(sim);
}

/** Advances the clock to the next month if nothing except the end of the month is due by then. The jobs that are due do not run. */
function advanceToNextMonth({ dice, model, clock }: Simulation): boolean {
  const end = monthAfter(monthOf(clock.seconds()));
  if (dice.chance(0.6) || (nextJobTime(model) ?? Infinity) <= end + 1) return false;
  clock.advanceTo(end * 1000 + dice.pick([0, 1, 1000]));
  return true;
}

function randomConcurrentRequests(sim: Simulation, hasMonthEnded: boolean): ConcurrentRequest[] {
  const { dice, model } = sim;
  const requests: ConcurrentRequest[] = [];
  // Half of the purchases are alike, and they come from one account or from all.
  const alike = randomPurchaseRequest(sim);
  const from = dice.chance(0.5) ? alike.account : undefined;
  for (let count = dice.integer(3, 8); count > 0; count--) {
    const purchase = dice.chance(0.5) ? alike : randomPurchaseRequest(sim);
    requests.push(...concurrentPurchases(sim, { ...purchase, account: from ?? dice.pick(model.accounts) }, dice.chance(0.15) ? 2 : 1));
  }
  if (dice.chance(0.3)) requests.push(...concurrentRegistrations(sim, 3));
  const offered = model.servers.find(({ state }) => state === 'offered');
  if (offered && dice.chance(0.3)) requests.push(...concurrentOrders(sim, offered));
  for (const vm of model.vms.filter(({ state }) => state !== 'removed')) {
    const choice = dice.integer(1, 12);
    if (choice === 1) requests.push(concurrentChange(sim, vm));
    if (choice === 2) requests.push(concurrentResize(sim, vm));
  }
  for (const account of model.accounts) if (hasMonthEnded || dice.chance(0.3)) requests.push(concurrentRead(sim, account));
  if (hasMonthEnded) requests.push(concurrentJobs(sim), concurrentJobs(sim));
  return dice.shuffled(requests);
}

function faultsOf({ dice }: Simulation, crashes: boolean, injected: { failures: number }): (purpose: Purpose) => Fault {
  return (purpose) => {
    if (purpose !== 'do' || dice.chance(0.75)) return 'none';
    if (crashes) return dice.pick<Fault>(['hangs before', 'hangs after']);
    injected.failures++;
    return dice.pick<Fault>(['fails before', 'fails after']);
  };
}

/** Sends all requests and waits until each has a response or hangs. */
async function sendAll({ world }: Simulation, requests: readonly ConcurrentRequest[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let left = requests.length;
  const countDown = () => void (--left === 0 && resolve());
  world.calls.onHang = countDown;
  const sendOne = async (request: ConcurrentRequest) => {
    request.outcome = await request.send();
    countDown();
  };
  for (const request of requests) sendOne(request).catch(reject);
  await promise;
}

/** Of the requests that exclude one another, at most one succeeds. Successful requests with the same key have the same response. */
function expectOneWinner(requests: readonly ConcurrentRequest[]): void {
  for (const [conflict, requestsInConflict] of Map.groupBy(requests, (request) => request.conflict)) {
    const replies = requestsInConflict.flatMap(({ outcome }) => (outcome?.status === 200 ? [outcome.text] : []));
    if (conflict === undefined || replies.length < 2) continue;
    expect(
      requestsInConflict.every(({ purchase }) => purchase),
      `${conflict}: more than one request succeeded`,
    ).toBe(true);
    expect(new Set(replies).size, `different responses for ${conflict}`).toBe(1);
  }
}

/** The credit that an account uses beyond its balance, in units of 10^-8 EUR. */
function usedCredit({ model, clock }: Simulation, account: ModelAccount): bigint {
  const net = unpaidCents(model, account, clock.seconds()) - balanceCredit(model, account);
  return net * 1_000_000n + heldUnits(model, account, clock.seconds());
}

/** Checks that some order of the requests explains the refusal or failure of this one. */
function expectPossibleOutcome(
  sim: Simulation,
  request: ConcurrentRequest,
  requests: readonly ConcurrentRequest[],
  usedBefore: bigint,
): void {
  const { outcome, account, purchase, text } = request;
  if (!outcome || outcome.status === 200 || !account) return;
  const others = requests.filter((other) => other !== request);
  // A balance pays a new document at other rates than it counts at. Whether that happens before the request is not known.
  if (outcome.status === 402 && balanceOf(account) === 0n) {
    // The most credit of the account that the other requests can have held.
    const meanwhile = others.filter((other) => other.account === account && other.outcome?.status !== 402);
    const most = usedBefore + meanwhile.reduce((sum, { maxHold }) => sum + maxHold, 0n) + request.maxHold;
    expect(most > limitOf(account), `${text} was refused for lack of credit, but fits in every order`).toBe(true);
  }
  if (outcome.errorType === 'out_of_capacity' && purchase && requests.every(({ order }) => order >= 2)) {
    const undone = others.flatMap((other) => (other.purchase && other.outcome?.status !== 200 ? [other.purchase] : []));
    expect(fitsWith(sim, purchase, undone), `${text} was refused for lack of capacity, but fits in every order`).toBe(false);
  }
  // Only requests that call a port can fail.
  if (outcome.status >= 500) expect(request.order === 2 || request.callsPort, `${text} calls a port`).toBe(true);
}

function limitOf({ credit }: ModelAccount): bigint {
  return (credit.n * 100_000_000n) / credit.d;
}

type PurchaseRequests = readonly NonNullable<ConcurrentRequest['purchase']>[];

/** Whether a VM fits in addition to everything in use now and everything that other requests can have held. */
function fitsWith(
  { model }: Simulation,
  { account, host, resources, allowFallbackIPs }: PurchaseRequests[number],
  others: PurchaseRequests,
): boolean {
  const all = [resources, ...others.filter((other) => other.host === host).map((other) => other.resources)];
  const total = (of: (one: typeof resources) => number): number => all.reduce((sum, one) => sum + of(one), 0);
  const hasNode = host.nodes.some((node) => {
    const used = usedOn(model, node.name);
    return (
      used.cores + total(({ cores }) => cores) <= node.cores &&
      used.mem + total(({ mem }) => mem) <= node.mem &&
      used.disk + total(({ disk }) => disk) <= node.disk &&
      used.storage + total(({ storage }) => storage ?? 0) <= node.storage
    );
  });
  const from = { account, datacenter: host.datacenter, allowFallbackIPs };
  const ips = resources.ips + others.reduce((sum, other) => sum + other.resources.ips, 0);
  return hasNode && freeAddresses(model, from, 4) >= ips && freeAddresses(model, from, 6) > others.length;
}

/** Checks that no purchase exceeded a credit limit, and that no purchase missed a better sale that still had volume. */
function expectLimitsKept(sim: Simulation, requests: readonly ConcurrentRequest[]): void {
  const { model, clock } = sim;
  for (const account of model.accounts) {
    const hasBought = requests.some((request) => request.account === account && request.outcome?.status === 200 && request.order === 2);
    if (hasBought && balanceOf(account) === 0n)
      expect(remainingCents(model, account, clock.seconds()), `${account.name} within its limit`).toBeGreaterThanOrEqual(0n);
  }
  const undone = requests.filter(({ purchase, outcome }) => purchase && outcome?.status !== 200).length;
  for (const { purchase, outcome } of requests) {
    if (!purchase || outcome?.status !== 200) continue;
    const { identifier } = JSON.parse(outcome.text).data;
    const vm = model.vms.find(({ id }) => id === identifier);
    const missed = model.sales.filter(
      (sale) =>
        sale.start <= clock.now() &&
        isOpen({ ...sale, used: sale.used + undone }, purchase.account, clock.now()) &&
        vm?.segments.length === 1 &&
        less(priceOf(listedAt(model, purchase.host.name, clock.now()), purchase.resources, sale.prices.get(purchase.host.name)), vm.price),
    );
    expect(
      missed.map(({ title }) => title),
      `sales that the purchase of VM ${identifier} missed`,
    ).toEqual([]);
  }
}

/** Checks that the log has an entry for each response, and takes over the order in which they were committed. */
async function applyLog({ client }: Simulation, account: ModelAccount, before: number): Promise<void> {
  const store = client.store();
  await store.requestLog.numberAll();
  const rows = await store.read((db) =>
    db
      .selectFrom('request_log')
      .select(['method', 'endpoint', 'error_type'])
      .where('account_id', '=', account.id)
      .where('number', '>', before)
      .orderBy('number')
      .execute(),
  );
  const expected = account.requests.splice(before);
  const actual = rows.map(({ method, endpoint: path, error_type: errorType }) => ({ method, path, errorType }));
  const text = (requests: readonly { method: string; path: string; errorType: string | null }[]) =>
    requests.map(({ method, path, errorType }) => `${method} ${path} ${errorType}`).toSorted();
  expect(text(actual), `log of ${account.name}`).toEqual(text(expected));
  account.requests.push(...actual.map((entry) => ({ ...entry, requestId: null })));
}
