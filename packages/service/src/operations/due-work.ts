/**
 * Work that falls due at a time: period ends, set-ups, renewals, ends. Everything due is found by
 * query and done in time order, each thing in a unit of its own and as of the instant it was due
 * at, however late it is done.
 */
import type { Ports } from '../ports/ports.ts';
import type { Db, Store } from '../store/store.ts';

/** One thing that is due. */
export interface Due {
  /** Milliseconds: when it was due. */
  readonly at: number;
  readonly id: string;
}

/** One kind of work. */
export interface DueWork {
  /** The thing that is due first, at or before `now` (milliseconds): of one account, or of all. */
  first(db: Db, now: number, accountId?: string): Promise<Due | undefined>;
  /**
   * Does it as of `due.at`; does nothing where another process has done it since.
   *
   * @param secret Known to the service alone: what must be given again is encrypted with it.
   */
  perform(db: Db, due: Due, ports: Ports, secret: string): Promise<void>;
}

/** Where work is done, and with what. */
export interface DueWorkParts {
  readonly store: Store;
  readonly ports: Ports;
  readonly secret: string;
}

/**
 * Does all that is due.
 *
 * @param kinds Where two things are due at the same instant, the kind that stands first goes first.
 * @returns How many things were done.
 */
export async function runDueWork({ store, ports, secret }: DueWorkParts, kinds: readonly DueWork[]): Promise<number> {
  for (let done = 0; ; done++) {
    const next = await store.read((db) => firstDue(db, kinds, ports.clock.now()));
    if (!next) return done;
    await store.commit(({ db }) => next.kind.perform(db, next.due, ports, secret));
  }
}

/**
 * What is due first, at or before `now` (milliseconds).
 *
 * @param accountId Whose; that of all accounts where none is given.
 */
export async function firstDue(
  db: Db,
  kinds: readonly DueWork[],
  now: number,
  accountId?: string,
): Promise<{ kind: DueWork; due: Due } | undefined> {
  let first: { kind: DueWork; due: Due } | undefined;
  for (const kind of kinds) {
    const due = await kind.first(db, now, accountId);
    if (due && (!first || due.at < first.due.at)) first = { kind, due };
  }
  return first;
}
