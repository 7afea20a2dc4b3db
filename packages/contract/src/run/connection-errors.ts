import { isError } from '../is-error.ts';

/** Whether a response did not come in time. */
export function isLate(error: unknown): boolean {
  return isError(error) && error.name === 'TimeoutError';
}

/** Whether a service closed the connection in place of a response, as one does whose process crashed. */
export function closedConnection(error: unknown): boolean {
  if (!isError(error)) return false;
  if (error.cause !== undefined) return closedConnection(error.cause);
  return 'code' in error && (error.code === 'UND_ERR_SOCKET' || error.code === 'ECONNRESET' || error.code === 'EPIPE');
}
