import type { AdvanceClockRequest } from '@reseller/operator-client';

import { MAX_CLOCK_ADVANCE_SECONDS } from '../../generated/operator/facts.gen.ts';
import { toInstant } from '../../rules/instants.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { claimClockOffset, writeClockOffset } from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';
import type { OperatorCall, OperatorId, ServiceOperation } from '../operation.ts';
import { validationProblem } from '../problem.ts';

/** GET /sandbox/clock */
export const getClock: ServiceOperation<'getClock'> = {
  kind: 'service',
  run: async ({ sandbox }) => toClock(sandbox),
};

/** POST /sandbox/clock/advance: responds when all jobs that are due by the new time are done. */
export const advanceClock: ServiceOperation<'advanceClock'> = {
  kind: 'service',
  async run({ runtime: { store }, sandbox, body }, record) {
    const advanced = await sandbox.exclusive(async () => {
      const { clock } = sandbox;
      // If the process stops before the jobs are performed, another instance or the next start performs them.
      const { from, by, offset } = await store.commit(async ({ db }) => {
        const ahead = await claimClockOffset(db);
        const before = clock.base.now() + ahead;
        const advance = advanceOf(body, before);
        await writeClockOffset(db, ahead + advance);
        await record(db, { before: clockAt(before, ahead), after: clockAt(before + advance, ahead + advance) });
        return { from: before, by: advance, offset: ahead + advance };
      });
      clock.setOffset(offset);
      await sandbox.propagate();
      const sales = await store.read((db) => salesBetween(db, from, from + by));
      const done = await sandbox.runAllJobs();
      return { ...toClock(sandbox), work_done: done + sales };
    });
    await sandbox.settled();
    return advanced;
  },
};

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
