import { setTimeout as wait } from 'node:timers/promises';

/** How many items are processed at the same time. */
export interface Concurrency {
  readonly max: number;
  /** Milliseconds that an item delays the start of the next one at most. */
  readonly waitMs: number;
  /** Once it is aborted, no further item starts. */
  readonly closing: AbortSignal;
}

/**
 * Processes the items in order. If an item takes longer than `waitMs`, the next one starts without waiting for it. So a port that hangs
 * for one item delays few others.
 *
 * @param work Must not reject.
 */
export async function forEachConcurrently<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
  { max, waitMs, closing }: Concurrency,
): Promise<void> {
  const running = new Set<Promise<void>>();
  for (const item of items) {
    if (closing.aborted) break;
    const one = work(item).finally(() => running.delete(one));
    running.add(one);
    await (running.size < max ? waitBriefly(one, waitMs) : Promise.race(running));
  }
  await Promise.all(running);
}

async function waitBriefly(work: Promise<void>, waitMs: number): Promise<void> {
  const abort = new AbortController();
  const timeout = wait(waitMs, undefined, { signal: abort.signal }).catch(() => {});
  await Promise.race([work, timeout]);
  abort.abort();
}

/** Anybody can ask, so the store or the machine is asked at most once in this time. */
const SHARED_MS = 1_000;

/** Shares an answer between callers that ask within SHARED_MS of it. A failure is not kept. */
export function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined;
  function forget(): void {
    last = undefined;
  }
  return () => {
    if (last) return last;
    last = ask();
    last.then(() => setTimeout(forget, SHARED_MS).unref(), forget);
    return last;
  };
}

/** @returns A function that begins each piece of work when the one before it has ended. */
export function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
