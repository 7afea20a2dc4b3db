import type { Duplex } from 'node:stream';

import type { ForwardedPort, Installation, Inventory, Login, VmBackups, VmIsos, VmUsage } from '@reseller/adapters';

import type { DoneOrStarted, FencingToken, Hypervisor, VmOrder, VmSize } from '../../src/index.ts';
import { simulatedScreen } from '../../src/ports/simulated-screen.ts';
import { SIMULATED_ISO_FILES } from '../../src/ports/simulated.ts';
import { PortCalls } from './port-calls.ts';

/** A hypervisor that keeps the VMs that it has created, and fails when a test says so. */
export class TestHypervisor implements Hypervisor {
  readonly vms = new Map<number, VmOrder>();
  addressesNeedRestart = true;
  restartsToResize = false;
  readonly stopped = new Set<number>();
  /** Every received order by VM, including failed ones. */
  readonly orders = new Map<number, VmOrder>();
  lastOrder: VmOrder | undefined;
  /** Thrown by every call but `remove`. The VM of a failed `create` exists. */
  failing: Error | undefined;
  /** Thrown by `remove`. It also keeps purchases from being undone. */
  failingToRemove: Error | undefined;
  /** Thrown by `usage`. */
  failingToMeasure: Error | undefined;
  /** The use of each VM that can be measured. */
  readonly used = new Map<number, VmUsage>();
  /** The ports that the host of each VM forwards. */
  forwarded: readonly ForwardedPort[] = [];
  /** Resources of another program in the same system. */
  readonly foreign: string[] = [];
  nodes: Inventory['nodes'] = null;
  images: Inventory['images'] = null;
  readonly #calls: PortCalls;
  constructor(calls: PortCalls = new PortCalls()) {
    this.#calls = calls;
  }
  create(order: VmOrder, token: FencingToken): Promise<DoneOrStarted> {
    this.lastOrder = order;
    this.orders.set(order.vmId, order);
    return this.#calls.call('do', [`vm/${order.vmId}`, token], () => {
      this.vms.set(order.vmId, order);
      if (this.failing) throw this.failing;
    });
  }
  reinstall({ vmId, os, hostname, sshKey, userData }: Installation, token: FencingToken): Promise<DoneOrStarted> {
    return this.#unlessFailing('do', vmId, token, () => {
      this.inserted.delete(vmId);
      this.#change(vmId, { os, hostname, sshKey, userData });
    });
  }
  start(vmId: number, token: FencingToken): Promise<DoneOrStarted> {
    return this.#unlessFailing('do', vmId, token, () => void this.stopped.delete(vmId));
  }
  restart(vmId: number, token: FencingToken): Promise<void> {
    return this.#unlessFailing('do', vmId, token, () => void this.stopped.delete(vmId));
  }
  setLogin(vmId: number, { password, sshKey }: Login, token: FencingToken): Promise<void> {
    return this.#unlessFailing('do', vmId, token, () => this.#change(vmId, { password, ...(sshKey !== null && { sshKey }) }));
  }
  stop(vmId: number, token: FencingToken): Promise<void> {
    return this.#unlessFailing('tell', vmId, token, () => {
      this.stopped.add(vmId);
      for (const screen of this.consoles.get(vmId) ?? []) screen.destroy();
    });
  }
  resize(size: VmSize, token: FencingToken): Promise<void> {
    return this.#unlessFailing('do', size.vmId, token, () => this.#change(size.vmId, size));
  }
  remove(vmId: number, token: FencingToken): Promise<DoneOrStarted> {
    return this.#calls.call('undo', [`vm/${vmId}`, token], () => {
      if (this.failingToRemove) throw this.failingToRemove;
      this.vms.delete(vmId);
      this.stopped.delete(vmId);
      this.copies.delete(vmId);
      this.used.delete(vmId);
    });
  }
  /** Sets what a VM uses. A number that is not given is 0. */
  use(vmId: number, given: Partial<VmUsage>): void {
    const counters = { cpuSeconds: 0, memory: 0, disk: 0, diskRead: 0, diskWritten: 0, received: 0, sent: 0 };
    this.used.set(vmId, { vmId, run: 'first', seconds: 0, ...counters, ...given });
  }
  async usage(vmIds: readonly number[]): Promise<readonly VmUsage[]> {
    if (this.failingToMeasure) throw this.failingToMeasure;
    return vmIds.flatMap((vmId) => (this.stopped.has(vmId) ? [] : (this.used.get(vmId) ?? [])));
  }
  /** Set by tests of systems that list what runs. */
  running?: () => Promise<readonly number[]>;
  /** The VMs whose ports accept no connection. */
  readonly unreachable = new Set<number>();
  /** The ports that were checked. */
  readonly checked: string[] = [];
  async reaches(vmId: number, port: number): Promise<boolean | null> {
    this.checked.push(`${vmId}:${port}`);
    return !this.stopped.has(vmId) && !this.unreachable.has(vmId);
  }
  /** The open consoles of each VM. */
  readonly consoles = new Map<number, Duplex[]>();
  async console(vmId: number): Promise<Duplex> {
    if (!this.vms.has(vmId) || this.stopped.has(vmId)) throw new Error(`The VM ${vmId} does not run.`);
    const screen = simulatedScreen(vmId);
    this.consoles.set(vmId, [...(this.consoles.get(vmId) ?? []), screen]);
    return screen;
  }
  async inventory(): Promise<Inventory> {
    const unknown = { vmId: null, running: null, node: null, cores: null, mem: null, disk: null, os: null, hostname: null };
    const own = [...this.vms.values()].map(({ vmId, node, cores, mem, disk, os, hostname }) => ({
      resource: `vm-${vmId}`,
      vmId,
      running: !this.stopped.has(vmId),
      node,
      cores,
      mem,
      disk,
      os,
      hostname,
    }));
    return { nodes: this.nodes, images: this.images, vms: [...own, ...this.foreign.map((resource) => ({ resource, ...unknown }))] };
  }
  release(vmId: number, token: FencingToken): Promise<void> {
    return this.#unlessFailing('tell', vmId, token, () => {
      if (this.vms.delete(vmId)) this.foreign.push(`released-${vmId}`);
    });
  }
  /** The backups of each VM, with what is on their disks. */
  readonly copies = new Map<number, Map<string, Pick<VmOrder, 'os' | 'hostname' | 'sshKey' | 'password'>>>();
  readonly backups: VmBackups = {
    create: (...call) => this.createBackup(...call),
    restore: (...call) => this.restoreBackup(...call),
    remove: (...call) => this.removeBackup(...call),
  };
  createBackup(vmId: number, backup: string, token: FencingToken): Promise<void> {
    return this.#unlessFailing('do', vmId, token, () => {
      const order = this.vms.get(vmId);
      const copies = this.copies.get(vmId) ?? new Map();
      if (order) this.copies.set(vmId, copies.set(backup, order));
    });
  }
  restoreBackup(vmId: number, backup: string, token: FencingToken): Promise<void> {
    return this.#unlessFailing('do', vmId, token, () => {
      const copy = this.copies.get(vmId)?.get(backup);
      if (!copy) throw new Error(`VM ${vmId} has no backup ${backup}.`);
      this.inserted.delete(vmId);
      const { os, hostname, sshKey, password } = copy;
      this.#change(vmId, { os, hostname, sshKey, password });
    });
  }
  removeBackup(vmId: number, backup: string, token: FencingToken): Promise<void> {
    return this.#unlessFailing('undo', vmId, token, () => void this.copies.get(vmId)?.delete(backup));
  }
  /** The ISO file of each VM that has one. */
  readonly inserted = new Map<number, string>();
  readonly isos: VmIsos = {
    files: SIMULATED_ISO_FILES,
    insert: (...call) => this.bootFrom(...call),
    eject: (vmId, token) => this.bootFrom(vmId, null, token),
  };
  /** @param file Null for the disk. */
  bootFrom(vmId: number, file: string | null, token: FencingToken): Promise<void> {
    return this.#unlessFailing('do', vmId, token, () => {
      if (file === null) this.inserted.delete(vmId);
      else this.inserted.set(vmId, file);
    });
  }
  async forwardedPorts(): Promise<readonly ForwardedPort[]> {
    if (this.failing) throw this.failing;
    return this.forwarded;
  }

  #unlessFailing(purpose: 'do' | 'tell' | 'undo', vmId: number, token: FencingToken, work: () => void): Promise<void> {
    return this.#calls.call(purpose, [`vm/${vmId}`, token], () => {
      if (this.failing) throw this.failing;
      work();
    });
  }
  #change(vmId: number, changed: Partial<VmOrder>): void {
    const order = this.vms.get(vmId);
    if (order) this.vms.set(vmId, { ...order, ...changed });
  }
}
