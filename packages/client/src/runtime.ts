/** What clients of other documents of this repository share with this one. Not part of the published package. */
export { callOf } from './runtime/call.ts';
export type { Call, WithMeta } from './runtime/call.ts';
export { classifyForeign, classOf, isRedirect, isRefusal, isTransient } from './runtime/classify.ts';
export { checkCredential, connect } from './runtime/connection.ts';
export type { Connection } from './runtime/connection.ts';
export { environmentVariable } from './runtime/environment.ts';
export * from './runtime/errors.ts';
export type { Refuse, Values } from './runtime/form.ts';
export { isRecord, parseJson } from './runtime/json.ts';
export type { ClientConfig, Clock, Fetch, RequestOptions } from './runtime/options.ts';
export { fillPath } from './runtime/path.ts';
export { CALL_OPTIONS, checkedClient, checkOptions } from './runtime/check-options.ts';
export { errorOf, send } from './runtime/request.ts';
export type { Sendable } from './runtime/request.ts';
export type { Asked, Failure, Received, Verdict } from './runtime/wire.ts';
