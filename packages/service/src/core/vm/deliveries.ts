/**
 * The changes of a VM that need the hypervisor.
 *
 * - A change that gives more (start, resize) is delivered first and billed afterwards. Its credit, its room on the node and its addresses
 *   are reserved before. If it fails, it is undone.
 * - A change that takes away (stop, remove) ends billing first. If it fails, the service calls the hypervisor until a call succeeds. Only
 *   then are room and addresses free.
 *
 * One change of a VM is in progress at a time. Others are refused until it has ended.
 */
import type { VmSize } from '@reseller/adapters';
import type { Selectable } from 'kysely';
import * as v from 'valibot';

import type { FinishableDelivery, UndoableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { finish } from '../../delivery/steps.ts';
import type { Reserved, Steps } from '../../delivery/steps.ts';
import { assertPriceAccepted } from '../../rules/credit.ts';
import type { Money } from '../../rules/money.ts';
import { invalid } from '../../rules/refusal.ts';
import { brokenRanges, brokenShrinking, brokenSlots, monthlyPriceOf } from '../../rules/resources.ts';
import type { BilledResources } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import { giveSpendingBack, spend, spendingDetails } from '../account/spending.ts';
import { assertMonthOf, highestPriceAt, holdCredit, holdOwed, releaseCredit } from '../accounting/credit-hold.ts';
import { presentPrice } from '../accounting/price-change.ts';
import { beginPosition, billingInstant, endPosition, previewPositionEnd, holdOf, lastPosition } from '../accounting/vm-billing.ts';
import type { EndingPosition, NewPosition } from '../accounting/vm-billing.ts';
import { catalogueOf } from '../catalogue/catalogue.ts';
import type { HostSystem } from '../catalogue/host-system.ts';
import {
  assignMoreIpv4,
  confirmAddresses,
  ipv4Of,
  releaseAddress,
  releaseAddresses,
  releaseLastIpv4,
  releasePendingAddresses,
} from './addresses.ts';
import { usedSlots } from './backups.ts';
import { beginChange, endChange, hostSystemOf, MACHINE_AS_ORDERED, pricesFor } from './change.ts';
import type { VmPrices, VmRequest } from './change.ts';
import { vmSubject } from './identifier.ts';
import { leaveNode, resizeOnNode } from './placement.ts';
import { forgetVmData } from './removed-data.ts';

type Row = Selectable<VmsTable>;

/** The new resources of a VM. Resources that are missing stay as they are. */
export interface Resize {
  readonly resources: Partial<BilledResources>;
  /** The IPv4 address that the VM loses. With fewer `ips` and without it, the VM loses its last ones. */
  readonly releasedIp?: string;
  /** Whether addresses of the provider may be used once the account's own subnets are used up. Default: false. */
  readonly allowFallbackIPs?: boolean;
  /** The price guard: the highest net price of 30 days that is accepted, in EUR. */
  readonly maxPrice?: string | undefined;
}

export const vmDetails = v.object({ vmId: v.number() });
export type VmDetails = v.InferOutput<typeof vmDetails>;
export const heldDetails = v.object({
  vmId: v.number(),
  accountId: v.string(),
  hold: v.number(),
  monthly: v.optional(v.number()),
  spending: v.optional(spendingDetails),
});

export const resourceDetails = v.object({
  cores: v.number(),
  mem: v.number(),
  disk: v.number(),
  ips: v.number(),
  backup_slots: v.number(),
  network_speed: v.number(),
  storage: v.nullable(v.number()),
});
export const sizeDetails = v.object({
  vmId: v.number(),
  node: v.string(),
  cores: v.number(),
  mem: v.number(),
  disk: v.number(),
  storage: v.nullable(v.number()),
  networkSpeed: v.number(),
  backupSlots: v.number(),
  ipv4: v.array(v.string()),
});
const resizeDetails = v.object({
  ...heldDetails.entries,
  to: resourceDetails,
  before: sizeDetails,
  // Missing in the reservations of earlier versions, which wait for no task.
  price: v.optional(v.number()),
  basis: v.optional(v.picklist(['SALE', 'STANDARD'])),
  pricesFrom: v.optional(v.number()),
  releasedIp: v.optional(v.string()),
});
type ResizeDetails = v.InferOutput<typeof resizeDetails>;

export function settledInstant(db: Db, { account_id: accountId }: Pick<Row, 'account_id'>, runtime: Runtime) {
  return billingInstant(db, runtime, { accountId, now: runtime.ports.clock.now() });
}

export const vmStart: UndoableDelivery<v.InferOutput<typeof heldDetails>> = {
  name: 'startVm',
  details: heldDetails,
  subject: vmSubject,
  afterTask: ({ db }, { vmId, accountId, hold }, runtime) => beginRunning(db, runtime, { vmId, accountId, hold: BigInt(hold) }),
  undo: {
    call: ({ hypervisor }, { vmId }, token) => hypervisor.stop(vmId, token),
    async store({ db }, { vmId, accountId, hold, spending }) {
      // The account is locked first, as in every other transaction. Otherwise two transactions on PostgreSQL could deadlock.
      await releaseCredit(db, accountId, BigInt(hold));
      await giveSpendingBack(db, spending);
      await endChange(db, vmId);
    },
  },
  describeFailure: undoneMessage,
};

/** Starts a stopped VM. Its cost until the end of the period is reserved first. */
export async function startVm(steps: Steps<void>, request: VmRequest): Promise<void> {
  const { runtime, vmId } = request;
  const { accountId, hold } = await steps.reserve(vmStart, ({ db }) => reserveStart(db, request));
  const task = await steps.call(({ hypervisor }, token) => hypervisor.start(vmId, token));
  if (task) return steps.wait(async () => {});
  return steps.confirm(({ db }) => beginRunning(db, runtime, { vmId, accountId, hold }));
}

async function reserveStart(db: Db, request: VmRequest) {
  const { runtime, vmId, spender } = request;
  const { vm, instant } = await beginChange(db, request, 'start');
  const { account_id: accountId, monthly_price: monthly } = vm;
  const hold = holdOf(await nextPosition(db, vm, instant));
  await holdCredit(db, accountId, hold);
  const spending = await spend(db, spender, BigInt(monthly), runtime.ports.clock.now());
  return { accountId, details: { vmId, accountId, hold: Number(hold), monthly, spending }, hold };
}

/** Ends a start, and begins to bill the VM. `hold` is the credit that its reservation holds. */
async function beginRunning(
  db: Db,
  runtime: Runtime,
  { vmId, accountId, hold }: { readonly vmId: number; readonly accountId: string; readonly hold: Money },
): Promise<void> {
  const instant = await settledInstant(db, { account_id: accountId }, runtime);
  // If the period has ended since the reservation, the VM may have another price.
  const started = await endChange(db, vmId, { state: 'running', booted: runtime.ports.clock.now(), stopped_by_provider: 0 });
  const position = await nextPosition(db, started, instant);
  await releaseCredit(db, accountId, hold - holdOf(position));
  await beginPosition(db, position);
}

export const vmStop: FinishableDelivery<VmDetails> = {
  name: 'stopVm',
  details: vmDetails,
  subject: vmSubject,
  finish: {
    call: ({ hypervisor }, { vmId }, token) => hypervisor.stop(vmId, token),
    async store({ db }, { vmId }) {
      await endChange(db, vmId, MACHINE_AS_ORDERED);
    },
  },
  describeFailure: finishedMessage,
};

/** Stops a running VM. It keeps its room, its addresses and its prices. */
export function stopVm(steps: Steps<void>, request: VmRequest): Promise<void> {
  return finish(steps, vmStop, ({ db }) => reserveEnd(db, request, 'stop'));
}

export const vmRemoval: FinishableDelivery<VmDetails> = {
  name: 'removeVm',
  details: vmDetails,
  subject: vmSubject,
  finish: {
    call: ({ hypervisor }, { vmId }, token) => hypervisor.remove(vmId, token),
    store: ({ db }, { vmId }, { clock }) => forgetVm(db, vmId, clock.now()),
  },
  describeFailure: finishedMessage,
};

/** Removes a VM. */
export function removeVm(steps: Steps<void>, request: VmRequest): Promise<void> {
  return finish(steps, vmRemoval, ({ db }) => reserveEnd(db, request, 'remove'));
}

export const vmRelease: FinishableDelivery<VmDetails> = {
  name: 'releaseVm',
  details: vmDetails,
  subject: vmSubject,
  finish: {
    call: async ({ hypervisor }, { vmId }, token) => hypervisor.release?.(vmId, token),
    store: ({ db }, { vmId }, { clock }) => forgetVm(db, vmId, clock.now()),
  },
  describeFailure: finishedMessage,
};

/** Ends a VM in the store, whose machine stays as it is and no longer belongs to the service. */
export function releaseVm(steps: Steps<void>, request: VmRequest): Promise<void> {
  return finish(steps, vmRelease, ({ db }) => reserveEnd(db, request, 'remove'));
}

/** Frees the room and the addresses of a VM that has ended. @param now Milliseconds. */
async function forgetVm(db: Db, vmId: number, now: number): Promise<void> {
  const vm = await endChange(db, vmId);
  await leaveNode(db, vm.node, vm);
  await releaseAddresses(db, vmId, now);
  await forgetVmData(db, vmId);
}

export const vmResize: UndoableDelivery<ResizeDetails> = {
  name: 'resizeVm',
  details: resizeDetails,
  subject: vmSubject,
  async afterTask({ db }, { vmId, to, hold, price, basis = 'STANDARD', pricesFrom, releasedIp }, runtime) {
    const vm = await db.selectFrom('vms').selectAll().where('id', '=', vmId).executeTakeFirstOrThrow();
    const priced = { price: BigInt(price ?? vm.monthly_price), basis, pricesFrom: pricesFrom ?? vm.prices_from };
    await confirmResize(db, { runtime, vm, to, hold: BigInt(hold), ...priced, releasedIp });
  },
  undo: {
    // A disk that has grown may keep its size.
    call: ({ hypervisor }, { before }, token) => hypervisor.resize(before, token),
    async store({ db }, { vmId, accountId, hold, spending, to }) {
      await releaseCredit(db, accountId, BigInt(hold));
      await giveSpendingBack(db, spending);
      const vm = await endChange(db, vmId);
      const from = resourcesOf(vm);
      await resizeOnNode(db, vm.node, largerOf(from, to), from);
      await releasePendingAddresses(db, vmId);
    },
  },
  describeFailure: undoneMessage,
};

/** Gives a VM other resources. @returns The net price of 30 days. */
export function resizeVm(steps: Steps<Money>, request: VmRequest & Resize): Promise<Money> {
  return deliverResize(steps, (db) => reserveResize(db, request));
}

/** Carries out a resize that a function reserves with `reserveResize`. @returns The net price of 30 days. */
export async function deliverResize(steps: Steps<Money>, reserve: (db: Db) => ReturnType<typeof reserveResize>): Promise<Money> {
  const resize = await steps.reserve(vmResize, async ({ db }) => {
    const reserved = await reserve(db);
    return 'price' in reserved ? steps.inPlace(reserved.price) : reserved;
  });
  const task = await steps.call(({ hypervisor }, token) => hypervisor.resize(resize.size, token));
  if (task) return steps.wait(async () => resize.change.price);
  return steps.confirm(({ db }) => confirmResize(db, resize.change));
}

interface ResizeToConfirm {
  readonly runtime: Runtime;
  readonly vm: Row;
  readonly to: BilledResources;
  /** The credit that is held for it. */
  readonly hold: Money;
  /** Net price of 30 days. */
  readonly price: Money;
  readonly basis: VmPrices['basis'];
  readonly pricesFrom: VmPrices['from'];
  readonly releasedIp: string | undefined;
}

/** A resize that is reserved. */
interface ReservedResize extends Reserved<ResizeDetails> {
  readonly size: VmSize;
  readonly change: ResizeToConfirm;
}

/**
 * Reserves a resize. Until it is confirmed, the VM occupies the larger amount of each resource. The price is that of the time of the reservation
 * (see `presentPrice`).
 *
 * @returns The price alone if the VM has these resources already.
 */
export async function reserveResize(db: Db, request: VmRequest & Resize): Promise<ReservedResize | { readonly price: Money }> {
  const { runtime, vmId, resources: wanted, allowFallbackIPs = false, maxPrice, releasedIp } = request;
  const { vm, instant } = await beginChange(db, request, 'resize');
  const from = resourcesOf(vm);
  const resize = await pricedResize(db, vm, wanted, runtime.ports.clock.now());
  const { to, price, changes, host, prices } = resize;
  if (!changes) {
    await endChange(db, vmId);
    return { price };
  }
  assertPriceAccepted(price, maxPrice);
  const accountId = vm.account_id;
  await assertMonthOf(db, accountId, {
    added: (hosts) => addedToMonth(vm, resize, hosts),
    hosts: [host],
    field: 'cores',
    now: runtime.ports.clock.now(),
  });
  const before = sizeOf(vm, from, await ipv4Of(db, vmId));
  await resizeOnNode(db, vm.node, from, largerOf(from, to));
  if (to.ips > from.ips) {
    const { pools } = await catalogueOf(db);
    await assignMoreIpv4(db, {
      pools,
      accountId,
      vmId,
      datacenter: host.datacenter_name,
      allowFallbackIPs,
      ips: to.ips - from.ips,
      now: runtime.ports.clock.now(),
    });
  }
  const size = sizeOf(vm, to, (await ipv4Of(db, vmId)).filter((address) => address !== releasedIp).slice(0, to.ips));
  const hold = await holdMore(db, vm, price, instant);
  // A stopped VM counts when it starts.
  const increase = vm.state === 'running' ? price - BigInt(vm.monthly_price) : 0n;
  const spending = await spend(db, request.spender, increase, runtime.ports.clock.now());
  const { basis, from: pricesFrom } = prices;
  return {
    accountId,
    details: {
      vmId,
      accountId,
      hold: Number(hold),
      monthly: Number(increase > 0n ? increase : 0n),
      spending,
      to,
      before: { ...before, ipv4: [...before.ipv4] },
      price: Number(price),
      basis,
      pricesFrom,
      releasedIp,
    },
    size,
    change: { runtime, vm, to, hold, price, basis, pricesFrom, releasedIp },
  };
}

/** @returns The price of 30 days. */
export async function confirmResize(
  db: Db,
  { runtime, vm, to, hold, price, basis, pricesFrom, releasedIp }: ResizeToConfirm,
): Promise<Money> {
  const from = resourcesOf(vm);
  const instant = await settledInstant(db, vm, runtime);
  const { clock, hypervisor } = runtime.ports;
  const restarts = vm.state === 'running' && hypervisor.restartsToResize === true && needsOtherMachine(from, to);
  const changed = { ...to, monthly_price: Number(price), price_basis: basis, prices_from: pricesFrom };
  await endChange(db, vm.id, { ...changed, ...(restarts && { booted: clock.now() }) });
  await resizeOnNode(db, vm.node, largerOf(from, to), to);
  if (to.ips > from.ips) await confirmAddresses(db, vm.id, !restarts && usesNewAddressesLater(vm, runtime));
  if (releasedIp !== undefined) await releaseAddress(db, vm.id, { address: releasedIp, now: clock.now() });
  else if (to.ips < from.ips) await releaseLastIpv4(db, vm.id, { count: from.ips - to.ips, now: clock.now() });
  await releaseCredit(db, vm.account_id, hold);
  const present = await presentPrice(db, { accountId: vm.account_id, vmId: vm.id, price }, instant);
  await billAt(db, vm, present, instant);
  return present;
}

function needsOtherMachine(from: BilledResources, to: BilledResources): boolean {
  return (['cores', 'mem', 'disk'] as const).some((name) => from[name] !== to[name]);
}

/** Whether the system of a VM takes over a further address only at its next start. A VM that does not run has no address in use. */
export function usesNewAddressesLater({ state }: Pick<Row, 'state'>, { ports: { hypervisor } }: Runtime): boolean {
  return state === 'running' && hypervisor.addressesNeedRestart === true;
}

/** Ends the running position of a changed VM, and begins one at another price. The reservation has already checked the credit. */
export async function billAt(db: Db, vm: Pick<Row, 'id' | 'account_id'>, price: Money, instant: number): Promise<void> {
  const stop = await endPosition(db, vm.id, instant);
  if (stop === undefined) return;
  const position: NewPosition = { vmId: vm.id, accountId: vm.account_id, type: 'UP-DOWNGRADE', start: stop, monthlyPrice: price };
  await holdOwed(db, vm.account_id, holdOf(position));
  await beginPosition(db, position);
}

/** Ends billing immediately, in the transaction that reserves the change. */
async function reserveEnd(db: Db, request: VmRequest, event: 'stop' | 'remove') {
  const { vmId, accountId } = request;
  const { vm, instant } = await beginChange(db, request, event);
  if (event === 'stop' && accountId === undefined)
    await db.updateTable('vms').set({ stopped_by_provider: 1 }).where('id', '=', vmId).execute();
  await endPosition(db, vmId, instant);
  return { accountId: vm.account_id, details: { vmId } };
}

export function undoneMessage(_details: unknown, isSettled: boolean): string {
  const state = isSettled
    ? 'The change was undone. Send the request again later.'
    : 'The change is being undone. Send the request again in a few seconds.';
  return `The hypervisor failed, so nothing of the change is billed. ${state}`;
}

function finishedMessage(): string {
  return 'The VM is no longer billed, but the hypervisor has not confirmed the change. The service retries until it does. Check the VM in a few seconds.';
}

/** Holds the credit that a position at a new price needs beyond the running one. A lower price is never refused, even without credit. */
export async function holdMore(db: Db, vm: Row, price: Money, instant: number): Promise<Money> {
  const ending = await previewPositionEnd(db, vm.id, instant);
  const more = moreHeld([{ vm, price, ending }]);
  if (more !== 0n) await holdCredit(db, vm.account_id, more);
  return more;
}

/** A VM and its new price. */
export interface Repricing {
  readonly vm: Pick<Row, 'monthly_price'>;
  /** Net price of 30 days. */
  readonly price: Money;
  /** Undefined if the VM does not run, so that its price costs nothing. */
  readonly ending: EndingPosition | undefined;
}

/** What the running ones of several VMs cost more for 30 days at their new prices. 0 if they cost less. */
export function increaseOf(repricings: readonly Repricing[]): Money {
  const increase = repricings.reduce((sum, { vm, price, ending }) => (ending ? sum + price - BigInt(vm.monthly_price) : sum), 0n);
  return increase > 0n ? increase : 0n;
}

/** The credit that the positions of one change at new prices need beyond the running ones, until the period ends. */
export function moreHeld(repricings: readonly Repricing[]): Money {
  if (increaseOf(repricings) === 0n) return 0n;
  const more = repricings.reduce(
    (sum, { price, ending }) => (ending ? sum + holdOf({ start: ending.stop, monthlyPrice: price }) - ending.freed : sum),
    0n,
  );
  return more > 0n ? more : 0n;
}

/** The resources of a VM after a change, and their price. */
export interface PricedResize {
  readonly to: BilledResources;
  /** Net price of 30 days. */
  readonly price: Money;
  /** Whether it differs from the present resources. Otherwise the VM keeps its price. */
  readonly changes: boolean;
  readonly host: HostSystem;
  readonly prices: VmPrices;
}

/**
 * What a change of resources costs.
 *
 * @param now Milliseconds.
 * @throws Refusal 422 with every rule of the host system that it breaks.
 */
export async function pricedResize(db: Db, vm: Row, wanted: Partial<BilledResources>, now: number): Promise<PricedResize> {
  const from = resourcesOf(vm);
  const to: BilledResources = { ...from, ...wanted };
  const host = await hostSystemOf(db, vm);
  const prices = await pricesFor(db, vm, host, now);
  const changes = JSON.stringify(to) !== JSON.stringify(from);
  if (!changes) return { to, price: BigInt(vm.monthly_price), changes, host, prices };
  const broken = [
    ...brokenShrinking(from, to),
    ...brokenSlots(to, await usedSlots(db, vm.id)),
    ...brokenRanges(to, host.ranges, host.name),
  ];
  if (broken.length > 0) throw invalid(broken);
  return { to, price: monthlyPriceOf(to, prices.prices), changes, host, prices };
}

/** What a change adds to the highest price of 30 days of a VM. */
export function addedToMonth(vm: Row, { to, price, prices }: PricedResize, hosts: readonly HostSystem[]): Money {
  const { hostsystem } = vm;
  const changed = { ...to, hostsystem, monthly_price: Number(price), price_basis: prices.basis, prices_from: prices.from };
  return highestPriceAt(changed, hosts) - highestPriceAt(vm, hosts);
}

async function nextPosition(db: Db, vm: Row, instant: number): Promise<NewPosition> {
  const last = await lastPosition(db, vm.id);
  const start = Math.max(instant, last?.stop ?? instant);
  return { vmId: vm.id, accountId: vm.account_id, type: 'BILLINGRESTART', start, monthlyPrice: BigInt(vm.monthly_price) };
}

export function resourcesOf({ cores, mem, disk, ips, backup_slots, network_speed, storage }: BilledResources): BilledResources {
  return { cores, mem, disk, ips, backup_slots, network_speed, storage };
}

function largerOf(one: BilledResources, other: BilledResources): BilledResources {
  return {
    ...other,
    cores: Math.max(one.cores, other.cores),
    mem: Math.max(one.mem, other.mem),
    disk: Math.max(one.disk, other.disk),
    storage: Math.max(one.storage ?? 0, other.storage ?? 0),
  };
}

export function sizeOf({ id, node }: Row, resources: BilledResources, ipv4: readonly string[]): VmSize {
  const { cores, mem, disk, storage, network_speed: networkSpeed, backup_slots: backupSlots } = resources;
  return { vmId: id, node, cores, mem, disk, storage, networkSpeed, backupSlots, ipv4 };
}
