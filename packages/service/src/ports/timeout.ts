/** Timeouts of port calls: a port that hangs must not block the service. Each failure of a port gets a note of its port. */
import { noteOrigin, PortTimeoutError, SYSTEMS } from './outage.ts';
import type { Ports, SimulatedPort } from './ports.ts';

export const DEFAULT_PORT_TIMEOUT_MS = 30_000;

/** The longest delay that a timer accepts. */
const MAX_TIMER_MS = 2 ** 31 - 1;

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
    dns: portWithTimeouts('dns', dns, timeoutMs),
  };
}

/** Adds a timeout to the members of a port that return a promise, also within members such as `backups`. Other members stay unchanged. */
function portWithTimeouts<Port extends object>(name: SimulatedPort, port: Port, timeoutMs: number): Port {
  // The proxy wraps an empty object: a proxy of a frozen port may not return other functions than the port has.
  const front: Port = Object.create(port);
  return new Proxy(front, {
    get(_front, member) {
      const value: unknown = Reflect.get(port, member, port);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return portWithTimeouts(name, value, timeoutMs);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, port, given);
        return isPromise(result) ? inTime(result, { name, member: String(member), timeoutMs }) : result;
      };
    },
  });
}

interface PortCall {
  readonly name: SimulatedPort;
  readonly member: string;
  readonly timeoutMs: number;
}

function inTime<T>(response: PromiseLike<T>, { name, member, timeoutMs }: PortCall): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  function fail(error: unknown): void {
    noteOrigin(error, name);
    reject(error);
  }
  const timer = setTimeout(() => {
    fail(new PortTimeoutError(`The ${SYSTEMS[name]} did not respond to ${member} within ${timeoutMs} ms. The call may have taken effect.`));
  }, timeoutMs);
  // After the timeout, both callbacks have no effect, so a late failure is not an unhandled rejection.
  response.then(resolve, fail);
  promise.finally(() => clearTimeout(timer)).catch(() => {});
  return promise;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
