/** Options of one call of `createReseller`. */
import type { RequestOptions } from './runtime/options.ts';

/** Options of one call. */
export interface CallOptions extends RequestOptions {
  readonly reconcile?: false | undefined;
  readonly dryRun?: false | undefined;
}

/** Options of a call that determines its outcome itself if its response is lost. */
export interface ReconcilingOptions extends RequestOptions {
  /**
   * With `true`, a lost response starts `reconcile`. If the request was carried out, the call returns its response; one that comes from
   * the request log lacks secrets. If it was not, the call throws the error that says why. If that cannot be told, it throws
   * `OutcomeUnknownError`.
   */
  readonly reconcile: boolean | undefined;
  readonly dryRun?: false | undefined;
}

/** Options of a call that is not sent. */
export interface DryRunOptions extends RequestOptions {
  /** Checks the input and the spend guard, and returns the request without sending it. */
  readonly dryRun: true;
}

/** All options, for the implementation. */
export interface AnyCallOptions extends RequestOptions {
  readonly reconcile?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Names of the options of a call. */
export const CALL_OPTIONS: readonly string[] = ['signal', 'timeoutMs', 'maxRetries', 'idempotencyKey', 'headers', 'reconcile', 'dryRun'];
