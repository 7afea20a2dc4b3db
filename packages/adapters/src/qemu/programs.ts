/** Runs the programs of QEMU. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The programs that the adapter runs, each with its Debian package. */
const PROGRAMS = {
  'qemu-system-x86_64': 'qemu-system-x86',
  'qemu-img': 'qemu-utils',
  genisoimage: 'genisoimage',
  openssl: 'openssl',
} as const;

/** A program ended with an error. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

/** The Debian packages that are missing. Empty if VMs can run here. */
export function missingPackages(programs: Readonly<Record<string, string>> = PROGRAMS): string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).concat('/usr/sbin', '/sbin');
  return Object.entries(programs).flatMap(([program, owner]) => (folders.some((folder) => existsSync(join(folder, program))) ? [] : owner));
}

interface How {
  readonly cwd?: string;
  readonly input?: string;
  readonly timeoutMs?: number;
}

const PROGRAM_TIMEOUT_MS = 20_000;

/** Runs a program to its end and returns what it printed. @throws ProgramError with what it printed to standard error. */
export async function run(
  program: string,
  given: readonly string[],
  { cwd, input = '', timeoutMs = PROGRAM_TIMEOUT_MS }: How = {},
): Promise<string> {
  // Detached, so that Ctrl-C in the terminal of the service ends no VM that is about to start.
  const child = spawn(program, given, { ...(cwd === undefined ? {} : { cwd }), detached: true, timeout: timeoutMs, killSignal: 'SIGKILL' });
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject);
  child.once('exit', resolve);
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new ProgramError(`${program} failed (${code ?? 'killed'}): ${stderr.trim()}`);
  return stdout;
}
