/** The client of the simulated service. It calls the service in the same process and checks each response against the document. */
import { pino } from 'pino';

import type { Store } from '../../src/index.ts';
import type { DataOf, OperationId } from '../../src/reseller/operation.ts';
import type { StorePlace } from '../engines.ts';
import { SECRET } from '../harness.ts';
import { injectedInto, operatorApi, resellerApi, resellerRequest } from '../http-client.ts';
import type { Received } from '../http-client.ts';
import { OPERATOR_TOKEN } from '../operator.ts';
import { createProviderService } from '../provider-service.ts';
import type { ProviderService } from '../provider-service.ts';
import type { ModelAccount } from './model.ts';
import type { World } from './world.ts';

/** The input of one request. */
export interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly key?: string | undefined;
}

export interface Reply<Id extends OperationId> {
  readonly status: number;
  /** The body as the service sent it. */
  readonly text: string;
  readonly message: string;
  /** `type` of a failure. */
  readonly errorType: string | null;
  /**
   * The `data` of a successful response.
   *
   * @throws Error if the response is a failure.
   */
  data(): DataOf<Id>;
}

interface Envelope<Id extends OperationId> {
  readonly requestID: string | null;
  readonly type?: string;
  readonly message: string;
  readonly data: DataOf<Id>;
}

/** A service that can crash and restart on the same store. */
export interface SimulatedClient {
  store(): Store;
  service(): ProviderService;
  call<Id extends OperationId>(account: ModelAccount, id: Id, sent?: Sent): Promise<Reply<Id>>;
  /** Calls the operator API, and checks the response against its document. */
  operate(method: string, path: string, body?: object): Promise<Received>;
  /**
   * Stops the service and starts a new one on the same store. The data in memory is lost.
   *
   * @param reopened Whether the store is also closed and opened again.
   */
  restart(reopened: boolean): Promise<void>;
}

export async function openClient(place: StorePlace, { ports }: World, fill: (store: Store) => Promise<void>): Promise<SimulatedClient> {
  const logger = pino({ level: 'silent' });
  let store = await place.open();
  await fill(store);
  // The seed ends a hanging call, never a timeout, which would depend on the speed of the machine.
  const portTimeout = 3_600_000;
  const publicUrl = 'https://simulated.example';
  const start = () =>
    createProviderService({ store, ports, secret: SECRET, publicUrl, portTimeout, operatorToken: OPERATOR_TOKEN, logger });
  let service = await start();
  return {
    store: () => store,
    service: () => service,
    async call(account, id, sent = {}) {
      const operation = resellerApi.operation(id);
      const { key, ...input } = sent;
      const request = resellerRequest(operation, { ...input, ...(key !== undefined && { idempotencyKey: key }) }, account.apiKey);
      const response = await injectedInto(service.app)(request);
      resellerApi.check(operation, response);
      const { status, text } = response;
      const body: Envelope<typeof id> = response.body;
      const errorType = body.type ?? null;
      account.requests.push({ method: operation.method, path: request.url, errorType, requestId: body.requestID });
      return {
        status,
        text,
        message: body.message,
        errorType,
        data() {
          if (status !== 200) throw new Error(`${id} failed with status ${status}: ${text}`);
          return body.data;
        },
      };
    },
    async operate(method, path, body) {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, ...(body && { 'content-type': 'application/json' }) };
      const request = { method, url: path, headers, ...(body && { body: JSON.stringify(body) }) };
      const response = await injectedInto(service.operator)(request);
      const operation = operatorApi.operationAt(method, path);
      if (!operation) throw new Error(`The operator's document has no ${method} ${path}.`);
      operatorApi.check(operation, response);
      return response;
    },
    async restart(reopened) {
      // As in a crash, callers of the old service never get a response.
      await service.close();
      if (reopened) {
        await store.close();
        store = await place.open();
      }
      service = await start();
    },
  };
}
