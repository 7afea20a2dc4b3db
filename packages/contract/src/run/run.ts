import type { OpenApiDocument } from '../document/document.ts';
import type { Operation } from '../document/operation.ts';
import { NOTHING_GIVEN } from '../document/parameters.ts';
import { checksWith } from '../judge/checks.ts';
import { readUsable } from '../judge/usable.ts';
import type { UsableDocument } from '../judge/usable.ts';
import { buildReport } from '../report/report.ts';
import type { Report } from '../report/report.ts';
import type { ContractOptions } from './contract-options.ts';
import { keyInHeaders, withSchemes } from './credentials.ts';
import { accountOf } from './leftovers.ts';
import { makePlan } from './plan.ts';
import type { Plan } from './plan.ts';
import { DEFAULT_REQUESTS } from './planning.ts';
import { runPhase } from './run-phase.ts';
import { accountKey, prepareRun } from './run-state.ts';
import { PHASES } from './step.ts';
import type { Step } from './step.ts';

/** Returns the requests that a run with these options may send, without sending them. */
export async function planContract(options: ContractOptions): Promise<Plan> {
  return planFor(options, usableFor(options));
}

/**
 * Sends the planned requests and judges every response.
 * @throws {DocumentError} when the document cannot be used
 * @throws {TargetError} when nothing listens at the target, or the first requests have no response
 */
export async function runContract(given: ContractOptions): Promise<Report> {
  const begun = performance.now();
  const tokens: string[] = [];
  function onToken(token: string): void {
    tokens.push(token);
    given.onToken?.(token);
  }
  const options: ContractOptions = { ...given, onToken };
  const usable = usableFor(options);
  const plan = await planFor(options, usable);
  const run = prepareRun(options, plan, usable);
  let late: readonly Step[] = [];
  for (const phase of Object.values(PHASES)) {
    const planned = [...late, ...plan.steps.filter((step) => step.phase === phase && step.purpose !== 'poll')];
    const left = await runPhase(run, options.signal?.aborted === true ? planned.filter(isCleanUp) : planned);
    // A creation may need an identifier that only the next phase reads.
    late = phase <= PHASES.readMore ? left : [];
  }
  await run.cleaner.forgetOld().catch((error: unknown) => run.failures.add('the journal', error));
  const { left, unfinished } = run.cleaner.finish();
  const { apiKey, extensions = [], mode = 'read-only', notes = [], secrets = [], seed = 1, target } = options;
  return buildReport({
    ...usable,
    notes: [...notes, ...usable.notes()],
    checks: checksWith(extensions.flatMap(({ checks }) => checks)),
    exchanges: run.exchanges,
    made: run.made,
    foreign: [],
    wanted: plan.wanted,
    reasons: run.reasons,
    failures: run.failures,
    left,
    unfinished,
    spent: run.guard.spent(),
    mode,
    seed,
    target,
    secrets: [apiKey, ...tokens, ...secrets, ...Object.values(options.credentials ?? {})].filter((key) => key !== undefined),
    milliseconds: performance.now() - begun,
  });
}

/** Whether a step only undoes what this run did. */
function isCleanUp({ purpose, path, onlyAfter, ifDoubtful }: Step): boolean {
  return (purpose === 'remove' && path === 'own') || onlyAfter !== undefined || ifDoubtful === true;
}

/** Documents by the schemes with a credential, so that a process reads each once. */
const narrowed = new WeakMap<OpenApiDocument, Map<string, OpenApiDocument>>();

function usableFor({ document, credentials = {} }: ContractOptions): UsableDocument {
  const schemes = Object.keys(credentials).toSorted();
  const known = narrowed.get(document) ?? new Map<string, OpenApiDocument>();
  const own = known.get(schemes.join()) ?? withSchemes(document, schemes);
  narrowed.set(document, known.set(schemes.join(), own));
  return readUsable(own);
}

/** The operations that need several keys of which the user does not give each, with the reason. One key for all of them is most likely wrong. */
function lackingKeys(
  operations: readonly Operation[],
  { credentials = {}, given = NOTHING_GIVEN }: ContractOptions,
): ReadonlyMap<string, string> {
  return new Map(
    operations.flatMap(({ id, security }): readonly (readonly [string, string])[] => {
      const keys = security?.keys ?? [];
      const isGiven = keys.every((key) => credentials[key.scheme] !== undefined || keyInHeaders(key, given.headers) !== undefined);
      if (keys.length < 2 || security?.optional === true || isGiven) return [];
      const names = keys.map(({ scheme }) => scheme);
      return [[id, `it needs ${names.join(' and ')}; give each with ${names.map((name) => `--credential ${name}=KEY`).join(' ')}`]];
    }),
  );
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
  const account = accountOf(accountKey(options));
  const orphans = open.filter((entry) => entry.target === options.target.href && (entry.account ?? account) === account);
  const except = new Map([...(options.except ?? [])].map((id) => [id, 'it is excluded with --except']));
  const unusable = new Map([...usable.unusable, ...lackingKeys(usable.operations, options), ...except]);
  const plan = makePlan({ ...usable, unusable, mode, only, also, seed, requests, given, orphans, extensions: options.extensions ?? [] });
  // Without a key, requests with a wrong key would show nothing.
  const steps = plan.steps.filter(({ credential }) => credential === 'account' || accountKey(options) !== undefined);
  return { ...plan, steps };
}
