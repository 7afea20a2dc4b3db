/** Ports whose calls hang until a test releases them. */
import { aroundPort } from './port-calls.ts';

/** Holds calls of the ports that it wraps, except measurements, for which each round of scheduled jobs waits. */
export class Standstill {
  /** Whether the next calls hang before or after their work, or not at all. */
  holds: 'before' | 'after' | 'nothing' = 'nothing';
  /** Holds at most this number of calls. The others run normally. */
  most = Infinity;
  /** The port members of the calls that were held. */
  readonly held: string[] = [];
  /** How many of them have ended. */
  ended = 0;
  #going = Promise.withResolvers<void>();

  /** Releases all held calls, and holds no further calls. */
  release(): void {
    this.holds = 'nothing';
    this.#going.resolve();
    this.#going = Promise.withResolvers<void>();
  }

  around<Port extends object>(port: Port): Port {
    return aroundPort(port, (member, work) => (member === 'usage' || member === 'inventory' ? work() : this.#call(String(member), work)));
  }

  async #call(member: string, work: () => unknown): Promise<unknown> {
    const { holds } = this;
    if (holds === 'nothing' || this.held.length >= this.most) return work();
    const { promise } = this.#going;
    this.held.push(member);
    try {
      if (holds === 'before') await promise;
      const result = await work();
      if (holds === 'after') await promise;
      return result;
    } finally {
      this.ended++;
    }
  }
}
