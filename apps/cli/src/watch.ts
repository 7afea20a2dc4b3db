/** Reads repeatedly, and shows what is new. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Io } from './io.ts';
import { print } from './terminal.ts';

const CLEAR_SCREEN = '\u001b[2J\u001b[H';

/**
 * Reads until the user interrupts it. A terminal always shows the latest reading; other outputs get a reading if it differs from the last.
 *
 * @param read Returns the text of one reading.
 */
export async function watch(io: Io, read: (signal: AbortSignal) => Promise<string>, seconds: number): Promise<void> {
  const stop = new AbortController();
  function onInterrupt(): void {
    stop.abort();
  }
  process.once('SIGINT', onInterrupt);
  process.once('SIGTERM', onInterrupt);
  let last: string | undefined;
  try {
    while (!stop.signal.aborted) {
      const text = await read(stop.signal);
      if (io.stdout.isTTY) await print(io, `${CLEAR_SCREEN}Every ${seconds} s: ${new Date().toLocaleTimeString()}\n\n${text}`);
      else if (text !== last) await print(io, text);
      last = text;
      await sleep(seconds * 1000, undefined, { signal: stop.signal });
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    process.off('SIGINT', onInterrupt);
    process.off('SIGTERM', onInterrupt);
  }
}
