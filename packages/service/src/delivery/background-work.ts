/**
 * Work next to the round of scheduled jobs. Whatever waits for another system, or grows with what one account owns, runs here: the round, the
 * start of the service and the work of other accounts do not wait for it.
 */

import type { Expression } from 'kysely';

import type { Db } from '../store/store.ts';

/** One kind of background work. */
export interface WorkKind<Item> {
  /**
   * A query of due work. An idle instance asks whether any kind has a row, and looks for the accounts only then. Omit it if only the process knows
   * when the work is due.
   */
  readonly due?: ((db: Db) => Expression<unknown>) | undefined;
  /** The accounts with work that is due, the one that has waited longest first. */
  accounts(): Promise<readonly string[]>;
  /** Takes due work of an account, so that no other instance takes it. Undefined if there is none. */
  take(accountId: string): Promise<Item | undefined>;
  /** Its end makes the account look for work again, unless it returns `later`, which leaves that to the next round. */
  perform(item: Item): Promise<'later' | void>;
  /** How much of it an instance does at the same time. */
  readonly places: number;
  /** How much of it is for one account at the same time. Default: half of all places, so that no account has them all. */
  readonly placesEach?: number;
  /** Called if the work or the store fails. */
  onFailure(error: unknown): void;
}

export interface BackgroundWork {
  readonly due: WorkKind<unknown>['due'];
  /** Begins what is due, and does not wait for it. */
  begin(): void;
  /** Resolves when everything that is due has ended. */
  settled(): Promise<void>;
  /** Waits for what has begun, and begins nothing more. */
  close(): Promise<void>;
}

/** The account of work that belongs to no account. */
export const NO_ACCOUNT = '';

/** The accounts that may have due work, in the order of their turns, and the work that is done for each. */
function turnsOf({ places, placesEach = Math.ceil(places / 2) }: Pick<WorkKind<unknown>, 'places' | 'placesEach'>) {
  const line = new Set<string>();
  const running = new Map<Promise<void>, string>();
  return {
    line,
    running,
    /** Undefined if no account may have a place. */
    nextAccount(): string | undefined {
      if (running.size >= places) return undefined;
      const counts = Map.groupBy(running.values(), (accountId) => accountId);
      return [...line].find((accountId) => (counts.get(accountId)?.length ?? 0) < placesEach);
    },
  };
}

/** Places are given to accounts in turns: an account that got one waits until each other account with due work has got one. */
export function backgroundWork<Item>(kind: WorkKind<Item>): BackgroundWork {
  const { line, running, nextAccount } = turnsOf(kind);
  let looking: Promise<void> | undefined;
  let refreshes = false;
  let looksAgain = false;
  let isClosed = false;

  async function fillPlaces(): Promise<void> {
    do {
      looksAgain = false;
      if (refreshes) {
        refreshes = false;
        for (const accountId of await kind.accounts()) line.add(accountId);
      }
      for (let accountId = nextAccount(); accountId !== undefined; accountId = nextAccount()) {
        if (isClosed) return;
        line.delete(accountId);
        const item = await kind.take(accountId);
        if (item === undefined) continue;
        line.add(accountId);
        start(accountId, item);
      }
    } while (looksAgain || refreshes);
  }

  function start(accountId: string, item: Item): void {
    const work = hasMoreAfter(kind, item)
      .then((hasMore) => void (hasMore && line.add(accountId)))
      .finally(() => {
        running.delete(work);
        look();
      });
    running.set(work, accountId);
  }

  function look(): void {
    looksAgain = true;
    if (looking || isClosed) return;
    looking = fillPlaces()
      .catch(kind.onFailure)
      .finally(() => {
        looking = undefined;
        // Something may have become due after the last look.
        if (looksAgain || refreshes) look();
      });
  }

  async function settled(): Promise<void> {
    const inProgress = [looking ?? [], ...running.keys()].flat();
    if (inProgress.length === 0) return;
    await Promise.all(inProgress);
    await settled();
  }

  return {
    due: kind.due,
    begin() {
      refreshes = true;
      look();
    },
    settled,
    async close() {
      isClosed = true;
      await settled();
    },
  };
}

/** @returns Whether the account may have more work at once. */
async function hasMoreAfter<Item>(kind: WorkKind<Item>, item: Item): Promise<boolean> {
  try {
    return (await kind.perform(item)) !== 'later';
  } catch (error) {
    kind.onFailure(error);
    return false;
  }
}

/** Work of the whole service, of which an instance does one piece at a time, such as a clean-up. */
export function singleWork(
  perform: () => Promise<void>,
  onFailure: (error: unknown) => void,
  due?: WorkKind<unknown>['due'],
): BackgroundWork {
  let isDue = false;
  return backgroundWork({
    due,
    async accounts() {
      isDue = true;
      return [NO_ACCOUNT];
    },
    async take() {
      const isTaken = isDue;
      isDue = false;
      return isTaken || undefined;
    },
    perform,
    places: 1,
    onFailure,
  });
}
