/** The command cannot run; the message says what was wrong and what to do. */
export class CannotRunError extends Error {
  override readonly name = 'CannotRunError';
}
