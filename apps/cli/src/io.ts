import type { Readable, Writable } from 'node:stream';

/** The parts of its process that the program uses. A test passes its own. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  /** The current folder. */
  readonly folder: string;
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** Most commands need neither the current folder, which may have been removed, nor the standard input. */
export function ioOfProcess(): Io {
  const { env, stdout, stderr } = process;
  return {
    env,
    get folder() {
      return process.cwd();
    },
    get stdin() {
      return process.stdin;
    },
    stdout,
    stderr,
  };
}
