/** The exports that both entry points, the package and its extension, have in common. */
export type { ResellerConfig, ResellerOptions, Where } from './reseller.ts';
export type { AnyCallOptions, CallOptions, DryRunOptions, ReconcilingOptions } from './call-options.ts';
export type { Call, WithMeta } from './runtime/call.ts';
export type { PagedCall } from './paged-call.ts';
export type { Committed, NotCommitted, Reconciliation, ReconcileOptions, Undecided } from './reconcile.ts';
export {
  AbortedError,
  ResponseError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CreditLimitError,
  InvalidError,
  NotFoundError,
  OutcomeUnknownError,
  PermissionError,
  RateLimitError,
  ResellerError,
  ServerError,
  SpendRefusedError,
  TimeoutError,
} from './runtime/errors.ts';
export type { ResponseErrorReason } from './runtime/errors.ts';
export type {
  Budget,
  ClientConfig,
  ClientEvent,
  Clock,
  DryRun,
  Fetch,
  Logger,
  LogLevel,
  Middleware,
  Purchase,
  RequestOptions,
  Step,
} from './runtime/options.ts';
export type { FormInput, OpenFormInput } from './runtime/form-input.ts';
export type { Recovered } from './runtime/recovered.ts';
export type { WithDates } from './dates.ts';
export { redact } from './redact.ts';
