import type { Turn } from './turn.ts';

/** What a VM has of its node and of the network. */
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

/** What the hypervisor needs to know of a VM. */
export interface VmOrder extends VmSize {
  readonly os: string;
  readonly hostname: string;
  readonly username: string;
  readonly password: string;
  readonly sshKey: string | null;
  readonly ipv6: readonly string[];
}

/**
 * Where VMs run. Every call may be repeated with the same VM: it leaves the same state, so that
 * what a crash cut in half can be finished or undone. The service has one call under way for a VM
 * at a time, but for one that it gave up or whose process has died: what comes late is refused by its
 * turn (turn.ts). Calls that take longer than the service's time limit for ports are given up.
 */
export interface Hypervisor {
  /** Sets a VM up and boots it. */
  create(order: VmOrder, turn: Turn): Promise<void>;
  /** Installs an operating system on a VM, erasing what it held, and boots it. */
  reinstall(vmId: number, os: string, turn: Turn): Promise<void>;
  /** Boots a VM; one that runs is as good. */
  start(vmId: number, turn: Turn): Promise<void>;
  /** Shuts a VM down; one that does not run is as good. */
  stop(vmId: number, turn: Turn): Promise<void>;
  /**
   * Gives a VM what it is to have, running or not. Called with less to take back what a resize that
   * failed may have given: a disk that has grown may stay so then.
   */
  resize(size: VmSize, turn: Turn): Promise<void>;
  /** Removes a VM; one that does not exist is as good. */
  remove(vmId: number, turn: Turn): Promise<void>;
}

/** A hypervisor that has nothing to run: what it did is kept in the service's own store alone. */
export function simulatedHypervisor(): Hypervisor {
  return {
    create: async () => {},
    reinstall: async () => {},
    start: async () => {},
    stop: async () => {},
    resize: async () => {},
    remove: async () => {},
  };
}
