/** Copies of the disk of a VM, in its folder. A copy has the image of its operating system as its base, like the disk. */
import { constants, existsSync } from 'node:fs';
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/** Copies the disk of a VM, unless the copy exists. */
export async function createBackup(folder: string, mark: VmMark, backup: string): Promise<void> {
  const file = fileOf(backup);
  if (existsSync(join(folder, file))) return;
  const draft = `${file}.draft`;
  const isRunning = (await findMachine(folder, mark)) !== undefined;
  if (isRunning) await endJob(folder);
  await rm(join(folder, draft), { force: true });
  if (isRunning) await copyWhileRunning(folder, draft);
  else await copyFile(join(folder, DISK_FILE), join(folder, draft), constants.COPYFILE_FICLONE);
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
export async function copyBackup(folder: string, { backup, draft }: { backup: string; draft: string }): Promise<DiskContents> {
  const file = fileOf(backup);
  if (!existsSync(join(folder, file))) throw new Error(`There is no backup ${backup} in ${folder}.`);
  const contents: DiskContents = JSON.parse(await readFile(join(folder, `${file}.json`), 'utf8'));
  await copyFile(join(folder, file), join(folder, draft), constants.COPYFILE_FICLONE);
  return contents;
}

export async function removeBackup(folder: string, backup: string): Promise<void> {
  const file = fileOf(backup);
  for (const name of [file, `${file}.draft`, `${file}.json`]) await rm(join(folder, name), { force: true });
}

/** The guest goes on while QEMU copies the disk as it was at the beginning. */
async function copyWhileRunning(folder: string, target: string): Promise<void> {
  const source = { device: DEVICE, sync: 'top', format: 'qcow2' };
  await qmp(folder, 'drive-backup', { ...source, target, 'job-id': JOB, 'auto-dismiss': false });
  for (;;) {
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
