export * from './common.ts';
export { createReseller } from './reseller.ts';
export type { Reconciliation } from './operation-types.ts';
export type { Reseller } from './reseller.ts';
export type { Groups } from './generated/groups.gen.ts';
export type * from './generated/types.gen.ts';
