/**
 * Shares the wait for the disk.
 *
 * @param flush Makes everything durable that was committed before the call.
 * @returns A function that resolves when all commits before its call are durable. A flush that is under way does not cover them, so they
 *   share the next one.
 */
export function sharedFlush(flush: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function start(): Promise<void> {
    next = undefined;
    running = flush().finally(() => {
      if (!next) running = undefined;
    });
    return running;
  }

  return () => {
    if (!running) return start();
    return (next ??= running.then(start, start));
  };
}
