/** A reseller of the simulated service, in the same process. Each response is checked against the document. */
import { pino } from 'pino';

import type { Store } from '../../src/index.ts';
import type { DataOf, OperationId } from '../../src/reseller/operation.ts';
import type { StorePlace } from '../engines.ts';
import { SECRET } from '../harness.ts';
import { injectedInto, resellerApi, resellerRequest } from '../http-client.ts';
import { createProviderService } from '../provider-service.ts';
import type { ProviderService } from '../provider-service.ts';
import type { ModelAccount } from './model.ts';
import type { World } from './world.ts';

/** What one request sends. */
export interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, unknown>>;
  readonly key?: string | undefined;
}

/** What came back. */
export interface Reply<Id extends OperationId> {
  readonly status: number;
  /** The body as it was sent. */
  readonly text: string;
  readonly message: string;
  /** `type` of a failure. */
  readonly errorType: string | null;
  /**
   * The payload of a good answer.
   *
   * @throws Error where the answer was not good.
   */
  data(): DataOf<Id>;
}

interface Envelope<Id extends OperationId> {
  readonly requestID: string | null;
  readonly type?: string;
  readonly message: string;
  readonly data: DataOf<Id>;
}

/** A service over a place for stores, which can be crashed and started again. */
export interface SimulatedClient {
  store(): Store;
  service(): ProviderService;
  call<Id extends OperationId>(account: ModelAccount, id: Id, sent?: Sent): Promise<Reply<Id>>;
  /**
   * Starts a new service on the same store. The data in memory is lost.
   *
   * @param reopened Whether the store is closed and opened again too.
   */
  startAgain(reopened: boolean): Promise<void>;
}

export async function openClient(place: StorePlace, { ports }: World, fill: (store: Store) => Promise<void>): Promise<SimulatedClient> {
  const logger = pino({ level: 'silent' });
  let store = await place.open();
  await fill(store);
  // What hangs does so for as long as the seed says, however slow the machine is.
  const portTimeout = 3_600_000;
  const start = () => createProviderService({ store, ports, secret: SECRET, publicUrl: 'https://simulated.example', portTimeout, logger });
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
          if (status !== 200) throw new Error(`${id} answered ${status}: ${text}`);
          return body.data;
        },
      };
    },
    async startAgain(reopened) {
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
