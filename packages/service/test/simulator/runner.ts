/** Runs simulations, and says how to run one again that fails. */
import { storePlace } from '../engines.ts';
import type { Engine } from '../engines.ts';
import { beginSale, changeCreditLimit, changePrices, endSomeSale, setCreditLimit, settleSomeInvoice } from './actions-accounting.ts';
import { changeDnsRecords } from './actions-dns.ts';
import { cancelDomain, changeDomain, createHandle, registerDomain } from './actions-domain.ts';
import { deleteDomain, manageVm, purchaseServer } from './actions-extension.ts';
import { cancelServer, completeSetUp, orderServer } from './actions-server.ts';
import { comeToRest, crash, letGo, passTime } from './actions-time.ts';
import { changeSomeVm, reinstallVm, resizeSomeVm } from './actions-vm.ts';
import { agreeOnBilling, agreeOnDomains, agreeOnLog, agreeOnPrices, agreeOnSales, agreeOnServers, agreeOnVms } from './agreement.ts';
import { sendConcurrently } from './concurrency.ts';
import { repeat } from './delivery.ts';
import { probeOthers } from './probes.ts';
import { buyVm } from './purchases.ts';
import { newSimulation } from './simulation.ts';
import type { Simulation } from './simulation.ts';
import { expectStoreInStep, expectWorldInStep } from './store-agreement.ts';

/** Something that may be done in a step. */
export interface Action {
  readonly weight: number;
  run(sim: Simulation): Promise<void>;
}

/** What is done one after another; the model foresees the outcome of each exactly. */
export const actions: readonly Action[] = [
  { weight: 26, run: passTime },
  { weight: 14, run: buyVm },
  { weight: 8, run: changeSomeVm },
  { weight: 7, run: resizeSomeVm },
  { weight: 3, run: reinstallVm },
  { weight: 7, run: registerDomain },
  { weight: 8, run: changeDomain },
  { weight: 3, run: cancelDomain },
  { weight: 2, run: createHandle },
  { weight: 5, run: orderServer },
  { weight: 4, run: completeSetUp },
  { weight: 5, run: cancelServer },
  { weight: 8, run: settleSomeInvoice },
  { weight: 2, run: changeCreditLimit },
  { weight: 3, run: beginSale },
  { weight: 1, run: endSomeSale },
  { weight: 8, run: repeat },
  { weight: 7, run: letGo },
  { weight: 3, run: crash },
  { weight: 2, run: probeOthers },
  { weight: 14, run: manageVm },
  { weight: 6, run: changeDnsRecords },
  { weight: 3, run: deleteDomain },
  { weight: 3, run: purchaseServer },
  { weight: 4, run: changePrices },
];

/** The same, with many concurrent requests in between. */
export const concurrentActions: readonly Action[] = [...actions, { weight: 40, run: sendConcurrently }];

/** The actions that change invoices. */
export const billingActions: readonly Action[] = [
  { weight: 18, run: passTime },
  { weight: 10, run: buyVm },
  { weight: 12, run: changeSomeVm },
  { weight: 8, run: resizeSomeVm },
  { weight: 4, run: registerDomain },
  { weight: 2, run: orderServer },
  { weight: 4, run: settleSomeInvoice },
  { weight: 2, run: beginSale },
  { weight: 1, run: endSomeSale },
  { weight: 4, run: changePrices },
];

/** The command that runs a seed again, from the repository's root. */
export function replayCommand(seed: number): string {
  const steps = process.env['SIMULATOR_STEPS'];
  const more = steps === undefined ? '' : ` SIMULATOR_STEPS=${steps}`;
  return `SIMULATOR_SEED=${seed}${more} npx pnpm@12 exec vitest run --config .config/vitest.config.ts packages/service/test/simulator`;
}

/** Steps that a failure tells of, with what came before. */
const TOLD = 12;

export interface Plan {
  readonly seed: number;
  readonly engine: Engine;
  readonly steps: number;
  readonly actions: readonly Action[];
  /** EUR, for every account; the catalogue's low limits by default. */
  readonly creditLimit?: string;
  /** The command that runs the simulation again. */
  readonly replay?: string;
}

/**
 * Runs a seed on a store of its own, and checks after every step that the API agrees with the
 * model and that the invariants hold.
 *
 * @throws Error telling the seed, the step, the last steps, and the command that runs it again.
 */
export async function simulate({ seed, engine, steps, actions: possible, creditLimit, replay }: Plan): Promise<Simulation> {
  const sim = await newSimulation(seed, await storePlace(engine));
  if (creditLimit !== undefined) for (const account of sim.model.accounts) await setCreditLimit(sim, account, creditLimit);
  try {
    for (let number = 1; number <= steps; number++) {
      begin(sim, number);
      await sim.dice.weighted(possible).run(sim);
      await check(sim, number);
    }
    begin(sim, steps + 1);
    await comeToRest(sim);
    await checkAll(sim);
    await expectWorldInStep(sim);
    return sim;
  } catch (error) {
    throw new Error(report(sim, engine, error, replay), { cause: error });
  }
}

function begin(sim: Simulation, number: number): void {
  sim.steps.push({ number, at: new Date(sim.clock.now()).toISOString(), text: '' });
}

/** Steps after which everything is compared, and not the money alone. */
const EVERY = 8;

async function check(sim: Simulation, number: number): Promise<void> {
  await expectStoreInStep(sim);
  if (number % EVERY === 0) await checkAll(sim);
  else for (const account of sim.model.accounts) await agreeOnBilling(sim, account);
}

async function checkAll(sim: Simulation): Promise<void> {
  for (const account of sim.model.accounts) {
    await agreeOnBilling(sim, account);
    await agreeOnSales(sim, account);
    await agreeOnPrices(sim, account);
    await agreeOnServers(sim, account);
    await agreeOnVms(sim, account);
    await agreeOnDomains(sim, account);
    await agreeOnLog(sim, account);
  }
  await expectStoreInStep(sim);
}

function report({ seed, steps }: Simulation, engine: Engine, error: unknown, replay = replayCommand(seed)): string {
  const last = steps.slice(-TOLD).map(({ number, at, text }) => `  ${String(number).padStart(4)}  ${at}  ${text}`);
  return [
    `Seed ${seed} failed on ${engine} at step ${steps.length}. Run it again with:`,
    `  ${replay}`,
    'The last steps:',
    ...last,
    error instanceof Error ? error.message : String(error),
  ].join('\n');
}
