/** Failures of port calls that say that the system behind the port is away. */
import { isError } from '@reseller/contract/is-error';

import type { SimulatedPort } from './ports.ts';

/** The names of the systems in messages. */
export const SYSTEMS: Readonly<Record<SimulatedPort, string>> = {
  hypervisor: 'hypervisor',
  fleet: 'fleet',
  registrar: 'registrar',
  dns: 'DNS server',
};

/** A port did not respond in time. The call may have taken effect, may never do so, or may do so later. */
export class PortTimeoutError extends Error {
  override readonly name = 'PortTimeoutError';
}

const origins = new WeakMap<object, SimulatedPort>();

/** Remembers which port has failed. The error itself stays as the adapter threw it. */
export function noteOrigin(error: unknown, port: SimulatedPort): void {
  if (typeof error === 'object' && error !== null) origins.set(error, port);
}

/** The port whose call failed with this error. Undefined for other errors. */
export function originOf(error: unknown): SimulatedPort | undefined {
  return typeof error === 'object' && error !== null ? origins.get(error) : undefined;
}

/** Names are looked up and connections are opened before anything is sent. */
const BEFORE_SENDING = new Set(['getaddrinfo', 'connect']);
/** The timeout of `fetch` for opening a connection, which no system call reports. */
const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';

/**
 * Whether no connection could be opened, so that nothing was sent and the call certainly had no effect. `fetch` and other libraries wrap the
 * error of Node as a cause, or as one of several if the name has several addresses.
 */
export function wasNotSent(error: unknown): boolean {
  if (!isError(error)) return false;
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0) return error.errors.every(wasNotSent);
  if ('syscall' in error && BEFORE_SENDING.has(String(error.syscall))) return true;
  return ('code' in error && error.code === CONNECT_TIMEOUT) || wasNotSent(error.cause);
}
