/** The way of every call into a fake port: it works, fails or hangs as a test says, and a stale token is rejected in any case. */
import { memoryFence } from '../../src/index.ts';
import type { FencingToken, Subject } from '../../src/index.ts';

/** The fate of a port call: it may do its work, or fail or hang before or after it. */
export type Fault = 'none' | 'fails before' | 'fails after' | 'hangs before' | 'hangs after';

/** The purpose of a call: to do something for a request, to undo it, or to tell the port of something that the store already says. */
export type Purpose = 'do' | 'undo' | 'tell';

/** A port's failure. The service does not know this class. */
export class PortFailure extends Error {
  override readonly name = 'PortFailure';
}

/** A call that hangs. One that never goes on is one whose process has died. */
export interface HangingCall {
  /** Lets it go on; with `fails`, it fails then. */
  letGo(outcome: 'goes on' | 'fails'): void;
}

/** Decides the fate of calls. The ports of one service may share it. */
export class PortCalls {
  /** For the next calls, in their order. Calls for which nothing is planned work. */
  plan: Fault[] = [];
  /** Decides where nothing is planned. */
  otherwise: (purpose: Purpose) => Fault = () => 'none';
  /** Called with each call that begins to hang. */
  onHang: (call: HangingCall) => void = () => {};
  readonly #fence = memoryFence();

  /** @param subject The fence rejects stale calls about it. */
  async call<T>(purpose: Purpose, [subject, token]: readonly [Subject, FencingToken], work: () => T): Promise<T> {
    const fault = this.plan.shift() ?? this.otherwise(purpose);
    if (fault === 'fails before') throw new PortFailure('The port failed before it did its work.');
    if (fault === 'hangs before') await this.#hang();
    await this.#fence.admit(subject, token);
    const result = work();
    if (fault === 'hangs after') await this.#hang();
    if (fault === 'fails after') throw new PortFailure('The port failed after it had done its work.');
    return result;
  }

  #hang(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.onHang({
      letGo: (outcome) => (outcome === 'goes on' ? resolve() : reject(new PortFailure('The port failed after it had hung.'))),
    });
    return promise;
  }
}
