export * from './generated/index.ts';
export { createClient } from './runtime/client.ts';
export type { Answer, Client, Config } from './runtime/client.ts';
export { OperatorProblem, orThrow } from './runtime/problem.ts';
export { AbortedError, AnswerError, ConnectionError, ResellerError, TimeoutError } from '@reseller/client/runtime';
