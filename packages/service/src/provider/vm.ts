/**
 * What the provider does with the VMs of its accounts: start, stop, resize and remove one. Each
 * leaves billing exact, and the hypervisor in step with the store, however it fails or whenever the
 * service dies. All of them are reserved, delivered and confirmed, as purchases are:
 *
 * - What gives more (`start`, `resize`) is asked of the hypervisor first, and billed once it has been
 *   delivered. What it takes is kept beforehand (credit, room on the node, addresses), so that it
 *   is nobody else's meanwhile. What fails or is left half-done is taken back.
 * - What takes away (`stop`, `remove`) is in the store first: nothing is billed from then on. What
 *   fails or is left half-done is finished: the hypervisor is told again until it has done it. Room and
 *   addresses are free only when it has.
 *
 * One change of a VM is under way at a time; others are refused until then.
 */
import type { DeliveredOperation } from '../operations/operation.ts';
import type { Money } from '../rules/money.ts';
import type { BilledResources } from '../rules/resources.ts';
import { carryOut } from './change.ts';
import type { ChangeParts } from './change.ts';
import { removing, resizing, starting, stopping } from './vm-changes.ts';

/** What a VM is to have from now on; what is left out stays as it is. */
export interface Resize {
  readonly resources: Partial<BilledResources>;
  /** Whether further addresses may be the provider's once the account's own subnets run out; false unless given. */
  readonly allowFallbackIPs?: boolean;
}

/**
 * What the provider does with VMs. All throw Refusal 404 for no such VM, 409 when its state does
 * not allow it or another change of it is under way, and InfrastructureError when the hypervisor fails.
 */
export interface VmActs {
  /** Starts a stopped VM: a BILLINGRESTART position begins. Throws Refusal 402 when the credit limit has no room for it. */
  start(vmId: number): Promise<void>;
  /** Stops a VM: its position ends. It keeps its room, its addresses and its prices. */
  stop(vmId: number): Promise<void>;
  /**
   * Gives a VM other resources: its position ends and an UP-DOWNGRADE one begins at the new price.
   * Prices of a sale stay where the sale is upgradable, else standard prices apply from now on. A
   * stopped VM is resized too, and takes its new price at its next start. Resources that it has
   * already change nothing. Throws Refusal 422 for what its host system does not offer, 409 when its
   * node or its location has no room, 402 when it becomes dearer than the credit limit has room for.
   *
   * @returns Its net price of 30 days.
   */
  resize(vmId: number, resize: Resize): Promise<Money>;
  /**
   * Removes a VM: its billing ends, and its room and addresses are given back. Its row stays until
   * its identifier is given to another VM, which the quarantine of the settings puts off.
   */
  remove(vmId: number): Promise<void>;
}

const kinds = { startVm: starting, stopVm: stopping, resizeVm: resizing, removeVm: removing };

/** How changes that are left over are undone or finished, by the names that their reservations have. */
export const vmChangesLeft: Readonly<Record<keyof typeof kinds, Pick<DeliveredOperation<never>, 'kind' | 'withdraw' | 'release'>>> = {
  startVm: { kind: 'delivered', ...starting.left },
  stopVm: { kind: 'delivered', ...stopping.left },
  resizeVm: { kind: 'delivered', ...resizing.left },
  removeVm: { kind: 'delivered', ...removing.left },
};

export function vmActs(parts: ChangeParts): VmActs {
  const { ports, secret } = parts;
  return {
    start: (vmId) => carryOut(parts, 'startVm', starting.begin({ vmId, ports, secret })),
    stop: (vmId) => carryOut(parts, 'stopVm', stopping.begin({ vmId, ports, secret })),
    resize: (vmId, resize) => carryOut(parts, 'resizeVm', resizing.begin({ vmId, ports, secret }, resize)),
    remove: (vmId) => carryOut(parts, 'removeVm', removing.begin({ vmId, ports, secret })),
  };
}
