/** A person with a command line. */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { inject } from 'vitest';

import { bundle } from '../bundle.ts';
import { main } from '../src/run.ts';

let bundled: Promise<string> | undefined;

/** The file of the bundled program. */
export function program(): Promise<string> {
  bundled ??= (async () => {
    const folder = join(inject('runFolder'), `cli-${process.pid}`);
    mkdirSync(folder, { recursive: true });
    // The packages that npm would install with it.
    symlinkSync(join(import.meta.dirname, '../node_modules'), join(folder, 'node_modules'));
    await bundle(join(folder, 'dist'));
    return join(folder, 'dist/main.js');
  })();
  return bundled;
}

export function newFolder(): string {
  return mkdtempSync(join(inject('runFolder'), 'cli-data-'));
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Own configuration, own state, no keyring, no terminal. */
export interface Person {
  readonly configFolder: string;
  readonly stateFolder: string;
  readonly env: NodeJS.ProcessEnv;
  /** The current folder. */
  readonly folder: string;
  /** Runs a command in this process. */
  run(...given: readonly string[]): Promise<CliResult>;
  /** The same with a text on the standard input. */
  runWith(input: string, ...given: readonly string[]): Promise<CliResult>;
  /** Runs the bundled program as a process. */
  start(...given: readonly string[]): Promise<ChildProcessWithoutNullStreams>;
}

export function person(env: NodeJS.ProcessEnv): Person {
  const configFolder = join(newFolder(), 'config');
  const stateFolder = join(newFolder(), 'state');
  const { RESELLER_API_KEY: _, RESELLER_OPERATOR_TOKEN: __, ...others } = process.env;
  const own = { ...others, RESELLER_CONFIG_DIR: configFolder, RESELLER_STATE_DIR: stateFolder, RESELLER_KEYRING: 'off', ...env };
  const folder = dirname(configFolder);
  async function runWith(input: string, ...given: readonly string[]): Promise<CliResult> {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const printed = Promise.all([text(stdout), text(stderr)]);
    const code = await main(given, { env: own, folder, stdin: Readable.from([input]), stdout, stderr });
    stdout.end();
    stderr.end();
    const [out, remarks] = await printed;
    return { code, stdout: out, stderr: remarks };
  }
  return {
    configFolder,
    stateFolder,
    env: own,
    folder,
    runWith,
    run: (...given) => runWith('', ...given),
    start: async (...given) => spawn(process.execPath, [await program(), ...given], { env: own, cwd: folder }),
  };
}

/** The result of a process, which gets a text on its standard input. */
export async function resultOf(child: ChildProcessWithoutNullStreams, input = ''): Promise<CliResult> {
  child.stdin.end(input);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stdout, stderr };
}
