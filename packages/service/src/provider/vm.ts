/**
 * What the provider does with the VMs of its accounts: resize, stop, start and remove one. Each is
 * one unit of work over the store, as of an instant, and leaves billing exact. What the hypervisor
 * has to do belongs around it: before one that adds, after one that takes away.
 */
import type { Selectable } from 'kysely';

import { holdCredit, holdOwed } from '../operations/accounting/credit-hold.ts';
import { lastingPrices } from '../operations/accounting/sale.ts';
import { beginPosition, billingInstant, endPosition, holdOf, lastPosition } from '../operations/accounting/vm-billing.ts';
import type { NewPosition } from '../operations/accounting/vm-billing.ts';
import { assignMoreIpv4, releaseAddresses, releaseLastIpv4 } from '../operations/vm/addresses.ts';
import { findHostSystem } from '../operations/vm/host-system.ts';
import type { HostSystem } from '../operations/vm/host-system.ts';
import type { Settling } from '../operations/settle.ts';
import { leaveNode, resizeOnNode } from '../operations/vm/placement.ts';
import { invalid, Refusal } from '../refusal.ts';
import type { Seconds } from '../rules/billing.ts';
import type { Money } from '../rules/money.ts';
import { brokenRanges, monthlyPriceOf } from '../rules/resources.ts';
import type { BilledResources, ResourcePrices } from '../rules/resources.ts';
import { pricesInSale } from '../rules/sale.ts';
import { isVmState, vmStateAfter } from '../rules/vm-state.ts';
import type { VmEvent } from '../rules/vm-state.ts';
import type { VmsTable } from '../store/schema.ts';
import type { Db } from '../store/store.ts';

type Vm = Selectable<VmsTable>;

/** Which VM, when, and with what its account is settled first. */
export interface VmAct extends Omit<Settling, 'accountId'> {
  readonly vmId: number;
}

/** What a VM is to have from now on; what is left out stays as it is. */
export interface Resize extends VmAct {
  readonly resources: Partial<BilledResources>;
  /** Whether further addresses may be the provider's once the account's own subnets run out; false unless given. */
  readonly allowFallbackIPs?: boolean;
}

/**
 * Gives a VM other resources: its position ends and an UP-DOWNGRADE one begins at the new price.
 * Prices of a sale stay where the sale is upgradable, else standard prices apply from now on. A
 * stopped VM is resized too, and takes its new price at its next start. Resources that it has
 * already change nothing.
 *
 * @returns Its net price of 30 days.
 * @throws Refusal 404 for no such VM, 422 for what its host system does not offer, 409 when its node
 *   or its location has no room, 402 when it becomes dearer than the credit limit has room for.
 */
export async function resizeVm(db: Db, how: Resize): Promise<Money> {
  const { vmId, resources, allowFallbackIPs = false } = how;
  const { vm, instant } = await act(db, how, 'resize');
  const to: BilledResources = { ...resourcesOf(vm), ...resources };
  const from = resourcesOf(vm);
  if (JSON.stringify(to) === JSON.stringify(from)) return BigInt(vm.monthly_price);
  const host = await hostSystemOf(db, vm);
  const broken = brokenRanges(to, host.ranges, host.name);
  if (broken.length > 0) throw invalid(broken);

  await resizeOnNode(db, vm.node, from, to);
  const { ips } = to;
  if (ips > vm.ips)
    await assignMoreIpv4(db, { accountId: vm.account_id, vmId, datacenter: host.datacenter_name, ips: ips - vm.ips, allowFallbackIPs });
  if (ips < vm.ips) await releaseLastIpv4(db, vmId, vm.ips - ips);
  const { prices, basis } = await pricesFor(db, vm, host);
  const monthlyPrice = monthlyPriceOf(to, prices);
  await db
    .updateTable('vms')
    .set({ ...to, monthly_price: Number(monthlyPrice), price_basis: basis })
    .where('id', '=', vmId)
    .execute();
  const stop = await endPosition(db, vmId, instant);
  if (stop === undefined) return monthlyPrice;
  const position: NewPosition = { vmId, accountId: vm.account_id, type: 'UP-DOWNGRADE', start: stop, monthlyPrice };
  // What becomes cheaper is not refused, however little credit is left.
  const hold = monthlyPrice > BigInt(vm.monthly_price) ? holdCredit : holdOwed;
  await hold(db, vm.account_id, holdOf(position));
  await beginPosition(db, position);
  return monthlyPrice;
}

/**
 * Stops a VM: its position ends. It keeps its room, its addresses and its prices.
 *
 * @throws Refusal 404 for no such VM, 409 when it is not running.
 */
export async function stopVm(db: Db, how: VmAct): Promise<void> {
  const { instant } = await act(db, how, 'stop');
  await endPosition(db, how.vmId, instant);
}

/**
 * Starts a stopped VM again: a BILLINGRESTART position begins.
 *
 * @throws Refusal 404 for no such VM, 409 when it is not stopped, 402 when the credit limit has no room for it.
 */
export async function startVm(db: Db, how: VmAct): Promise<void> {
  const { vm, instant } = await act(db, how, 'start');
  const last = await lastPosition(db, vm.id);
  const position: NewPosition = {
    vmId: vm.id,
    accountId: vm.account_id,
    type: 'BILLINGRESTART',
    start: Math.max(instant, last?.stop ?? instant),
    monthlyPrice: BigInt(vm.monthly_price),
  };
  await holdCredit(db, vm.account_id, holdOf(position));
  await beginPosition(db, position);
}

/**
 * Ends the position of a running VM and begins a BILLINGRESTART one at the same price.
 *
 * @throws Refusal 404 for no such VM, 409 when it is not running.
 */
export async function restartBilling(db: Db, how: VmAct): Promise<void> {
  const { vm, instant } = await act(db, how, 'restart');
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

/**
 * Removes a VM: its billing ends, and its room and addresses are given back. Its row stays, so its
 * identifier is never given to another VM.
 *
 * @throws Refusal 404 for no such VM.
 */
export async function removeVm(db: Db, how: VmAct): Promise<void> {
  const { vm, instant } = await act(db, how, 'remove');
  await endPosition(db, vm.id, instant);
  await leaveNode(db, vm.node, vm);
  await releaseAddresses(db, vm.id);
}

/** Brings a VM to the state that an event leads to, in one conditional update. */
async function act(db: Db, { vmId, now, ports, secret }: VmAct, event: VmEvent): Promise<{ vm: Vm; instant: Seconds }> {
  const found = await db.selectFrom('vms').select(['account_id', 'state']).where('id', '=', vmId).executeTakeFirst();
  if (!found || !isVmState(found.state) || found.state === 'reserved' || found.state === 'removed') {
    throw new Refusal(404, 'not_found', `There is no VM ${vmId}.`);
  }
  const instant = await billingInstant(db, { accountId: found.account_id, now, ports, secret });
  const state = vmStateAfter(found.state, event);
  const vm =
    state &&
    (await db.updateTable('vms').set({ state }).where('id', '=', vmId).where('state', '=', found.state).returningAll().executeTakeFirst());
  if (!vm) throw new Refusal(409, 'wrong_state', `The VM ${vmId} is ${found.state}, so it cannot ${event}.`);
  return { vm, instant };
}

function resourcesOf({ cores, mem, disk, ips, backup_slots, network_speed, storage }: BilledResources): BilledResources {
  return { cores, mem, disk, ips, backup_slots, network_speed, storage };
}

async function hostSystemOf(db: Db, { id, hostsystem }: Vm): Promise<HostSystem> {
  const host = await findHostSystem(db, hostsystem);
  if (!host) throw new Error(`The VM ${id} is on the host system ${hostsystem}, which does not exist.`);
  return host;
}

async function pricesFor(db: Db, vm: Vm, host: HostSystem): Promise<{ prices: ResourcePrices; basis: 'SALE' | 'STANDARD' }> {
  const sale = vm.sale_id !== null && vm.price_basis === 'SALE' ? await lastingPrices(db, vm.sale_id, host.name) : undefined;
  return sale ? { prices: pricesInSale(host.prices, sale), basis: 'SALE' } : { prices: host.prices, basis: 'STANDARD' };
}
