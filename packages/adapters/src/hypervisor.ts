/// <reference types="node" preserve="true" />
import type { Duplex } from 'node:stream';

import type { FencingToken } from './fencing.ts';
import type { Inventory } from './inventory.ts';
import type { DoneOrStarted, TaskState } from './task.ts';

/** The resources of a VM on its node and in the network. */
export interface VmSize {
  readonly vmId: number;
  readonly node: string;
  readonly cores: number;
  /** MB. */
  readonly mem: number;
  /** GB of NVMe. */
  readonly disk: number;
  /** GB of HDD; null for none. */
  readonly storage: number | null;
  /** Mbit. */
  readonly networkSpeed: number;
  readonly backupSlots: number;
  readonly ipv4: readonly string[];
}

/** A VM to create. */
export interface VmOrder extends VmSize {
  readonly os: string;
  readonly hostname: string;
  readonly username: string;
  readonly password: string;
  readonly sshKey: string | null;
  /** Text for cloud-init at the first boot of an installation: a script, `#cloud-config` or MIME. Null for none. */
  readonly userData: string | null;
  readonly ipv6: readonly string[];
}

/** A new installation of a VM, whose user and password stay. */
export type Installation = Pick<VmOrder, 'vmId' | 'os' | 'hostname' | 'sshKey' | 'userData'>;

/** What lets the login user of a VM in. */
export interface Login {
  readonly password: string;
  /** Replaces the authorised keys of the user. Null to leave them as they are. */
  readonly sshKey: string | null;
}

/** Copies of the disks of VMs. Each call is idempotent, and belongs to the VM like the calls of `Hypervisor`. */
export interface VmBackups {
  /** Copies the disk of a VM as it is at one moment, running or not, with the operating system and user that are on it. Does nothing if the copy exists. */
  create(vmId: number, backup: string, token: FencingToken): Promise<DoneOrStarted>;
  /**
   * Replaces the disk of a VM by a copy, which grows to the present size of the disk. Cores and memory stay. A VM that runs is powered off and
   * boots from it, and one that does not run stays so.
   */
  restore(vmId: number, backup: string, token: FencingToken): Promise<DoneOrStarted>;
  /** Removes a copy. Does nothing if it does not exist. The removal of a VM removes its copies, too. */
  remove(vmId: number, backup: string, token: FencingToken): Promise<DoneOrStarted>;
}

/** An ISO file from which VMs can boot, such as that of an installer or of a rescue system. */
export interface IsoFile {
  /** Up to 60 letters, digits, `-`, `_` and `.`. */
  readonly name: string;
  /** For people. */
  readonly displayname: string;
  readonly platform: 'linux' | 'windows';
}

/** ISO files in VMs. Each call is idempotent, and belongs to the VM like the calls of `Hypervisor`. */
export interface VmIsos {
  /** The files that can be inserted now. It is read at each request, so an adapter that gets it from another system remembers it. */
  readonly files: readonly IsoFile[];
  /**
   * Inserts a file in the place of another one, and restarts the VM, which boots from it. A stopped VM stays stopped. The file stays inserted over a stop, a restart and a resize.
   * A reinstallation and the restoration of a backup eject it.
   */
  insert(vmId: number, file: string, token: FencingToken): Promise<DoneOrStarted>;
  /** Ejects the file, and restarts the VM, which boots from its disk. A stopped VM stays stopped. Does nothing if no file is inserted. */
  eject(vmId: number, token: FencingToken): Promise<DoneOrStarted>;
}

/** The use of a running VM: its memory and disk now, and counters. Null for what the system does not measure. */
export interface VmUsage {
  readonly vmId: number;
  /**
   * Names the run of the counters, such as the process of the VM, in at most 100 characters. They are 0 when a run begins. A counter that is lower
   * than before in the same run has begun again, too.
   */
  readonly run: string;
  /** Seconds since the run began. */
  readonly seconds: number;
  /** Counter of the time that its cores worked, in seconds. */
  readonly cpuSeconds: number | null;
  /** Bytes of memory now. */
  readonly memory: number | null;
  /** Bytes on its disk now. */
  readonly disk: number | null;
  /** Counters of bytes. */
  readonly diskRead: number | null;
  readonly diskWritten: number | null;
  readonly received: number | null;
  readonly sent: number | null;
}

/** A TCP port of a VM that its host forwards. */
export interface ForwardedPort {
  /** The port in the VM. */
  readonly port: number;
  /** Address and port of the host, such as `127.0.0.1:45213`. */
  readonly address: string;
}

/**
 * The system that runs VMs. Every call is idempotent, so that an interrupted delivery can be finished or undone. The service makes one call
 * at a time for a VM, but calls that it gave up or whose instance died may still be in progress. A call with a stale token is rejected (see
 * fencing.ts). The service gives up on a call after its port timeout.
 *
 * A call that takes longer than a request should last starts a task and returns it. The service then waits as long as the task runs. It makes
 * a call about the same VM meanwhile only to undo the task, which the adapter must then end first.
 */
export interface Hypervisor {
  /** Sets up a VM and boots it. */
  create(order: VmOrder, token: FencingToken): Promise<DoneOrStarted>;
  /** Erases a VM, installs an operating system on it with this hostname, SSH key and user data, and boots it. */
  reinstall(installation: Installation, token: FencingToken): Promise<DoneOrStarted>;
  /** Boots a VM. Does nothing if it runs. */
  start(vmId: number, token: FencingToken): Promise<DoneOrStarted>;
  /** Restarts a VM. Boots it if it does not run. */
  restart(vmId: number, token: FencingToken): Promise<DoneOrStarted>;
  /** Sets the login of a running VM. @throws GuestError if the system in the VM does not let it. */
  setLogin(vmId: number, login: Login, token: FencingToken): Promise<void>;
  /** Shuts a VM down. Does nothing if it does not run. */
  stop(vmId: number, token: FencingToken): Promise<DoneOrStarted>;
  /**
   * Changes the resources of a VM, running or not. A call with fewer resources undoes a resize that failed. A disk that has grown may keep
   * its size.
   */
  resize(size: VmSize, token: FencingToken): Promise<DoneOrStarted>;
  /** Removes a VM. Does nothing if it does not exist. */
  remove(vmId: number, token: FencingToken): Promise<DoneOrStarted>;
  /** True if `resize` restarts a running VM whose cores, memory or disk change. Omit it if the VM goes on. */
  readonly restartsToResize?: boolean;
  /**
   * True if the system of a running VM takes over the further addresses of `resize` only at its next start, such as with cloud-init. Omit it if
   * they are in use at once.
   */
  readonly addressesNeedRestart?: boolean;
  /** Omit it if the system makes no backups. */
  readonly backups?: VmBackups;
  /** Omit it if VMs cannot boot from ISO files. */
  readonly isos?: VmIsos;
  /**
   * The use of these VMs. A VM that does not run is left out, and so is one that cannot be measured now. The service asks every five minutes, for
   * many VMs at once. Omit it if the system does not measure its VMs. It changes nothing, so it needs no token.
   */
  usage?(vmIds: readonly number[]): Promise<readonly VmUsage[]>;
  /**
   * The VMs of the service that run, by one request to the system. The service asks every 30 seconds, and starts machines again that ended by
   * themselves. Omit it if the system has no such list: the service then notices them when it measures. It changes nothing, so it needs no token.
   */
  running?(): Promise<readonly number[]>;
  /**
   * A new connection to the screen, the keyboard and the mouse of a VM: the bytes of the Remote Framebuffer protocol (RFC 6143) of a server that
   * asks for no password. It ends when the machine stops. Several may be open at once. Omit it if the system has none. It changes nothing, so
   * it needs no token.
   *
   * @throws If the VM does not run.
   */
  console?(vmId: number): Promise<Duplex>;
  /**
   * Whether a TCP port of a VM accepts a connection: false also if the VM does not run, and null if the system cannot find out. It responds within
   * a few seconds. Several ports may be checked at once. Omit it if the system cannot reach its VMs. It changes nothing, so it needs no token.
   */
  reaches?(vmId: number, port: number): Promise<boolean | null>;
  /** The contents of the system, for a comparison with the store. Omit it if the system cannot say. It changes nothing, so it needs no token. */
  inventory?(): Promise<Inventory>;
  /**
   * Removes the mark of the service from a VM, which stays as it is. From then on it belongs to the operator of the system, and the service may
   * give its number to another VM. Does nothing if there is no VM of the service. Omit it if the system has no marks.
   */
  release?(vmId: number, token: FencingToken): Promise<void>;
  /** The state of a task that a call has started. Omit it if no call starts one. It changes nothing, so it needs no token. */
  task?(task: string): Promise<TaskState>;
  /** The ports of a VM that its host forwards. Omit it if VMs are reached at their own addresses. It changes nothing, so it needs no token. */
  forwardedPorts?(vmId: number): Promise<readonly ForwardedPort[]>;
}
