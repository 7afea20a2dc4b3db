/** The process of a VM. It runs detached, so that it survives a restart of the service. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { open, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { CPUS } from './accelerator.ts';
import { macOf } from './folder.ts';
import type { ForwardedPorts, VmMark } from './folder.ts';
import { ProgramError } from './programs.ts';
import { AGENT_SOCKET, agentShutdown, qmp, QMP_SOCKET } from './qmp.ts';
import { SEED_FILE } from './seed.ts';

export const DISK_FILE = 'disk.qcow2';
const PID_FILE = 'qemu.pid';
const LOG_FILE = 'qemu.log';
const START_POLL_MS = 10;
const CONSOLE_SOCKET = 'console.sock';
/** QEMU serves the screen here, so that no port of the host is open. */
export const VNC_SOCKET = 'vnc.sock';
const POLL_MS = 50;
const KILL_TIMEOUT_MS = 5_000;
const START_TIMEOUT_MS = 10_000;
/** How often other ports are tried when another program takes one in the moment of the start. */
const PORT_ATTEMPTS = 5;

/** A running VM. */
export interface Machine {
  readonly pid: number;
  readonly cores: number;
  /** MB. */
  readonly mem: number;
}

export interface MachineOptions {
  readonly accelerator: 'kvm' | 'tcg';
  /** The name of a bridge to which VMs are attached. Undefined for a network of QEMU's own, with forwarded ports. */
  readonly bridge: string | undefined;
  /** Whether the guest can reach the network of the host. */
  readonly isOpen: boolean;
  /** Files for a direct boot, if the image has no boot loader. */
  readonly kernel: { readonly kernel: string; readonly initrd: string } | undefined;
  /** The path of the ISO file from which the VM boots. Undefined for its disk. */
  readonly iso: string | undefined;
}

/** The process of a VM, found by the UUID in its arguments. Undefined if it does not run. */
export async function findMachine(folder: string, { uuid }: Pick<VmMark, 'uuid'>): Promise<Machine | undefined> {
  const end = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const pid = await readFile(join(folder, PID_FILE), 'utf8').catch(() => '');
    const known = await machineOf(pid.trim(), uuid);
    if (known !== undefined) return known;
    const starting = await anyMachineOf(uuid);
    // A service that died during a start leaves a process that may not have written its file yet.
    if (starting === undefined || performance.now() > end) return starting;
    await wait(POLL_MS);
  }
}

async function anyMachineOf(uuid: string): Promise<Machine | undefined> {
  for (const name of await readdir('/proc')) {
    const found = await machineOf(name, uuid);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function machineOf(pid: string, uuid: string): Promise<Machine | undefined> {
  const argument = await argumentsOfProcess(pid);
  if (argument('-uuid') !== uuid) return undefined;
  return { pid: Number(pid), cores: Number(argument('-smp')), mem: Number(argument('-m')) };
}

/** The VMs of a service that run, found by one look at all processes. */
export async function runningVms(service: string): Promise<number[]> {
  const found: number[] = [];
  const prefix = nameOf({ service, vmId: '' });
  for (const pid of await readdir('/proc')) {
    const name = (await argumentsOfProcess(pid))('-name');
    if (name.startsWith(prefix)) found.push(Number(name.slice(prefix.length)));
  }
  return found;
}

/** What follows the name of an argument of a process. Empty if it has no such argument, or there is no such process. */
async function argumentsOfProcess(pid: string): Promise<(name: string) => string> {
  const line = /^\d+$/.test(pid) ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : '';
  const given = line.split('\0');
  return (name) => {
    const index = given.indexOf(name);
    return index < 0 ? '' : (given[index + 1] ?? '');
  };
}

function nameOf({ service, vmId }: { readonly service: string; readonly vmId: number | '' }): string {
  return `guest=reseller-${service}-vm-${vmId}`;
}

/**
 * Starts the process of a VM that does not run.
 *
 * @returns The forwarded ports: those of the mark, unless another program uses one of them.
 */
export async function startMachine(folder: string, mark: VmMark, options: MachineOptions): Promise<ForwardedPorts> {
  let { ports } = mark;
  for (let attempt = 1; ; attempt++) {
    try {
      await startProcess(folder, argumentsOf({ ...mark, ports }, options));
      return ports;
    } catch (error) {
      const isTaken = error instanceof ProgramError && error.message.includes('host forwarding');
      if (!isTaken || attempt === PORT_ATTEMPTS) throw error;
      ports = await freePorts(Object.keys(ports));
    }
  }
}

/**
 * Starts QEMU as a child of this process. A daemon would have the init process as its parent, which in many containers removes ended
 * processes late or never. The child runs in a session of its own, and goes on when this process ends.
 *
 * @throws ProgramError with the output of QEMU if it does not start.
 */
async function startProcess(folder: string, given: readonly string[]): Promise<void> {
  const output = await open(join(folder, LOG_FILE), 'w', 0o600);
  const child = spawn('qemu-system-x86_64', given, { cwd: folder, detached: true, stdio: ['ignore', output.fd, output.fd] });
  // Its exit code says the same.
  child.once('error', () => {});
  child.unref();
  await output.close();
  const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
  // QEMU answers when it has set up all devices. It writes its number to the file before that.
  while (!hasExited(child) && !(await answers(folder))) await wait(START_POLL_MS);
  clearTimeout(timer);
  if (!hasExited(child)) return;
  const printed = await readFile(join(folder, LOG_FILE), 'utf8');
  throw new ProgramError(`qemu-system-x86_64 failed (${child.exitCode ?? 'killed'}): ${printed.trim()}`);
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function answers(folder: string): Promise<boolean> {
  return qmp(folder, 'query-status').then(
    () => true,
    () => false,
  );
}

/** Ends a VM: lets the guest shut down, then powers it off. Does nothing if it does not run. */
export async function stopMachine(folder: string, mark: VmMark, shutdownMs: number): Promise<void> {
  const machine = await findMachine(folder, mark);
  if (machine === undefined) return;
  if (shutdownMs > 0) {
    await Promise.allSettled([qmp(folder, 'system_powerdown'), agentShutdown(folder, shutdownMs)]);
    if (await hasEnded(folder, mark, shutdownMs)) return;
  }
  await qmp(folder, 'quit').catch(() => {});
  if (await hasEnded(folder, mark, KILL_TIMEOUT_MS)) return;
  process.kill(machine.pid, 'SIGKILL');
  if (!(await hasEnded(folder, mark, KILL_TIMEOUT_MS)))
    throw new ProgramError(`The process ${machine.pid} of VM ${mark.vmId} does not end.`);
}

async function hasEnded(folder: string, mark: VmMark, timeoutMs: number): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  while ((await findMachine(folder, mark)) !== undefined) {
    if (performance.now() > end) return false;
    await wait(POLL_MS);
  }
  return true;
}

/** Free ports of 127.0.0.1 for ports of the guest. */
export async function freePorts(guestPorts: readonly (string | number)[]): Promise<ForwardedPorts> {
  const servers = await Promise.all(guestPorts.map(listening));
  const ports = servers.map(({ port }) => port);
  await Promise.all(servers.map(({ close }) => close()));
  return Object.fromEntries(guestPorts.map((guest, index) => [String(guest), ports[index] ?? 0]));
}

async function listening(): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** All files are relative to the folder of the VM, in which QEMU starts, because the paths of sockets must be short. */
function argumentsOf(mark: VmMark, { accelerator, kernel, iso, ...network }: MachineOptions): string[] {
  return [
    ['-name', nameOf(mark)],
    ['-uuid', mark.uuid],
    // Not `microvm`, which hangs without KVM.
    ['-machine', 'pc'],
    ['-accel', accelerator],
    ['-cpu', CPUS[accelerator]],
    ['-smp', String(mark.cores)],
    ['-m', String(mark.mem)],
    ['-nodefaults', '-no-user-config', '-display', 'none', '-vga', 'std'],
    ['-sandbox', sandboxOf(network)],
    ['-drive', `file=${DISK_FILE},format=qcow2,if=virtio,discard=unmap`],
    ['-drive', `file=${SEED_FILE},format=raw,if=virtio,readonly=on`],
    ['-netdev', networkOf(mark, network), '-device', `virtio-net-pci,netdev=net,mac=${macOf(mark)},romfile=`],
    ['-device', 'virtio-serial-pci', '-chardev', `socket,id=agent,path=${AGENT_SOCKET},server=on,wait=off`],
    ['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
    // Without a log file, which the guest could fill without end. Its output is lost while nobody is connected.
    ['-chardev', `socket,id=console,path=${CONSOLE_SOCKET},server=on,wait=off`, '-serial', 'chardev:console'],
    ['-qmp', `unix:${QMP_SOCKET},server=on,wait=off`],
    ['-vnc', `unix:${VNC_SOCKET}`],
    bootFrom(iso, kernel),
    ['-pidfile', PID_FILE],
  ].flat();
}

/** The system calls that QEMU may not make, should a guest break out of its machine. The bridge helper is another process with more rights. */
function sandboxOf({ bridge }: Pick<MachineOptions, 'bridge'>): string {
  return bridge === undefined ? 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny' : 'on,obsolete=deny';
}

/** A kernel without a boot loader would boot before the CD-ROM. */
function bootFrom(iso: string | undefined, kernel: MachineOptions['kernel']): string[] {
  // QEMU reads a comma as the end of the path, and two as one comma.
  if (iso !== undefined) return ['-drive', `file=${iso.replaceAll(',', ',,')},format=raw,if=ide,media=cdrom,readonly=on`, '-boot', 'd'];
  return kernel ? ['-kernel', kernel.kernel, '-initrd', kernel.initrd, '-append', 'console=ttyS0 quiet'] : [];
}

function networkOf({ ports }: VmMark, { bridge, isOpen }: Pick<MachineOptions, 'bridge' | 'isOpen'>): string {
  if (bridge !== undefined) return `bridge,id=net,br=${bridge}`;
  const forwards = Object.entries(ports).map(([guest, host]) => `hostfwd=tcp:127.0.0.1:${host}-:${guest}`);
  return ['user', 'id=net', `restrict=${isOpen ? 'off' : 'on'}`, ...forwards].join(',');
}
