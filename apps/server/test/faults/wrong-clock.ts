import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { temporaryDirectory } from '../process.ts';
import type { Server } from '../process.ts';

const SHIFT = new URL('shifted-clock.ts', import.meta.url).href;

/** A clock of one server that the test can set wrong. */
export interface WrongClock {
  readonly environment: { readonly NODE_OPTIONS: string; readonly CLOCK_FILE: string };
  /** @param ahead Milliseconds. */
  set(server: Server, ahead: number): void;
}

export function wrongClock(ahead: number): WrongClock {
  const file = join(temporaryDirectory(), 'clock');
  writeFileSync(file, String(ahead));
  return {
    environment: { NODE_OPTIONS: `--import=${SHIFT}`, CLOCK_FILE: file },
    set(server, changed) {
      writeFileSync(file, String(changed));
      server.process.kill('SIGUSR2');
    },
  };
}
