import { isSuccess } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { errorText } from '../is-error.ts';
import { conditionsFor, foundFields, nextPage, pathsOf } from './fill-step.ts';
import { MAX_SAMPLES_FULL, MAX_SAMPLES_READ } from './plan.ts';
import type { Run } from './run-state.ts';
import { sendStep } from './send-step.ts';
import { bodyOf, describeStep } from './step.ts';
import type { Step } from './step.ts';

/**
 * Sends the steps of a phase. A step without known identifiers waits for the responses of other steps.
 * @returns the steps that could not be sent
 */
export async function runPhase(run: Run, steps: readonly Step[]): Promise<readonly Step[]> {
  let waiting: readonly Step[] = steps;
  let isLastResort = false;
  while (waiting.length > 0) {
    const later: Step[] = [];
    for (const step of waiting) if (!(await attemptStep(run, step, isLastResort))) later.push(step);
    if (later.length === waiting.length && isLastResort) break;
    isLastResort = later.length === waiting.length;
    waiting = later;
  }
  for (const step of waiting) {
    if (step.purpose === 'call' || step.purpose === 'remove' || step.purpose === 'undo')
      run.reasons.set(step.operation.id, reasonNotSent(step));
  }
  return waiting;
}

/** Runs a step. After the first response, its error concerns only its operation, so that the others are judged, and what the run made is undone. */
async function attemptStep(run: Run, step: Step, isLastResort: boolean): Promise<boolean> {
  try {
    return await runStep(run, step, isLastResort);
  } catch (error) {
    if (run.exchanges.length === 0) throw error;
    run.failures.add(describeStep(step), error);
    run.reasons.set(step.operation.id, `the run failed there: ${errorText(error)}`);
    return true;
  }
}

/** @returns whether all values of the step were known */
async function runStep(run: Run, step: Step, isLastResort: boolean): Promise<boolean> {
  function isStopped(): boolean {
    return run.options.signal?.aborted === true && step.purpose !== 'remove' && step.purpose !== 'undo' && step.ifDoubtful !== true;
  }
  if (!run.prepare(step.operation, 'responses')) return true;
  // The creation after a removal would leave one more thing behind.
  if (step.purpose === 'leftover' && run.cleaner.hasDoubt(step.operation)) return true;
  if (step.ifDoubtful === true && !run.cleaner.isDoubtful(step.operation)) return true;
  const found = foundFields(run, step);
  const { onlyAfter } = step;
  const paths = pathsOf(run, step, isLastResort).filter((path) => onlyAfter === undefined || run.cleaner.didTo(onlyAfter, path));
  if (found === undefined || paths.length === 0) return false;
  for (const path of paths.slice(0, step.times)) {
    if (hasEnoughResponses(run, step) || isStopped()) break;
    // The guard would refuse it too. Not each refusal is worth a line of progress.
    const refusal = run.refusal(step, path);
    if (refusal !== undefined) {
      if (step.purpose === 'call') run.reasons.set(step.operation.id, refusal);
      continue;
    }
    const times = step.purpose === 'repeat' || step.purpose === 'next-page' ? step.times : 1;
    for (let time = 0; time < times && !isStopped(); time++) {
      const page = nextPage(run, step);
      // The page before was the last one.
      if (page === undefined) return true;
      const conditions = conditionsFor(run, step, path);
      if (conditions === undefined) return true;
      const body = bodyOf(step, { ...found, ...(step.next?.in === 'form' ? Object.fromEntries(page) : {}) });
      if (!(await sendStep(run, step, { path, body, query: step.next?.in === 'query' ? page : undefined, conditions }))) return true;
    }
  }
  return true;
}

/** Whether a step has enough responses, or the limit of its operation is reached. */
function hasEnoughResponses(run: Run, { operation, purpose, path }: Step): boolean {
  const { sent, mostPerOperation = Infinity, exchanges } = run;
  if ((sent.get(operation.id) ?? 0) >= mostPerOperation) return true;
  if (purpose !== 'call' || path !== 'found') return false;
  const calls = exchanges.filter((exchange) => exchange.operation.id === operation.id && exchange.sent.purpose === 'call');
  const most = run.options.mode === 'full' ? MAX_SAMPLES_FULL : MAX_SAMPLES_READ;
  return calls.length >= most && calls.some(isNonEmptySuccess);
}

/** Whether a response is successful and has content. */
function isNonEmptySuccess({ status, body }: Exchange): boolean {
  if (!isSuccess(status) || body.kind !== 'json') return false;
  const { value } = body;
  return value !== null && (typeof value !== 'object' || Object.keys(value).length > 0);
}

function reasonNotSent({ operation, path, form, onlyAfter }: Step): string {
  if (onlyAfter !== undefined) return `${onlyAfter} made no change that could be undone`;
  if (path === 'own') return `this run created no resource for it; name an existing one with --also ${operation.id}=IDENTIFIER`;
  const names = operation.parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
  return `no response has a value for ${[...(path === 'found' ? names : []), ...Object.values(form?.found ?? {})].join(' and ')}`;
}
