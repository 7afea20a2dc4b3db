import { setTimeout as sleep } from 'node:timers/promises';
import { isSuccess, jsonOf, readAnswer, type Answer } from './answer.ts';
import { createJudge, isProof, worst, type Judge } from './checks.ts';
import { discoverPaths, type PathValues } from './discover.ts';
import { parseDocument, type OpenApiDocument } from './document.ts';
import type { Finding, Verdict } from './finding.ts';
import { scrubber, secretsIn } from './observe.ts';
import type { Operation } from './operation.ts';
import { readOperations, responseFor } from './operations.ts';
import { guardSend, planReadOnly, type Plan, type Send } from './plan.ts';
import { buildRequest, obstacle } from './request.ts';
import { createValidator, type Validator } from './validator.ts';

export interface ContractOptions {
  readonly document: OpenApiDocument;
  /** Base address, with or without a path. */
  readonly target: URL;
  /** Sent in the header that the document names; nothing is sent without it. */
  readonly apiKey?: string;
  /** How requests leave; the global `fetch` when omitted. */
  readonly send?: Send;
  /** How many different identifiers an operation with path parameters is called with; 3 when omitted. */
  readonly samples?: number;
  /** Milliseconds until a request without an answer is given up; 10,000 when omitted. */
  readonly timeout?: number;
}

/** What a run learned of one operation. */
export interface Coverage {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** The statuses that were answered, in order, each once. */
  readonly statuses: readonly number[];
  /** `passed` needs a described success and no finding; `unverified` is never a pass. */
  readonly verdict: Verdict | 'passed' | 'unverified';
  /** Whether a described success was seen; findings can stand beside either. */
  readonly verified: boolean;
  /** Why it is not verified; empty where it is. */
  readonly reason: string;
}

export interface ContractReport {
  readonly findings: readonly Finding[];
  readonly coverage: readonly Coverage[];
  /** How many answers were judged. */
  readonly answers: number;
}

/** Not even the first request was answered; `cause` is what `send` threw. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

/** After 429 a request is sent once more, after at most this many seconds. */
const MAX_WAIT = 30;

interface Run {
  readonly document: OpenApiDocument;
  readonly validator: Validator;
  readonly target: URL;
  readonly apiKey: string | undefined;
  readonly send: Send;
  readonly judge: Judge;
  readonly answers: Answer[];
  readonly findings: Map<string, Finding>;
  readonly reasons: Map<string, string>;
  readonly timeout: number;
}

/**
 * Calls what changes nothing at a target, once for each operation or for a few identifiers of it, and judges every answer
 * by the document.
 * @throws {DocumentError} when the document cannot be used
 * @throws {TargetError} when the target does not answer the first request
 */
export async function runContract(options: ContractOptions): Promise<ContractReport> {
  const document = parseDocument(options.document);
  const operations = readOperations(document);
  const validator = createValidator(document);
  const plan = planReadOnly(operations);
  const run: Run = {
    document,
    validator,
    target: options.target,
    apiKey: options.apiKey,
    send: guardSend({ operations, plan, target: options.target, send: options.send ?? fetch }),
    judge: createJudge(document, operations, validator),
    answers: [],
    findings: new Map(),
    reasons: new Map(plan.withheld),
    timeout: options.timeout ?? 10_000,
  };
  await callAll(run, callable(run, operations, plan), options.samples ?? 3);
  return report(run, operations);
}

function callable(run: Run, operations: readonly Operation[], plan: Plan): readonly Operation[] {
  return operations.filter((operation) => {
    const reason = obstacle(operation);
    if (!plan.allowed.has(operation.id)) return false;
    if (reason !== undefined) run.reasons.set(operation.id, reason);
    return reason === undefined;
  });
}

/** Operations whose identifiers are not known yet wait for the answers of the others, as long as those bring something new. */
async function callAll(run: Run, operations: readonly Operation[], samples: number): Promise<void> {
  let waiting = [...operations];
  while (waiting.length > 0) {
    const later: Operation[] = [];
    for (const operation of waiting) {
      const paths = discoverPaths({ document: run.document, validator: run.validator, operation, answers: run.answers }).slice(0, samples);
      for (const path of paths) await call(run, operation, path);
      if (paths.length === 0) later.push(operation);
    }
    if (later.length === waiting.length) break;
    waiting = later;
  }
  for (const { id, parameters } of waiting) {
    const names = parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
    run.reasons.set(id, `no answer named a value for ${names.join(' and ')}`);
  }
}

async function call(run: Run, operation: Operation, path: PathValues): Promise<void> {
  const answer = await exchange(run, operation, path);
  if (answer === undefined) return;
  run.answers.push(answer);
  for (const finding of run.judge(answer)) {
    const key = [finding.check, finding.operation, finding.status, finding.verdict, finding.message].join('\n');
    const known = run.findings.get(key);
    run.findings.set(key, known === undefined ? finding : { ...known, times: known.times + finding.times });
  }
}

async function exchange(run: Run, operation: Operation, path: PathValues): Promise<Answer | undefined> {
  try {
    const first = await send(run, operation, path);
    if (first.status !== 429) return await readAnswer(operation, first);
    await first.body?.cancel();
    const wait = Number(first.headers.get('retry-after') ?? 1);
    await sleep(Math.min(Number.isFinite(wait) ? wait : 1, MAX_WAIT) * 1_000);
    return await readAnswer(operation, await send(run, operation, path));
  } catch (error) {
    if (run.answers.length === 0) throw new TargetError(`${run.target.origin} does not answer: ${reasonOf(error)}`, { cause: error });
    run.reasons.set(operation.id, `there was no answer: ${reasonOf(error)}`);
    return undefined;
  }
}

function send(run: Run, operation: Operation, path: PathValues): Promise<Response> {
  const request = buildRequest({ target: run.target, operation, path, apiKey: run.apiKey });
  return run.send(new Request(request, { signal: AbortSignal.timeout(run.timeout) }));
}

/** The innermost cause, as `fetch` hides what happened behind "fetch failed". */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return reasonOf(error.cause);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return error.message === '' ? code : error.message;
}

function report(run: Run, operations: readonly Operation[]): ContractReport {
  const scrub = scrubber([...(run.apiKey === undefined ? [] : [run.apiKey]), ...run.answers.flatMap((answer) => secretsOf(run, answer))]);
  const findings = [...run.findings.values()].map((finding) => ({
    ...finding,
    pointer: scrub(finding.pointer),
    message: scrub(finding.message),
    expected: scrub(finding.expected),
    observed: scrub(finding.observed),
  }));
  return { findings, coverage: operations.map((operation) => cover(run, operation, findings)), answers: run.answers.length };
}

function secretsOf({ document }: Run, { operation, status, body }: Answer): readonly string[] {
  const response = responseFor(operation, status);
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  return pointer === undefined || body.kind !== 'json' ? [] : secretsIn(document, pointer, body.value);
}

function cover(run: Run, operation: Operation, findings: readonly Finding[]): Coverage {
  const { id, method, path } = operation;
  const answers = run.answers.filter((answer) => answer.operation.id === id);
  const statuses = [...new Set(answers.map((answer) => answer.status))];
  const verified = answers.some(isProof);
  const found = worst(findings.filter((finding) => finding.operation === id));
  const reason = verified ? '' : (run.reasons.get(id) ?? unprovenReason(answers, statuses));
  return { operation: id, method, path, statuses, verdict: found ?? (verified ? 'passed' : 'unverified'), verified, reason };
}

function unprovenReason(answers: readonly Answer[], statuses: readonly number[]): string {
  if (answers.length === 0) return 'it was not called';
  return answers.some((answer) => isSuccess(answer.status))
    ? 'its success has a status that is not described'
    : `it answered ${statuses.join(', ')} only`;
}
