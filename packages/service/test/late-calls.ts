import type { Turn } from '../src/index.ts';

/** What is behind a port in tests refuses what comes late, as every port has to. */
export class LateCalls {
  readonly #newest = new Map<string | number, Turn>();

  /**
   * @param turn Undefined where a test's own port does not pass it on.
   * @throws Error for a call that something newer has been done since.
   */
  refuse(thing: string | number, turn: Turn | undefined): void {
    if (turn === undefined) return;
    const newest = this.#newest.get(thing) ?? 0;
    if (turn < newest) throw new Error(`The call of turn ${turn} comes too late for ${thing}: turn ${newest} was there before it.`);
    this.#newest.set(thing, turn);
  }
}
