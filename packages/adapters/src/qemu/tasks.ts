/** Work whose time grows with the disk of a customer. It goes on after its call, as a task of this process. */
import { setTimeout as wait } from 'node:timers/promises';

import type { DoneOrStarted, TaskState } from '../task.ts';

/** Ended tasks that are remembered. The service asks within seconds. */
const MAX_ENDED = 1_000;

function reasonOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}

/** A task that runs. */
interface RunningTask {
  readonly task: string;
  readonly token: number;
  readonly abort: AbortController;
  readonly ended: Promise<unknown>;
}

export interface DiskWork {
  readonly vmId: number;
  readonly token: number;
  /** Identifies the task. */
  readonly task: string;
  /** @param begun Must be called when the call was admitted, and nothing but the long work is left. */
  run(begun: () => void, signal: AbortSignal): Promise<void>;
}

export interface DiskTasks {
  /** Begins work. The call ends when the work ends, or becomes a task if that takes longer than `taskAfterMs`. */
  begin(work: DiskWork): Promise<DoneOrStarted>;
  /** Ends the task of a VM for a call with a newer token. */
  endOlder(vmId: number, token: number): Promise<void>;
  /** Undefined if this process does not know the task. */
  stateOf(task: string): TaskState | undefined;
}

export function diskTasks(taskAfterMs: number): DiskTasks {
  const running = new Map<number, RunningTask>();
  const ended = new Map<string, TaskState>();

  function remember(task: string, state: TaskState): void {
    ended.delete(task);
    ended.set(task, state);
    for (const oldest of [...ended.keys()].slice(0, Math.max(0, ended.size - MAX_ENDED))) ended.delete(oldest);
  }

  return {
    async begin({ vmId, token, task, run }) {
      const abort = new AbortController();
      const begun = Promise.withResolvers<void>();
      const work = run(begun.resolve, abort.signal);
      // The work may end before it is admitted.
      await Promise.race([begun.promise, work]);
      const outcome = work.then(
        () => remember(task, { status: 'succeeded' }),
        (error: unknown) => remember(task, { status: 'failed', reason: reasonOf(error) }),
      );
      running.set(vmId, { task, token, abort, ended: outcome });
      void outcome.finally(() => {
        if (running.get(vmId)?.abort === abort) running.delete(vmId);
      });
      const waiting = new AbortController();
      const late = wait(taskAfterMs, 'late' as const, { signal: waiting.signal }).catch(() => 'late' as const);
      const first = await Promise.race([work, late]);
      waiting.abort();
      return first === 'late' ? { task } : undefined;
    },
    async endOlder(vmId, token) {
      const older = running.get(vmId);
      if (older === undefined || older.token >= token) return;
      older.abort.abort(new Error('A later call has ended the task.'));
      await older.ended;
    },
    stateOf(task) {
      const isRunning = [...running.values()].some((one) => one.task === task);
      return isRunning ? { status: 'running', percentage: null } : ended.get(task);
    },
  };
}
