/** The state of a VM in the store, and who may change it. */
import type { Selectable, Updateable } from 'kysely';

import { lastingPrices } from '../operations/accounting/sale.ts';
import { beginPosition, billingInstant, endPosition, holdOf } from '../operations/accounting/vm-billing.ts';
import type { NewPosition } from '../operations/accounting/vm-billing.ts';
import { holdOwed } from '../operations/accounting/credit-hold.ts';
import type { Settling } from '../operations/settle.ts';
import { findHostSystem } from '../operations/vm/host-system.ts';
import type { HostSystem } from '../operations/vm/host-system.ts';
import { Refusal } from '../refusal.ts';
import type { Seconds } from '../rules/billing.ts';
import type { ResourcePrices } from '../rules/resources.ts';
import { pricesInSale } from '../rules/sale.ts';
import { isVmState, vmStateAfter } from '../rules/vm-state.ts';
import type { VmEvent } from '../rules/vm-state.ts';
import type { VmsTable } from '../store/schema.ts';
import type { Db } from '../store/store.ts';
import type { VmActing } from './vm-changes.ts';

type Vm = Selectable<VmsTable>;

/** Which VM, when, and with what its account is settled first. */
export interface VmAct extends Omit<Settling, 'accountId'> {
  readonly vmId: number;
}

/** Events whose state is the VM's as soon as they are asked for; the others' is when they have been delivered. */
const AT_ONCE: ReadonlySet<VmEvent> = new Set(['stop', 'remove', 'restart']);

/**
 * Has a VM be changed by this event and by nothing else until it is `freed`.
 *
 * @throws Refusal 404 for no such VM, 409 when its state does not allow it or another change is under way.
 */
export function claim(db: Db, { vmId, ports, secret }: VmActing, event: VmEvent): Promise<{ vm: Vm; instant: Seconds }> {
  return act(db, { vmId, now: ports.clock.now(), ports, secret }, { event, changing: 1 });
}

/** Ends a change, with what it has made of the VM. */
export async function freed(db: Db, vmId: number, made: Updateable<VmsTable>): Promise<Vm> {
  return db
    .updateTable('vms')
    .set({ ...made, changing: 0 })
    .where('id', '=', vmId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/**
 * Ends the position of a running VM and begins a BILLINGRESTART one at the same price; one unit of
 * work over the store, of which the hypervisor knows nothing.
 *
 * @throws Refusal 404 for no such VM, 409 when it is not running or another change is under way.
 */
export async function restartBilling(db: Db, how: VmAct): Promise<void> {
  const { vm, instant } = await act(db, how, { event: 'restart', changing: 0 });
  const stop = await endPosition(db, vm.id, instant);
  if (stop === undefined) throw new Error(`The VM ${vm.id} is running and has no position.`);
  const position: NewPosition = {
    vmId: vm.id,
    accountId: vm.account_id,
    type: 'BILLINGRESTART',
    start: stop,
    monthlyPrice: BigInt(vm.monthly_price),
  };
  // It costs what it cost before, so it is not refused.
  await holdOwed(db, vm.account_id, holdOf(position));
  await beginPosition(db, position);
}

/** One conditional update, after the account has been settled. */
async function act(
  db: Db,
  { vmId, now, ports, secret }: VmAct,
  { event, changing }: { event: VmEvent; changing: 0 | 1 },
): Promise<{ vm: Vm; instant: Seconds }> {
  const found = await db.selectFrom('vms').select(['account_id', 'state', 'changing']).where('id', '=', vmId).executeTakeFirst();
  if (!found || !isVmState(found.state) || found.state === 'reserved' || found.state === 'removed') {
    throw new Refusal(404, 'not_found', `There is no VM ${vmId}.`);
  }
  const instant = await billingInstant(db, { accountId: found.account_id, now, ports, secret });
  if (found.changing !== 0) throw underWay(vmId);
  const after = vmStateAfter(found.state, event);
  if (!after) throw new Refusal(409, 'wrong_state', `The VM ${vmId} is ${found.state}, so it cannot ${event}.`);
  const vm = await db
    .updateTable('vms')
    .set({ state: AT_ONCE.has(event) ? after : found.state, changing, ...(event === 'remove' && { removed: now }) })
    .where('id', '=', vmId)
    .where('state', '=', found.state)
    .where('changing', '=', 0)
    .returningAll()
    .executeTakeFirst();
  if (!vm) throw underWay(vmId);
  return { vm, instant };
}

function underWay(vmId: number): Refusal {
  return new Refusal(
    409,
    'wrong_state',
    `Another change of the VM ${vmId} is under way. Wait until it is done, then look at the VM again.`,
  );
}

export async function hostSystemOf(db: Db, { id, hostsystem }: Vm): Promise<HostSystem> {
  const host = await findHostSystem(db, hostsystem);
  if (!host) throw new Error(`The VM ${id} is on the host system ${hostsystem}, which does not exist.`);
  return host;
}

/** What resources of a VM cost: the prices of its sale while they last, else those of its host system. */
export async function pricesFor(db: Db, vm: Vm, host: HostSystem): Promise<{ prices: ResourcePrices; basis: 'SALE' | 'STANDARD' }> {
  const sale = vm.sale_id !== null && vm.price_basis === 'SALE' ? await lastingPrices(db, vm.sale_id, host.name) : undefined;
  return sale ? { prices: pricesInSale(host.prices, sale), basis: 'SALE' } : { prices: host.prices, basis: 'STANDARD' };
}
