import { simulatedFleet } from '../src/ports/fleet.ts';
import type { AutomaticSetUp, Fleet, ServerOrder } from '../src/index.ts';

/** A fleet that remembers what it was asked, and fails when told to. */
export class TestFleet implements Fleet {
  readonly servers = new Map<string, ServerOrder>();
  readonly retired: string[] = [];
  automaticSetUp: AutomaticSetUp | null = simulatedFleet().automaticSetUp;
  failing: Error | undefined;
  async setUp(order: ServerOrder): Promise<void> {
    if (this.failing) throw this.failing;
    this.servers.set(order.identifier, order);
  }
  async retire(identifier: string): Promise<void> {
    if (this.failing) throw this.failing;
    this.servers.delete(identifier);
    this.retired.push(identifier);
  }
}
