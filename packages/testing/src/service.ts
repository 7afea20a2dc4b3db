/** The published interface: it names no type of the packages that are bundled into this one. */
import type { Reseller, ResellerConfig } from '@reseller/client';

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
export type TestResellerConfig<Dates extends boolean = boolean> = Partial<Omit<ResellerConfig<Dates>, 'baseUrl' | 'environment'>>;

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
  /** A client of this service. It goes by the clock of the service, so that it waits no real time between retries. */
  reseller<Dates extends boolean = false>(config?: TestResellerConfig<Dates>): Reseller<Dates>;
  /**
   * Sends a request of the operator API, which does what the provider does by hand: `operate('POST', '/domains/a.net/terminate')`.
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
  /** Ends the service and removes its data. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Creates a service with the data of the sandbox. The first one in a process takes a second or two, each further one about 10 ms. */
export function createTestService(options: TestServiceOptions = {}): Promise<TestService> {
  return createServiceInside(options);
}
