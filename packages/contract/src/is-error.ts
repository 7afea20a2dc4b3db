/**
 * Whether a value is an error, also one of another realm: in Jest, in `vmThreads` of vitest and in `node:vm`, the errors of Node's own modules are
 * not instances of the `Error` of this module.
 */
export function isError(value: unknown): value is Error {
  return /^\[object (Error|DOMException)\]$/.test(Object.prototype.toString.call(value));
}

/** The message of an error, or the text of another value that was thrown. */
export function errorText(error: unknown): string {
  return isError(error) ? error.message : String(error);
}

/** Whether a value is an error of the system with this code: `ENOENT`. */
export function hasErrorCode(error: unknown, code: string): boolean {
  return isError(error) && 'code' in error && error.code === code;
}
