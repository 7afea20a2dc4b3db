import { StoreBusyError } from './store.ts';
import type { PoolFigures } from './store.ts';

export interface WaitingLineOptions {
  /** Holders at the same time. */
  readonly places: number;
  /** New work that may wait. */
  readonly maxLength: number;
  /** Milliseconds that new work may wait. */
  readonly maxWaitMs: number;
}

export interface WaitingLine {
  /**
   * Waits for a place, and resolves with a function that gives it back.
   *
   * @param isUrgent Urgent work overtakes new work, and is never refused.
   * @throws StoreBusyError if too many wait, or none got a place in time.
   */
  takePlace(isUrgent: boolean): Promise<() => void>;
  figures(): PoolFigures;
}

interface Waiting {
  start(): void;
}

/** A bounded line in front of the connections. It distinguishes a busy instance from an outage. */
export function waitingLine({ places, maxLength, maxWaitMs }: WaitingLineOptions): WaitingLine {
  const urgent = new Set<Waiting>();
  const others = new Set<Waiting>();
  let free = places;

  function giveBack(): void {
    const line = urgent.size > 0 ? urgent : others;
    const [next] = line;
    if (!next) {
      free++;
      return;
    }
    line.delete(next);
    next.start();
  }

  function takePlace(isUrgent: boolean): Promise<() => void> {
    if (free > 0) {
      free--;
      return Promise.resolve(giveBack);
    }
    if (isUrgent) return new Promise((resolve) => urgent.add({ start: () => resolve(giveBack) }));
    if (others.size >= maxLength)
      return Promise.reject(new StoreBusyError(`${maxLength} requests are waiting for a connection to the database.`));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        others.delete(waiting);
        reject(new StoreBusyError(`No connection to the database became free within ${maxWaitMs / 1000} seconds.`));
      }, maxWaitMs);
      const waiting: Waiting = {
        start() {
          clearTimeout(timer);
          resolve(giveBack);
        },
      };
      others.add(waiting);
    });
  }

  return { takePlace, figures: () => ({ inUse: places - free, waiting: urgent.size + others.size, max: places }) };
}
