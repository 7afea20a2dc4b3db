export { createReseller } from './reseller.ts';
export type { Reseller, ResellerConfig, Where } from './reseller.ts';
export { createClient } from './runtime/client.ts';
export type { Call, WithMeta } from './runtime/call.ts';
export {
  AbortedError,
  AnswerError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CreditLimitError,
  InvalidError,
  NotFoundError,
  OutcomeUnknownError,
  RateLimitError,
  ResellerError,
  ServerError,
  SpendRefusedError,
  TimeoutError,
} from './runtime/errors.ts';
export type { ErrorClass, Failure } from './runtime/errors.ts';
export type {
  Budget,
  CallOptions,
  Client,
  ClientConfig,
  ClientEvent,
  Clock,
  CoreConfig,
  DryRun,
  Fetch,
  Middleware,
  Purchase,
  Reconciling,
  Told,
} from './runtime/options.ts';
export type { Recovered } from './runtime/recovered.ts';
export { redact } from './runtime/redact.ts';
export type { Committed, NotCommitted, ReconcileOptions, Reconciliation, Undecided } from './reconcile.ts';
export type { Paged } from './request-log.ts';
export type { Groups } from './generated/places.gen.ts';
export type { OnceAnswers, Operations } from './generated/operations.gen.ts';
export type * from './generated/types.gen.ts';
