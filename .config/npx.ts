/**
 * A process that npx started ends with npx. When a supervisor signals `npx -y pnpm@12 start`, npx ends, but pnpm and the app do not learn of
 * it: npx signals only the shell between itself and pnpm.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const CHECK_INTERVAL_MS = 250;

/** Signals this process with SIGTERM once the npx that started it has ended. Does nothing if npx did not start it. */
export function endWithNpx(): void {
  const npx = npxAmong(process.ppid);
  if (npx === undefined) return;
  const timer = setInterval(() => {
    if (isAlive(npx)) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, CHECK_INTERVAL_MS);
  timer.unref();
}

/** The nearest npx (which is `npm exec`) among a process and its ancestors. */
function npxAmong(id: number): number | undefined {
  if (id <= 1) return undefined;
  const { parent, command } = describe(id);
  return /\bnpm exec\b|\bnpx\b/.test(command) ? id : npxAmong(parent);
}

function describe(id: number): { readonly parent: number; readonly command: string } {
  try {
    // A container may not have the program ps.
    if (existsSync('/proc/self/stat')) {
      const [parent] = /(?<=^PPid:\s+)\d+/m.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? [];
      return { parent: Number(parent), command: readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ') };
    }
    const [, parent, command = ''] =
      /^\s*(\d+)\s+(.*)/.exec(execFileSync('ps', ['-o', 'ppid=,command=', '-p', String(id)], { encoding: 'utf8' })) ?? [];
    return { parent: Number(parent), command };
  } catch {
    return { parent: 0, command: '' };
  }
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch {
    return false;
  }
}
