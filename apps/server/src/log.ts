/** The log on standard error, which never delays the service. */
import { fstatSync, writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

import { pino } from 'pino';

/** Lines that wait for a slow reader of standard error. Further lines are lost. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** Maximum time that the end of the process waits for a reader. */
const MAX_FLUSH_MS = 2_000;
const FLUSH_POLL_MS = 10;

export interface Log {
  /** Writes a line, or loses it. Never waits, except for the disk if standard error is a file. */
  write(line: string): void;
  /** Number of lines lost so far. */
  lost(): number;
  /** Waits until every line is written, or until nothing was read for a while. */
  flush(): Promise<void>;
}

/** For this time, a stack is in the log once. */
const STACK_EVERY_MS = 600_000;
const MAX_KNOWN_STACKS = 1_000;

/**
 * A serializer of errors that leaves out the stack if it was in the log a moment ago, such as that of a database that is away. The message
 * stays.
 */
export function withoutRepeatedStacks(stackEveryMs = STACK_EVERY_MS): (error: Error) => object {
  const logged = new Map<string, number>();
  return (error) => {
    const serialized = pino.stdSerializers.err(error);
    const { stack } = serialized;
    if (typeof stack !== 'string') return serialized;
    // The message may have the name of an account.
    const frames = stack
      .split('\n')
      .filter((line) => line.trimStart().startsWith('at '))
      .join('\n');
    const now = performance.now();
    if (now - (logged.get(frames) ?? -Infinity) < stackEveryMs) return withoutStacks(serialized);
    if (logged.size >= MAX_KNOWN_STACKS) logged.clear();
    logged.set(frames, now);
    return serialized;
  };
}

function withoutStacks(error: object): object {
  const { stack: _stack, ...others } = { stack: undefined, ...error };
  return 'cause' in others && typeof others.cause === 'object' && others.cause !== null
    ? { ...others, cause: withoutStacks(others.cause) }
    : others;
}

/** @param onRecovered Called with the number of lines lost in a row, once lines can be written again. */
export function openLog(onRecovered: (lost: number) => void): Log {
  let lost = 0;
  let reported = 0;
  function recovered(): void {
    const count = lost - reported;
    reported = lost;
    if (count > 0) onRecovered(count);
  }
  // Node writes to files synchronously, and to pipes without waiting.
  return fstatSync(2).isFile() ? fileLog() : pipeLog();

  function fileLog(): Log {
    return {
      write(line) {
        try {
          writeSync(2, line);
        } catch {
          // The disk is full, for example.
          lost++;
          return;
        }
        recovered();
      },
      lost: () => lost,
      flush: async () => {},
    };
  }

  function pipeLog(): Log {
    const { stderr } = process;
    // Without a listener, the process would end when its reader closes the pipe.
    stderr.on('error', () => {});
    stderr.on('drain', recovered);
    return {
      write(line) {
        if (stderr.writableLength + line.length > MAX_WAITING_BYTES) lost++;
        else stderr.write(line, (error) => error && lost++);
      },
      lost: () => lost,
      async flush() {
        let waiting = stderr.writableLength;
        for (let since = performance.now(); waiting > 0 && performance.now() - since < MAX_FLUSH_MS;) {
          await wait(FLUSH_POLL_MS);
          if (stderr.writableLength < waiting) since = performance.now();
          waiting = stderr.writableLength;
        }
      },
    };
  }
}
