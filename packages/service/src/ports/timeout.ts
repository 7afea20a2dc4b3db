/** Timeouts of port calls: a port that hangs must not block the service. */
import type { Ports } from './ports.ts';

export const DEFAULT_PORT_TIMEOUT_MS = 30_000;

/** The longest delay that a timer accepts. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A port did not respond in time. The call may have taken effect, may never do so, or may do so later. */
export class PortTimeoutError extends Error {
  override readonly name = 'PortTimeoutError';
}

/**
 * Rejects each port call that takes longer than the timeout with PortTimeoutError. A late result is ignored.
 *
 * @throws RangeError for a timeout that no timer accepts.
 */
export function withTimeouts({ clock, random, hypervisor, fleet, registrar, dns }: Ports, timeoutMs: number): Ports {
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMER_MS))
    throw new RangeError(`The timeout of the ports must be from 1 to ${MAX_TIMER_MS} milliseconds.`);
  // Each port is named, so that a new port without a timeout is a compile error.
  return {
    clock,
    random,
    hypervisor: portWithTimeouts('hypervisor', hypervisor, timeoutMs),
    fleet: portWithTimeouts('fleet', fleet, timeoutMs),
    registrar: portWithTimeouts('registrar', registrar, timeoutMs),
    dns: portWithTimeouts('DNS', dns, timeoutMs),
  };
}

/** Adds a timeout to the members of a port that return a promise, also within members such as `backups`. Other members stay unchanged. */
function portWithTimeouts<Port extends object>(name: string, port: Port, timeoutMs: number): Port {
  // The proxy wraps an empty object: a proxy of a frozen port may not return other functions than the port has.
  const front: Port = Object.create(port);
  return new Proxy(front, {
    get(_front, member) {
      const value: unknown = Reflect.get(port, member, port);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return portWithTimeouts(name, value, timeoutMs);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, port, given);
        return isPromise(result) ? inTime(result, `The ${name} did not respond to ${String(member)}`, timeoutMs) : result;
      };
    },
  });
}

function inTime<T>(response: PromiseLike<T>, what: string, timeoutMs: number): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => {
    reject(new PortTimeoutError(`${what} within ${timeoutMs} ms. The call may have taken effect.`));
  }, timeoutMs);
  // After the timeout, both callbacks have no effect, so a late failure is not an unhandled rejection.
  response.then(resolve, reject);
  promise.finally(() => clearTimeout(timer)).catch(() => {});
  return promise;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
