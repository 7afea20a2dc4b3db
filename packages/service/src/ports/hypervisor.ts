/** What the hypervisor needs to know of a VM. */
export interface VmOrder {
  readonly vmId: number;
  readonly node: string;
  readonly cores: number;
  /** MB. */
  readonly mem: number;
  /** GB. */
  readonly disk: number;
  readonly os: string;
  readonly hostname: string;
  readonly username: string;
  readonly password: string;
  readonly sshKey: string | null;
  readonly ipv4: readonly string[];
  readonly ipv6: readonly string[];
}

/**
 * Where VMs run. Every call may be repeated with the same VM: it leaves the same state, so that
 * what a crash cut in half can be finished or undone.
 */
export interface Hypervisor {
  /** Sets a VM up and boots it. */
  create(order: VmOrder): Promise<void>;
  /** Installs an operating system on a VM, erasing what it held, and boots it. */
  reinstall(vmId: number, os: string): Promise<void>;
  /** Removes a VM; one that does not exist is as good. */
  remove(vmId: number): Promise<void>;
}

/** A hypervisor that has nothing to run: what it did is kept in the service's own store alone. */
export function simulatedHypervisor(): Hypervisor {
  return {
    create: async () => {},
    reinstall: async () => {},
    remove: async () => {},
  };
}
