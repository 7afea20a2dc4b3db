/** The folder of a VM. An adapter changes a folder only if it has the mark of its service. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { VmOrder } from '../hypervisor.ts';

/** The ports of a VM that are forwarded, by the port in the guest. */
export type ForwardedPorts = Readonly<Record<string, number>>;

/** The mark of a VM: a JSON file in its folder. It holds no password, only its hash. */
export interface VmMark extends Pick<VmOrder, 'vmId' | 'os' | 'hostname' | 'username' | 'sshKey' | 'cores' | 'mem' | 'disk'> {
  /** The service to which the VM belongs. */
  readonly service: string;
  /** The fencing token of the last call that changed the VM. */
  readonly token: number;
  /** The UUID of the machine, by which its process is recognised. */
  readonly uuid: string;
  readonly passwordHash: string;
  /** The inserted ISO file, from which the VM boots. Undefined for none. */
  readonly iso?: string | undefined;
  /** The addresses that the guest takes over when it boots. Missing in marks of earlier versions. */
  readonly ipv4?: readonly string[];
  readonly ipv6?: readonly string[];
  /** Text for cloud-init. Null or, in marks of earlier versions, missing for none. */
  readonly userData?: string | null;
  /** Counts installations: a guest applies the seed once for each. */
  readonly installation: number;
  /** Whether the VM should run. */
  readonly isWanted: boolean;
  /** The node of the order. All VMs run on this machine. Missing in marks of earlier versions. */
  readonly node?: string;
  readonly ports: ForwardedPorts;
}

/** The MAC address of a VM: a locally administered one, the same as long as the VM exists. */
export function macOf({ uuid }: VmMark): string {
  return ['52', '54', '00', ...(/^(..)(..)(..)/.exec(uuid)?.slice(1) ?? [])].join(':');
}

/** A folder with the name of a VM that does not belong to this service. */
export class ForeignResourceError extends Error {
  override readonly name = 'ForeignResourceError';

  constructor(path: string) {
    super(`${path} was not created by this service, so it was not changed. Remove it, or give the service another folder.`);
  }
}

export interface Folders {
  /** The folder of a VM. */
  pathOf(vmId: number): string;
  /** Undefined if the VM does not exist. @throws ForeignResourceError if something else has its name. */
  read(vmId: number): Promise<VmMark | undefined>;
  /** Replaces the mark in one step. */
  write(mark: VmMark): Promise<void>;
  /** Creates a VM's folder in one step: `fill` works in a draft, of which a crash leaves nothing but a draft. */
  create(mark: VmMark, fill: (draft: string) => Promise<void>): Promise<void>;
  /** Removes the folder in one step, and then its contents. */
  remove(vmId: number): Promise<void>;
  /** Removes what a crash left of a creation or removal. */
  removeDraft(vmId: number): Promise<void>;
  /** Removes the mark of the service, and gives the folder another name, so that its old one is free. */
  release(mark: VmMark): Promise<void>;
  /** The VMs of the service. */
  list(): Promise<readonly VmMark[]>;
  /** The names of all other folders and files. */
  foreign(): Promise<readonly string[]>;
}

const MARK_FILE = 'vm.json';

/** @param root The folder of all VMs. */
export function foldersIn(root: string, service: string): Folders {
  // Its name is the mark of a folder that is being created or removed.
  function draftOf(vmId: number) {
    return join(root, `.draft-${service}-${vmId}`);
  }
  function pathOf(vmId: number) {
    return join(root, `vm-${vmId}`);
  }
  async function read(vmId: number): Promise<VmMark | undefined> {
    const mark = await markIn(pathOf(vmId));
    if (mark === 'missing') return undefined;
    if (mark === 'foreign' || mark.service !== service || mark.vmId !== vmId) throw new ForeignResourceError(pathOf(vmId));
    return mark;
  }
  /** Everything but drafts, with the marks of the service. */
  async function entries(): Promise<{ name: string; mark: VmMark | undefined }[]> {
    const names = await readdir(root).catch(() => []);
    return Promise.all(
      names
        .filter((name) => !name.startsWith('.'))
        .map(async (name) => {
          const mark = /^vm-\d+$/.test(name) ? await markIn(join(root, name)) : 'foreign';
          const isOurs = typeof mark === 'object' && mark.service === service && name === `vm-${mark.vmId}`;
          return { name, mark: isOurs ? mark : undefined };
        }),
    );
  }
  function removeDraft(vmId: number) {
    return rm(draftOf(vmId), { recursive: true, force: true });
  }
  return {
    pathOf,
    read,
    write: (mark) => writeMark(pathOf(mark.vmId), mark),
    async create(mark, fill) {
      const draft = draftOf(mark.vmId);
      await removeDraft(mark.vmId);
      await mkdir(draft, { recursive: true, mode: 0o700 });
      await fill(draft);
      await writeMark(draft, mark);
      if ((await markIn(pathOf(mark.vmId))) !== 'missing') throw new ForeignResourceError(pathOf(mark.vmId));
      await rename(draft, pathOf(mark.vmId));
    },
    async remove(vmId) {
      await removeDraft(vmId);
      await rename(pathOf(vmId), draftOf(vmId));
      await removeDraft(vmId);
    },
    removeDraft,
    async release(mark) {
      const released = join(root, `released-${mark.vmId}-${mark.token}`);
      await rename(pathOf(mark.vmId), released);
      // Its mark still has the service, but no folder of another name counts as a VM.
      await rename(join(released, MARK_FILE), join(released, `released-${MARK_FILE}`));
    },
    async list() {
      return (await entries()).flatMap(({ mark }) => mark ?? []);
    },
    async foreign() {
      return (await entries()).flatMap(({ name, mark }) => (mark === undefined ? name : []));
    },
  };
}

async function markIn(folder: string): Promise<VmMark | 'missing' | 'foreign'> {
  try {
    const mark: VmMark = JSON.parse(await readFile(join(folder, MARK_FILE), 'utf8'));
    return mark;
  } catch {
    return (await exists(folder)) ? 'foreign' : 'missing';
  }
}

async function exists(path: string): Promise<boolean> {
  return readdir(path).then(
    () => true,
    (error: unknown) => !(typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT'),
  );
}

async function writeMark(folder: string, mark: VmMark): Promise<void> {
  const draft = join(folder, `${MARK_FILE}.draft`);
  await writeFile(draft, `${JSON.stringify(mark, null, 2)}\n`, { mode: 0o600, flush: true });
  await rename(draft, join(folder, MARK_FILE));
}
