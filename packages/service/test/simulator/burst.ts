/**
 * Bursts: many things at once, of which only some fit. On PostgreSQL nobody can say in which order
 * they are committed, so the model does not foresee what becomes of each. It follows the outcomes,
 * whatever the order was, and says which outcomes cannot be.
 */
import { expect } from 'vitest';

import { runScheduledJobs } from './actions-time.ts';
import type { Fault, Purpose } from './faulty-ports.ts';
import { less } from './fraction.ts';
import { heldUnits, isOpen, priceOf, remainingCents, unpaidCents } from './model-billing.ts';
import { runAllJobs, nextDue } from './model-due.ts';
import { freeAddresses, usedOn } from './model-room.ts';
import type { ModelAccount } from './model.ts';
import { someWish } from './purchases.ts';
import { changeShot, domainShots, dueWorkShot, orderShots, purchaseShots, readShot, resizeShot } from './shots.ts';
import type { Shot } from './shots.ts';
import type { Simulation } from './simulation.ts';
import { monthAfter, monthOf } from './virtual-clock.ts';

/** Does many things at once, now and then just as a month has ended, and now and then until the service dies. */
export async function burst(sim: Simulation): Promise<void> {
  const { dice, model, clock, world, door, underWay } = sim;
  // What is under way already would make the outcomes depend on more than the burst.
  if (underWay.length > 0) {
    await door.startAgain(false);
    for (const { release } of underWay.splice(0)) release();
  }
  const hasMonthEnded = turnTheMonth(sim);
  const dies = dice.chance(0.25);
  const shots = someShots(sim, hasMonthEnded);
  const before = new Map(model.accounts.map((account) => [account, { requests: account.requests.length, used: usedCredit(sim, account) }]));
  sim.say(`at once${dies ? ', until the service dies' : ''}: ${shots.map(({ text }) => text).join(', ')}`);
  world.faults.plan = [];
  const injected = { failures: 0 };
  world.faults.otherwise = faultsOf(sim, dies, injected);
  await fire(sim, shots);
  world.faults.otherwise = () => 'none';
  if (dies) await door.startAgain(dice.chance(0.5));
  sim.say(`outcomes: ${shots.map(({ outcome }) => outcome?.errorType ?? outcome?.status ?? 'none').join(', ')}`);

  runAllJobs(model, { automatic: world.fleet.automatic }, clock.seconds());
  for (const shot of shots.toSorted((one, other) => one.order - other.order)) if (shot.outcome?.status === 200) await shot.follow();
  expectRivals(shots);
  const failed = shots.flatMap(({ text, outcome }) => (outcome && outcome.status >= 500 ? [`${text} (${outcome.text})`] : []));
  expect(failed.length, `failures, where ports failed ${injected.failures} times: ${failed.join(', ')}`).toBeLessThanOrEqual(
    injected.failures,
  );
  for (const shot of shots) {
    const used = shot.account && before.get(shot.account)?.used;
    if (used !== undefined) judge(sim, shot, shots, used);
  }
  expectLimitsKept(sim, shots);
  for (const account of model.accounts) await followLog(sim, account, before.get(account)?.requests ?? 0);
  await runScheduledJobs(sim);
}

/** The clock goes to the next month, where nothing but the month's end falls due until then; what is due is left undone. */
function turnTheMonth({ dice, model, clock }: Simulation): boolean {
  const end = monthAfter(monthOf(clock.seconds()));
  if (dice.chance(0.6) || (nextDue(model) ?? Infinity) <= end + 1) return false;
  clock.advanceTo(end * 1000 + dice.pick([0, 1, 1000]));
  return true;
}

function someShots(sim: Simulation, hasMonthEnded: boolean): Shot[] {
  const { dice, model } = sim;
  const shots: Shot[] = [];
  // Much the same from one account, or from everyone.
  const alike = someWish(sim);
  const from = dice.chance(0.5) ? alike.account : undefined;
  for (let count = dice.integer(3, 8); count > 0; count--) {
    const wish = dice.chance(0.5) ? alike : someWish(sim);
    shots.push(...purchaseShots(sim, { ...wish, account: from ?? dice.pick(model.accounts) }, dice.chance(0.15) ? 2 : 1));
  }
  if (dice.chance(0.3)) shots.push(...domainShots(sim, 3));
  const offered = model.servers.find(({ state }) => state === 'offered');
  if (offered && dice.chance(0.3)) shots.push(...orderShots(sim, offered));
  for (const vm of model.vms.filter(({ state }) => state !== 'removed')) {
    const does = dice.integer(1, 12);
    if (does === 1) shots.push(changeShot(sim, vm));
    if (does === 2) shots.push(resizeShot(sim, vm));
  }
  for (const account of model.accounts) if (hasMonthEnded || dice.chance(0.3)) shots.push(readShot(sim, account));
  if (hasMonthEnded) shots.push(dueWorkShot(sim), dueWorkShot(sim));
  return dice.shuffled(shots);
}

function faultsOf({ dice }: Simulation, dies: boolean, injected: { failures: number }): (purpose: Purpose) => Fault {
  return (purpose) => {
    if (purpose !== 'do' || dice.chance(0.75)) return 'none';
    if (dies) return dice.pick<Fault>(['hangs before', 'hangs after']);
    injected.failures++;
    return dice.pick<Fault>(['fails before', 'fails after']);
  };
}

/** Fires all, and waits until each is answered or hangs for ever. */
async function fire({ world }: Simulation, shots: readonly Shot[]): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let left = shots.length;
  const oneLess = () => void (--left === 0 && resolve());
  world.faults.onHang = oneLess;
  const answered = async (shot: Shot) => {
    shot.outcome = await shot.fire();
    oneLess();
  };
  for (const shot of shots) answered(shot).catch(reject);
  await promise;
}

/** Of rivals one is done at the most; with one key, each that was done was answered the same. */
function expectRivals(shots: readonly Shot[]): void {
  for (const [rivalry, rivals] of Map.groupBy(shots, (shot) => shot.rivalry)) {
    const answers = rivals.flatMap(({ outcome }) => (outcome?.status === 200 ? [outcome.text] : []));
    if (rivalry === undefined || answers.length < 2) continue;
    expect(
      rivals.every(({ wish }) => wish),
      `${rivalry} was done more than once`,
    ).toBe(true);
    expect(new Set(answers).size, `answers with ${rivalry}`).toBe(1);
  }
}

/** Units of an account's credit that are in use. */
function usedCredit({ model, clock }: Simulation, account: ModelAccount): bigint {
  return unpaidCents(model, account, clock.seconds()) * 1_000_000n + heldUnits(model, account, clock.seconds());
}

/** Whether the outcome of a shot can be, whatever the order was. */
function judge(sim: Simulation, shot: Shot, shots: readonly Shot[], usedBefore: bigint): void {
  const { outcome, account, wish, text } = shot;
  if (!outcome || outcome.status === 200 || !account) return;
  const others = shots.filter((other) => other !== shot);
  if (outcome.status === 402) {
    // Everything that may have held credit of the account meanwhile, at the most.
    const meanwhile = others.filter((other) => other.account === account && other.outcome?.status !== 402);
    const most = usedBefore + meanwhile.reduce((sum, { mostHold }) => sum + mostHold, 0n) + shot.mostHold;
    expect(most > limitOf(account), `${text} was refused for its credit, and fits whatever came before it`).toBe(true);
  }
  if (outcome.errorType === 'out_of_capacity' && wish && shots.every(({ order }) => order >= 2)) {
    const undone = others.flatMap((other) => (other.wish && other.outcome?.status !== 200 ? [other.wish] : []));
    expect(fitsBeside(sim, wish, undone), `${text} was refused for lack of room, and there is some whatever came before it`).toBe(false);
  }
  // A port fails only for what asks it.
  if (outcome.status === 500) expect(shot.order === 2 || shot.asksPort, `${text} asks a port`).toBe(true);
}

function limitOf({ credit }: ModelAccount): bigint {
  return (credit.n * 100_000_000n) / credit.d;
}

type Wishes = readonly NonNullable<Shot['wish']>[];

/** Whether a VM fits beside all that there is now and all that others had for a while. */
function fitsBeside({ model }: Simulation, { account, host, resources, allowFallbackIPs }: Wishes[number], others: Wishes): boolean {
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

/** No account is above its limit that has bought something, and no VM costs more than a sale would that was never used up. */
function expectLimitsKept(sim: Simulation, shots: readonly Shot[]): void {
  const { model, clock } = sim;
  for (const account of model.accounts) {
    const hasBought = shots.some((shot) => shot.account === account && shot.outcome?.status === 200 && shot.order === 2);
    if (hasBought) expect(remainingCents(model, account, clock.seconds()), `${account.name} within its limit`).toBeGreaterThanOrEqual(0n);
  }
  const undone = shots.filter(({ wish, outcome }) => wish && outcome?.status !== 200).length;
  for (const { wish, outcome } of shots) {
    if (!wish || outcome?.status !== 200) continue;
    const { identifier } = JSON.parse(outcome.text).data;
    const vm = model.vms.find(({ id }) => id === identifier);
    const missed = model.sales.filter(
      (sale) =>
        sale.start <= clock.now() &&
        isOpen({ ...sale, used: sale.used + undone }, wish.account, clock.now()) &&
        vm?.stretches.length === 1 &&
        less(priceOf(wish.host.name, wish.resources, sale.prices.get(wish.host.name)), vm.price),
    );
    expect(
      missed.map(({ title }) => title),
      `sales that the VM ${identifier} should have been bought in`,
    ).toEqual([]);
  }
}

/** The log has an entry for each answer of the burst, in the order in which they were committed. */
async function followLog({ door }: Simulation, account: ModelAccount, before: number): Promise<void> {
  const rows = await door
    .store()
    .read((db) =>
      db
        .selectFrom('request_log')
        .select(['method', 'endpoint', 'error_type'])
        .where('account_id', '=', account.id)
        .where('number', '>', before)
        .orderBy('number')
        .execute(),
    );
  const answered = account.requests.splice(before);
  const shown = rows.map(({ method, endpoint: path, error_type: errorType }) => ({ method, path, errorType }));
  const text = (requests: readonly { method: string; path: string; errorType: string | null }[]) =>
    requests.map(({ method, path, errorType }) => `${method} ${path} ${errorType}`).toSorted();
  expect(text(shown), `log of ${account.name}`).toEqual(text(answered));
  account.requests.push(...shown.map((entry) => ({ ...entry, requestId: null })));
}
