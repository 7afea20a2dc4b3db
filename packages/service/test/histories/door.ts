/** The public doors of one sandbox in this process: both HTTP applications. A kill ends it in the middle of a request, and it starts again on its store. */
import { pino } from 'pino';

import { createService, seedSandbox, simulatedPorts, StoreUnavailableError } from '../../src/index.ts';
import type { Service, Store } from '../../src/index.ts';
import type { OperationId } from '../../src/reseller/operation.ts';
import { storePlace } from '../engines.ts';
import type { Engine } from '../engines.ts';
import { callOperation, injectedInto, operatorApi, operatorRequest } from '../http-client.ts';
import type { Received, Sent } from '../http-client.ts';
import { aroundPort, PortFailure } from '../ports/port-calls.ts';
import type { Seconds } from './calendar.ts';

const TOKEN = 'operator-token-of-histories-0123456789';

export interface Door {
  /** Calls an operation as a reseller. The response is checked against the document. */
  call(apiKey: string, id: OperationId, sent?: Sent): Promise<Received>;
  /** Sends a request to the operator API. The response is checked against the document. */
  operate(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Received>;
  /** Waits for the work that runs next to the requests, such as documents. */
  settled(): Promise<void>;
  /**
   * Sends a request, and ends the service when it has committed some times more: no later commit succeeds. Then it starts again.
   *
   * @param commits Commits that still succeed.
   */
  kill(commits: number, request: () => Promise<unknown>): Promise<void>;
  /** Sends a request whose first call of the infrastructure fails. */
  fail(request: () => Promise<Received>): Promise<Received>;
  end(): Promise<void>;
}

export async function openDoor(engine: Engine, start: Seconds): Promise<Door> {
  const simulated = simulatedPorts({ clock: { now: () => start * 1000 } });
  let failsNext = false;
  const failing = <Port extends object>(port: Port): Port =>
    aroundPort(port, (_, work) => {
      if (!failsNext) return work();
      failsNext = false;
      return Promise.reject(new PortFailure('The infrastructure failed.'));
    });
  const { hypervisor, fleet, registrar } = simulated;
  const ports = { ...simulated, hypervisor: failing(hypervisor), fleet: failing(fleet), registrar: failing(registrar) };
  const store = await (await storePlace(engine)).open();
  await seedSandbox(store, ports);
  let left = Infinity;
  const mortal: Store = {
    ...store,
    commit(work, options) {
      return left-- > 0 ? store.commit(work, options) : Promise.reject(new StoreUnavailableError('The process was killed.'));
    },
  };
  const open = (): Promise<Service> =>
    createService({
      store: mortal,
      ports,
      secret: 'a secret of histories'.repeat(2),
      operatorToken: TOKEN,
      logger: pino({ level: 'silent' }),
    });
  let service = await open();
  return {
    call: (apiKey, id, sent = {}) => callOperation(injectedInto(service.app), id, sent, apiKey),
    async operate(method, path, body) {
      const received = await injectedInto(service.operator)(operatorRequest(method, path, TOKEN, body));
      const operation = operatorApi.operationAt(method, path);
      if (!operation) throw new Error(`The document has no ${method} ${path}.`);
      operatorApi.check(operation, received);
      return received;
    },
    settled: () => service.settled(),
    async kill(commits, request) {
      left = commits;
      await request();
      await service.close();
      left = Infinity;
      // Its lease ends, for which another instance waits before it recovers the request.
      await store.commit(({ db }) => db.deleteFrom('instances').execute());
      service = await open();
      await service.settled();
      await service.runScheduledJobs();
    },
    async fail(request) {
      failsNext = true;
      const received = await request();
      failsNext = false;
      return received;
    },
    end: () => service.close(),
  };
}
