import type { AdvanceClockRequest } from '@reseller/operator-client';

import { jobKinds } from '../../core/jobs/job-kinds.ts';
import { ALL_JOBS, firstJob } from '../../core/jobs/job.ts';
import { nextBackup } from '../../core/vm/backup-schedule.ts';
import { MAX_CLOCK_ADVANCE_SECONDS } from '../../generated/operator/facts.gen.ts';
import { periodOf } from '../../rules/billing.ts';
import { toInstant } from '../../rules/instants.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { claimClockOffset, writeClockOffset } from '../../store/settings.ts';
import type { Db, Store } from '../../store/store.ts';
import type { OperatorCall, OperatorId, ServiceOperation } from '../operation.ts';
import { validationProblem } from '../problem.ts';

/** GET /sandbox/clock */
export const getClock: ServiceOperation<'getClock'> = {
  kind: 'service',
  run: async ({ sandbox }) => toClock(sandbox),
};

/**
 * POST /sandbox/clock/advance: responds when all jobs that are due by the new time are done. On its way the clock stops where something is due, so
 * that events, documents and scheduled backups have their own times.
 */
export const advanceClock: ServiceOperation<'advanceClock'> = {
  kind: 'service',
  async run({ runtime: { store }, sandbox, body }, record) {
    const { clock } = sandbox;
    let done = 0;
    const { from, to, target } = await sandbox.exclusive(() =>
      store.commit(async ({ db }) => {
        const ahead = await claimClockOffset(db);
        const before = clock.base.now() + ahead;
        const by = advanceOf(body, before);
        return { from: before, to: before + by, target: ahead + by };
      }),
    );
    const gap = Math.ceil((to - from) / MOST_STOPS);
    let now = from;
    do {
      // If the process stops, the clock stays at its last stop, and the next start performs the jobs.
      const stop = await store.read((db) => nextStop(db, { now, to, gap }));
      const [isFirst, isLast] = [now === from, stop === to];
      // The jobs of a stop are one piece of work with its move: a round between the two would do some of them.
      const ran = await sandbox.exclusive(async () => {
        const isMoved = await moveClock(store, sandbox, { from: now, to: stop, isLast, target }, async (db, { before, after }) => {
          // Only what the clock has reached is certain.
          if (isFirst) await record(db, { before, after: isLast ? after : { ...after, advances_to: toInstant(to) } });
        });
        return isMoved ? sandbox.runAllJobs() : undefined;
      });
      // A reset, a restore or another advance has moved the clock.
      if (ran === undefined) break;
      now = stop;
      await sandbox.settled();
      // The ends of backups and of other work next to the jobs are events of this stop.
      done += ran + (await sandbox.exclusive(() => sandbox.runAllJobs()));
      await sandbox.settled();
    } while (now < to);
    await sandbox.propagate();
    const sales = await store.read((db) => salesBetween(db, from, to));
    return { ...toClock(sandbox), work_done: done + sales };
  },
};

/** Stops of an advance, however much is due in it. Each costs a round of jobs. */
const MOST_STOPS = 400;

/** The next instant of an advance in milliseconds: that of the next due work, the start of a month at the latest. */
async function nextStop(db: Db, { now, to, gap }: { readonly now: number; readonly to: number; readonly gap: number }): Promise<number> {
  const job = await firstJob(db, jobKinds, ALL_JOBS);
  const backup = await nextBackup(db);
  const due = Math.min(job?.job.due ?? Infinity, backup) * 1000;
  if (due >= to) return to;
  return Math.min(to, Math.max(due, now + gap), periodOf(Math.floor(now / 1000)).end * 1000);
}

interface ClockMove {
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
  /** How far the clock is ahead of the machine when the advance has ended. */
  readonly target: number;
}

/**
 * @param moved Runs in the transaction of the move, with what the clock shows before and after it.
 * @returns False if something else has moved the clock since the last stop.
 */
async function moveClock(
  store: Store,
  { clock }: Sandbox,
  { from, to, isLast, target }: ClockMove,
  moved: (db: Db, shown: { readonly before: object; readonly after: object }) => Promise<void>,
): Promise<boolean> {
  const offset = await store.commit(async ({ db }) => {
    const ahead = await claimClockOffset(db);
    const machine = clock.base.now();
    if (ahead !== clock.offset || machine + ahead < from) return undefined;
    // The clock of the machine goes on between the stops.
    const next = isLast ? target : Math.min(target, Math.max(ahead, to - machine));
    await writeClockOffset(db, next);
    await moved(db, { before: clockAt(machine + ahead, ahead), after: clockAt(machine + next, next) });
    return next;
  });
  if (offset === undefined) return false;
  clock.setOffset(offset);
  return true;
}

/**
 * Turns back the clocks of all instances before older data is restored, so that no instance performs jobs that are not yet due.
 *
 * @param offset Milliseconds by which the clock will be ahead of the machine's.
 * @param work Restores the older data.
 */
export async function withClockTurnedBack<T>(
  { runtime: { store }, sandbox }: Pick<OperatorCall<OperatorId>, 'runtime' | 'sandbox'>,
  offset: number,
  work: () => Promise<T>,
): Promise<T> {
  const before = await store.commit(async ({ db }) => {
    const ahead = await claimClockOffset(db);
    if (ahead > offset) await writeClockOffset(db, offset);
    return ahead;
  });
  if (before <= offset) return work();
  sandbox.clock.setOffset(offset);
  await sandbox.propagate();
  try {
    return await work();
  } catch (error) {
    await store.commit(({ db }) => writeClockOffset(db, before));
    sandbox.clock.setOffset(before);
    await sandbox.propagate();
    throw error;
  }
}

export function toClock({ clock }: Sandbox): { now: string; advance_seconds: number } {
  return clockAt(clock.now(), clock.offset);
}

/** @param offset Milliseconds by which the clock is ahead of the machine's. */
export function clockAt(now: number, offset: number): { now: string; advance_seconds: number } {
  return { now: toInstant(now), advance_seconds: Math.floor(offset / 1000) };
}

/** Milliseconds by which the clock advances. */
function advanceOf({ to, by_seconds: seconds }: AdvanceClockRequest, now: number): number {
  if (seconds !== undefined) return seconds * 1000;
  const by = Date.parse(to ?? '') - now;
  if (by < 0) throw validationProblem([{ pointer: '#/to', detail: `must not be before the time of the sandbox clock, ${toInstant(now)}` }]);
  if (!(by <= MAX_CLOCK_ADVANCE_SECONDS * 1000))
    throw validationProblem([
      { pointer: '#/to', detail: `must be an instant at most ${MAX_CLOCK_ADVANCE_SECONDS} seconds after the time of the sandbox clock` },
    ]);
  return by;
}

/** The number of sales that begin or end between two instants. They need no job. */
async function salesBetween(db: Db, from: number, to: number): Promise<number> {
  const open = db
    .selectFrom('sales')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('ended', 'is', null);
  const started = await open.where('start', '>', from).where('start', '<=', to).executeTakeFirstOrThrow();
  const stopped = await open.where('stop', '>', from).where('stop', '<=', to).executeTakeFirstOrThrow();
  return started.count + stopped.count;
}
