/** Copies of the disk of a VM, in its folder. A copy has the image of its operating system as its base, like the disk. */
import { constants, createReadStream, createWriteStream, existsSync } from 'node:fs';
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';

import type { VmMark } from './folder.ts';
import { QemuCommandError } from './json-socket.ts';
import { DISK_FILE, findMachine } from './machine.ts';
import { qmp } from './qmp.ts';

/** The installation on a disk. A copy of the disk has the same one. */
export type DiskContents = Pick<VmMark, 'os' | 'hostname' | 'username' | 'sshKey' | 'passwordHash' | 'installation' | 'disk'>;

/** The name that QEMU gives to the first disk. */
const DEVICE = 'virtio0';
const JOB = 'backup';
const POLL_MS = 20;
const NAME = /^[\w-]{1,60}$/;

function fileOf(backup: string): string {
  if (!NAME.test(backup)) throw new Error(`'${backup}' is not a valid name of a backup. Use letters, digits, - and _.`);
  return `backup-${backup}.qcow2`;
}

export function hasBackup(folder: string, backup: string): boolean {
  return existsSync(join(folder, fileOf(backup)));
}

/** Copies the disk of a VM, unless the copy exists. */
export async function createBackup(
  folder: string,
  mark: VmMark,
  { backup, signal }: { readonly backup: string; readonly signal: AbortSignal },
): Promise<void> {
  const file = fileOf(backup);
  if (hasBackup(folder, backup)) return;
  const draft = `${file}.draft`;
  const isRunning = (await findMachine(folder, mark)) !== undefined;
  if (isRunning) await endJob(folder);
  await rm(join(folder, draft), { force: true });
  if (isRunning) await copyWhileRunning(folder, draft, signal);
  else await copyDisk(join(folder, DISK_FILE), join(folder, draft), signal);
  const { os, hostname, username, sshKey, passwordHash, installation, disk } = mark;
  const contents: DiskContents = { os, hostname, username, sshKey, passwordHash, installation, disk };
  await writeFile(join(folder, `${file}.json`), `${JSON.stringify(contents, null, 2)}\n`, { mode: 0o600, flush: true });
  // Its presence means that the copy is complete.
  await rename(join(folder, draft), join(folder, file));
}

/**
 * Copies a backup.
 *
 * @param draft The file to write.
 * @returns The installation on it.
 * @throws Error if the VM has no such backup.
 */
export async function copyBackup(
  folder: string,
  { backup, draft, signal }: { readonly backup: string; readonly draft: string; readonly signal: AbortSignal },
): Promise<DiskContents> {
  const file = fileOf(backup);
  if (!hasBackup(folder, backup)) throw new Error(`There is no backup ${backup} in ${folder}.`);
  const contents: DiskContents = JSON.parse(await readFile(join(folder, `${file}.json`), 'utf8'));
  await copyDisk(join(folder, file), join(folder, draft), signal);
  return contents;
}

/** A file system that can share blocks copies at once. Otherwise the copy can be ended at any time. */
async function copyDisk(from: string, to: string, signal: AbortSignal): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE);
  } catch {
    await pipeline(createReadStream(from), createWriteStream(to, { mode: 0o600 }), { signal });
  }
}

export async function removeBackup(folder: string, mark: VmMark, backup: string): Promise<void> {
  const file = fileOf(backup);
  // The job of a process that died goes on in QEMU.
  if (!hasBackup(folder, backup) && (await findMachine(folder, mark)) !== undefined) await endJob(folder);
  for (const name of [file, `${file}.draft`, `${file}.json`]) await rm(join(folder, name), { force: true });
}

/** The guest goes on while QEMU copies the disk as it was at the beginning. */
async function copyWhileRunning(folder: string, target: string, signal: AbortSignal): Promise<void> {
  const source = { device: DEVICE, sync: 'top', format: 'qcow2' };
  await qmp(folder, 'drive-backup', { ...source, target, 'job-id': JOB, 'auto-dismiss': false });
  for (;;) {
    if (signal.aborted) {
      await endJob(folder);
      throw signal.reason;
    }
    const job = await findJob(folder);
    if (job?.status === 'concluded') {
      await qmp(folder, 'job-dismiss', { id: JOB });
      if (job.error !== undefined) throw new QemuCommandError(`QEMU could not copy the disk: ${job.error}`);
      return;
    }
    if (job === undefined) throw new QemuCommandError('QEMU could not copy the disk: the job is gone.');
    await wait(POLL_MS);
  }
}

/** Ends the job of a process that died, or of a call that was given up. */
async function endJob(folder: string): Promise<void> {
  for (;;) {
    const job = await findJob(folder);
    if (job === undefined) return;
    await qmp(folder, job.status === 'concluded' ? 'job-dismiss' : 'job-cancel', { id: JOB }).catch(() => {});
    await wait(POLL_MS);
  }
}

async function findJob(folder: string): Promise<{ readonly status: string; readonly error: string | undefined } | undefined> {
  const jobs: unknown = await qmp(folder, 'query-jobs');
  const job: unknown = Array.isArray(jobs) ? jobs.find((one) => Object(one).id === JOB) : undefined;
  if (job === undefined) return undefined;
  const { status, error } = Object(job);
  return { status: String(status), error: error === undefined ? undefined : String(error) };
}
