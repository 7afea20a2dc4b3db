import type { FencingToken } from './fencing.ts';

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
  readonly ipv6: readonly string[];
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
 */
export interface Hypervisor {
  /** Sets up a VM and boots it. */
  create(order: VmOrder, token: FencingToken): Promise<void>;
  /** Erases a VM, installs an operating system on it and boots it. */
  reinstall(vmId: number, os: string, token: FencingToken): Promise<void>;
  /** Boots a VM. Does nothing if it runs. */
  start(vmId: number, token: FencingToken): Promise<void>;
  /** Restarts a VM. Boots it if it does not run. */
  restart(vmId: number, token: FencingToken): Promise<void>;
  /** Sets the password of the login user of a running VM. */
  setPassword(vmId: number, password: string, token: FencingToken): Promise<void>;
  /** Shuts a VM down. Does nothing if it does not run. */
  stop(vmId: number, token: FencingToken): Promise<void>;
  /**
   * Changes the resources of a VM, running or not. A call with fewer resources undoes a resize that failed. A disk that has grown may keep
   * its size.
   */
  resize(size: VmSize, token: FencingToken): Promise<void>;
  /** Removes a VM. Does nothing if it does not exist. */
  remove(vmId: number, token: FencingToken): Promise<void>;
  /** The ports of a VM that its host forwards. Omit it if VMs are reached at their own addresses. It changes nothing, so it needs no token. */
  forwardedPorts?(vmId: number): Promise<readonly ForwardedPort[]>;
}
