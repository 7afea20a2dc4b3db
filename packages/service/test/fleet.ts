import { simulatedFleet } from '../src/ports/fleet.ts';
import type { AutomaticSetUp, Fleet, ServerOrder, Turn } from '../src/index.ts';
import { LateCalls } from './late-calls.ts';

/** A fleet that remembers what it was asked, and fails when told to. */
export class TestFleet implements Fleet {
  readonly servers = new Map<string, ServerOrder>();
  readonly retired: string[] = [];
  automaticSetUp: AutomaticSetUp | null = simulatedFleet().automaticSetUp;
  failing: Error | undefined;
  readonly #lateCalls = new LateCalls();
  async setUp(order: ServerOrder, turn?: Turn): Promise<void> {
    if (this.failing) throw this.failing;
    this.#lateCalls.refuse(order.identifier, turn);
    this.servers.set(order.identifier, order);
  }
  async retire(identifier: string, turn?: Turn): Promise<void> {
    if (this.failing) throw this.failing;
    this.#lateCalls.refuse(identifier, turn);
    this.servers.delete(identifier);
    this.retired.push(identifier);
  }
}
