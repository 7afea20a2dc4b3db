/** The state of a VM in the store. One change of a VM is in progress at a time. */
import type { Selectable, Updateable } from 'kysely';

import type { Runtime, Services } from '../../delivery/runtime.ts';
import type { Seconds } from '../../rules/billing.ts';
import { notFound, Refusal } from '../../rules/refusal.ts';
import type { ResourcePrices } from '../../rules/resources.ts';
import { pricesInSale } from '../../rules/sale.ts';
import type { SalePrices } from '../../rules/sale.ts';
import { isVmState, vmStateAfter, vmStatesBefore } from '../../rules/vm-state.ts';
import type { VmEvent, VmState } from '../../rules/vm-state.ts';
import type { Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import type { Spender } from '../account/spending.ts';
import { holdOwed } from '../accounting/credit-hold.ts';
import { beginPosition, billingInstant, endPosition, holdOf } from '../accounting/vm-billing.ts';
import type { NewPosition } from '../accounting/vm-billing.ts';
import { catalogueOf } from '../catalogue/catalogue.ts';
import { findHostSystem, pricesAt } from '../catalogue/host-system.ts';
import type { HostSystem } from '../catalogue/host-system.ts';
import { lastingPrices } from '../catalogue/sale.ts';
import { takeAddressesOver } from './addresses.ts';

/** A VM in the store. */
export type Vm = Selectable<VmsTable>;

/** Events that change the state when they are requested. The others change it when they are confirmed. */
const IMMEDIATE_EVENTS: ReadonlySet<VmEvent> = new Set(['stop', 'remove', 'restart-billing']);

/** A blocked VM is stopped already. Its provider may stop it so that it stays stopped after the block. */
const ALLOWED_WHILE_BLOCKED: ReadonlySet<VmEvent> = new Set(['stop', 'backup', 'remove']);

/** A request to change a VM. */
export interface VmRequest {
  readonly runtime: Runtime;
  readonly vmId: number;
  /** The account that requests the change, and must own the VM. Missing if the provider requests it. */
  readonly accountId?: string;
  /** The spending limit of the API key that requests the change. */
  readonly spender?: Spender | undefined;
}

/**
 * Begins a change of a VM. Other changes are refused until `endChange`.
 *
 * @throws Refusal 404 if there is no such VM, 409 if its state does not allow the change or another one is in progress.
 */
export function beginChange(db: Db, { runtime, vmId, accountId }: VmRequest, event: VmEvent): Promise<{ vm: Vm; instant: Seconds }> {
  return applyEvent(db, runtime, { vmId, accountId, now: runtime.ports.clock.now(), event, changing: 1 });
}

/** The columns of a VM whose machine is in the state that the store has. */
export const MACHINE_AS_ORDERED = { machine_ended: null, start_attempts: 0, next_start: null } as const;

/** Ends a change, and stores its result. With `booted`, the VM has started, and uses all its addresses. */
export async function endChange(db: Db, vmId: number, result: Updateable<VmsTable> = {}): Promise<Vm> {
  if (typeof result.booted === 'number') await takeAddressesOver(db, vmId);
  return db
    .updateTable('vms')
    .set({ ...result, ...(typeof result.booted === 'number' && MACHINE_AS_ORDERED), changing: 0 })
    .where('id', '=', vmId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Lets only the provider start a VM that is stopped.
 *
 * @throws Refusal 409 if it is no longer stopped.
 */
export async function barRestartByReseller(db: Db, vmId: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('vms')
    .set({ stopped_by_provider: 1 })
    .where('id', '=', vmId)
    .where('state', '=', 'stopped')
    .where('changing', '=', 0)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw underWay(vmId);
}

/**
 * Ends the position of a running VM and begins a BILLINGRESTART one at the same price. The hypervisor is not involved.
 *
 * @throws Refusal 404 if there is no such VM, 409 if it is not running or another change is in progress.
 */
export async function restartBilling(db: Db, services: Services, { vmId, now }: { vmId: number; now: number }): Promise<void> {
  const { vm, instant } = await applyEvent(db, services, { vmId, now, event: 'restart-billing', changing: 0 });
  const stop = await endPosition(db, vm.id, instant);
  if (stop === undefined) throw new Error(`The VM ${vm.id} is running and has no position.`);
  const position: NewPosition = {
    vmId: vm.id,
    accountId: vm.account_id,
    type: 'BILLINGRESTART',
    start: stop,
    monthlyPrice: BigInt(vm.monthly_price),
  };
  // The price stays the same, so the credit limit is not checked.
  await holdOwed(db, vm.account_id, holdOf(position));
  await beginPosition(db, position);
}

const ALLOWED: Readonly<Record<VmEvent, string>> = {
  resize: 'can be resized',
  'restart-billing': 'has a position that can be restarted',
  restart: 'can be restarted',
  eject: 'can lose its ISO file',
  'reset-password': 'can get a new password',
  backup: 'can be backed up',
  restore: 'can be restored',
  stop: 'can be stopped',
  start: 'can be started',
  remove: 'can be removed',
};

/** @throws Refusal 409 if the state of the VM does not allow the change. */
export function stateAfter({ id, state }: Pick<Vm, 'id' | 'state'>, event: VmEvent): VmState {
  const after = isVmState(state) ? vmStateAfter(state, event) : undefined;
  if (after) return after;
  throw new Refusal(409, 'wrong_state', `The VM ${id} is ${state}. Only a ${vmStatesBefore(event).join(' or ')} VM ${ALLOWED[event]}.`);
}

/** Settles the account, then changes the state in one conditional update. */
async function applyEvent(
  db: Db,
  services: Services,
  { vmId, accountId, now, event, changing }: { vmId: number; accountId?: string | undefined; now: number; event: VmEvent; changing: 0 | 1 },
): Promise<{ vm: Vm; instant: Seconds }> {
  const present = await db
    .selectFrom('vms')
    .select(['id', 'account_id', 'state', 'changing', 'stopped_by_provider', 'abuse_status', 'abuse_reason'])
    .where('id', '=', vmId)
    .executeTakeFirst();
  if (!present || !isVmState(present.state)) {
    if (accountId !== undefined) throw notFound('VM');
    throw new Refusal(404, 'not_found', `The VM ${vmId} does not exist. Check its identifier.`);
  }
  if (accountId !== undefined && !isOfAccount(present, accountId)) throw notFound('VM');
  const instant = await billingInstant(db, services, { accountId: present.account_id, now });
  if (present.changing !== 0) throw underWay(vmId);
  if (!ALLOWED_WHILE_BLOCKED.has(event)) assertNotBlocked(present);
  const after = stateAfter({ id: vmId, state: present.state }, event);
  if (accountId !== undefined && event === 'start' && present.stopped_by_provider === 1)
    throw new Refusal(409, 'wrong_state', `The provider has stopped the VM ${vmId}. Ask the provider to start it.`);
  const vm = await db
    .updateTable('vms')
    .set({ state: IMMEDIATE_EVENTS.has(event) ? after : present.state, changing, ...(event === 'remove' && { removed: now }) })
    .where('id', '=', vmId)
    .where('state', '=', present.state)
    .where('changing', '=', 0)
    .returningAll()
    .executeTakeFirst();
  if (!vm) throw underWay(vmId);
  return { vm, instant };
}

/** @throws Refusal 409 if the provider has blocked the VM. */
export function assertNotBlocked({ id, abuse_status, abuse_reason }: Pick<Vm, 'id' | 'abuse_status' | 'abuse_reason'>): void {
  if (abuse_status !== 'BLOCKED') return;
  throw new Refusal(
    409,
    'wrong_state',
    `The provider has blocked the VM ${id}, which stays stopped and can only be backed up or deleted. The reason: ${abuse_reason}. Hand in a statement with POST /vm/{vmid}/abuse/statement, and wait until the provider lifts the block.`,
  );
}

/** For an account, a VM whose purchase has no response yet, or that was removed, does not exist. */
function isOfAccount(vm: Pick<Vm, 'account_id' | 'state'>, accountId: string): boolean {
  return vm.account_id === accountId && vm.state !== 'reserved' && vm.state !== 'removed';
}

export function underWay(vmId: number): Refusal {
  return new Refusal(
    409,
    'wrong_state',
    `Another change of the VM ${vmId} is in progress. Wait until it has finished, then read the VM again.`,
  );
}

export async function hostSystemOf(db: Db, { id, hostsystem }: Vm): Promise<HostSystem> {
  const host = findHostSystem((await catalogueOf(db)).hosts, hostsystem);
  if (!host) throw new Error(`The VM ${id} is on the host system ${hostsystem}, which does not exist.`);
  return host;
}

/** The prices of a VM's resources. */
export interface VmPrices {
  readonly prices: ResourcePrices;
  readonly basis: 'SALE' | 'STANDARD';
  /** The prices of the sale among them. */
  readonly sale: SalePrices | undefined;
  /** The `validFrom` of the prices of the host system. */
  readonly from: number;
}

/**
 * The prices that a VM gets with other resources: those of its sale while they last, otherwise those of its host system.
 *
 * @param now Milliseconds.
 */
export async function pricesFor(db: Db, vm: Vm, host: HostSystem, now: number): Promise<VmPrices> {
  const sale = vm.sale_id !== null && vm.price_basis === 'SALE' ? await lastingPrices(db, vm.sale_id, host.name) : undefined;
  const { prices, validFrom: from } = pricesAt(host, now);
  return sale ? { prices: pricesInSale(prices, sale), basis: 'SALE', sale, from } : { prices, basis: 'STANDARD', sale, from };
}
