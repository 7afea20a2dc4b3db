/** Runs simulations and reports how to reproduce a failure. */
import { amountOf, byDepth } from '../../../../.config/depth.ts';
import { storePlace } from '../engines.ts';
import type { Engine } from '../engines.ts';
import { handleComplaint } from './actions-abuse.ts';
import {
  createRandomSale,
  changeCreditLimit,
  changePrices,
  endRandomSale,
  setCreditLimit,
  settleRandomInvoice,
} from './actions-accounting.ts';
import { changeBackups } from './actions-backups.ts';
import { changeDnsRecords } from './actions-dns.ts';
import { changeDnssec } from './actions-dnssec.ts';
import { cancelDomain, changeDomain, createHandle, registerDomain } from './actions-domain.ts';
import { changeWebhooks, followEvents } from './actions-events.ts';
import { deleteDomain, manageVm, purchaseServer } from './actions-extension.ts';
import { changeIps } from './actions-ips.ts';
import {
  changeTaxStatus,
  changeVatRate,
  creditRandomInvoice,
  recordRandomPayment,
  refundBalance,
  reverseRandomPayment,
} from './actions-payments.ts';
import { changeRdns } from './actions-rdns.ts';
import { cancelServer, completeSetUp, orderServer } from './actions-server.ts';
import { changeSshKeys } from './actions-ssh-keys.ts';
import { finishOpenRequests, crash, finishHangingCall, passTime } from './actions-time.ts';
import { useNetwork } from './actions-usage.ts';
import { changeRandomVm, reinstallVm, resizeRandomVm } from './actions-vm.ts';
import { checkBilling, checkDocuments, checkDomains, checkLog, checkPrices, checkSales, checkServers, checkVms } from './api-checks.ts';
import { sendConcurrently } from './concurrency.ts';
import { probeOtherAccounts } from './probes.ts';
import { buyVm } from './purchases.ts';
import { repeat } from './requests.ts';
import { diceOf, seededRandom } from './seeded-random.ts';
import { newSimulation } from './simulation.ts';
import type { Action, Simulation } from './simulation.ts';
import { expectStoreMatchesModel, expectPortsMatchModel } from './store-checks.ts';
import { randomTuning } from './tuning.ts';

/** Actions that run one after another. The model predicts the outcome of each exactly. */
export const actions: readonly Action[] = [
  { weight: 26, run: passTime },
  { weight: 14, run: buyVm },
  { weight: 8, run: changeRandomVm },
  { weight: 7, run: resizeRandomVm },
  { weight: 3, run: reinstallVm },
  { weight: 7, run: registerDomain },
  { weight: 8, run: changeDomain },
  { weight: 3, run: cancelDomain },
  { weight: 2, run: createHandle },
  { weight: 5, run: orderServer },
  { weight: 4, run: completeSetUp },
  { weight: 5, run: cancelServer },
  { weight: 8, run: settleRandomInvoice },
  { weight: 2, run: changeCreditLimit },
  { weight: 3, run: createRandomSale },
  { weight: 1, run: endRandomSale },
  { weight: 8, run: repeat },
  { weight: 7, run: finishHangingCall },
  { weight: 3, run: crash },
  { weight: 2, run: probeOtherAccounts },
  { weight: 14, run: manageVm },
  { weight: 6, run: changeDnsRecords },
  { weight: 6, run: changeDnssec },
  { weight: 3, run: deleteDomain },
  { weight: 3, run: changeSshKeys },
  { weight: 5, run: followEvents },
  { weight: 4, run: changeWebhooks },
  { weight: 3, run: purchaseServer },
  { weight: 4, run: changeBackups },
  { weight: 4, run: changeRdns },
  { weight: 4, run: handleComplaint },
  { weight: 8, run: changeIps },
  { weight: 6, run: useNetwork },
  { weight: 4, run: changePrices },
  { weight: 4, run: changeVatRate },
  { weight: 4, run: changeTaxStatus },
  { weight: 6, run: recordRandomPayment },
  { weight: 3, run: reverseRandomPayment },
  { weight: 3, run: refundBalance },
  { weight: 4, run: creditRandomInvoice },
];

/** The same actions, and steps that send many concurrent requests. */
export const concurrentActions: readonly Action[] = [...actions, { weight: 40, run: sendConcurrently }];

/** The actions that change invoices. */
export const billingActions: readonly Action[] = [
  { weight: 18, run: passTime },
  { weight: 10, run: buyVm },
  { weight: 12, run: changeRandomVm },
  { weight: 8, run: resizeRandomVm },
  { weight: 4, run: registerDomain },
  { weight: 2, run: orderServer },
  { weight: 4, run: settleRandomInvoice },
  { weight: 2, run: createRandomSale },
  { weight: 1, run: endRandomSale },
  { weight: 4, run: changePrices },
  { weight: 3, run: changeVatRate },
  { weight: 3, run: changeTaxStatus },
  { weight: 3, run: recordRandomPayment },
  { weight: 2, run: creditRandomInvoice },
];

/** With 64 steps, the first two seeds reach each action, each fault of a port, each refusal and each way to repeat a request. */
export const STEPS = amountOf('SIMULATOR_STEPS', { usual: 48, deep: 200 });

/** The command that reproduces a seed, from the root of the repository. */
export function replayCommand(seed: number): string {
  return `SIMULATOR_SEED=${seed} SIMULATOR_STEPS=${STEPS} npx -y pnpm@12 exec vitest run --config .config/vitest.config.ts packages/service/test/simulator`;
}

/** The number of steps in the report of a failure: the one that failed and the ones before it. */
const MAX_REPORTED_STEPS = 12;

export interface Plan {
  readonly seed: number;
  readonly engine: Engine;
  readonly steps: number;
  readonly actions: readonly Action[];
  /** The credit limit of every account in EUR. Default: the low limits of the catalogue. */
  readonly creditLimit?: string;
  /** The command that reproduces the simulation. */
  readonly replay?: string;
}

/**
 * Runs a seed on a new store. After every step it checks that the API and the store match the model and that the invariants hold.
 *
 * @throws Error with the seed, the last steps and the command that reproduces the failure.
 */
export async function simulate({ seed, engine, steps, actions: possible, creditLimit, replay }: Plan): Promise<Simulation> {
  const sim = await newSimulation(seed, await storePlace(engine, randomTuning(diceOf(seededRandom(seed, 'tuning')))));
  if (creditLimit !== undefined) for (const account of sim.model.accounts) await setCreditLimit(sim, account, creditLimit);
  try {
    for (let number = 1; number <= steps; number++) {
      beginStep(sim, number);
      await nextAction(sim, number, possible).run(sim);
      await checkStep(sim, number);
    }
    beginStep(sim, steps + 1);
    await finishOpenRequests(sim);
    await checkAll(sim);
    await expectPortsMatchModel(sim);
    return sim;
  } catch (error) {
    throw new Error(report(sim, error, replay), { cause: error });
  }
}

/** Most steps follow the weights. Every third step takes the next of all actions, so that short simulations run each of them too. */
function nextAction({ dice, upcoming }: Simulation, number: number, possible: readonly Action[]): Action {
  if (number % 3 !== 0) return dice.weighted(possible);
  if (upcoming.length === 0) upcoming.push(...dice.shuffled(possible));
  return upcoming.shift() ?? dice.weighted(possible);
}

function beginStep(sim: Simulation, number: number): void {
  sim.steps.push({ number, at: new Date(sim.clock.now()).toISOString(), text: '' });
}

/** Every eighth step compares everything. The steps between compare only the store and the invoices. */
const FULL_CHECK_INTERVAL = 8;

/**
 * A comparison of the store takes ten times as long on PostgreSQL. The same seed runs on SQLite, which compares the store after every step,
 * and both engines must end in the same state.
 */
const STORE_CHECK_INTERVAL: Readonly<Record<Engine, number>> = { sqlite: 1, postgres: byDepth({ usual: 4, deep: 1 }) };

async function checkStep(sim: Simulation, number: number): Promise<void> {
  if (number % STORE_CHECK_INTERVAL[sim.engine] === 0) await expectStoreMatchesModel(sim);
  if (number % FULL_CHECK_INTERVAL === 0) await checkAll(sim);
  else for (const account of sim.model.accounts) await checkBilling(sim, account);
}

async function checkAll(sim: Simulation): Promise<void> {
  for (const account of sim.model.accounts) {
    await checkBilling(sim, account);
    await checkDocuments(sim, account);
    await checkSales(sim, account);
    await checkPrices(sim, account);
    await checkServers(sim, account);
    await checkVms(sim, account);
    await checkDomains(sim, account);
    await followEvents(sim, account);
    await checkLog(sim, account);
  }
  await expectStoreMatchesModel(sim);
}

function report({ seed, engine, steps }: Simulation, error: unknown, replay = replayCommand(seed)): string {
  const last = steps.slice(-MAX_REPORTED_STEPS).map(({ number, at, text }) => `  ${String(number).padStart(4)}  ${at}  ${text}`);
  return [
    `Seed ${seed} failed on ${engine} at step ${steps.length}. Reproduce it with:`,
    `  ${replay}`,
    'The last steps:',
    ...last,
    error instanceof Error ? error.message : String(error),
  ].join('\n');
}
