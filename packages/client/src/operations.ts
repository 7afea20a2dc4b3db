/** Single functions, for programs that hold only what they use. */
export * from './generated/sdk.gen.ts';
export { createClient } from './runtime/client.ts';
export type { Client } from './runtime/client.ts';
export type { ClientConfig, RequestOptions } from './runtime/options.ts';
