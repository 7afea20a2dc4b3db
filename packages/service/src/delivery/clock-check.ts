/**
 * Checks the clock of the machine. With a wrong clock, an instance would close and invoice months that have not ended.
 *
 * Instances that share a database compare their clocks with the clock of the database. A store of one process has no other clock, so it keeps
 * the newest time at which it was in use. A jump far beyond that time needs NTP, or the confirmation of an operator.
 */
import type { Clock } from '../ports/system.ts';
import type { Db, Store } from '../store/store.ts';
import { shared } from './concurrency.ts';

/** The clock of the machine cannot be trusted. The message is one line for the operator. */
export class ClockError extends Error {
  override readonly name = 'ClockError';
}

export interface ClockLimits {
  /** Milliseconds by which the clock may differ from the clock of a shared database. */
  readonly maxSkewMs: number;
  /** Milliseconds by which a clock without NTP may be ahead of the newest time in a store that belongs to one process. */
  readonly maxJumpMs: number;
  /** Up to this instant (milliseconds), an operator has confirmed that the clock is right. */
  readonly confirmedUntilMs: number;
}

export const DEFAULT_MAX_SKEW_MS = 5_000;
/** More than an upgrade or a reboot takes. */
export const DEFAULT_MAX_JUMP_MS = 3_600_000;

export interface ClockCheck {
  /**
   * Compares the clock with that of the database, or with the newest time in the store, in a transaction of the caller.
   *
   * @throws ClockError if it is wrong.
   */
  compare(db: Db): Promise<void>;
  /**
   * Makes sure that the clock is right at this moment. Usually without a query: since the last comparison, the clock must have advanced
   * as much as the time since the process started.
   *
   * @throws ClockError if it is wrong.
   */
  assertRight(): Promise<void>;
  /**
   * Stores the time of the clock as the newest time. For a store that belongs to one process.
   *
   * @throws ClockError if the clock is wrong.
   */
  mark(): Promise<void>;
}

/** The range of times that the clock may show at an instant of `performance.now()`. */
interface Allowed {
  readonly earliest: number;
  readonly latest: number;
  readonly at: number;
}

export interface ClockCheckOptions {
  readonly store: Store;
  /** The clock of the machine, without the offset of a sandbox. */
  readonly clock: Clock;
  readonly limits: ClockLimits;
  /** Called with an error when the clock is found to be wrong, and with undefined when it is right again. */
  onChange(error: ClockError | undefined): void;
}

export function createClockCheck({ store, clock, limits, onChange }: ClockCheckOptions): ClockCheck {
  const { hasInstances, now } = store.sharing;
  let allowed: Allowed = { earliest: -Infinity, latest: Infinity, at: 0 };
  /** The newest time in the store at the last comparison. */
  let lastUsed = 0;
  let known: ClockError | undefined;
  /** Shared, because each request asks while the clock is wrong. */
  const isSynchronized = shared(async () => (await clock.isSynchronized?.()) ?? false);

  /** Milliseconds by which the clock is ahead of the allowed times. Negative if it is behind them, 0 if it is right. */
  function deviation(): number {
    const [time, elapsed] = [clock.now(), performance.now() - allowed.at];
    const ahead = time - (allowed.latest + elapsed);
    if (ahead > 0) return ahead;
    return Math.min(0, time - (allowed.earliest + elapsed));
  }

  async function allowedByMark(db: Db): Promise<Allowed> {
    const row = await db.selectFrom('clock_mark').select('newest').executeTakeFirst();
    return allowedAfter(row?.newest ?? clock.now());
  }

  function allowedAfter(newest: number): Allowed {
    lastUsed = newest;
    return { earliest: -Infinity, latest: Math.max(newest + limits.maxJumpMs, limits.confirmedUntilMs), at: performance.now() };
  }

  function judge(): void {
    const found = deviation();
    const wasKnown = known;
    known =
      found === 0
        ? undefined
        : (wasKnown ?? new ClockError(hasInstances ? skewMessage(found, limits) : jumpMessage(clock.now(), lastUsed, limits)));
    if (known !== wasKnown) onChange(known);
    if (known) throw known;
  }

  async function compare(db: Db): Promise<void> {
    allowed = await (hasInstances ? allowedByDatabase(db, now, limits) : allowedByMark(db));
    judge();
  }

  /** Outside of a transaction, because the question whether NTP keeps the clock right takes a while. */
  async function compareOrAsk(): Promise<void> {
    if (hasInstances) return store.read(compare);
    allowed = await store.read(allowedByMark);
    if (deviation() > 0 && (await isSynchronized())) allowed = allowedAfter(clock.now());
    judge();
  }

  return {
    compare,
    async assertRight() {
      // The machine may have slept, or its clock may be right again.
      if (known || deviation() !== 0) await compareOrAsk();
    },
    async mark() {
      if (hasInstances) return;
      await compareOrAsk();
      await store.commit(async ({ db }) => {
        judge();
        const newest = clock.now();
        await writeMark(db, newest);
        allowed = allowedAfter(newest);
      });
    },
  };
}

/** The database read its clock at some point while the query ran, so the duration of the query widens the range. */
async function allowedByDatabase(db: Db, now: Store['sharing']['now'], { maxSkewMs }: ClockLimits): Promise<Allowed> {
  const begun = performance.now();
  const { time } = await db.selectNoFrom(now.as('time')).executeTakeFirstOrThrow();
  const ended = performance.now();
  return { earliest: time - maxSkewMs, latest: time + maxSkewMs + (ended - begun), at: ended };
}

async function writeMark(db: Db, newest: number): Promise<void> {
  await db
    .insertInto('clock_mark')
    .values({ id: 1, newest })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ newest }))
    .execute();
}

function skewMessage(found: number, { maxSkewMs }: ClockLimits): string {
  const difference = duration(Math.abs(found) + maxSkewMs);
  return `The clock of this machine is ${difference} ${found > 0 ? 'ahead of' : 'behind'} the clock of the database, and may differ by at most ${duration(maxSkewMs)}. Nothing is billed by a wrong clock. Set the clock of this machine right, for example with NTP.`;
}

function jumpMessage(time: number, lastUsed: number, { maxJumpMs }: ClockLimits): string {
  const [shown, used] = [time, lastUsed].map((instant) => new Date(instant).toISOString());
  return `The clock of this machine shows ${shown}, but the store was last in use at ${used}, and at most ${duration(maxJumpMs)} between the two are allowed unless NTP keeps the clock right (timedatectl). Nothing is billed by a wrong clock. Set the clock right, for example with NTP. If it is right without NTP, because the service was stopped for so long, confirm it with RESELLER_CLOCK_CONFIRMED_UNTIL, an instant after the present one.`;
}

const UNITS = [
  { name: 'day', milliseconds: 86_400_000 },
  { name: 'hour', milliseconds: 3_600_000 },
  { name: 'minute', milliseconds: 60_000 },
  { name: 'second', milliseconds: 1_000 },
] as const;

/** A duration in the largest unit of which it has at least two. */
function duration(milliseconds: number): string {
  const { name, milliseconds: unit } = UNITS.find((one) => milliseconds >= 2 * one.milliseconds) ?? UNITS[3];
  const count = Math.round(milliseconds / unit);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
