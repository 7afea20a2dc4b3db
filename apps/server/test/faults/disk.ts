/** A disk for the data directory of a running process that can be filled to its last byte. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { onTestFinished } from 'vitest';

import { temporaryDirectory } from '../process.ts';

/** Large enough for a store with its write-ahead log after many rounds, so that only the filler can fill it. */
const MEGABYTES = 160;

/** A data directory and its disk. */
export interface Disk {
  readonly directory: string;
  /** Fills the disk for the process that writes there. */
  fill(processId: number): void;
  /** Frees the space. */
  free(processId: number): void;
}

/** A disk of which a part can be freed. */
export interface MountedDisk extends Disk {
  /** Fills it to its last bytes, and frees some of them. */
  leave(bytes: number): void;
}

/** One way to create such a disk. */
export interface DiskKind<Kind = Disk> {
  readonly name: string;
  /** Reason why this machine cannot create one; undefined if it can. */
  readonly missing: string | undefined;
  create(): Kind;
}

/** A separate file system in memory, which only root may mount. */
export const mounted: DiskKind<MountedDisk> = { name: 'a file system without room', missing: mountMissing(), create: mountedDisk };

/** And a limit on the size of the process's files, which needs no privilege. */
export const disks: readonly DiskKind[] = [mounted, { name: 'a limit on the size of files', missing: limitMissing(), create: limitedDisk }];

function mountMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may mount a file system';
  // The root user of a container may have fewer privileges than root of the machine.
  const directory = mkdtempSync(join(tmpdir(), 'mount-'));
  try {
    return attempt('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]) ?? attempt('umount', [directory]);
  } finally {
    rmdirSync(directory);
  }
}

function mountedDisk(): MountedDisk {
  const mount = temporaryDirectory();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m`, 'tmpfs', mount]);
  // Lazily, because the process with files there may not have ended yet.
  onTestFinished(() => void execFileSync('umount', ['--lazy', mount]));
  const filler = join(mount, 'filler');
  function fill(): void {
    const file = openSync(filler, 'a');
    try {
      // Fill the last bytes too, because a partly used page would still accept a small write.
      for (let size = 1024 * 1024; size >= 1; size = Math.floor(size / 2)) writeUntilFull(file, Buffer.alloc(size));
    } finally {
      closeSync(file);
    }
  }
  return {
    directory: join(mount, 'data'),
    fill,
    leave(bytes) {
      fill();
      truncateSync(filler, statSync(filler).size - bytes);
    },
    free: () => rmSync(filler),
  };
}

function writeUntilFull(file: number, chunk: Buffer): void {
  try {
    for (;;) if (writeSync(file, chunk) < chunk.length) return;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}

function limitMissing(): string | undefined {
  return attempt('prlimit', ['--fsize', '--pid', String(process.pid)]);
}

function limitedDisk(): Disk {
  const directory = temporaryDirectory();
  const limit = (processId: number, bytes: number | 'unlimited') =>
    void execFileSync('prlimit', ['--pid', String(processId), `--fsize=${bytes}:`]);
  return {
    directory,
    // The write-ahead log is written again from its beginning, so its present size would leave room.
    fill: (processId) => limit(processId, 0),
    free: (processId) => limit(processId, 'unlimited'),
  };
}

/** The error of a failing command; undefined if it succeeds. */
function attempt(command: string, parameters: readonly string[]): string | undefined {
  try {
    execFileSync(command, parameters, { stdio: ['ignore', 'ignore', 'pipe'] });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message.trim().replaceAll('\n', ': ') : String(error);
  }
}
