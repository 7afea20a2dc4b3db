import { setTimeout as wait } from 'node:timers/promises';

/** Milliseconds after which the next one does not wait any longer. */
const MOMENT = 250;
/** Works at once at the most. */
const AT_ONCE = 20;

/**
 * Does a work with each item, one after another. What takes longer than a moment goes on beside the
 * next ones, so that a port that does not answer for one thing holds few of the others up.
 *
 * @param work Does not fail.
 * @param closing Where it is aborted, nothing more is begun.
 */
export async function withEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>, closing: AbortSignal): Promise<void> {
  const underWay = new Set<Promise<void>>();
  for (const item of items) {
    if (closing.aborted) break;
    const one = work(item).finally(() => underWay.delete(one));
    underWay.add(one);
    await (underWay.size < AT_ONCE ? forAMoment(one) : Promise.race(underWay));
  }
  await Promise.all(underWay);
}

/** Waits for a work, or for a moment. */
async function forAMoment(work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const moment = wait(MOMENT, undefined, { signal: over.signal }).catch(() => {});
  await Promise.race([work, moment]);
  over.abort();
}
