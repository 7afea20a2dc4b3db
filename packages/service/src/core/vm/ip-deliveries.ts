/** Addresses that a VM gets and loses. Each is a change of its resources, billed like any other. */
import * as v from 'valibot';

import type { FinishableDelivery, UndoableDelivery } from '../../delivery/delivery.ts';
import { enqueue } from '../../delivery/enqueue.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Reserved, Steps } from '../../delivery/steps.ts';
import { assertPriceAccepted } from '../../rules/credit.ts';
import type { Money } from '../../rules/money.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { Spender } from '../account/spending.ts';
import { giveSpendingBack, spend } from '../account/spending.ts';
import { assertMonthOf, holdCredit, releaseCredit } from '../accounting/credit-hold.ts';
import { presentPrice } from '../accounting/price-change.ts';
import { previewPositionEnd } from '../accounting/vm-billing.ts';
import type { HostSystem } from '../catalogue/host-system.ts';
import { confirmAddresses, ipv4Of, moveAddress } from './addresses.ts';
import { beginChange, endChange } from './change.ts';
import type { Repricing } from './deliveries.ts';
import {
  addedToMonth,
  billAt,
  confirmResize,
  deliverResize,
  heldDetails,
  increaseOf,
  moreHeld,
  pricedResize,
  reserveResize,
  resourceDetails,
  resourcesOf,
  settledInstant,
  sizeDetails,
  sizeOf,
  undoneMessage,
  usesNewAddressesLater,
  vmResize,
} from './deliveries.ts';
import { vmSubject } from './identifier.ts';
import { assertAssignable, assertMoreIps, findExtraIp, vmOfForm } from './own-ips.ts';

interface IpRequest {
  readonly runtime: Runtime;
  readonly accountId: string;
  readonly spender: Spender | undefined;
}

/** A purchase of addresses. */
export interface IpPurchase extends IpRequest {
  /** As in the form. */
  readonly vmid: string;
  readonly count: number;
  readonly allowFallbackIPs: boolean;
  readonly maxPrice: string | undefined;
}

/** Gives a VM further addresses, which is a resize. @returns The net price of 30 days. */
export function buyIps(steps: Steps<Money>, { vmid, count, ...request }: IpPurchase): Promise<Money> {
  return deliverResize(steps, async (db) => {
    // The lock keeps other transactions from changing the VM.
    await lockAccount(db, request.accountId);
    const vm = await vmOfForm(db, request.accountId, vmid);
    await assertMoreIps(db, vm, count);
    return reserveResize(db, { ...request, vmId: vm.id, resources: { ips: vm.ips + count } });
  });
}

/** A VM and its net price of 30 days. */
export interface PricedVm {
  readonly vmId: number;
  readonly price: Money;
}

/** An address to release. */
export interface IpRelease extends IpRequest {
  readonly address: string;
  readonly maxPrice: string | undefined;
}

/** Takes an additional address from its VM, which is a resize. */
export async function releaseIp(steps: Steps<PricedVm>, { address: text, ...request }: IpRelease): Promise<PricedVm> {
  const { size, change } = await steps.reserve(vmResize, async ({ db }) => {
    await lockAccount(db, request.accountId);
    const { address, vm } = await findExtraIp(db, request.accountId, text);
    const resize = { vmId: vm.id, resources: { ips: vm.ips - 1 }, releasedIp: address };
    const reserved = await reserveResize(db, { ...request, ...resize });
    if ('price' in reserved) throw new Error(`The VM ${vm.id} has not lost the address ${address}.`);
    return reserved;
  });
  const vmId = change.vm.id;
  const task = await steps.call(({ hypervisor }, token) => hypervisor.resize(size, token));
  if (task) return steps.wait(async () => ({ vmId, price: change.price }));
  return steps.confirm(async ({ db }) => ({ vmId, price: await confirmResize(db, change) }));
}

/** How a VM changes. */
const changeDetails = v.object({
  vmId: v.number(),
  to: resourceDetails,
  before: sizeDetails,
  after: sizeDetails,
  price: v.number(),
  basis: v.picklist(['SALE', 'STANDARD']),
  pricesFrom: v.number(),
});
type VmChange = v.InferOutput<typeof changeDetails>;

const moveDetails = v.object({ ...heldDetails.entries, address: v.string(), source: changeDetails, target: changeDetails });
type IpMoveDetails = v.InferOutput<typeof moveDetails>;

/** An address to move to another VM. */
export interface IpMove extends IpRequest {
  readonly address: string;
  /** As in the form. */
  readonly vmid: string;
  readonly maxPrice: string | undefined;
}

/** The two VMs of a moved address. */
export interface MovedIp {
  readonly source: PricedVm;
  readonly target: PricedVm;
}

export const ipMove: UndoableDelivery<IpMoveDetails> = {
  name: 'assignIp',
  details: moveDetails,
  subject: vmSubject,
  afterTask: async ({ db }, move, runtime) => void (await confirmMove(db, runtime, move)),
  undo: {
    call: ({ hypervisor }, { source }, token) => hypervisor.resize(source.before, token),
    async store({ db }, { accountId, hold, spending, source, target }) {
      await releaseCredit(db, accountId, BigInt(hold));
      await giveSpendingBack(db, spending);
      await endChange(db, source.vmId);
      await endChange(db, target.vmId);
    },
  },
  describeFailure: undoneMessage,
};

/**
 * Moves an additional address to another VM. The VM that has it loses it first, and both are then billed for what they will have: price and
 * credit are those of both VMs together. The call for the other VM is enqueued in the same transaction, and recovery makes it until it succeeds.
 */
export async function assignIp(steps: Steps<MovedIp>, request: IpMove): Promise<MovedIp> {
  const { runtime } = request;
  const { details: move } = await steps.reserve(ipMove, ({ db }) => reserveMove(db, request));
  const task = await steps.call(({ hypervisor }, token) => hypervisor.resize(move.source.after, token));
  if (task) return steps.wait(async () => movedIpOf(move));
  return steps.confirm(({ db }) => confirmMove(db, runtime, move));
}

async function reserveMove(
  db: Db,
  { runtime, accountId, spender, address: text, vmid, maxPrice }: IpMove,
): Promise<Reserved<IpMoveDetails>> {
  await lockAccount(db, accountId);
  const { address, vm: from } = await findExtraIp(db, accountId, text);
  const to = await vmOfForm(db, accountId, vmid);
  await assertAssignable(db, from, to);
  const source = await beginIpChange(db, { runtime, accountId, vmId: from.id }, (ipv4) => ipv4.filter((one) => one !== address));
  const target = await beginIpChange(db, { runtime, accountId, vmId: to.id }, (ipv4) => [...ipv4, address]);
  const together = source.repricing.price + target.repricing.price;
  assertPriceAccepted(together, maxPrice, `The net price of the VMs ${from.id} and ${to.id} together`);
  const { clock } = runtime.ports;
  await assertMonthOf(db, accountId, {
    added: (hosts) => source.added(hosts) + target.added(hosts),
    hosts: [source.host, target.host],
    field: 'vmid',
    now: clock.now(),
  });
  const both = [source.repricing, target.repricing];
  const hold = moreHeld(both);
  if (hold !== 0n)
    await holdCredit(db, accountId, hold, `for the new prices of the VMs ${from.id} and ${to.id} until the end of the month`);
  const increase = increaseOf(both);
  const spending = await spend(db, spender, increase, clock.now());
  return {
    accountId,
    details: {
      vmId: from.id,
      accountId,
      hold: Number(hold),
      monthly: Number(increase),
      spending,
      address,
      source: source.change,
      target: target.change,
    },
  };
}

// The last one is missing in the reservations of earlier versions.
const attachDetails = v.object({ vmId: v.number(), size: sizeDetails, requiresRestart: v.optional(v.boolean()) });

/** Gives a moved address to the machine of its new VM, which is billed for it already. */
export const ipAttachment: FinishableDelivery<v.InferOutput<typeof attachDetails>> = {
  name: 'attachIp',
  details: attachDetails,
  subject: vmSubject,
  finish: {
    call: ({ hypervisor }, { size }, token) => hypervisor.resize(size, token),
    async store({ db }, { vmId, requiresRestart = false }) {
      await endChange(db, vmId);
      await confirmAddresses(db, vmId, requiresRestart);
    },
  },
};

interface BegunChange {
  readonly change: VmChange;
  readonly repricing: Repricing;
  readonly host: HostSystem;
  /** The amount that it adds to the highest price of 30 days. */
  added(hosts: readonly HostSystem[]): Money;
}

/** Begins the change of a VM to other addresses. */
async function beginIpChange(
  db: Db,
  request: { readonly runtime: Runtime; readonly accountId: string; readonly vmId: number },
  ipv4After: (ipv4: readonly string[]) => string[],
): Promise<BegunChange> {
  const { vm, instant } = await beginChange(db, request, 'resize');
  const ipv4 = await ipv4Of(db, vm.id);
  const after = ipv4After(ipv4);
  const resize = await pricedResize(db, vm, { ips: after.length }, request.runtime.ports.clock.now());
  const { to, price, prices, host } = resize;
  return {
    change: {
      vmId: vm.id,
      to,
      before: { ...sizeOf(vm, resourcesOf(vm), []), ipv4 },
      after: { ...sizeOf(vm, to, []), ipv4: after },
      price: Number(price),
      basis: prices.basis,
      pricesFrom: prices.from,
    },
    repricing: { vm, price, ending: await previewPositionEnd(db, vm.id, instant) },
    host,
    added: (hosts) => addedToMonth(vm, resize, hosts),
  };
}

async function confirmMove(db: Db, runtime: Runtime, move: IpMoveDetails): Promise<MovedIp> {
  const { accountId, hold, address, source, target } = move;
  const instant = await settledInstant(db, { account_id: accountId }, runtime);
  await releaseCredit(db, accountId, BigInt(hold));
  await moveAddress(db, { address, from: source.vmId, to: target.vmId });
  const moved = { source: await bill(db, accountId, source, instant), target: await bill(db, accountId, target, instant) };
  await endChange(db, source.vmId);
  const vm = await db.selectFrom('vms').select('state').where('id', '=', target.vmId).executeTakeFirstOrThrow();
  const requiresRestart = usesNewAddressesLater(vm, runtime);
  await enqueue(db, runtime.ports, ipAttachment, { accountId, details: { vmId: target.vmId, size: target.after, requiresRestart } });
  return moved;
}

/** Bills a VM for its new addresses. */
async function bill(db: Db, accountId: string, { vmId, to, price, basis, pricesFrom }: VmChange, instant: number): Promise<PricedVm> {
  const changed = { ...to, monthly_price: price, price_basis: basis, prices_from: pricesFrom };
  await db.updateTable('vms').set(changed).where('id', '=', vmId).execute();
  const present = await presentPrice(db, { accountId, vmId, price: BigInt(price) }, instant);
  await billAt(db, { id: vmId, account_id: accountId }, present, instant);
  return { vmId, price: present };
}

function movedIpOf({ source, target }: IpMoveDetails): MovedIp {
  return {
    source: { vmId: source.vmId, price: BigInt(source.price) },
    target: { vmId: target.vmId, price: BigInt(target.price) },
  };
}
