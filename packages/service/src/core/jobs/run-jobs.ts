/**
 * Work that falls due at a time: period ends, set-ups, renewals, ends. Everything due is found by
 * query and done in time order, each thing as of the instant it was due at, however late it is
 * done. Some of them share a unit of work, and so one wait for the disk; where one of them fails,
 * each has a unit of its own. Several nodes share the work: who does something claims the account
 * that it is of, and the others do the work of other accounts meanwhile.
 */
import type { Ports } from '../../ports/ports.ts';
import type { Db, LockedRows, Sharing, Store } from '../../store/store.ts';

/** One thing that is due. */
export interface Due {
  /** Milliseconds: when it was due. */
  readonly at: number;
  readonly id: string;
}

/** An account that something is due of. */
export interface DueAccount {
  /** Milliseconds: when its first thing of a kind was due. */
  readonly at: number;
  readonly accountId: string;
}

/** How accounts are claimed. */
export interface Claiming {
  readonly claim: Sharing['claim'];
  /** Accounts that another node is at work on. */
  readonly held: LockedRows;
}

/** One kind of work. */
export interface JobKind {
  /** The thing that is due first, at or before `now` (milliseconds): of one account, or of all. */
  first(db: Db, now: number, accountId?: string): Promise<Due | undefined>;
  /** Claims the account of the thing that is due first until the unit of work ends. */
  claimFirst(db: Db, now: number, claiming: Claiming): Promise<DueAccount | undefined>;
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
  /** Milliseconds that the clock reads, when another node may have advanced it. */
  now(): Promise<number>;
  /** What another node is doing at this moment is its own business, or waited for. */
  readonly others: Claiming['held'];
}

/** Things of one unit of work at the most: what a request of the same account may have to wait for. */
const BATCH_SIZE = 25;

/**
 * Does all that is due.
 *
 * @param kinds Where two things are due at the same instant, the kind that stands first goes first.
 * @returns How many things were done.
 */
export async function runScheduledJobs(parts: DueWorkParts, kinds: readonly JobKind[]): Promise<number> {
  const { store } = parts;
  const now = await parts.now();
  // Nearly always nothing is due, and nothing has to be written to know that.
  if (!(await store.read((db) => firstDue(db, kinds, now)))) return 0;
  for (let done = 0, atOnce = BATCH_SIZE; ;) {
    const at = await parts.now();
    try {
      const some = await store.commit(({ db }) => doSome(db, parts, kinds, { now: at, most: atOnce }));
      done += some.done;
      if (some.isAll) return done;
    } catch (error) {
      if (atOnce === 1) throw error;
      // What comes before the thing that fails is done all the same.
      atOnce = 1;
    }
  }
}

async function doSome(
  db: Db,
  parts: DueWorkParts,
  kinds: readonly JobKind[],
  { now, most }: { now: number; most: number },
): Promise<{ done: number; isAll: boolean }> {
  let done = 0;
  for (let tried = 0; tried < most; tried++) {
    const outcome = await doFirst(db, parts, kinds, now);
    if (outcome === 'nothing left') return { done, isAll: true };
    if (outcome === 'done') done++;
  }
  return { done, isAll: false };
}

async function doFirst(
  db: Db,
  { store, ports, secret, others }: DueWorkParts,
  kinds: readonly JobKind[],
  now: number,
): Promise<'done' | 'done by another' | 'nothing left'> {
  const { claim } = store.sharing;
  let claimed: DueAccount | undefined;
  for (const kind of kinds) {
    const account = await kind.claimFirst(db, now, { claim, held: others });
    if (account && (!claimed || account.at < claimed.at)) claimed = account;
  }
  if (!claimed) return 'nothing left';
  // Asked again: what the account looked like before it was claimed may be over.
  const next = await firstDue(db, kinds, now, claimed.accountId);
  if (!next) return 'done by another';
  await next.kind.perform(db, next.due, ports, secret);
  return 'done';
}

/**
 * What is due first, at or before `now` (milliseconds).
 *
 * @param accountId Whose; that of all accounts where none is given.
 */
export async function firstDue(
  db: Db,
  kinds: readonly JobKind[],
  now: number,
  accountId?: string,
): Promise<{ kind: JobKind; due: Due } | undefined> {
  let first: { kind: JobKind; due: Due } | undefined;
  for (const kind of kinds) {
    const due = await kind.first(db, now, accountId);
    if (due && (!first || due.at < first.due.at)) first = { kind, due };
  }
  return first;
}
