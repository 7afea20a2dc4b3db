/** The exports that both entry points, the package and its extension, have in common. */
export type { ResellerConfig, ResellerOptions, Where } from './reseller.ts';
export type { Call, WithMeta } from './runtime/call.ts';
export type { PagedCall } from './paged-call.ts';
export type { NotCommitted, ReconcileOptions, Undecided } from './reconcile.ts';
export {
  AbortedError,
  ResponseError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CreditLimitError,
  CursorExpiredError,
  InvalidError,
  NotFoundError,
  OutcomeUnknownError,
  PermissionError,
  PriceTooHighError,
  RateLimitError,
  ResellerError,
  ServerError,
  SpendRefusedError,
  TimeoutError,
} from './runtime/errors.ts';
export type { LostCall, ResponseErrorReason } from './runtime/errors.ts';
export type {
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
export type { Recovered } from './runtime/recovered.ts';
export { redact } from './redact.ts';
