import { isPlainCall, isSuccess } from '../exchange/exchange.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { TargetError } from './contract-options.ts';
import { followWork } from './follow.ts';
import { RefusedRequestError } from './guard.ts';
import type { Run } from './run-state.ts';
import { sendRequest, NoResponseError } from './send-request.ts';
import type { StepValues } from './send-request.ts';
import { describeStep } from './step.ts';
import type { Step } from './step.ts';

/** A stream or one slow operation may come first. After so many requests without a response, the service does not respond at all. */
const MAX_UNANSWERED = 2;

/**
 * Sends one request of a step and records its response.
 * @returns whether more requests of the step may be sent
 * @throws {TargetError} when nothing listens at the target, or the first requests have no response
 */
export async function sendStep(run: Run, step: Step, values: StepValues): Promise<boolean> {
  const exchange = await sendAndRecord(run, step, values);
  // A purchase without a response may have taken place.
  if (exchange === undefined || exchange.status === 0) return step.effect !== 'costs';
  if (exchange.status === 202 && isPlainCall(exchange))
    await followWork(run, exchange, (poll, path) => sendAndRecord(run, poll, { path, body: undefined }));
  // One accepted purchase with an invalid form is enough.
  return !(step.effect === 'costs' && !isPlainCall(exchange) && isSuccess(exchange.status));
}

/** Sends one request. Returns undefined when there is no response. */
async function sendAndRecord(run: Run, step: Step, values: StepValues): Promise<Exchange | undefined> {
  const { cleaner, transport, options } = run;
  const { id } = step.operation;
  run.sent.set(id, (run.sent.get(id) ?? 0) + 1);
  options.onRequest?.({ done: run.done, planned: run.planned, step: describeStep(step) });
  await transport.pace();
  const entry = await cleaner.before(step, values.path);
  let exchange: Exchange;
  try {
    exchange = await sendRequest(transport, step, values);
  } catch (error) {
    if (!(error instanceof NoResponseError)) throw error;
    const isRefused = error.cause instanceof RefusedRequestError;
    const isAbsent = !error.isReached || run.done >= MAX_UNANSWERED;
    if (run.exchanges.length === 0 && !isRefused && isAbsent)
      throw new TargetError(`${transport.target.origin} does not respond: ${error.message}`, { cause: error.cause });
    await cleaner.lost(entry, isRefused);
    if (!isRefused) cleaner.doubt(entry, step, values.body);
    if (step.purpose === 'call') run.reasons.set(step.operation.id, `there was no response: ${error.message}`);
    reportProgress(run, step, undefined);
    return undefined;
  }
  run.exchanges.push(exchange);
  const made = run.ownership.saw(exchange);
  if (made?.isNew === true) run.made.set(exchange, made);
  await cleaner.saw(step, exchange, values.path);
  // After a truncated response, the effect of the request is unknown.
  if (exchange.body.kind === 'cut') await cleaner.lost(entry, false);
  else await cleaner.after(entry, step, exchange, made);
  if (exchange.body.kind === 'cut' || exchange.status >= 500) cleaner.doubt(entry, step, values.body);
  if (step.ifDoubtful === true) await cleaner.look(exchange, run.exchanges);
  reportProgress(run, step, exchange.status);
  for (const extension of options.extensions ?? []) await extension.onExchange(exchange, run.exchanges);
  return exchange;
}

function reportProgress(run: Run, step: Step, status: number | undefined): void {
  run.done++;
  run.options.onProgress?.({ done: run.done, planned: run.planned, step: describeStep(step), status });
}
