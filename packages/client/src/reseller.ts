/** Every operation, by group: what `createReseller` returns. */
import { accountOf, witnessBefore } from './account.ts';
import { ENVIRONMENTS, PERSONAL, SECRETS } from './generated/document.gen.ts';
import { groupsOf } from './generated/groups.gen.ts';
import type { Groups } from './generated/groups.gen.ts';
import { listDomains, listRequests } from './generated/sdk.gen.ts';
import { loggerOf } from './logger.ts';
import type { Reconciliation } from './operation-types.ts';
import { reconcile } from './reconcile.ts';
import type { Outcome, ReconcileOptions } from './reconcile.ts';
import { historyOf } from './request-history.ts';
import { createLogReader } from './request-log.ts';
import { callOf } from './runtime/call.ts';
import type { Call } from './runtime/call.ts';
import { callOptions, checkOptions } from './runtime/check-options.ts';
import { clientOf, connectToReseller, urlSearchParamsBodySerializer } from './runtime/client.ts';
import type { Client } from './runtime/client.ts';
import { momentOf } from './runtime/clock.ts';
import type { Connection, KeySupport } from './runtime/connection.ts';
import { environmentVariable } from './runtime/environment.ts';
import { OutcomeUnknownError, ResellerError, SpendRefusedError } from './runtime/errors.ts';
import type { LostCall } from './runtime/errors.ts';
import type { Values } from './runtime/form.ts';
import { isRecord } from './runtime/json.ts';
import type { ClientConfig, ClientEvent, DryRun, Logger, LogLevel, Purchase, RequestOptions } from './runtime/options.ts';
import { dryRunOf, prepare } from './runtime/prepare.ts';
import type { Prepared, RequestInput } from './runtime/prepare.ts';
import { errorOf, send } from './runtime/request.ts';
import type { ApiResponse } from './runtime/request.ts';
import { shape } from './runtime/shape.ts';
import { readCall } from './stored-call.ts';

/** The API, as one reseller account sees it. */
export interface Reseller extends Groups, ClientMethods<Groups, Reconciliation> {
  /** The same client with other options. */
  withOptions(options: ResellerOptions): Reseller;
}

/** What a client can do apart from the operations. */
export interface ClientMethods<AnyGroups, Found> {
  /**
   * Finds out what happened to a request whose response was lost.
   *
   * @param error The error, or its JSON value if another process wrote it down.
   * @throws TypeError when the error or its JSON value is of another account or service.
   * @throws ResellerError when the request log cannot be read.
   */
  reconcile(error: OutcomeUnknownError | LostCall, options?: ReconcileOptions): Promise<Found>;
  /**
   * Checks the input of a call and returns the request that it would send: `dryRun((api) => api.vm.create(form))`.
   *
   * @throws InvalidError when the input breaks a rule.
   */
  dryRun(call: (api: AnyGroups) => Call<unknown>): Promise<DryRun>;
  /**
   * Calls an operation, or sends a field, that the document does not know. Unless the method is GET, it counts as a purchase.
   *
   * @param path The path without the base address: `/vm/create`.
   */
  request(method: 'DELETE' | 'GET' | 'POST' | 'PUT', path: string, form?: Values, options?: RequestOptions): Call<unknown>;
}

/**
 * Where the API is: an address of your own, or one of the document's. The sandbox is at the address in the environment variable
 * `RESELLER_SANDBOX_URL` if it is set.
 */
export type Where =
  | { readonly baseUrl: string | URL; readonly environment?: undefined }
  | { readonly environment: keyof typeof ENVIRONMENTS; readonly baseUrl?: undefined };

/** Options that `withOptions` can change. */
export interface ResellerOptions extends Omit<ClientConfig, 'apiKey' | 'baseUrl' | 'honoursIdempotencyKey' | 'clock'> {
  /** Refuses every call that changes something, before it is sent. */
  readOnly?: boolean | undefined;
  /** Is asked before each purchase. Throw to refuse it. */
  beforeBillable?: ((purchase: Purchase) => void | Promise<void>) | undefined;
  /** Gets each step of each call. An error that it throws does not affect the call. */
  onEvent?: ((event: ClientEvent) => void) | undefined;
  /** Replaces the console. */
  logger?: Logger | undefined;
  /** The lowest level that is logged. By default what the environment variable `RESELLER_LOG` says, else `warn` when a logger is set, else `off`. */
  logLevel?: LogLevel | undefined;
}

/** Options of `createReseller`. */
export type ResellerConfig = Where & ResellerOptions & Pick<ClientConfig, 'apiKey' | 'honoursIdempotencyKey' | 'clock'>;

const CHANGEABLE = [
  'fetch',
  'middleware',
  'headers',
  'timeoutMs',
  'deadlineMs',
  'maxRetries',
  'readOnly',
  'beforeBillable',
  'onEvent',
  'logger',
  'logLevel',
];
const RECONCILE_OPTIONS = ['signal', 'timeoutMs', 'maxRetries', 'headers', 'waitMs', 'resend'];

/**
 * The client of the API.
 *
 * @throws TypeError when the configuration cannot be used.
 */
export function createReseller(config: ResellerConfig): Reseller {
  return createResellerWith(groupsOf, config);
}

/** The client of an API with other groups, such as those of the extension. */
export function createResellerWith<AnyGroups>(groups: GroupsOf<AnyGroups>, config: ResellerConfig): ResellerWith<AnyGroups> {
  // JavaScript may call it without a configuration.
  const given = { ...config };
  checkOptions('createReseller', given, ['apiKey', 'baseUrl', 'environment', ...CHANGEABLE, 'honoursIdempotencyKey', 'clock']);
  if ('apiKey' in given && given.apiKey === undefined) {
    throw new TypeError('The apiKey is undefined. Leave the option out to use the environment variable RESELLER_API_KEY.');
  }
  return resellerOf(groups, { ...given, baseUrl: baseUrlOf(given) });
}

/** Makes the groups of a client. */
type GroupsOf<AnyGroups> = (client: Client) => AnyGroups;

/** The operation groups plus the methods of the client. */
type ResellerWith<AnyGroups> = AnyGroups &
  ClientMethods<AnyGroups, Outcome> & { withOptions(options: ResellerOptions): ResellerWith<AnyGroups> };

function baseUrlOf({ environment, baseUrl }: Where): string | URL {
  if (environment === undefined) return baseUrl;
  if (baseUrl !== undefined) throw new TypeError('Set either baseUrl or environment. They name two addresses.');
  if (!Object.hasOwn(ENVIRONMENTS, environment)) {
    throw new TypeError(`The environment '${String(environment)}' is unknown. Use one of ${Object.keys(ENVIRONMENTS).join(', ')}.`);
  }
  return (environment === 'sandbox' && environmentVariable('RESELLER_SANDBOX_URL')) || ENVIRONMENTS[environment];
}

type FullConfig = ClientConfig & ResellerOptions;

function resellerOf<AnyGroups>(groups: GroupsOf<AnyGroups>, config: FullConfig, keys?: KeySupport): ResellerWith<AnyGroups> {
  const connection = connectToReseller(config, 'Pass this error to reconcile() to find out', keys);
  const { clock } = connection;
  const history = historyOf(connection);
  const sendObserved = observedSend(connection, config);

  async function responseTo(method: string, input: RequestInput): Promise<ApiResponse<never>> {
    if (isPlanning) throw new TypeError('A dry run must use the client that its callback receives: dryRun((api) => api.vm.create(form)).');
    const prepared = prepare(connection, method, input);
    await authorise(config, prepared);
    const sent = momentOf(clock);
    try {
      const response = await sendObserved(prepared);
      history.remember(response.requestID, clock.now());
      return shape(prepared.operation, response);
    } catch (error) {
      const endedAt = clock.now();
      if (error instanceof OutcomeUnknownError) {
        const [account, witness] = [await accountOf(connection), witnessBefore(history.respondedAt, sent.sentAt)];
        history.lose(error, { prepared, ...sent, endedAt, attempts: error.attempts, account, witness });
      } else if (error instanceof ResellerError) history.remember(error.requestID, endedAt);
      throw error;
    }
  }

  async function preview(method: string, input: RequestInput): Promise<ApiResponse<never>> {
    const data = dryRunOf(prepare(connection, method, input));
    return { data: data as never, requestID: null, message: '', status: 0, attempts: 0, toResponse: () => Response.json(data) };
  }

  const client = clientOf((method, input) => callOf(responseTo(method, input)));
  // Without the paging of the method.
  const reader = clientOf((method, input) => callOf(sendObserved(prepare(connection, method, input))));
  const access = {
    readPage: (offset: number) => listRequests({ client: reader, body: offset === 0 ? {} : { offset } }),
    sendHarmlessRead: async () => (await listDomains({ client: reader }).withMeta()).requestID,
  };
  const log = createLogReader(access, history, clock);
  const planned = groups(clientOf((method, input) => callOf(preview(method, input))));
  return {
    ...groups(client),
    dryRun: (call) => dryRunWith(planned, call),
    request: (method, path, form, options) => {
      // Without it, the path would continue the name of the host, and the key would be sent to another one.
      if (!path.startsWith('/')) throw new TypeError(`The path must begin with '/', such as /vm/list, got '${path}'.`);
      const read = method === 'GET';
      const facts = {
        id: `${method} ${path}`,
        effect: read ? 'read' : 'purchase',
        repeatable: read,
        openForm: true,
        hidden: [...SECRETS, ...PERSONAL],
      } as const;
      const input = { ...callOptions(options), ...urlSearchParamsBodySerializer, url: path, body: form, requestValidator: facts };
      return callOf(responseTo(method, input));
    },
    reconcile: async (error, options = {}) => {
      checkOptions('reconcile', options, RECONCILE_OPTIONS);
      const request = (isRecord(error) && history.lostOf.get(error)) || readCall(error, connection, await accountOf(connection));
      async function resend(prepared: Prepared): Promise<ApiResponse<never>> {
        await authorise(config, prepared);
        return sendObserved(prepared);
      }
      return reconcile({ connection, history, log, resend }, request, options);
    },
    withOptions: (options) => {
      checkOptions('withOptions', options, CHANGEABLE);
      return resellerOf(groups, { ...config, ...options }, connection.keys);
    },
  };
}

/** Whether the callback of a dry run is running. Then no client sends anything. */
let isPlanning = false;

async function dryRunWith<AnyGroups>(planned: AnyGroups, call: (api: AnyGroups) => Call<unknown>): Promise<DryRun> {
  let result: Call<unknown>;
  isPlanning = true;
  try {
    result = call(planned);
  } finally {
    isPlanning = false;
  }
  return (await result) as DryRun;
}

/** @throws SpendRefusedError when a request must not be sent. */
async function authorise({ readOnly, beforeBillable }: FullConfig, prepared: Prepared): Promise<void> {
  const { operation, path, form } = prepared;
  const Class = SpendRefusedError;
  if (readOnly && operation.effect !== 'read') throw errorOf(prepared, { Class, message: 'this client is read-only' });
  if (operation.effect !== 'purchase') return;
  try {
    await beforeBillable?.({ operation: operation.id, path, form });
  } catch (cause) {
    const why = isRecord(cause) ? String(cause['message']) : String(cause);
    throw errorOf(prepared, { Class, message: `beforeBillable refused it: ${why}`, cause });
  }
}

/** An error of a callback, or a promise that it rejects, must not end the call or the process. */
async function ignoringErrors(callback: () => unknown): Promise<void> {
  try {
    await callback();
  } catch {
    // The callback is the caller's own code, and the call goes on without it.
  }
}

/** Sends a request and reports each step to `onEvent` and the logger. */
function observedSend(
  connection: Connection,
  { onEvent, logger, logLevel }: FullConfig,
): (prepared: Prepared) => Promise<ApiResponse<never>> {
  const log = loggerOf(logger, logLevel);
  if (!log && !onEvent) return (prepared) => send(connection, prepared);
  return (prepared) => {
    let began = 0;
    return send(connection, prepared, (step, attempt) => {
      const now = connection.clock.now();
      if (step.type === 'request') began = now;
      const event = { ...dryRunOf(prepared), attempt, milliseconds: Math.round(now - began), ...step };
      for (const callback of [log, onEvent]) queueMicrotask(() => void ignoringErrors(() => callback?.(event)));
    });
  };
}
