/** Every operation, by group: what `createReseller` gives. */
import { ENVIRONMENTS } from './generated/facts.gen.ts';
import { groupsOf } from './generated/places.gen.ts';
import type { Groups } from './generated/places.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import { operationsOf } from './operation.ts';
import type { Purchases } from './purchases.ts';
import type { Reconciliation, ReconcileOptions } from './reconcile.ts';
import { eachRequest } from './request-log.ts';
import type { Paged } from './request-log.ts';
import { createClient } from './runtime/client.ts';
import type { OutcomeUnknownError } from './runtime/errors.ts';
import type { CallOptions, ClientConfig } from './runtime/options.ts';

/** The API, as one reseller account sees it. */
export interface Reseller extends Groups {
  readonly account: Groups['account'] & {
    /** The whole request log, loaded as it is read, newest first. */
    allRequests(options?: CallOptions): Paged<RequestLogItem>;
  };
  /**
   * Finds out what became of a request whose answer was lost.
   *
   * @throws TypeError when the error is not of this client.
   * @throws ResellerError when the request log cannot be read.
   */
  reconcile(error: OutcomeUnknownError, options?: ReconcileOptions): Promise<Reconciliation>;
}

/** Where the API is: an address of your own, or one of the document's. */
export type Where =
  | { readonly baseUrl: string; readonly environment?: undefined }
  | { readonly environment: keyof typeof ENVIRONMENTS; readonly baseUrl?: undefined };

export type ResellerConfig = Omit<ClientConfig, 'apiKey' | 'baseUrl'> & Where & { readonly apiKey: string };

/**
 * The client of the API.
 *
 * @throws TypeError when the API key or the base address cannot be one.
 */
export const createReseller = (config: ResellerConfig): Reseller => {
  const client = createClient({ ...config, baseUrl: config.environment ? ENVIRONMENTS[config.environment] : config.baseUrl });
  let loading: Promise<Purchases> | undefined;
  /** Loaded before the first request that changes something is sent, so that it is there when an answer is lost. */
  const load = () =>
    (loading ??= import('./purchases.ts').then(
      ({ purchasesOf }) => purchasesOf(config, client.clock, account),
      (cause: unknown) => {
        loading = undefined;
        throw cause;
      },
    ));
  const groups = groupsOf(operationsOf(client, config, load));
  const account: Reseller['account'] = { ...groups.account, allRequests: (options) => eachRequest(account.requests, options) };
  return {
    ...groups,
    account,
    reconcile: async (...input) => (await load()).reconcile(...input),
  };
};
