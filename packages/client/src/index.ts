export * from './common.ts';
export { createReseller } from './reseller.ts';
export type { Reseller } from './reseller.ts';
export type { Groups, InExtension } from './generated/groups.gen.ts';
export type * from './generated/types.gen.ts';
