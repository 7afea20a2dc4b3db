/** Several instances on one database, for tests: services in one process, each with its own connections, on the same infrastructure. */
import { pino } from 'pino';
import { onTestFinished, vi } from 'vitest';

import { createAccount, issueApiKey, simulatedPorts } from '../src/index.ts';
import type { Ports, ServiceOptions, Store } from '../src/index.ts';
import type { OperationId } from '../src/reseller/operation.ts';
import { euros } from '../src/rules/money.ts';
import { openPostgresStore } from '../src/store/postgres/open.ts';
import type { Tuning } from '../src/store/tuning.ts';
import { SECRET } from './harness.ts';
import { callOperation, injectedInto, operatorRequest } from './http-client.ts';
import type { Received, Sent } from './http-client.ts';
import { OPERATOR_TOKEN } from './operator.ts';
import { TestClock } from './ports/clock.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { seededPlace } from './prepared-store.ts';
import { createProviderService } from './provider-service.ts';
import type { ProviderService } from './provider-service.ts';

/** One of the instances. */
export interface TestInstance {
  readonly store: Store;
  readonly service: ProviderService;
  call(operation: OperationId, sent?: Sent): Promise<Received>;
  /** Sends a request to the operator API of the instance, with the operator token unless another is given. */
  operate(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown, token?: string): Promise<Received>;
}

/** Instances that share a database and the infrastructure. */
export interface TestInstances {
  readonly url: string;
  readonly ports: Ports;
  readonly clock: TestClock;
  readonly hypervisor: TestHypervisor;
  readonly accountId: string;
  readonly apiKey: string;
  /** Starts a further instance. */
  start(given?: Partial<ServiceOptions>, tuning?: Partial<Tuning>): Promise<TestInstance>;
}

/** Creates a database with the sandbox's data and an account. It and its instances end with the test. */
export async function newInstances({
  creditLimit = '1000.00',
  ...given
}: Partial<Ports> & { creditLimit?: string } = {}): Promise<TestInstances> {
  const url = await seededPlace('postgres');
  const clock = new TestClock();
  const hypervisor = new TestHypervisor();
  const ports = simulatedPorts({ clock, hypervisor, ...given });
  const seeding = await openPostgresStore(url);
  const account = await seeding.commit(async ({ db }) => {
    const id = await createAccount(db, ports, { name: 'test', creditLimit: euros(creditLimit) });
    return { accountId: id, apiKey: await issueApiKey(db, ports, id, { label: 'test', mode: 'sandbox' }) };
  });
  await seeding.close();
  return {
    url,
    ports,
    clock,
    hypervisor,
    ...account,
    async start(parts = {}, tuning = {}) {
      const store = await openPostgresStore(url, { tuning });
      const service = await createProviderService({
        store,
        ports,
        secret: SECRET,
        operatorToken: OPERATOR_TOKEN,
        publicUrl: 'https://instances.example',
        logger: pino({ level: 'silent' }),
        ...parts,
      });
      onTestFinished(async () => {
        await service.close();
        await store.close();
      });
      const reseller = injectedInto(service.app);
      const operator = injectedInto(service.operator);
      return {
        store,
        service,
        call: (id, sent = {}) => callOperation(reseller, id, sent, account.apiKey),
        operate: (method, path, body, token = OPERATOR_TOKEN) => operator(operatorRequest(method, path, token, body)),
      };
    },
  };
}

/** Waits for a condition, with a time limit that suits a busy machine. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await vi.waitUntil(condition, { timeout: 300_000, interval: 20 });
}
