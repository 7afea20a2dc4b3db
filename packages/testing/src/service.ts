/** The published interface: it names no type of the packages that are bundled into this one. */
import type { Reseller, ResellerConfig } from '@reseller/client';
import type { Client as OperatorClient } from '@reseller/operator-client';

import type { TestClock } from './clock.ts';
import type { Faults } from './faults.ts';
import { createServiceInside } from './inside.ts';

/** Options of `createTestService`. */
export interface TestServiceOptions {
  /** The first time of the clock, ISO 8601. */
  readonly now?: string;
}

export interface TestAccount {
  readonly id: string;
  readonly apiKey: string;
}

/** Options of a client of the service. */
export type TestResellerConfig = Partial<Omit<ResellerConfig, 'baseUrl' | 'environment'>>;

/** The real service in the memory of one test. */
export interface TestService {
  /** Replaces the global `fetch`: a request to `baseUrl` reaches the service without a network. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  readonly baseUrl: string;
  /** Key of the demo account, which has a credit limit of 1,000 EUR. */
  readonly apiKey: string;
  readonly accountId: string;
  readonly clock: TestClock;
  readonly faults: Faults;
  /** A client of this service. It uses the service's clock, so retries and timeouts do not wait in real time. */
  reseller(config?: TestResellerConfig): Reseller;
  /**
   * A client for the functions of `@reseller/operator-client`, which do what the provider does by hand. To advance time, use `advance`,
   * which moves the clients of this service too.
   */
  readonly operator: OperatorClient;
  /**
   * Sends a request of the operator API by its method and path, which does what the provider does by hand: `operate('POST', '/domains/a.net/terminate')`.
   *
   * @returns The JSON of the response, or undefined when it has none.
   * @throws Error with the title and detail of the problem when the request was refused.
   */
  operate(method: 'DELETE' | 'GET' | 'PATCH' | 'POST' | 'PUT', path: string, body?: object): Promise<unknown>;
  /** Creates a further account. */
  addAccount(creditLimit?: string): Promise<TestAccount>;
  /** Advances the clock and runs the jobs that are due by then. */
  advance(milliseconds: number): Promise<void>;
  /** Serves on a free port of 127.0.0.1. @returns The base address. */
  listen(): Promise<string>;
  /**
   * Ends the service and removes its data.
   *
   * @throws Error when a fault was added that no request met.
   */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Creates a service with the data of the sandbox. The first one in a process takes 0.3 to 1.5 s, each further one about 34 ms of CPU time. */
export function createTestService(options: TestServiceOptions = {}): Promise<TestService> {
  return createServiceInside(options);
}
