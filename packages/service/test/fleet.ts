import { memoryFence } from '../src/index.ts';
import { simulatedFleet } from '../src/ports/fleet.ts';
import type { AutomaticSetUp, Fleet, ServerOrder, FencingToken } from '../src/index.ts';

/** A fleet that remembers what it was asked, and fails when told to. */
export class TestFleet implements Fleet {
  readonly servers = new Map<string, ServerOrder>();
  readonly retired: string[] = [];
  automaticSetUp: AutomaticSetUp | null = simulatedFleet().automaticSetUp;
  failing: Error | undefined;
  readonly #fence = memoryFence();
  async setUp(order: ServerOrder, token: FencingToken): Promise<void> {
    if (this.failing) throw this.failing;
    await this.#fence.admit(`server/${order.identifier}`, token);
    this.servers.set(order.identifier, order);
  }
  async retire(identifier: string, token: FencingToken): Promise<void> {
    if (this.failing) throw this.failing;
    await this.#fence.admit(`server/${identifier}`, token);
    this.servers.delete(identifier);
    this.retired.push(identifier);
  }
}
