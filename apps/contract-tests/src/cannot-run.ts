/** The run could not take place; the message is one line that says what was wrong and what to do. */
export class CannotRunError extends Error {
  override readonly name = 'CannotRunError';
}
