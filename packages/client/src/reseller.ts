/** Every operation, by group: what `createReseller` gives. */
import { ENVIRONMENTS } from './generated/facts.gen.ts';
import { FUNCTIONS } from './generated/functions.gen.ts';
import type { Operations } from './generated/operations.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import type { Reconciliation, ReconcileOptions } from './reconcile.ts';
import { eachRequest } from './request-log.ts';
import type { Paged } from './request-log.ts';
import { createClient } from './runtime/client.ts';
import type { OutcomeUnknownError } from './runtime/errors.ts';
import type { CallOptions, Client, ClientConfig } from './runtime/options.ts';
import { track } from './tracking.ts';
import type { Memory } from './tracking.ts';

/** Where each operation of the document is found: one line for each. */
const PLACES = {
  vm: {
    create: 'createVm',
    reinstall: 'reinstallVm',
    hosts: 'listVmHosts',
  },
  dedicated: {
    list: 'listDedicatedServers',
    available: 'listDedicatedMarket',
    info: 'getDedicatedServer',
    delete: 'deleteDedicatedServer',
    undelete: 'undeleteDedicatedServer',
  },
  domain: {
    list: 'listDomains',
    pricings: 'getDomainPricings',
    register: 'registerDomain',
    info: 'getDomain',
    setNameservers: 'setDomainNameservers',
    authcode: 'requestDomainAuthcode',
    undelete: 'undeleteDomain',
    editDns: 'editDomainDns',
    handle: {
      create: 'createHandle',
      countries: 'listHandleCountries',
      info: 'getHandle',
    },
  },
  accounting: {
    sales: 'listSales',
    invoices: 'listInvoices',
    currentInvoice: 'getCurrentInvoice',
    invoice: 'getInvoice',
  },
  account: {
    otp: 'generateOtp',
    requests: 'listRequests',
  },
} as const;

/** A group of operations. */
export type Group<Names> = {
  readonly [Name in keyof Names]: Names[Name] extends keyof Operations ? Operations[Names[Name]] : Group<Names[Name]>;
};

type Placed<Names> = Names extends string ? Names : { [Name in keyof Names]: Placed<Names[Name]> }[keyof Names];

/** Does not compile where the document has an operation that has no place above, or the other way round; the error names it. */
const complete: [Exclude<keyof Operations, Placed<typeof PLACES>>, Exclude<Placed<typeof PLACES>, keyof Operations>] extends [never, never]
  ? typeof PLACES
  : [Exclude<keyof Operations, Placed<typeof PLACES>>, Exclude<Placed<typeof PLACES>, keyof Operations>] = PLACES;

/** The API, as one reseller account sees it. */
export interface Reseller extends Group<typeof PLACES> {
  readonly account: Group<(typeof PLACES)['account']> & {
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
  const { environment, ...rest } = config;
  const memory: Memory = { spent: 0, answered: new Set(), open: new Map() };
  const baseUrl = environment ? ENVIRONMENTS[environment] : config.baseUrl;
  const client = createClient(
    { ...rest, baseUrl },
    track({ ...rest, baseUrl }, memory, async (lost, error) => (await loadReconcile()).recover(lost, error)),
  );
  memory.client = client;
  const reseller = group(client, complete);
  return Object.assign(reseller, {
    account: { ...reseller.account, allRequests: (options?: CallOptions) => eachRequest(client, options) },
    reconcile: async (error: OutcomeUnknownError, options?: ReconcileOptions) => (await loadReconcile()).reconcile(client, error, options),
    client,
  });
}

/** Loaded when it is needed, which is hardly ever. */
const loadReconcile = () => import('./reconcile.ts');

function group<Names extends object>(client: Client, names: Names): Group<Names> {
  const bound = Object.entries(names).map(([name, place]: [string, unknown]) => {
    const call = typeof place === 'string' ? FUNCTIONS[place] : undefined;
    return {
      [name]:
        typeof call === 'function'
          ? (...input: unknown[]) => Reflect.apply(call, undefined, [client, ...input])
          : group(client, Object(place)),
    };
  });
  return Object.assign({}, ...bound);
}
