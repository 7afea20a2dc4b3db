/** Every call of a test port goes through here. A test decides whether the call works, fails or hangs. A stale fencing token is always rejected. */
import { memoryFence } from '../../src/index.ts';
import type { FencingToken, Subject } from '../../src/index.ts';

/** Whether a port call works, or fails or hangs before or after its work. */
export type Fault = 'none' | 'fails before' | 'fails after' | 'hangs before' | 'hangs after';

/** The purpose of a call: to carry out a request, to undo it, or to notify the port of a change that is already in the store. */
export type Purpose = 'do' | 'undo' | 'tell';

/** A port's failure. The service does not know this class. */
export class PortFailure extends Error {
  override readonly name = 'PortFailure';
}

/** A hanging call. If nothing ends it, its process has crashed. */
export interface HangingCall {
  /** Ends the hang: the call continues or fails. */
  end(outcome: 'continues' | 'fails'): void;
}

/** Decides which calls fail or hang. The ports of one service can share it. */
export class PortCalls {
  /** The faults of the next calls, in order. */
  plan: Fault[] = [];
  /** The fault of a call after the plan has ended. */
  defaultFault: (purpose: Purpose) => Fault = () => 'none';
  /** Receives each call that begins to hang. */
  onHang: (call: HangingCall) => void = () => {};
  readonly #fence = memoryFence();

  /** @param subject The fence rejects stale calls for this subject. */
  async call<T>(purpose: Purpose, [subject, token]: readonly [Subject, FencingToken], work: () => T): Promise<T> {
    const fault = this.plan.shift() ?? this.defaultFault(purpose);
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
      end: (outcome) => (outcome === 'continues' ? resolve() : reject(new PortFailure('The port failed after it had hung.'))),
    });
    return promise;
  }
}

/**
 * Wraps a port and its parts, such as the backups of a hypervisor.
 *
 * @param call Runs instead of each function of the port. `work` calls that function.
 */
export function aroundPort<Port extends object>(port: Port, call: (member: string | symbol, work: () => unknown) => unknown): Port {
  return new Proxy(port, {
    get(target, member) {
      const value: unknown = Reflect.get(target, member, target);
      // It computes, and calls nothing.
      if (member === 'automaticSetUp') return value;
      if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype) return aroundPort(value, call);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => call(member, () => Reflect.apply(value, target, given));
    },
  });
}
