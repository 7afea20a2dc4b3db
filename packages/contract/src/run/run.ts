import { NOTHING_GIVEN } from '../document/parameters.ts';
import { checksWith } from '../judge/checks.ts';
import { readUsable } from '../judge/usable.ts';
import type { UsableDocument } from '../judge/usable.ts';
import { buildReport } from '../report/report.ts';
import type { Report } from '../report/report.ts';
import type { ContractOptions } from './contract-options.ts';
import { accountOf } from './leftovers.ts';
import { DEFAULT_REQUESTS, makePlan } from './plan.ts';
import type { Plan } from './plan.ts';
import { runPhase } from './run-phase.ts';
import { prepareRun } from './run-state.ts';
import { PHASES } from './step.ts';
import type { Step } from './step.ts';

/** Returns the requests that a run with these options may send, without sending them. */
export async function planContract(options: ContractOptions): Promise<Plan> {
  return planFor(options, readUsable(options.document));
}

/**
 * Sends the planned requests and judges every response.
 * @throws {DocumentError} when the document cannot be used
 * @throws {TargetError} when the target does not respond to the first request
 */
export async function runContract(options: ContractOptions): Promise<Report> {
  const begun = performance.now();
  const usable = readUsable(options.document);
  const plan = await planFor(options, usable);
  const run = prepareRun(options, plan, usable);
  let late: readonly Step[] = [];
  for (const phase of Object.values(PHASES)) {
    const left = await runPhase(run, [...late, ...plan.steps.filter((step) => step.phase === phase && step.purpose !== 'poll')]);
    // A creation may need an identifier that only the next phase reads.
    late = phase <= PHASES.readMore ? left : [];
  }
  await run.cleaner.forgetOld();
  const { left, unfinished } = run.cleaner.finish();
  const { apiKey, extensions = [], mode = 'read-only', notes = [], secrets = [], seed = 1, target } = options;
  return buildReport({
    ...usable,
    notes: [...notes, ...usable.notes()],
    checks: checksWith(extensions.flatMap(({ checks }) => checks)),
    exchanges: run.exchanges,
    foreign: [],
    plan,
    wanted: plan.wanted,
    reasons: run.reasons,
    left,
    unfinished,
    spent: run.guard.spent(),
    mode,
    seed,
    target,
    secrets: [apiKey, ...secrets].filter((key) => key !== undefined),
    milliseconds: performance.now() - begun,
  });
}

async function planFor(options: ContractOptions, usable: UsableDocument): Promise<Plan> {
  const {
    mode = 'read-only',
    only = new Map<string, undefined>(),
    also = new Map<string, undefined>(),
    seed = 1,
    requests = DEFAULT_REQUESTS,
    given = NOTHING_GIVEN,
    journal,
  } = options;
  const open = (await journal?.open()) ?? [];
  const account = accountOf(options.apiKey);
  const orphans = open.filter((entry) => entry.target === options.target.href && (entry.account ?? account) === account);
  const plan = makePlan({ ...usable, mode, only, also, seed, requests, given, orphans, extensions: options.extensions ?? [] });
  // Without a key, requests with a wrong key would show nothing.
  const steps = plan.steps.filter(({ credential }) => credential === 'account' || options.apiKey !== undefined);
  return { ...plan, steps };
}
