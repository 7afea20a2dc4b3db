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
import type { OperatorCall, OperatorId, RecordChange, ServiceOperation } from '../operation.ts';
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
  async run(call, record) {
    const { sandbox } = call;
    let done = 0;
    let move: ClockMove | undefined;
    do {
      const previous = move;
      // The jobs of a stop are one piece of work with its move: a round between the two would do some of them. If the process stops, the clock
      // stays at this stop, and the next start performs the jobs.
      const next = await sandbox.exclusive(async () => {
        const moved = await moveClock(call, previous, record);
        return moved && { ...moved, ran: await sandbox.runAllJobs() };
      });
      // A reset or a restore has turned the clock back.
      if (next === undefined) break;
      move = next;
      await sandbox.settled();
      // The ends of backups and of other work next to the jobs are events of this stop.
      done += next.ran + (await sandbox.exclusive(() => sandbox.runAllJobs()));
      await sandbox.settled();
    } while (move.offset < move.target);
    await sandbox.propagate();
    return { ...toClock(sandbox), work_done: done + (move === undefined ? 0 : await salesDuring(call.runtime.store, move)) };
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

/** The extent of an advance, in milliseconds. */
interface AdvancePlan {
  /** The time of the clock at the beginning of the advance, and at its end. */
  readonly from: number;
  readonly to: number;
  /** How far the clock is ahead of the machine at the end of the advance. */
  readonly target: number;
}

/** A stop of an advance. */
interface ClockMove extends AdvancePlan {
  /** How far the clock is ahead of the machine, in milliseconds. */
  readonly offset: number;
}

/**
 * Moves the clock to the next stop of an advance.
 *
 * @param previous The last stop of the advance.
 * @param record Records the first move.
 * @returns Undefined if the clock was turned back since the last stop.
 */
async function moveClock(
  { runtime: { store }, sandbox: { clock }, body }: OperatorCall<'advanceClock'>,
  previous: ClockMove | undefined,
  record: RecordChange,
): Promise<ClockMove | undefined> {
  const move = await store.commit(async ({ db }) => {
    const ahead = await claimClockOffset(db);
    if (previous !== undefined && ahead < previous.offset) return undefined;
    const machine = clock.base.now();
    const now = machine + ahead;
    const { from, to, target } = previous ? adjustPlan(previous, body, ahead) : planAdvance(body, { now, ahead });
    const stop = await nextStop(db, { now, to, gap: Math.ceil((to - from) / MOST_STOPS) });
    // The clock of the machine goes on between the stops.
    const offset = Math.max(ahead, stop === to ? target : Math.min(target, stop - machine));
    await writeClockOffset(db, offset);
    // Only what the clock has reached is certain.
    const after = { ...clockAt(machine + offset, offset), ...(offset < target && { advances_to: toInstant(to) }) };
    if (previous === undefined) await record(db, { before: clockAt(now, ahead), after });
    return { from, to, offset, target };
  });
  if (move !== undefined) clock.setOffset(move.offset);
  return move;
}

function planAdvance(body: AdvanceClockRequest, { now, ahead }: { readonly now: number; readonly ahead: number }): AdvancePlan {
  const by = advanceOf(body, now);
  return { from: now, to: now + by, target: ahead + by };
}

/** An advance by a number of seconds adds to those that ran since its last stop. One to an instant ends there. */
function adjustPlan({ from, to, offset, target }: ClockMove, body: AdvanceClockRequest, ahead: number): AdvancePlan {
  const others = body.to === undefined ? ahead - offset : 0;
  return { from, to: to + others, target: target + others };
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

/** The number of sales that begin or end during an advance. They need no job. */
function salesDuring(store: Store, { from, to }: ClockMove): Promise<number> {
  return store.read(async (db) => {
    const open = db
      .selectFrom('sales')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('ended', 'is', null);
    const started = await open.where('start', '>', from).where('start', '<=', to).executeTakeFirstOrThrow();
    const stopped = await open.where('stop', '>', from).where('stop', '<=', to).executeTakeFirstOrThrow();
    return started.count + stopped.count;
  });
}
