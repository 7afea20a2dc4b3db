export * from './generated/sdk.gen.ts';
export type * from './generated/types.gen.ts';
export { createClient } from './runtime/client.ts';
export type { Client, ClientConfig, OperationId, Where } from './runtime/client.ts';
export type { Call, RequestOptions, WithMeta } from '@reseller/client/runtime';
export {
  AbortedError,
  ResponseError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  InvalidError,
  NotFoundError,
  OutcomeUnknownError,
  PermissionError,
  RateLimitError,
  ResellerError,
  ServerError,
  TimeoutError,
} from '@reseller/client/runtime';
