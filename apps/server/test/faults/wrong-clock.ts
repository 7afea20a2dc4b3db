import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { temporaryDirectory } from '../process.ts';
import type { Server } from '../process.ts';

const SHIFT = new URL('shifted-clock.ts', import.meta.url).href;

/** A clock of one server that the test can set wrong. */
export interface WrongClock {
  readonly environment: { readonly NODE_OPTIONS: string; readonly CLOCK_FILE: string; readonly PATH: string };
  /** @param ahead Milliseconds. */
  set(server: Server, ahead: number): void;
  /** Lets NTP of the machine confirm the clock. */
  synchronize(): void;
}

export function wrongClock(ahead: number): WrongClock {
  const directory = temporaryDirectory();
  const [file, programs] = [join(directory, 'clock'), join(directory, 'bin')];
  mkdirSync(programs);
  /** The machine of the test may have NTP, so its own `timedatectl` must not be asked. */
  function setSynchronized(state: 'yes' | 'no'): void {
    writeFileSync(join(programs, 'timedatectl'), `#!/bin/sh\n[ "$*" = 'show --property=NTPSynchronized --value' ] && echo ${state}\n`, {
      mode: 0o755,
    });
  }
  writeFileSync(file, String(ahead));
  setSynchronized('no');
  return {
    environment: { NODE_OPTIONS: `--import=${SHIFT}`, CLOCK_FILE: file, PATH: `${programs}:${process.env['PATH']}` },
    set(server, changed) {
      writeFileSync(file, String(changed));
      server.process.kill('SIGUSR2');
    },
    synchronize: () => setSynchronized('yes'),
  };
}
