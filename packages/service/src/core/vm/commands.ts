import { runCommand } from '../../delivery/command.ts';
import type { CommandHooks } from '../../delivery/command.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Money } from '../../rules/money.ts';
import { setAbuseStatus } from './abuse.ts';
import type { AbuseChange } from './abuse.ts';
import { removeVm, resizeVm, startVm, stopVm } from './deliveries.ts';
import type { Resize } from './deliveries.ts';

/**
 * Changes of a VM on behalf of the provider. All of them throw Refusal 404 if the VM does not exist, Refusal 409 if its state does not allow
 * the change or another change is in progress, and InfrastructureError if the hypervisor fails.
 */
export interface VmCommands {
  /** Starts a stopped VM. A BILLINGRESTART position begins. Throws Refusal 402 if the credit limit does not suffice. */
  start(vmId: number): Promise<void>;
  /** Stops a VM. Its position ends. It keeps its room, its addresses and its prices. */
  stop(vmId: number): Promise<void>;
  /**
   * Gives a VM other resources. Its position ends, and an UP-DOWNGRADE one begins at the new price. Sale prices stay if the sale is
   * upgradable. A stopped VM takes its new price at its next start. Throws Refusal 422 if the host system does not offer the resources,
   * 409 if the node or the location has no room, 402 if the credit limit does not suffice.
   *
   * @returns The net price of 30 days.
   */
  resize(vmId: number, resize: Resize): Promise<Money>;
  /** Sets the consequence of complaints about a VM. Throws Refusal 409 if the VM does not exist, or is being changed. */
  setAbuseStatus(vmId: number, change: AbuseChange): Promise<void>;
  /**
   * Removes a VM. Its billing ends, and its room and addresses become free. Its identifier is given to another VM after the
   * quarantine of the settings at the earliest.
   */
  remove(vmId: number): Promise<void>;
}

export function vmCommands(runtime: Runtime, hooks?: CommandHooks): VmCommands {
  return {
    start: (vmId) => runCommand(runtime, (steps) => startVm(steps, { runtime, vmId }), hooks),
    stop: (vmId) => runCommand(runtime, (steps) => stopVm(steps, { runtime, vmId }), hooks),
    resize: (vmId, resize) => runCommand(runtime, (steps) => resizeVm(steps, { runtime, vmId, ...resize }), hooks),
    setAbuseStatus: (vmId, change) => setAbuseStatus(runtime, vmId, change, hooks),
    remove: (vmId) => runCommand(runtime, (steps) => removeVm(steps, { runtime, vmId }), hooks),
  };
}
