/** The adapters cannot be used. The message is one line. */
export class AdapterError extends Error {
  override readonly name = 'AdapterError';
}
