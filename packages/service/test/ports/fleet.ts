import type { AutomaticSetUp, FencingToken, Fleet, ServerOrder } from '../../src/index.ts';
import { simulatedFleet } from '../../src/ports/simulated.ts';
import { PortCalls } from './port-calls.ts';

/** A fleet that keeps the servers that it has set up, and fails when a test says so. */
export class TestFleet implements Fleet {
  readonly servers = new Map<string, ServerOrder>();
  readonly retired: string[] = [];
  automaticSetUp: AutomaticSetUp | null = simulatedFleet().automaticSetUp;
  /** Thrown by every call. */
  failing: Error | undefined;
  readonly #calls: PortCalls;
  constructor(calls: PortCalls = new PortCalls()) {
    this.#calls = calls;
  }
  setUp(order: ServerOrder, token: FencingToken): Promise<void> {
    return this.#unlessFailing(order.identifier, token, () => void this.servers.set(order.identifier, order));
  }
  retire(identifier: string, token: FencingToken): Promise<void> {
    return this.#unlessFailing(identifier, token, () => {
      this.servers.delete(identifier);
      this.retired.push(identifier);
    });
  }

  #unlessFailing(identifier: string, token: FencingToken, work: () => void): Promise<void> {
    return this.#calls.call('tell', [`server/${identifier}`, token], () => {
      if (this.failing) throw this.failing;
      work();
    });
  }
}
