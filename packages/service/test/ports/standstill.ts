/** Ports that stand still, for tests: their calls do not return until a test releases them. */

/** Holds calls of the ports around which it stands. */
export class Standstill {
  /** What becomes of the next calls: they are held before they do their work, after it, or not at all. */
  holds: 'before' | 'after' | 'nothing' = 'nothing';
  /** Holds at most this number of calls. The others run normally. */
  most = Infinity;
  /** Calls that were held, by port member. */
  readonly held: string[] = [];
  /** How many of them have ended since. */
  ended = 0;
  #going = Promise.withResolvers<void>();

  /** Lets all that is held go on, and holds nothing more. */
  release(): void {
    this.holds = 'nothing';
    this.#going.resolve();
    this.#going = Promise.withResolvers<void>();
  }

  around<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, member) => {
        const value: unknown = Reflect.get(target, member, target);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => this.#call(String(member), () => Reflect.apply(value, target, given));
      },
    });
  }

  async #call(member: string, work: () => unknown): Promise<unknown> {
    const { holds } = this;
    if (holds === 'nothing' || this.held.length >= this.most) return work();
    const { promise } = this.#going;
    this.held.push(member);
    try {
      if (holds === 'before') await promise;
      const answer = await work();
      if (holds === 'after') await promise;
      return answer;
    } finally {
      this.ended++;
    }
  }
}
