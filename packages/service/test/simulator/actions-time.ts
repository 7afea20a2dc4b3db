/** Time passes, calls that hang go on, and the service dies and starts again. */
import { expect } from 'vitest';

import type { Fault } from '../ports/port-calls.ts';
import { changeDnsRecords } from './actions-dns.ts';
import { cancelDomain, changeDomain, registerDomain } from './actions-domain.ts';
import { deleteDomain, manageVm, purchaseServer } from './actions-extension.ts';
import { cancelServer } from './actions-server.ts';
import { changeSomeVm, resizeSomeVm } from './actions-vm.ts';
import { agreeOnBilling } from './agreement.ts';
import { runAllJobs, nextDue } from './model-due.ts';
import { nextPriceChange } from './model-prices.ts';
import { unlessPortFails } from './provider-act.ts';
import { buyVm } from './purchases.ts';
import type { Simulation } from './simulation.ts';
import { nextInstant } from './virtual-clock.ts';

/** The clock advances, and the jobs that are due run: mostly at once, sometimes after other requests. */
export async function passTime(sim: Simulation): Promise<void> {
  const { dice, clock } = sim;
  const scheduled = [nextDue(sim.model), nextPriceChange(sim.model, clock.now())].filter((instant) => instant !== undefined);
  clock.advanceTo(nextInstant(dice, clock.now(), dice.pickAny(scheduled)));
  sim.say(`it becomes ${new Date(clock.now()).toISOString()}`);
  if (dice.chance(0.15)) {
    sim.say('before what is due is done');
    for (let count = dice.integer(1, 3); count > 0; count--) await dice.pick(before)(sim);
  }
  await runScheduledJobs(sim);
}

const ofExtension = [manageVm, deleteDomain, changeDnsRecords, purchaseServer];
const before = [buyVm, changeSomeVm, resizeSomeVm, readBilling, registerDomain, changeDomain, cancelDomain, cancelServer, ...ofExtension];

function readBilling(sim: Simulation): Promise<void> {
  const account = sim.dice.pick(sim.model.accounts);
  sim.say(`${account.name} reads its invoices`);
  return agreeOnBilling(sim, account);
}

/** Does what is due; where the fleet fails it is told again, the next time. */
export async function runScheduledJobs(sim: Simulation): Promise<void> {
  const { dice, world, client, model, clock } = sim;
  const due = () => client.service().runScheduledJobs();
  const fault: Fault = dice.chance(0.1) ? dice.pick(['fails before', 'fails after']) : 'none';
  world.calls.plan = [];
  let failed = false;
  world.calls.otherwise = () => {
    failed ||= fault !== 'none';
    return fault;
  };
  await due().catch((error: unknown) => unlessPortFails(() => Promise.reject(error), failed));
  world.calls.otherwise = () => 'none';
  if (failed) await due();
  expect(await due(), 'what is left to do after all was done').toBe(0);
  // What could not be undone is undone with the work that is due.
  const stuck = sim.underWay.filter(({ hanging }) => !hanging);
  for (const one of stuck) {
    sim.underWay.splice(sim.underWay.indexOf(one), 1);
    one.release();
  }
  runAllJobs(model, world.fleet, clock.seconds());
}

/** A call that hung goes on, or fails at last. */
export async function letGo(sim: Simulation): Promise<void> {
  const { dice, underWay } = sim;
  const one = dice.pickAny(underWay.filter(({ hanging }) => hanging));
  if (!one?.hanging) return passTime(sim);
  underWay.splice(underWay.indexOf(one), 1);
  const outcome = dice.chance(0.7) ? 'goes on' : 'fails';
  sim.say(`what hung ${outcome}`);
  await one.hanging.finish(outcome);
}

/** The service dies at any point and starts again. It then undoes the purchases in progress, which are never billed. */
export async function crash(sim: Simulation): Promise<void> {
  const { dice, underWay, client, world } = sim;
  const reopened = dice.chance(0.5);
  sim.say(
    `the service dies with ${underWay.length} requests under way, and starts again${reopened ? ' over a store that was opened again' : ''}`,
  );
  world.calls.plan = [];
  await client.startAgain(reopened);
  for (const { release } of underWay.splice(0)) release();
}

/** Ends everything that is under way. */
export async function comeToRest(sim: Simulation): Promise<void> {
  while (sim.underWay.some(({ hanging }) => hanging)) await letGo(sim);
  await crash(sim);
  await runScheduledJobs(sim);
}
