import { CHECKS } from './checks.ts';
import type { ContractOptions } from './contract-options.ts';
import { parseDocument } from './document.ts';
import { readOperations } from './operations.ts';
import { makePlan, type Plan } from './plan.ts';
import { buildReport, type Report } from './report.ts';
import { obstacle } from './request.ts';
import { runPhase } from './run-phase.ts';
import { prepareRun, type ReadDocument } from './run-state.ts';
import { PHASES, type Step } from './step.ts';
import { createValidator } from './validator.ts';

/** What a run with these options may send, without sending anything. */
export async function planContract(options: ContractOptions): Promise<Plan> {
  return planFor(options, readDocument(options));
}

/**
 * Sends what the plan lists and judges every answer by the document.
 * @throws {DocumentError} when the document cannot be used
 * @throws {TargetError} when the target does not answer the first request
 */
export async function runContract(options: ContractOptions): Promise<Report> {
  const begun = performance.now();
  const read = readDocument(options);
  const plan = await planFor(options, read);
  const run = prepareRun(options, plan, read);
  let late: readonly Step[] = [];
  for (const phase of Object.values(PHASES)) {
    const left = await runPhase(run, [...late, ...plan.steps.filter((step) => step.phase === phase)]);
    // A creation may need an identifier that only the next phase reads.
    late = phase <= PHASES.readMore ? left : [];
  }
  const left = await run.cleaner.finish();
  const { apiKey, compare, extensions = [], mode = 'read-only', secrets = [], seed = 1, target } = options;
  return buildReport({
    ...read,
    checks: [...CHECKS, ...extensions.flatMap(({ checks }) => checks)],
    answers: run.answers,
    pairs: run.pairs,
    unpaired: run.unpaired,
    plan,
    reasons: run.reasons,
    left,
    spent: run.guard.spent(),
    mode,
    seed,
    target,
    secrets: [apiKey, compare?.apiKey, ...secrets].filter((key) => key !== undefined),
    milliseconds: performance.now() - begun,
  });
}

function readDocument({ document: given }: ContractOptions): ReadDocument {
  const document = parseDocument(given);
  return { document, operations: readOperations(document), validator: createValidator(document, true) };
}

async function planFor(options: ContractOptions, read: ReadDocument): Promise<Plan> {
  const { mode = 'read-only', only = new Map<string, undefined>(), seed = 1, journal, extensions = [] } = options;
  const open = (await journal?.open()) ?? [];
  const leftovers = open.filter(({ target }) => target === options.target.href);
  const plan = makePlan({ ...read, mode, only, seed, leftovers, extensions });
  const withheld = new Map(plan.withheld);
  const steps = plan.steps.filter(({ operation, purpose, credential }) => {
    if (credential !== 'account' && options.apiKey === undefined) return false;
    const reason = purpose === 'method' ? undefined : obstacle(operation);
    if (reason !== undefined) withheld.set(operation.id, reason);
    return reason === undefined;
  });
  return { steps, withheld };
}
