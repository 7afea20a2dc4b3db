/** What clients of other documents of this repository share with this one. Not part of the published package. */
export { isTransient, retryAfterMs } from './runtime/classify.ts';
export { AbortedError, AnswerError, ConnectionError, ResellerError, TimeoutError } from './runtime/errors.ts';
export type { ErrorClass, ErrorDetails } from './runtime/errors.ts';
export { isRecord, parseJson } from './runtime/json.ts';
export type { Clock, Fetch } from './runtime/options.ts';
export { retryDelayMs } from './runtime/retry.ts';
export { rootCause, sendOnce } from './runtime/send.ts';
export type { Attempt, Received, Unanswered } from './runtime/send.ts';
export { sleep } from './runtime/sleep.ts';
