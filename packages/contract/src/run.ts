import { isSuccess, jsonValue, type Answer } from './answer.ts';
import type { OtpProbe, Pair } from './check.ts';
import { createCleaner, type Cleaner } from './clean-up.ts';
import { discoverCreated, discoverPaths, type PathValues } from './discover.ts';
import { parseDocument, type OpenApiDocument } from './document.ts';
import { exchange, NoAnswerError, paceOf, type Filling, type Line } from './exchange.ts';
import { createGuard, RefusedRequestError, type Guard, type Send } from './guard.ts';
import type { Journal } from './journal.ts';
import type { Operation } from './operation.ts';
import { readOperations } from './operations.ts';
import { pagingOf } from './paging.ts';
import { makePlan, type Mode, type Plan } from './plan.ts';
import { buildReport, type Report } from './report.ts';
import { presentCode } from './present-code.ts';
import { NO_BUDGET, type Budget, type PriceOf } from './price.ts';
import { obstacle } from './request.ts';
import { bodyOf, describeStep, PHASES, type Step } from './step.ts';
import { createValidator, type Validator } from './validator.ts';

export interface ContractOptions {
  readonly document: OpenApiDocument;
  /** Base address, with or without a path. */
  readonly target: URL;
  /** Sent in the header that the document names; nothing is sent without it. */
  readonly apiKey?: string;
  /** How requests leave; the global `fetch` when omitted. */
  readonly send?: Send;
  /** `read-only` when omitted. */
  readonly mode?: Mode;
  /** Operations by name, each with the identifier it may be used on; all that need not be named when omitted. */
  readonly only?: ReadonlyMap<string, string | undefined>;
  /** How much may be spent; nothing when omitted. */
  readonly budget?: Budget;
  /** What things cost; unknown when omitted. */
  readonly priceOf?: PriceOf;
  /** Which wrong forms are sent, and in which order; 1 when omitted. */
  readonly seed?: number;
  /** Requests a second; as fast as answers come when omitted. */
  readonly rate?: number;
  /** Milliseconds until a request without an answer is given up; 10,000 when omitted. */
  readonly timeout?: number;
  /** A second service that should answer the same shapes. */
  readonly compare?: { readonly target: URL; readonly apiKey: string | undefined };
  /** Where what is changed is written down; required in full mode. */
  readonly journal?: Journal;
  /** Presents a one-time code as a third party would, and says whether it was taken; throws where nobody can tell. */
  readonly presentOtp?: (code: string) => Promise<boolean>;
  /** Further texts that must stand in no report, such as the token that one-time codes are presented with. */
  readonly secrets?: readonly string[];
  /** Told of every answer. */
  readonly onProgress?: (progress: Progress) => void;
}

export interface Progress {
  readonly done: number;
  /** At most. */
  readonly planned: number;
  readonly step: string;
  readonly status: number | undefined;
}

/** Not even the first request was answered; `cause` is what `send` threw. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

const WRONG_KEY = 'contract-test-key-that-nobody-has';

interface Run {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  readonly validator: Validator;
  readonly line: Line;
  readonly other: Line | undefined;
  readonly guard: Guard;
  readonly cleaner: Cleaner;
  readonly answers: Answer[];
  readonly pairs: Pair[];
  readonly unpaired: Answer[];
  readonly otp: OtpProbe[];
  readonly reasons: Map<string, string>;
  readonly options: ContractOptions;
  readonly planned: number;
  done: number;
}

/** What a run with these options may send, without sending anything. */
export async function planContract(options: ContractOptions): Promise<Plan> {
  const document = parseDocument(options.document);
  return planFor(options, document, readOperations(document), createValidator(document, true));
}

async function planFor(
  options: ContractOptions,
  document: OpenApiDocument,
  operations: readonly Operation[],
  validator: Validator,
): Promise<Plan> {
  const { mode = 'read-only', only = new Map<string, undefined>(), seed = 1, journal } = options;
  const open = (await journal?.open()) ?? [];
  const leftovers = open.filter(({ target }) => target === options.target.href);
  const plan = makePlan({ document, operations, validator, mode, only, seed, leftovers, presentsOtp: options.presentOtp !== undefined });
  const withheld = new Map(plan.withheld);
  const steps = plan.steps.filter(({ operation, purpose, credential }) => {
    if (credential !== 'account' && options.apiKey === undefined) return false;
    const reason = purpose === 'method' ? undefined : obstacle(operation);
    if (reason !== undefined) withheld.set(operation.id, reason);
    return reason === undefined;
  });
  return { steps, withheld };
}

/**
 * Sends what the plan lists and judges every answer by the document.
 * @throws {DocumentError} when the document cannot be used
 * @throws {TargetError} when the target does not answer the first request
 */
export async function runContract(options: ContractOptions): Promise<Report> {
  const begun = performance.now();
  const document = parseDocument(options.document);
  const operations = readOperations(document);
  const validator = createValidator(document, true);
  const plan = await planFor(options, document, operations, validator);
  const run = prepare(options, plan, { document, operations, validator });
  let late: readonly Step[] = [];
  for (const phase of Object.values(PHASES)) {
    const left = await runPhase(run, [...late, ...plan.steps.filter((step) => step.phase === phase)]);
    // What is to be made may need an identifier that only the next phase reads.
    late = phase <= PHASES.readMore ? left : [];
  }
  const left = await run.cleaner.finish();
  return buildReport({
    document,
    operations,
    validator,
    answers: run.answers,
    pairs: run.pairs,
    unpaired: run.unpaired,
    otp: run.otp,
    plan,
    reasons: run.reasons,
    left,
    spent: run.guard.spent(),
    mode: options.mode ?? 'read-only',
    seed: options.seed ?? 1,
    target: options.target,
    secrets: [options.apiKey, options.compare?.apiKey, ...(options.secrets ?? [])].filter((key) => key !== undefined),
    milliseconds: performance.now() - begun,
  });
}

function prepare(options: ContractOptions, plan: Plan, parts: Pick<Run, 'document' | 'operations' | 'validator'>): Run {
  const send = options.send ?? fetch;
  const timeout = options.timeout ?? 10_000;
  const line = (target: URL, apiKey: string | undefined, steps: readonly Step[]): { line: Line; guard: Guard } => {
    const keyOf: Line['keyOf'] = (credential) => (credential === 'account' ? apiKey : credential === 'wrong' ? WRONG_KEY : undefined);
    const guard = createGuard({
      steps,
      target,
      keyOf,
      budget: options.budget ?? NO_BUDGET,
      priceOf: options.priceOf ?? (() => undefined),
      send,
    });
    return { guard, line: { target, send: guard.send, keyOf, timeout, pace: paceOf(options.rate) } };
  };
  const main = line(options.target, options.apiKey, plan.steps);
  const compared =
    options.compare === undefined ? undefined : line(options.compare.target, options.compare.apiKey, plan.steps.filter(isComparable));
  return {
    ...parts,
    ...main,
    other: compared?.line,
    cleaner: createCleaner({ ...parts, guard: main.guard, journal: options.journal, target: options.target }),
    answers: [],
    pairs: [],
    unpaired: [],
    otp: [],
    reasons: new Map(plan.withheld),
    options,
    planned: plan.steps.reduce((sum, { times }) => sum + times, 0),
    done: 0,
  };
}

/** Both services are asked what reads. Identifiers of one mean nothing to the other: each is asked for what it named itself. */
function isComparable({ purpose, effect, path, form }: Step): boolean {
  const takesNothing = Object.keys(form?.found ?? {}).length === 0;
  return purpose === 'call' && effect === 'reads' && (path === 'none' || path === 'found') && takesNothing;
}

/** Steps whose identifiers are not known yet wait for the answers of the others, as long as those bring something new. */
async function runPhase(run: Run, steps: readonly Step[]): Promise<readonly Step[]> {
  let waiting = [...steps];
  while (waiting.length > 0) {
    const later: Step[] = [];
    for (const step of waiting) if (!(await runStep(run, step))) later.push(step);
    if (later.length === waiting.length) break;
    waiting = later;
  }
  for (const step of waiting) {
    if (step.purpose === 'call' || step.purpose === 'remove' || step.purpose === 'undo') run.reasons.set(step.operation.id, missing(step));
  }
  return waiting;
}

function missing({ operation, path, form, onlyAfter }: Step): string {
  if (onlyAfter !== undefined) return `${onlyAfter} did nothing that could be undone`;
  if (path === 'own') return `this run made nothing that it may be used on; name something with --only ${operation.id}=IDENTIFIER`;
  const names = operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
  return `no answer named a value for ${[...(path === 'found' ? names : []), ...Object.values(form?.found ?? {})].join(' and ')}`;
}

/** @returns whether it had what it needs */
async function runStep(run: Run, step: Step): Promise<boolean> {
  const found = foundFields(run, step);
  const { onlyAfter } = step;
  const paths = pathsOf(run, step).filter((path) => onlyAfter === undefined || run.cleaner.didTo(onlyAfter, path));
  if (found === undefined || paths.length === 0) return false;
  const page = nextPage(run, step);
  // The first page was the last one.
  if (page === undefined) return true;
  for (const path of paths.slice(0, step.times)) {
    const times = step.purpose === 'otp' ? step.times : 1;
    for (let time = 0; time < times; time++) {
      const body = bodyOf(step, { ...found, ...(step.next?.in === 'form' ? page : {}) });
      if (!(await call(run, step, { path, body, query: step.next?.in === 'query' ? page : undefined }))) return true;
    }
  }
  return true;
}

/** What asks for the next page; nothing for steps that ask for none, undefined where there is none. */
function nextPage({ document, answers }: Run, { next, operation }: Step): Readonly<Record<string, string>> | undefined {
  if (next === undefined) return {};
  const first = answers.find(({ operation: { id }, sent, status }) => id === operation.id && sent.purpose === 'call' && isSuccess(status));
  const value = next.value ?? (first === undefined ? undefined : pagingOf(document, operation)?.next(jsonValue(first)));
  return value === undefined ? undefined : { [next.field]: value };
}

function foundFields({ operations, ...run }: Run, { form }: Step): Readonly<Record<string, string>> | undefined {
  const values: Record<string, string> = {};
  for (const [field, name] of Object.entries(form?.found ?? {})) {
    const holder = operations.find(({ parameters }) => parameters.some((one) => one.in === 'path' && one.name === name));
    const [path] = holder === undefined ? [] : pathsFor(run, holder);
    const value = path?.[name];
    if (value === undefined) return undefined;
    values[field] = value;
  }
  return values;
}

function pathsOf(run: Run, { operation, path }: Step): readonly PathValues[] {
  if (path === 'none') return [{}];
  if (path === 'own') return run.cleaner.owned(operation);
  return path === 'found' ? pathsFor(run, operation) : [path];
}

function pathsFor(
  { document, validator, answers }: Pick<Run, 'document' | 'validator' | 'answers'>,
  operation: Operation,
): readonly PathValues[] {
  const plain = answers.filter(({ sent }) => sent.credential === 'account' && sent.purpose !== 'method');
  const made = plain.filter(({ operation: source, status }) => isSuccess(status) && !source.readOnly && !source.path.includes('{'));
  const created = made
    .map((answer) => discoverCreated({ document, validator, operation, answers: [answer] }))
    .filter((path) => path !== undefined);
  const all = [...created, ...discoverPaths({ document, validator, operation, answers: plain })];
  return [...new Map(all.map((path) => [JSON.stringify(path), path])).values()];
}

async function call(run: Run, step: Step, filling: Filling): Promise<boolean> {
  const { path, body } = filling;
  const { cleaner, line, options } = run;
  const entry = await cleaner.before(step, path);
  let answer: Answer;
  try {
    answer = await exchange(line, step, filling);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    if (run.answers.length === 0 && !(error.cause instanceof RefusedRequestError)) {
      throw new TargetError(`${line.target.origin} does not answer: ${error.message}`, { cause: error.cause });
    }
    await cleaner.lost(entry, error.cause instanceof RefusedRequestError);
    if (step.purpose === 'call') run.reasons.set(step.operation.id, `there was no answer: ${error.message}`);
    tell(run, step, undefined);
    // What may have been bought is not tried again.
    return step.effect !== 'costs';
  }
  run.answers.push(answer);
  await cleaner.after(entry, step, answer);
  tell(run, step, answer.status);
  if (run.other !== undefined && isComparable(step)) await compare(run, run.other, step, { answer, body });
  if (options.presentOtp !== undefined)
    await run.otp.push(...(await presentCode({ document: run.document, answers: run.answers }, answer, options.presentOtp)));
  // A purchase that a wrong form made is enough to know.
  return !(step.effect === 'costs' && step.purpose === 'invalid-form' && isSuccess(answer.status));
}

async function compare(
  run: Run,
  line: Line,
  step: Step,
  { answer, body }: { readonly answer: Answer; readonly body: string | undefined },
): Promise<void> {
  const answers = run.pairs.map(({ other }) => other);
  const [path] = step.path === 'none' ? [{}] : pathsFor({ ...run, answers }, step.operation);
  if (path === undefined) return void run.unpaired.push(answer);
  // A list of many things is read for some of them; the compared service is asked once.
  if (run.pairs.some(({ one }) => one.operation.id === step.operation.id && one.sent.detail === answer.sent.detail)) return;
  try {
    const other = await exchange(line, step, { path, body });
    run.pairs.push({ one: answer, other: { ...other, sent: { ...other.sent, purpose: 'compare' } } });
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    if (run.pairs.length === 0) throw new TargetError(`${line.target.origin} does not answer: ${error.message}`, { cause: error.cause });
  }
}

function tell(run: Run, step: Step, status: number | undefined): void {
  run.done++;
  run.options.onProgress?.({ done: run.done, planned: run.planned, step: describeStep(step), status });
}
