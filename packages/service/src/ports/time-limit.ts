/** How long the service waits for what is outside of it: a call that is never answered must not keep anything waiting for ever. */
import type { Ports } from './ports.ts';

/** Milliseconds that one call of a port may take, where nothing else is said. */
export const USUAL_PORT_TIMEOUT = 30_000;

/** What a timer can wait for. */
const LONGEST = 2 ** 31 - 1;

/**
 * A port did not answer in time. What it was asked may have been done, may never be done, or may be
 * done yet: the call is given up, and not called back.
 */
export class PortTimeoutError extends Error {
  override readonly name = 'PortTimeoutError';
  /** Resolves when the call has ended after all, whichever way. */
  readonly ended: Promise<void>;

  constructor(message: string, ended: Promise<void>) {
    super(message);
    this.ended = ended;
  }
}

/**
 * Ports of which no call takes longer than a limit: one that does is rejected with PortTimeoutError,
 * and what it answers afterwards is nobody's any more.
 *
 * @param limit Milliseconds.
 * @throws RangeError for a limit that no timer can keep.
 */
export function limited({ clock, random, hypervisor, fleet, registrar }: Ports, limit: number): Ports {
  if (!(limit >= 1 && limit <= LONGEST)) throw new RangeError(`The time limit of the ports must be from 1 to ${LONGEST} milliseconds.`);
  // Spelled out, so that a port that is added does not compile until it has its place here.
  return {
    clock,
    random,
    hypervisor: limitedPort('hypervisor', hypervisor, limit),
    fleet: limitedPort('fleet', fleet, limit),
    registrar: limitedPort('registrar', registrar, limit),
  };
}

/** Whatever a port's interface has: what answers with a promise is limited, all else is as it was. */
function limitedPort<Port extends object>(name: string, port: Port, limit: number): Port {
  // In front of an object with nothing of its own: a proxy may not give other functions than a frozen port has.
  const front: Port = Object.create(port);
  return new Proxy(front, {
    get(_front, member) {
      const value: unknown = Reflect.get(port, member, port);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(value, port, given);
        return isPromise(answer) ? inTime(answer, `The ${name} did not answer ${String(member)}`, limit) : answer;
      };
    },
  });
}

function inTime<T>(answer: PromiseLike<T>, what: string, limit: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const ended = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    reject(new PortTimeoutError(`${what} within ${limit} ms. What it was asked may have been done.`, ended.promise));
  }, limit);
  // After the limit both do nothing: a late failure is handled, too.
  answer.then(resolve, reject);
  answer.then(end, end);
  function end(): void {
    clearTimeout(timer);
    ended.resolve();
  }
  return promise;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
