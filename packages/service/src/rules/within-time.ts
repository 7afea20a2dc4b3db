/**
 * Waits for work, but no longer than a time. Work that takes longer goes on, and its result is ignored.
 *
 * @param ms Milliseconds.
 * @param late Called after that time. Its result takes the place of that of the work, or it throws.
 */
export async function withinTime<T, Late>(work: PromiseLike<T>, ms: number, late: () => Late): Promise<T | Late> {
  const { promise: timeout, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    return await Promise.race([work, timeout.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
