/** Every operation, by group: what `createReseller` returns. */
import { CALL_OPTIONS } from './call-options.ts';
import type { AnyCallOptions } from './call-options.ts';
import { checkOptions } from './check-options.ts';
import { withDates } from './dates.ts';
import { ENVIRONMENTS } from './generated/document.gen.ts';
import { groupsOf } from './generated/groups.gen.ts';
import type { Groups } from './generated/groups.gen.ts';
import * as table from './generated/operation-table.gen.ts';
import * as sdk from './generated/sdk.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import { loggerOf } from './logger.ts';
import { purchasesOf } from './purchases.ts';
import type { Purchases, SendPrepared } from './purchases.ts';
import type { ReconcileOptions, Reconciliation } from './reconcile.ts';
import { callOf } from './runtime/call.ts';
import type { Call } from './runtime/call.ts';
import { clientOf, connectToReseller } from './runtime/client.ts';
import type { Client } from './runtime/client.ts';
import type { Connection } from './runtime/connection.ts';
import { environmentVariable } from './runtime/environment.ts';
import type { OutcomeUnknownError } from './runtime/errors.ts';
import type { ClientConfig, ClientEvent, Logger, LogLevel } from './runtime/options.ts';
import { dryRunOf, prepare } from './runtime/prepare.ts';
import type { Prepared, RequestInput } from './runtime/prepare.ts';
import { send } from './runtime/request.ts';
import type { ApiResponse } from './runtime/request.ts';
import { shape } from './runtime/shape.ts';
import type { SpendGuardConfig } from './spend-guard.ts';

/** The API, as one reseller account sees it. */
export interface Reseller<Dates extends boolean = false> extends Groups<Dates> {
  /**
   * Finds out what happened to a request whose response was lost.
   *
   * @throws TypeError when the error is not from this client.
   * @throws ResellerError when the request log cannot be read.
   */
  reconcile(error: OutcomeUnknownError, options?: ReconcileOptions): Promise<Reconciliation>;
  /** The same client with other options. Budget and memory of purchases are shared. */
  withOptions(options: ResellerOptions): Reseller<Dates>;
}

/**
 * Where the API is: an address of your own, or one of the document's. The sandbox is at the address in the environment variable
 * `RESELLER_SANDBOX_URL` if it is set.
 */
export type Where =
  | { readonly baseUrl: string; readonly environment?: undefined }
  | { readonly environment: keyof typeof ENVIRONMENTS; readonly baseUrl?: undefined };

/** Options that `withOptions` can change. */
export interface ResellerOptions extends Omit<ClientConfig, 'apiKey' | 'baseUrl' | 'honoursIdempotencyKey' | 'clock'> {
  /** Refuses every call that changes something, before it is sent. */
  readOnly?: boolean | undefined;
  /** Gets each step of each call. An error that it throws does not affect the call. */
  onEvent?: ((event: ClientEvent) => void) | undefined;
  /** Gets the data of each response. `drift` of `@reseller/client/drift` makes one that finds what the document does not describe. */
  onDrift?: ((operation: string, data: unknown) => void) | undefined;
  /** Replaces the console. */
  logger?: Logger | undefined;
  /** From which level on to log. By default what the environment variable `RESELLER_LOG` says, else `warn` when a logger is set, else `off`. */
  logLevel?: LogLevel | undefined;
}

/** Options of `createReseller`. */
export type ResellerConfig<Dates extends boolean = boolean> = Where &
  ResellerOptions &
  Pick<ClientConfig, 'apiKey' | 'honoursIdempotencyKey' | 'clock'> &
  Pick<SpendGuardConfig, 'beforeBillable' | 'budget'> & {
    /** Returns instants as `Date` instead of as ISO 8601 text. Default false. */
    readonly dates?: Dates | undefined;
  };

const RESELLER_OPTIONS = [
  'apiKey',
  'baseUrl',
  'fetch',
  'middleware',
  'headers',
  'timeoutMs',
  'maxRetries',
  'honoursIdempotencyKey',
  'appInfo',
  'showPersonalData',
  'clock',
  'environment',
  'readOnly',
  'onEvent',
  'onDrift',
  'logger',
  'logLevel',
  'beforeBillable',
  'budget',
  'dates',
];

/**
 * The client of the API.
 *
 * @throws TypeError when the configuration cannot be used.
 */
export function createReseller<Dates extends boolean = false>(config: ResellerConfig<Dates>): Reseller<Dates> {
  return createResellerWith(groupsOf<Dates>, config);
}

/** The client of an API with other groups, such as those of the extension. */
export function createResellerWith<AnyGroups>(groups: GroupsOf<AnyGroups>, config: ResellerConfig): ResellerWith<AnyGroups> {
  // JavaScript may call it without a configuration.
  const given = { ...config };
  checkOptions('createReseller', given, RESELLER_OPTIONS);
  return resellerOf(groups, { ...given, baseUrl: baseUrlOf(given) });
}

/** Makes the groups of a client. */
type GroupsOf<AnyGroups> = (client: Client) => AnyGroups;

/** Groups, and the members of a client besides. */
type ResellerWith<AnyGroups> = AnyGroups & Pick<Reseller, 'reconcile'> & { withOptions(options: ResellerOptions): ResellerWith<AnyGroups> };

function baseUrlOf({ environment, baseUrl }: Where): string {
  if (environment === undefined) return baseUrl;
  if (!Object.hasOwn(ENVIRONMENTS, environment)) {
    throw new TypeError(`The environment '${String(environment)}' is unknown. Use one of ${Object.keys(ENVIRONMENTS).join(', ')}.`);
  }
  return (environment === 'sandbox' && environmentVariable('RESELLER_SANDBOX_URL')) || ENVIRONMENTS[environment];
}

/** State that clients share when `withOptions` creates them. */
interface Shared {
  readonly purchases: Purchases;
  readonly connection: Connection;
}

type FullConfig = ClientConfig & ResellerOptions & SpendGuardConfig & { readonly dates?: boolean | undefined };

function resellerOf<AnyGroups>(groups: GroupsOf<AnyGroups>, config: FullConfig, shared?: Shared): ResellerWith<AnyGroups> {
  const { dates = false, readOnly, onDrift } = config;
  const connection = connectToReseller(config, 'Pass this error to reconcile() to find out', shared?.connection.keys);
  const observed = observedSend(config);
  const purchases = shared?.purchases ?? purchasesOf(config, { clock: connection.clock, ...logAccess(connection, observed) });

  async function read(prepared: Prepared): Promise<ApiResponse<never>> {
    const response = await observed(connection, prepared);
    purchases.remember(response.requestID, connection.clock.now());
    return response;
  }

  async function responseTo(method: string, input: RequestInput & AnyCallOptions): Promise<ApiResponse<never>> {
    const prepared = prepareChecked(connection, method, input);
    const { operation } = prepared;
    const response =
      operation.effect === 'read'
        ? await read(prepared)
        : await purchases.carryOut(connection, prepared, observed, { reconcile: input.reconcile, readOnly });
    afterwards(() => onDrift?.(operation.id, response.data));
    return dated(shape(operation, response), dates ? operation.instants : undefined);
  }

  async function preview(method: string, input: RequestInput & AnyCallOptions) {
    const prepared = prepareChecked(connection, method, input);
    await purchases.rehearse(prepared);
    return dryRunOf(prepared);
  }

  function handle(method: string, input: RequestInput & AnyCallOptions): Call<never> {
    // The overloads of the generated methods say that a dry run returns something else.
    if (input.dryRun) return preview(method, input) as Promise<never> as Call<never>;
    return callOf(responseTo(method, input));
  }

  return {
    ...groups(clientOf(handle)),
    reconcile: (error, options = {}) => {
      checkOptions('reconcile', options, ['signal', 'timeoutMs', 'maxRetries', 'headers', 'settleMs', 'resend']);
      return purchases.reconcile(connection, error, observed, options);
    },
    withOptions: (options) => {
      checkOptions('withOptions', options, RESELLER_OPTIONS);
      return resellerOf(groups, { ...config, ...options }, { purchases, connection });
    },
  };
}

/** @throws TypeError naming an option that is unknown. */
function prepareChecked(connection: Connection, method: string, input: RequestInput & AnyCallOptions): Prepared {
  const { client: _, url, path, body, meta, ...options }: RequestInput & AnyCallOptions & { client?: unknown } = input;
  checkOptions(`A call of ${meta.id}`, options, CALL_OPTIONS);
  return prepare(connection, method, { ...options, url, path, body, meta });
}

/** Reads the request log for `reconcile`, without the paging and the dates of the methods. */
function logAccess(connection: Connection, observed: SendPrepared) {
  const client = clientOf((method, input) => callOf(observed(connection, prepare(connection, method, input))));
  return {
    readPage: async (offset: number): Promise<RequestLogItem[]> =>
      sdk.listRequests({ client, meta: table.listRequests, body: offset === 0 ? {} : { offset } }),
    readAnything: async (): Promise<string | null> => {
      const { requestID } = await sdk.listDomains({ client, meta: table.listDomains }).withMeta();
      return requestID;
    },
  };
}

/** Sends, and tells `onEvent` and the logger. */
function observedSend({ onEvent, logger, logLevel, clock }: FullConfig): SendPrepared {
  const log = loggerOf(logger, logLevel);
  if (!log && !onEvent) return send;
  return (connection, prepared) => {
    let began = 0;
    return send(connection, prepared, (step, attempt) => {
      const now = (clock ?? connection.clock).now();
      if (step.type === 'request') began = now;
      const event = { ...dryRunOf(prepared), attempt, milliseconds: now - began, ...step };
      afterwards(() => {
        log?.(event);
        onEvent?.(event);
      });
    });
  };
}

/** An error of the callback must not affect the call. */
function afterwards(callback: () => void): void {
  queueMicrotask(callback);
}

function dated(response: ApiResponse<never>, instants: readonly string[] | undefined): ApiResponse<never> {
  return instants ? { ...response, data: withDates(response.data, instants) } : response;
}
