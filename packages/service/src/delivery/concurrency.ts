import { setTimeout as wait } from 'node:timers/promises';

/** The maximum time that an item delays the start of the next one. */
const MAX_WAIT_MS = 250;
const MAX_CONCURRENT = 20;

/**
 * Processes the items in order. If an item takes longer than MAX_WAIT_MS, the next one starts without waiting for it. So a port that hangs
 * for one item delays few others.
 *
 * @param work Must not reject.
 * @param closing Once it is aborted, no further item starts.
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  closing: AbortSignal,
): Promise<void> {
  const running = new Set<Promise<void>>();
  for (const item of items) {
    if (closing.aborted) break;
    const one = work(item).finally(() => running.delete(one));
    running.add(one);
    await (running.size < MAX_CONCURRENT ? waitBriefly(one) : Promise.race(running));
  }
  await Promise.all(running);
}

async function waitBriefly(work: Promise<void>): Promise<void> {
  const abort = new AbortController();
  const timeout = wait(MAX_WAIT_MS, undefined, { signal: abort.signal }).catch(() => {});
  await Promise.race([work, timeout]);
  abort.abort();
}
