import { isSuccess } from './exchange.ts';
import type { Answer } from './exchange.ts';
import { TargetError } from './contract-options.ts';
import { exchange, NoAnswerError } from './send-request.ts';
import type { Filling, Line } from './send-request.ts';
import { pathsFor } from './fill-step.ts';
import { RefusedRequestError } from './guard.ts';
import { isComparable } from './run-state.ts';
import type { Run } from './run-state.ts';
import { describeStep } from './step.ts';
import type { Step } from './step.ts';

/**
 * Sends one request of a step and keeps its answer.
 * @returns whether further requests of the step may leave
 * @throws {TargetError} when the very first request is not answered
 */
export async function sendStep(run: Run, step: Step, filling: Filling): Promise<boolean> {
  const { cleaner, line, options } = run;
  const { id } = step.operation;
  run.sent.set(id, (run.sent.get(id) ?? 0) + 1);
  options.onRequest?.({ done: run.done, planned: run.planned, step: describeStep(step) });
  const entry = await cleaner.before(step, filling.path);
  let answer: Answer;
  try {
    answer = await exchange(line, step, filling);
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    const isRefused = error.cause instanceof RefusedRequestError;
    if (run.answers.length === 0 && !isRefused)
      throw new TargetError(`${line.target.origin} does not answer: ${error.message}`, { cause: error.cause });
    await cleaner.lost(entry, isRefused);
    if (step.purpose === 'call') run.reasons.set(step.operation.id, `there was no answer: ${error.message}`);
    reportProgress(run, step, undefined);
    // A purchase whose answer was lost may have happened.
    return step.effect !== 'costs';
  }
  run.answers.push(answer);
  // The effect of a request is as unknown after a truncated answer as after a lost one.
  if (answer.body.kind === 'cut') await cleaner.lost(entry, false);
  else await cleaner.after(entry, step, answer);
  reportProgress(run, step, answer.status);
  if (run.otherLine !== undefined && isComparable(step)) await compare(run, run.otherLine, step, { answer, body: filling.body });
  for (const extension of options.extensions ?? []) await extension.onAnswer(answer, run.answers);
  // One purchase with an invalid form is enough evidence.
  return !(step.effect === 'costs' && step.purpose === 'invalid-form' && isSuccess(answer.status));
}

/** Asks the compared service what the main one just answered. */
async function compare(
  run: Run,
  line: Line,
  step: Step,
  { answer, body }: { readonly answer: Answer; readonly body: string | undefined },
): Promise<void> {
  const answers = run.pairs.map(({ other }) => other);
  const [path] = step.path === 'none' ? [{}] : pathsFor(run, step.operation, answers);
  if (path === undefined) return void run.unpaired.push(answer);
  // Several samples of one operation are compared once.
  if (run.pairs.some(({ one }) => one.operation.id === step.operation.id && one.sent.detail === answer.sent.detail)) return;
  try {
    const other = await exchange(line, step, { path, body });
    run.pairs.push({ one: answer, other: { ...other, sent: { ...other.sent, purpose: 'compare' } } });
  } catch (error) {
    if (!(error instanceof NoAnswerError)) throw error;
    if (run.pairs.length === 0) throw new TargetError(`${line.target.origin} does not answer: ${error.message}`, { cause: error.cause });
  }
}

function reportProgress(run: Run, step: Step, status: number | undefined): void {
  run.done++;
  run.options.onProgress?.({ done: run.done, planned: run.planned, step: describeStep(step), status });
}
