/** Actions that advance the clock, end hanging calls, and crash and restart the service. */
import { expect } from 'vitest';

import type { Fault } from '../ports/port-calls.ts';
import { changeDnsRecords } from './actions-dns.ts';
import { cancelDomain, changeDomain, registerDomain } from './actions-domain.ts';
import { deleteDomain, manageVm, purchaseServer } from './actions-extension.ts';
import { cancelServer } from './actions-server.ts';
import { changeRandomVm, resizeRandomVm } from './actions-vm.ts';
import { checkBilling } from './api-checks.ts';
import { runAllJobs, nextJobTime } from './model-jobs.ts';
import { issueModelDocuments } from './model-payments.ts';
import { nextPriceChange } from './model-prices.ts';
import { expectOnlyPortFailures } from './provider-operations.ts';
import { buyVm } from './purchases.ts';
import type { Simulation } from './simulation.ts';
import { nextInstant } from './virtual-clock.ts';

/** Advances the clock and runs the jobs that are due: mostly at once, sometimes after other requests. */
export async function passTime(sim: Simulation): Promise<void> {
  const { dice, clock } = sim;
  const scheduled = [nextJobTime(sim.model), nextPriceChange(sim.model, clock.now())].filter((instant) => instant !== undefined);
  clock.advanceTo(nextInstant(dice, clock.now(), dice.pickAny(scheduled)));
  sim.describe(`the clock advances to ${new Date(clock.now()).toISOString()}`);
  if (dice.chance(0.15)) {
    sim.describe('before the scheduled jobs run');
    for (let count = dice.integer(1, 3); count > 0; count--) await dice.pick(before)(sim);
  }
  await runScheduledJobs(sim);
}

const ofExtension = [manageVm, deleteDomain, changeDnsRecords, purchaseServer];
const before = [
  buyVm,
  changeRandomVm,
  resizeRandomVm,
  readBilling,
  registerDomain,
  changeDomain,
  cancelDomain,
  cancelServer,
  ...ofExtension,
];

function readBilling(sim: Simulation): Promise<void> {
  const account = sim.dice.pick(sim.model.accounts);
  sim.describe(`${account.name} reads its invoices`);
  return checkBilling(sim, account);
}

/** Runs the jobs that are due. If the fleet fails, they run a second time. */
export async function runScheduledJobs(sim: Simulation): Promise<void> {
  const { dice, world, client, model, clock } = sim;
  const due = () => client.service().runScheduledJobs();
  const fault: Fault = dice.chance(0.1) ? dice.pick(['fails before', 'fails after']) : 'none';
  world.calls.plan = [];
  let failed = false;
  world.calls.defaultFault = () => {
    failed ||= fault !== 'none';
    return fault;
  };
  await due().catch((error: unknown) => expectOnlyPortFailures(() => Promise.reject(error), failed));
  world.calls.defaultFault = () => 'none';
  if (failed) await due();
  expect(await due(), 'jobs that are still due').toBe(0);
  // The jobs also undo or finish the requests whose undoing failed before.
  const stuck = sim.openRequests.filter(({ hanging }) => !hanging);
  for (const one of stuck) {
    sim.openRequests.splice(sim.openRequests.indexOf(one), 1);
    one.release();
  }
  runAllJobs(model, world.fleet, clock.seconds());
  issueModelDocuments(model);
}

/** A hanging call continues or fails. */
export async function finishHangingCall(sim: Simulation): Promise<void> {
  const { dice, openRequests } = sim;
  const one = dice.pickAny(openRequests.filter(({ hanging }) => hanging));
  if (!one?.hanging) return passTime(sim);
  openRequests.splice(openRequests.indexOf(one), 1);
  const outcome = dice.chance(0.5) ? 'continues' : 'fails';
  sim.describe(`a hanging call ${outcome}`);
  await one.hanging.finish(outcome);
}

/** The service crashes and restarts. It then undoes or finishes the requests in progress. */
export async function crash(sim: Simulation): Promise<void> {
  const { dice, openRequests, client, world } = sim;
  const reopened = dice.chance(0.5);
  sim.describe(
    `the service crashes with ${openRequests.length} requests in progress and restarts${reopened ? ' on a reopened store' : ''}`,
  );
  world.calls.plan = [];
  await client.restart(reopened);
  for (const { release } of openRequests.splice(0)) release();
}

/** Ends all requests in progress and runs the jobs that are due. */
export async function finishOpenRequests(sim: Simulation): Promise<void> {
  while (sim.openRequests.some(({ hanging }) => hanging)) await finishHangingCall(sim);
  await crash(sim);
  await runScheduledJobs(sim);
  await publishAllZones(sim);
}

/** A round of jobs publishes a batch of zones, so that a DNS that is down does not hold up other jobs. */
async function publishAllZones({ client }: Simulation): Promise<void> {
  const countWaiting = async () => (await client.store().read((db) => db.selectFrom('zone_changes').select('domain').execute())).length;
  for (let rounds = await countWaiting(); rounds > 0; rounds--) await client.service().runScheduledJobs();
}
