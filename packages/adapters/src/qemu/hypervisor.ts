/** A hypervisor on this machine: each VM is a process of QEMU, with or without KVM. Linux only. */
import { randomUUID } from 'node:crypto';
import { existsSync, globSync, mkdirSync } from 'node:fs';
import { readdir, rename, statfs } from 'node:fs/promises';
import { availableParallelism, hostname as hostOf, totalmem } from 'node:os';
import { basename, join } from 'node:path';

import type { Fence, FencingToken } from '../fencing.ts';
import type { Hypervisor, VmIsos, VmOrder, VmUsage } from '../hypervisor.ts';
import type { Inventory, VmSeen } from '../inventory.ts';
import type { TaskState } from '../task.ts';
import { usableAccelerator } from './accelerator.ts';
import { copyBackup, createBackup, hasBackup, removeBackup } from './backup.ts';
import { foldersIn } from './folder.ts';
import type { ForwardedPorts, VmMark } from './folder.ts';
import { isoFilesIn, isoPath } from './iso.ts';
import { connectIn } from './json-socket.ts';
import { isLocked, withLock } from './lock.ts';
import { DISK_FILE, findMachine, freePorts, runningVms, startMachine, stopMachine, VNC_SOCKET } from './machine.ts';
import type { MachineOptions } from './machine.ts';
import { run } from './programs.ts';
import { agent, monitor } from './qmp.ts';
import { accepts, guestAccepts } from './reach.ts';
import { hashOfPassword, writeSeed } from './seed.ts';
import { diskTasks } from './tasks.ts';
import type { DiskTasks, DiskWork } from './tasks.ts';
import { usageOf } from './usage.ts';

export { buildTestImage, missingForImage, TEST_IMAGE } from './image.ts';
export { missingPackages, ProgramError } from './programs.ts';
export { ForeignResourceError } from './folder.ts';
export type { ForwardedPorts } from './folder.ts';
export { QemuCommandError } from './json-socket.ts';

export interface QemuOptions {
  readonly serviceId: string;
  readonly fence: Fence;
  /** The folder of the VMs. Each has a folder `vm-NUMBER` in it. */
  readonly directory: string;
  /**
   * The folder of the images: `NAME.qcow2` for each operating system of the catalogue, and `NAME.kernel` and `NAME.initrd` next to it if it
   * has no boot loader. Also `NAME.iso` for each ISO file from which VMs can boot. An image needs cloud-init (NoCloud), and the QEMU guest agent for `setLogin` and a clean shutdown.
   */
  readonly images: string;
  /** The image of every operating system that has none. Default: none, so that its purchase fails. */
  readonly defaultImage?: string;
  /** The ports of a guest that are forwarded to free ports of 127.0.0.1. Default: 22 and 80. */
  readonly guestPorts?: readonly number[];
  /** A bridge of the host to which VMs are attached, instead of forwarded ports. QEMU's bridge helper must allow it. */
  readonly bridge?: string;
  /** Whether guests can open connections to the network, the host included. Default: false. With a bridge, the network decides. */
  readonly isOpen?: boolean;
  /** The name of this machine among the nodes of the catalogue. Default: its host name. */
  readonly node?: string;
  /** Milliseconds that a guest has to shut down before it is powered off. Default: 10,000. */
  readonly shutdownMs?: number;
  /** Milliseconds in which the guest agent must answer to `setLogin`. Default: 5,000. */
  readonly agentMs?: number;
  /** Milliseconds after which the copy of a disk goes on as a task. Default: 2,000. */
  readonly taskAfterMs?: number;
  /** Default: KVM if guests run with it, or else emulation. */
  readonly accelerator?: 'kvm' | 'tcg';
}

/** A VM as it is on this machine. */
export interface QemuVm {
  readonly vmId: number;
  readonly running: boolean;
  readonly cores: number;
  /** MB. */
  readonly mem: number;
  readonly ports: ForwardedPorts;
}

/** The hypervisor, with further operations of QEMU. */
export interface QemuHypervisor extends Hypervisor {
  /** The VMs of this service. */
  list(): Promise<readonly QemuVm[]>;
  /** Stores disk and memory of a running VM under a name in its disk. */
  snapshot(vmId: number, name: string): Promise<void>;
  /** Puts a running VM back to a snapshot. */
  restore(vmId: number, name: string): Promise<void>;
}

const DEFAULT_GUEST_PORTS = [22, 80];
const DEFAULT_SHUTDOWN_MS = 10_000;
const DEFAULT_AGENT_MS = 5_000;
const DEFAULT_TASK_AFTER_MS = 2_000;
const SNAPSHOT_TIMEOUT_MS = 60_000;
const SNAPSHOT_NAME = /^[A-Za-z][\w-]{0,59}$/;
const GIBIBYTE = 1024 ** 3;

/** The parts that the operations share. */
interface Host {
  readonly options: QemuOptions;
  readonly folders: ReturnType<typeof foldersIn>;
  readonly accelerator: () => Promise<'kvm' | 'tcg'>;
  readonly tasks: DiskTasks;
}

function lockOf({ options }: Host, vmId: number): string {
  return `reseller-qemu/${options.serviceId}/${vmId}`;
}

/** The state of a task of another process. The files on the disk tell how it ended. */
async function stateOfUnknownTask(host: Host, task: string): Promise<TaskState> {
  const [, what, vm, token, backup] = /^(backup|restore)\/(\d+)\/(\d+)\/(.+)$/.exec(task) ?? [];
  if (what === undefined || backup === undefined) throw new Error(`'${task}' is not a task of this adapter.`);
  const vmId = Number(vm);
  const folder = host.folders.pathOf(vmId);
  const mark = await host.folders.read(vmId);
  if (await isLocked(lockOf(host, vmId))) return { status: 'running', percentage: null };
  const isDone =
    what === 'backup'
      ? hasBackup(folder, backup)
      : mark?.token === Number(token) &&
        !existsSync(join(folder, `${DISK_FILE}.draft`)) &&
        (!mark.isWanted || (await findMachine(folder, mark)) !== undefined);
  return isDone ? { status: 'succeeded' } : { status: 'failed', reason: 'The process of the task has ended.' };
}

/** Creates the adapter. VMs of an earlier process go on running. */
export function qemuHypervisor(options: QemuOptions): QemuHypervisor {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  let accelerator: Promise<'kvm' | 'tcg'> | undefined;
  const host: Host = {
    options,
    folders: foldersIn(options.directory, options.serviceId),
    tasks: diskTasks(options.taskAfterMs ?? DEFAULT_TASK_AFTER_MS),
    accelerator: () => (accelerator ??= options.accelerator ? Promise.resolve(options.accelerator) : usableAccelerator(anyKernel(options))),
  };
  return { ...changesOn(host), ...viewsOf(host) };
}

type Changing = (vmId: number, token: FencingToken, work: (mark: VmMark) => Promise<void>) => Promise<void>;

function changesOn(host: Host): Hypervisor {
  const { folders, options, tasks } = host;
  /** One call at a time for a VM, also of other processes. A call that waited too long finds a higher token and is rejected. */
  async function admitted(vmId: number, token: FencingToken, work: () => Promise<void>) {
    await options.fence.admit(`vm/${vmId}`, token);
    await tasks.endOlder(vmId, token);
    await withLock(lockOf(host, vmId), async () => {
      await options.fence.admit(`vm/${vmId}`, token);
      await work();
    });
  }
  function changing(vmId: number, token: FencingToken, work: (mark: VmMark) => Promise<void>) {
    return admitted(vmId, token, async () => {
      const mark = await folders.read(vmId);
      if (mark === undefined) throw new Error(`VM ${vmId} does not exist.`);
      await work({ ...mark, token });
    });
  }
  /** Work that goes on as a task. It holds the lock of the VM until it ends. */
  function onDisk(call: Omit<DiskWork, 'run'>, work: (mark: VmMark, signal: AbortSignal) => Promise<void>) {
    const { vmId, token } = call;
    return tasks.begin({
      ...call,
      run: (begun, signal) =>
        changing(vmId, token, (mark) => {
          begun();
          return work(mark, signal);
        }),
    });
  }
  return {
    restartsToResize: true,
    addressesNeedRestart: true,
    create: (order, token) =>
      admitted(order.vmId, token, async () => {
        const existing = await folders.read(order.vmId);
        const isSame = existing !== undefined && (await isOrdered(existing, order));
        // The store has forgotten it, such as after a restored backup. Its disk must not become another customer's.
        if (existing !== undefined && !isSame) await erase(host, existing);
        await boot(host, isSame ? { ...existing, token } : await install(host, order, token));
      }),
    reinstall: ({ vmId, os, hostname, sshKey, userData }, token) =>
      changing(vmId, token, async (before) => {
        const mark = { ...before, os, hostname, sshKey, userData, iso: undefined, installation: before.installation + 1 };
        const folder = folders.pathOf(vmId);
        const image = imageOf(host, os);
        await stopMachine(folder, mark, 0);
        await createDisk(folder, { draft: `${DISK_FILE}.draft`, image, disk: mark.disk });
        await folders.write(mark);
        await writeSeed(folder, mark);
        await rename(join(folder, `${DISK_FILE}.draft`), join(folder, DISK_FILE));
        await boot(host, mark);
      }),
    start: (vmId, token) => changing(vmId, token, (mark) => boot(host, mark)),
    restart: (vmId, token) =>
      changing(vmId, token, async (mark) => {
        await stopMachine(folders.pathOf(vmId), mark, shutdownMs(host));
        await boot(host, mark);
      }),
    setLogin: (vmId, { password, sshKey }, token) =>
      changing(vmId, token, async (before) => {
        const mark = { ...before, passwordHash: await hashOfPassword(password), sshKey: sshKey ?? before.sshKey };
        const folder = folders.pathOf(vmId);
        const { username } = mark;
        const timeoutMs = options.agentMs ?? DEFAULT_AGENT_MS;
        if (sshKey !== null) await agent(folder, 'guest-ssh-add-authorized-keys', { username, keys: [sshKey], reset: true, timeoutMs });
        const hash = Buffer.from(mark.passwordHash).toString('base64');
        await agent(folder, 'guest-set-user-password', { username, password: hash, crypted: true, timeoutMs });
        // A later reinstallation sets the same login.
        await folders.write(mark);
        await writeSeed(folder, mark);
      }),
    stop: (vmId, token) =>
      admitted(vmId, token, async () => {
        const mark = await folders.read(vmId);
        if (mark === undefined) return;
        await folders.write({ ...mark, token, isWanted: false });
        await stopMachine(folders.pathOf(vmId), mark, shutdownMs(host));
      }),
    resize: ({ vmId, cores, mem, disk, ipv4 }, token) => changing(vmId, token, (mark) => resize(host, { ...mark, cores, mem, ipv4 }, disk)),
    backups: {
      create: (vmId, backup, token) =>
        onDisk({ vmId, token, task: `backup/${vmId}/${token}/${backup}` }, (mark, signal) =>
          createBackup(folders.pathOf(vmId), mark, { backup, signal }),
        ),
      restore: (vmId, backup, token) =>
        onDisk({ vmId, token, task: `restore/${vmId}/${token}/${backup}` }, (mark, signal) =>
          restoreBackup(host, mark, { backup, signal }),
        ),
      remove: (vmId, backup, token) =>
        admitted(vmId, token, async () => {
          const mark = await folders.read(vmId);
          if (mark !== undefined) await removeBackup(folders.pathOf(vmId), mark, backup);
        }),
    },
    task: async (task) => tasks.stateOf(task) ?? stateOfUnknownTask(host, task),
    isos: isosOf(host, changing),
    async usage(vmIds) {
      const measured = await Promise.all(vmIds.map((vmId) => measure(host, vmId)));
      return measured.filter((one) => one !== undefined);
    },
    running: () => runningVms(options.serviceId),
    reaches: (vmId, port) => reaches(host, vmId, port),
    async console(vmId) {
      const mark = await folders.read(vmId);
      if (mark === undefined) throw new Error(`VM ${vmId} does not exist.`);
      return connectIn(folders.pathOf(vmId), VNC_SOCKET);
    },
    inventory: () => inventoryOf(host),
    release: (vmId, token) =>
      admitted(vmId, token, async () => {
        const mark = await folders.read(vmId);
        if (mark !== undefined) await folders.release({ ...mark, token });
      }),
    async forwardedPorts(vmId) {
      const { ports = {} } = (await folders.read(vmId)) ?? {};
      return Object.entries(ports).map(([port, forwarded]) => ({ port: Number(port), address: `127.0.0.1:${forwarded}` }));
    },
    remove: (vmId, token) =>
      admitted(vmId, token, async () => {
        const mark = await folders.read(vmId);
        if (mark === undefined) await folders.removeDraft(vmId);
        else await erase(host, mark);
      }),
  };
}

function isosOf(host: Host, changing: Changing): VmIsos {
  const folder = host.options.images;
  async function bootWith(mark: VmMark, iso: string | undefined) {
    if (!mark.isWanted) return host.folders.write({ ...mark, iso });
    if (mark.iso !== iso) await stopMachine(host.folders.pathOf(mark.vmId), mark, shutdownMs(host));
    await boot(host, { ...mark, iso });
  }
  return {
    get files() {
      return isoFilesIn(folder);
    },
    insert: (vmId, file, token) =>
      changing(vmId, token, (mark) => {
        isoPath(folder, file);
        return bootWith(mark, file);
      }),
    eject: (vmId, token) => changing(vmId, token, (mark) => bootWith(mark, undefined)),
  };
}

function viewsOf({ folders }: Host): Omit<QemuHypervisor, keyof Hypervisor> {
  function checked(name: string) {
    if (!SNAPSHOT_NAME.test(name)) throw new Error(`'${name}' is not a valid name of a snapshot. Use letters, digits, - and _.`);
    return name;
  }
  return {
    async list() {
      const marks = await folders.list();
      return Promise.all(
        marks.map(async (mark) => {
          const machine = await findMachine(folders.pathOf(mark.vmId), mark);
          const { vmId, ports } = mark;
          return { vmId, ports, running: machine !== undefined, cores: machine?.cores ?? mark.cores, mem: machine?.mem ?? mark.mem };
        }),
      );
    },
    snapshot: async (vmId, name) => void (await monitor(folders.pathOf(vmId), `savevm ${checked(name)}`, SNAPSHOT_TIMEOUT_MS)),
    restore: async (vmId, name) => void (await monitor(folders.pathOf(vmId), `loadvm ${checked(name)}`, SNAPSHOT_TIMEOUT_MS)),
  };
}

/** A port that is not forwarded cannot be reached from here. */
async function reaches({ folders, options: { bridge } }: Host, vmId: number, port: number): Promise<boolean | null> {
  const mark = await folders.read(vmId);
  const folder = folders.pathOf(vmId);
  if (mark === undefined || (await findMachine(folder, mark)) === undefined) return false;
  const [address] = mark.ipv4 ?? [];
  if (bridge !== undefined) return address === undefined ? null : accepts(address, port);
  const forwarded = mark.ports[port];
  return forwarded === undefined ? null : guestAccepts(folder, forwarded);
}

/** @returns Undefined if the VM does not run, has ended meanwhile, or belongs to another program. */
async function measure({ folders }: Host, vmId: number): Promise<VmUsage | undefined> {
  try {
    const mark = await folders.read(vmId);
    const machine = mark && (await findMachine(folders.pathOf(vmId), mark));
    return machine && (await usageOf(folders.pathOf(vmId), vmId, machine));
  } catch {
    return undefined;
  }
}

/** This machine, its images and its VMs, with everything else in the folder of VMs. */
async function inventoryOf({ options: { directory, images, defaultImage, node }, folders }: Host): Promise<Inventory> {
  const [disk, files, marks, foreign] = await Promise.all([statfs(directory), readdir(images), folders.list(), folders.foreign()]);
  const vms = marks.map(async (mark): Promise<VmSeen> => {
    const { vmId, os, hostname } = mark;
    const machine = await findMachine(folders.pathOf(vmId), mark);
    const { cores, mem } = machine ?? mark;
    return {
      resource: `vm-${vmId}`,
      vmId,
      running: machine !== undefined,
      node: mark.node ?? null,
      cores,
      mem,
      disk: mark.disk,
      os,
      hostname,
    };
  });
  const unknown = { vmId: null, running: null, node: null, cores: null, mem: null, disk: null, os: null, hostname: null };
  return {
    nodes: [
      {
        name: node ?? hostOf().toLowerCase(),
        cores: availableParallelism(),
        mem: Math.floor(totalmem() / 1024 ** 2),
        disk: Math.floor((disk.blocks * disk.bsize) / GIBIBYTE),
        storage: 0,
      },
    ],
    images:
      defaultImage === undefined ? files.flatMap((file) => (file.endsWith('.qcow2') ? basename(file, '.qcow2') : [])).toSorted() : null,
    vms: [...(await Promise.all(vms)), ...foreign.map((resource) => ({ resource, ...unknown }))],
  };
}

/** Creates the folder of a new VM, with its disk and seed. */
async function install(host: Host, order: VmOrder, token: FencingToken): Promise<VmMark> {
  const { folders, options } = host;
  const { vmId, node, os, hostname, username, sshKey, userData, cores, mem, disk, password, ipv4, ipv6 } = order;
  const image = imageOf(host, os);
  const mark: VmMark = {
    service: options.serviceId,
    token,
    uuid: randomUUID(),
    installation: 1,
    isWanted: true,
    node,
    vmId,
    os,
    hostname,
    username,
    sshKey,
    userData,
    cores,
    mem,
    disk,
    ipv4,
    ipv6,
    passwordHash: await hashOfPassword(password),
    ports: options.bridge === undefined ? await freePorts(options.guestPorts ?? DEFAULT_GUEST_PORTS) : {},
  };
  await folders.create(mark, async (draft) => {
    await createDisk(draft, { draft: DISK_FILE, image, disk });
    await writeSeed(draft, mark);
  });
  return mark;
}

/** Whether a VM is the result of an order. */
async function isOrdered(mark: VmMark, { password, ...order }: VmOrder): Promise<boolean> {
  const isAlike = (['os', 'hostname', 'username', 'sshKey', 'userData'] as const).every((name) => (mark[name] ?? null) === order[name]);
  return isAlike && (await hashOfPassword(password, mark.passwordHash.split('$')[2])) === mark.passwordHash;
}

async function erase({ folders }: Host, mark: VmMark): Promise<void> {
  await stopMachine(folders.pathOf(mark.vmId), mark, 0);
  await folders.remove(mark.vmId);
}

/** Makes a VM run with the resources of its mark. Does nothing if it runs with them. */
async function boot(host: Host, mark: VmMark): Promise<void> {
  const { folders, options } = host;
  const folder = folders.pathOf(mark.vmId);
  const wanted = { ...mark, isWanted: true };
  await folders.write(wanted);
  if ((await findMachine(folder, mark)) !== undefined) return;
  const machine: MachineOptions = {
    accelerator: await host.accelerator(),
    bridge: options.bridge,
    isOpen: options.isOpen ?? false,
    kernel: kernelOf(imageOf(host, mark.os)),
    iso: mark.iso === undefined ? undefined : isoPath(options.images, mark.iso),
  };
  const ports = await startMachine(folder, wanted, machine);
  if (ports !== mark.ports) await folders.write({ ...wanted, ports });
}

/** The number of cores and the memory are fixed while a machine runs, so a machine that runs with others is restarted. */
async function resize(host: Host, mark: VmMark, disk: number): Promise<void> {
  const { folders } = host;
  const folder = folders.pathOf(mark.vmId);
  const resized = { ...mark, disk: Math.max(mark.disk, disk) };
  await folders.write(resized);
  await writeSeed(folder, resized);
  const machine = await findMachine(folder, mark);
  const isRight = machine?.cores === mark.cores && machine.mem === mark.mem && resized.disk === (await sizeOfDisk(folder));
  if (isRight) return;
  await stopMachine(folder, mark, shutdownMs(host));
  // A disk only grows. Its size is compared, because a crash may have come between the mark and the disk.
  if (resized.disk > (await sizeOfDisk(folder))) await run('qemu-img', ['resize', '-q', DISK_FILE, `${resized.disk}G`], { cwd: folder });
  if (mark.isWanted) await boot(host, resized);
}

/** The guest has what the copy has: its installation, hostname, user and password. Cores, memory and the size of the disk are those of the VM. */
async function restoreBackup(
  host: Host,
  before: VmMark,
  { backup, signal }: { readonly backup: string; readonly signal: AbortSignal },
): Promise<void> {
  const { folders } = host;
  const folder = folders.pathOf(before.vmId);
  const draft = `${DISK_FILE}.draft`;
  const { disk, ...contents } = await copyBackup(folder, { backup, draft, signal });
  const mark = { ...before, ...contents, disk: Math.max(before.disk, disk), iso: undefined };
  if (disk < mark.disk) await run('qemu-img', ['resize', '-q', draft, `${mark.disk}G`], { cwd: folder });
  await stopMachine(folder, before, 0);
  await folders.write(mark);
  await writeSeed(folder, mark);
  await rename(join(folder, draft), join(folder, DISK_FILE));
  if (mark.isWanted) await boot(host, mark);
}

/** GB. */
async function sizeOfDisk(folder: string): Promise<number> {
  // A running machine holds the lock of its disk, which reading the size does not need.
  const facts: { 'virtual-size': number } = JSON.parse(
    await run('qemu-img', ['info', '--force-share', '--output=json', DISK_FILE], { cwd: folder }),
  );
  return Math.floor(facts['virtual-size'] / GIBIBYTE);
}

function createDisk(folder: string, { draft, image, disk }: { draft: string; image: string; disk: number }): Promise<string> {
  return run('qemu-img', ['create', '-q', '-f', 'qcow2', '-b', image, '-F', 'qcow2', draft, `${disk}G`], { cwd: folder });
}

/** The path of the image of an operating system. */
function imageOf({ options: { images, defaultImage } }: Host, os: string): string {
  const names = [os, ...(defaultImage === undefined ? [] : [defaultImage])];
  const image = names.map((name) => join(images, `${name}.qcow2`)).find((path) => existsSync(path));
  if (image === undefined) throw new Error(`There is no image of ${os}. Put it into ${images} as ${os}.qcow2.`);
  return image;
}

/** A kernel of the images, if any operating system has one next to its image. */
function anyKernel({ images }: QemuOptions): string | undefined {
  const [name] = globSync('*.kernel', { cwd: images });
  return name && join(images, name);
}

function kernelOf(image: string): MachineOptions['kernel'] {
  const [kernel, initrd] = [image.replace(/qcow2$/, 'kernel'), image.replace(/qcow2$/, 'initrd')];
  return existsSync(kernel) && existsSync(initrd) ? { kernel, initrd } : undefined;
}

function shutdownMs({ options }: Host): number {
  return options.shutdownMs ?? DEFAULT_SHUTDOWN_MS;
}
