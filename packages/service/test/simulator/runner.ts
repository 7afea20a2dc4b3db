/** Runs simulations, and says how to run one again that fails. */
import { burst } from './burst.ts';
import { storePlace } from '../engines.ts';
import type { Engine } from '../engines.ts';
import { beginSale, changeCreditLimit, endSomeSale, settleSomeInvoice } from './actions-accounting.ts';
import { cancelDomain, changeDomain, createHandle, registerDomain } from './actions-domain.ts';
import { cancelServer, completeSetUp, orderServer } from './actions-server.ts';
import { comeToRest, crash, letGo, passTime } from './actions-time.ts';
import { changeSomeVm, reinstallVm, resizeSomeVm } from './actions-vm.ts';
import { agreeOnBilling, agreeOnDomains, agreeOnLog, agreeOnSales, agreeOnServers } from './agreement.ts';
import { repeat } from './delivery.ts';
import { expectInvariants, expectWorldInStep } from './invariants.ts';
import { probeOthers } from './probes.ts';
import { buyVm } from './purchases.ts';
import { newSimulation } from './simulation.ts';
import type { Simulation } from './simulation.ts';

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
];

/** The same with bursts in between. */
export const actionsWithBursts: readonly Action[] = [...actions, { weight: 40, run: burst }];

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
}

/**
 * Runs a seed on a store of its own, and checks after every step that the API agrees with the
 * model and that the invariants hold.
 *
 * @throws Error telling the seed, the step, the last steps, and the command that runs it again.
 */
export async function simulate({ seed, engine, steps, actions: possible }: Plan): Promise<Simulation> {
  const sim = await newSimulation(seed, await storePlace(engine));
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
    throw new Error(report(sim, engine, error), { cause: error });
  }
}

function begin(sim: Simulation, number: number): void {
  sim.steps.push({ number, at: new Date(sim.clock.now()).toISOString(), text: '' });
}

/** Steps after which everything is compared, and not the money alone. */
const EVERY = 8;

async function check(sim: Simulation, number: number): Promise<void> {
  await expectInvariants(sim);
  if (number % EVERY === 0) await checkAll(sim);
  else for (const account of sim.model.accounts) await agreeOnBilling(sim, account);
}

async function checkAll(sim: Simulation): Promise<void> {
  for (const account of sim.model.accounts) {
    await agreeOnBilling(sim, account);
    await agreeOnSales(sim, account);
    await agreeOnServers(sim, account);
    await agreeOnDomains(sim, account);
    await agreeOnLog(sim, account);
  }
  await expectInvariants(sim);
}

function report({ seed, steps }: Simulation, engine: Engine, error: unknown): string {
  const last = steps.slice(-TOLD).map(({ number, at, text }) => `  ${String(number).padStart(4)}  ${at}  ${text}`);
  return [
    `Seed ${seed} failed on ${engine} at step ${steps.length}. Run it again with:`,
    `  ${replayCommand(seed)}`,
    'The last steps:',
    ...last,
    error instanceof Error ? error.message : String(error),
  ].join('\n');
}
