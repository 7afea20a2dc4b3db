/** Every operation, by group: what `createReseller` gives. */
import { ENVIRONMENTS } from './generated/facts.gen.ts';
import { PLACES, WRITE } from './generated/places.gen.ts';
import type { Groups } from './generated/places.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import { reconcile } from './reconcile.ts';
import type { Reconciliation, ReconcileOptions } from './reconcile.ts';
import { eachRequest } from './request-log.ts';
import type { Paged } from './request-log.ts';
import { makeClient } from './runtime/client.ts';
import type { OutcomeUnknownError } from './runtime/errors.ts';
import type { CallOptions, Client, ClientConfig } from './runtime/options.ts';
import { fill } from './runtime/path.ts';
import type { Sender } from './runtime/send.ts';
import { track } from './tracking.ts';
import type { Memory } from './tracking.ts';

/** The API, as one reseller account sees it. */
export interface Reseller extends Groups {
  readonly account: Groups['account'] & {
    /** The whole request log, loaded as it is read, newest first. */
    allRequests(options?: CallOptions): Paged<RequestLogItem>;
  };
  /**
   * Finds out what became of a request whose answer was lost.
   *
   * @throws ResellerError when the request log cannot be read.
   */
  reconcile(error: OutcomeUnknownError, options?: ReconcileOptions): Promise<Reconciliation>;
  /** For the functions of `@reseller/client/operations`. */
  readonly client: Client;
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
export function createReseller(config: ResellerConfig): Reseller {
  const client = makeClient({ ...config, baseUrl: config.environment ? ENVIRONMENTS[config.environment] : config.baseUrl });
  const reseller: Groups = group(client, PLACES);
  const memory: Memory = { clock: client.clock, log: reseller.account.requests, answered: new Set(), open: new Set(), lost: new WeakMap() };
  client.extras = track(config, memory);
  return {
    ...reseller,
    account: { ...reseller.account, allRequests: (options) => eachRequest(memory.log, options) },
    reconcile: (...input) => reconcile(memory, ...input),
    client,
  };
}

interface Places {
  readonly [name: string]: string | Places;
}

function group(client: Sender, places: Places): Groups {
  return Object.fromEntries(
    Object.entries(places).map(([name, place]): unknown[] => [
      name,
      typeof place === 'string' ? operation(client, place) : group(client, place),
    ]),
  );
}

/** An operation as it is called: path parameters, then the form, then options. */
function operation(client: Sender, place: string): (...input: unknown[]) => unknown {
  const [method = '', url = '', meta = ''] = place.split(/ (\S+) (.+)/);
  return (...input) => {
    const path = Object.fromEntries((url.match(/\w+(?=\})/g) ?? []).map((name) => [name, input.shift()]));
    const body = /=/.test(meta) ? input.shift() : undefined;
    const options = Object(input[0]);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', ...options.headers };
    return client.method(method)({ ...options, url, path, body, meta, headers, fill, write: WRITE });
  };
}
