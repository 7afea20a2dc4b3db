/**
 * The client of a service that has the extension: operations that the specification names but does not show. The groups have the
 * operations of the specification too. A service without the extension responds to the others with 404.
 */
import { groupsOf } from './generated/extension/groups.gen.ts';
import type { Groups } from './generated/extension/groups.gen.ts';
import type { ExtendedReconciliation } from './operation-types.ts';
import { createResellerWith } from './reseller.ts';
import type { ClientMethods, ResellerConfig, ResellerOptions } from './reseller.ts';

export * from './common.ts';
export type { ExtendedReconciliation as Reconciliation } from './operation-types.ts';
export { eventPages } from './events.ts';
export type { EventPage } from './events.ts';
export type { Groups } from './generated/extension/groups.gen.ts';
export type * from './generated/extension/types.gen.ts';

/** The API with its extension, as one reseller account sees it. */
export interface Reseller extends Groups, ClientMethods<Groups, ExtendedReconciliation> {
  /** The same client with other options. */
  withOptions(options: ResellerOptions): Reseller;
}

/**
 * The client of the API with its extension.
 *
 * @throws TypeError when the configuration cannot be used.
 */
export function createReseller(config: ResellerConfig): Reseller {
  return createResellerWith(groupsOf, config);
}
