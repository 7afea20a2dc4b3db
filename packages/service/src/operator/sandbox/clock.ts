import type { AdvanceClockRequest } from '@reseller/operator-client';

import { MAX_CLOCK_ADVANCE_SECONDS } from '../../generated/operator/facts.gen.ts';
import { claimClockOffset, writeClockOffset } from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { OperatorCall, OperatorId, ServiceOperation } from '../operation.ts';
import { validationProblem } from '../problem.ts';
import { toInstant } from '../instants.ts';

/** GET /sandbox/clock */
export const getClock: ServiceOperation<'getClock'> = {
  kind: 'service',
  run: async ({ sandbox }) => toClock(sandbox),
};

/** POST /sandbox/clock/advance: responds when all jobs that are due by the new time are done. */
export const advanceClock: ServiceOperation<'advanceClock'> = {
  kind: 'service',
  run: ({ runtime: { store }, sandbox, body }) =>
    sandbox.exclusive(async () => {
      const { clock } = sandbox;
      // Where the process ends in between, another node or the next start does the work.
      const { from, by, offset } = await store.commit(async ({ db }) => {
        const ahead = await claimClockOffset(db);
        const before = clock.base.now() + ahead;
        const stretch = stretchOf(body, before);
        await writeClockOffset(db, ahead + stretch);
        return { from: before, by: stretch, offset: ahead + stretch };
      });
      clock.setOffset(offset);
      await sandbox.propagate();
      const sales = await store.read((db) => salesBetween(db, from, from + by));
      const done = await sandbox.runAllJobs();
      return { ...toClock(sandbox), work_done: done + sales };
    }),
};

/**
 * Has the clock of every node go back before data comes that is older than what it reads, so that
 * none of them does work on that data which is not due yet.
 *
 * @param offset Milliseconds that the clock is to be ahead of the machine's.
 * @param work Brings the older data.
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
  return { now: toInstant(clock.now()), advance_seconds: Math.floor(clock.offset / 1000) };
}

/** Milliseconds that the clock goes on by. */
function stretchOf({ to, by_seconds: seconds }: AdvanceClockRequest, now: number): number {
  if (seconds !== undefined) return seconds * 1000;
  const by = Date.parse(to ?? '') - now;
  if (by < 0) throw validationProblem([{ pointer: '#/to', detail: `must not be before the time of the sandbox clock, ${toInstant(now)}` }]);
  if (!(by <= MAX_CLOCK_ADVANCE_SECONDS * 1000))
    throw validationProblem([
      { pointer: '#/to', detail: `must be an instant at most ${MAX_CLOCK_ADVANCE_SECONDS} seconds after the time of the sandbox clock` },
    ]);
  return by;
}

/** How many sales begin or end in a stretch of time: they do so by themselves. */
async function salesBetween(db: Db, from: number, to: number): Promise<number> {
  const open = db
    .selectFrom('sales')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('ended', 'is', null);
  const started = await open.where('start', '>', from).where('start', '<=', to).executeTakeFirstOrThrow();
  const stopped = await open.where('stop', '>', from).where('stop', '<=', to).executeTakeFirstOrThrow();
  return started.count + stopped.count;
}
