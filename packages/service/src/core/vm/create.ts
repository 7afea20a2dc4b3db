import type { VmOrder } from '@reseller/adapters';
import * as v from 'valibot';

import type { UndoableDelivery } from '../../delivery/delivery.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import type { Reserved, Steps } from '../../delivery/steps.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { newPassword } from '../../rules/credentials.ts';
import { assertPriceAccepted } from '../../rules/credit.ts';
import type { Labels } from '../../rules/labels.ts';
import type { Money } from '../../rules/money.ts';
import { invalid } from '../../rules/refusal.ts';
import { brokenRanges, monthlyPriceOf } from '../../rules/resources.ts';
import type { BilledResources } from '../../rules/resources.ts';
import type { PricedOffer } from '../../rules/sale.ts';
import { vatInForce } from '../../rules/vat.ts';
import { prepared, together } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import { assertVmQuota } from '../account/quota.ts';
import { giveSpendingBack, spend, spendingDetails } from '../account/spending.ts';
import type { Spender } from '../account/spending.ts';
import { priceListOf } from '../accounting/account-vat.ts';
import { assertMonthOf, heldFrom, highestPriceAt, holdCredit, releaseCredit } from '../accounting/credit-hold.ts';
import { presentPrice } from '../accounting/price-change.ts';
import { beginPosition, billingInstant, holdOf } from '../accounting/vm-billing.ts';
import { findOsImage } from '../catalogue/catalogue.ts';
import type { Catalogue, OsImage } from '../catalogue/catalogue.ts';
import { expectedHostSystem, findHostSystem, pricesAt } from '../catalogue/host-system.ts';
import type { HostSystem } from '../catalogue/host-system.ts';
import { giveVolumeBack, takeSale } from '../catalogue/sale.ts';
import { settle } from '../jobs/settle.ts';
import { assignAddresses, ofFamily, returnUnusedAddresses } from './addresses.ts';
import type { AssignedAddress } from './addresses.ts';
import { endChange } from './change.ts';
import { drawIdentifier, vmSubject } from './identifier.ts';
import { insertVm } from './new-vm.ts';
import type { NewVm } from './new-vm.ts';
import { leaveNode, takeRoom } from './placement.ts';
import { findSshKey, UNKNOWN_SSH_KEY } from './ssh-keys.ts';
import { forgetUserData, storeUserData } from './user-data.ts';

/** The VM that an account wants to buy. */
export interface WantedVm extends BilledResources {
  readonly os: string;
  readonly hostsystem: string;
  readonly hostname: string;
  /** Display name. Null if the hostname counts as the name. */
  readonly name: string | null;
  readonly labels: Labels;
  readonly sshKey: string | null;
  readonly sshKeyDisplayname: string | null;
  /** A stored key of the account, in the place of the two above. */
  readonly sshKeyId: string | null;
  /** Text for cloud-init. Null for none. */
  readonly userData: string | null;
  readonly allowFallbackIPs: boolean;
  /** Null for a domain of the provider. */
  readonly defaultPtr: string | null;
}

/** An account that buys a VM. */
export interface Purchase {
  readonly runtime: Runtime;
  readonly accountId: string;
  /** The spending limit of the API key. */
  readonly spender: Spender | undefined;
  readonly vm: WantedVm;
  /** The rules that the form breaks. They are refused together with those that only the catalogue shows. */
  readonly broken: readonly BrokenField[];
  /** The price guard: the highest net price of 30 days that is accepted, in EUR. */
  readonly maxPrice: string | undefined;
  /** When the purchase began, in milliseconds. */
  readonly now: number;
}

/** A VM whose purchase was confirmed, or whose installation has started. */
export interface PurchasedVm {
  readonly vmId: number;
  readonly vm: WantedVm;
  readonly host: HostSystem;
  /** The name of the node. */
  readonly node: string;
  readonly os: OsImage;
  readonly addresses: readonly AssignedAddress[];
  /** Net price of 30 days. */
  readonly monthlyPrice: Money;
  /** Hundredths of a percent. */
  readonly vat: number;
  readonly password: string;
  /** Whether a task of the hypervisor still installs it. */
  readonly isInstalling?: boolean;
}

const details = v.object({ vmId: v.number(), hold: v.number(), monthly: v.optional(v.number()), spending: v.optional(spendingDetails) });
type Details = v.InferOutput<typeof details>;

export const vmPurchase: UndoableDelivery<Details> = {
  name: 'createVm',
  leavesNoTrace: true,
  details,
  subject: vmSubject,
  // A VM is billed for its runtime, which begins when it is installed.
  async afterTask({ db }, { vmId, hold }, runtime) {
    const vm = await db.selectFrom('vms').select(['account_id', 'monthly_price']).where('id', '=', vmId).executeTakeFirstOrThrow();
    const now = runtime.ports.clock.now();
    const priced = { vmId, monthlyPrice: BigInt(vm.monthly_price), hold: BigInt(hold) };
    await startBilling(db, { runtime, accountId: vm.account_id, now }, priced);
    await endChange(db, vmId, { state: 'running', booted: now });
  },
  undo: {
    call: ({ hypervisor }, { vmId }, token) => hypervisor.remove(vmId, token),
    async store({ db }, { vmId, hold, spending }) {
      const vm = await db
        .selectFrom('vms')
        .selectAll()
        .where('id', '=', vmId)
        .where('state', 'in', ['reserved', 'installing'])
        .executeTakeFirst();
      if (!vm) return;
      // The locks are taken in the order of the purchase. Otherwise two transactions on PostgreSQL could deadlock.
      if (vm.sale_id !== null) await giveVolumeBack(db, vm.sale_id);
      await releaseCredit(db, vm.account_id, BigInt(hold));
      await giveSpendingBack(db, spending);
      await leaveNode(db, vm.node, vm);
      await returnUnusedAddresses(db, vmId);
      await forgetUserData(db, vmId);
      await db.deleteFrom('vms').where('id', '=', vmId).execute();
    },
  },
};

/** Buys a VM. Billing starts when the purchase is confirmed. */
export async function createVm(steps: Steps<PurchasedVm>, purchase: Purchase): Promise<PurchasedVm> {
  const { ports } = purchase.runtime;
  const { bought, hold } = await steps.reserve(vmPurchase, ({ db }) => reservePurchase(db, purchase));
  const { vmId, monthlyPrice } = bought;
  const task = await steps.call(({ hypervisor }, token) => hypervisor.create(orderOf(bought), token));
  if (task)
    return steps.wait(async ({ db }) => {
      await db.updateTable('vms').set({ state: 'installing', changing: 1 }).where('id', '=', vmId).execute();
      return { ...bought, isInstalling: true };
    });
  return steps.confirm(async ({ db }) => {
    const [price] = await together([
      startBilling(db, purchase, { vmId, monthlyPrice, hold }),
      startRunning(db, { vmId, now: ports.clock.now() }),
    ]);
    return { ...bought, monthlyPrice: price };
  });
}

interface ReservedPurchase extends Reserved<Details> {
  readonly bought: PurchasedVm;
  /** The credit that is held until the end of the period. */
  readonly hold: Money;
}

async function reservePurchase(db: Db, given: Purchase): Promise<ReservedPurchase> {
  const purchase = await withStoredKey(db, given);
  const { runtime, accountId, vm, now } = purchase;
  const { vmIdentifiers: identifiers, ports } = runtime;
  const { random } = ports;
  // 1. Read the price list, and close the periods of the account that have ended.
  const [{ catalogue, vatRates }] = await together([priceListOf(db, accountId), settle(db, runtime, { accountId, now })]);
  // 2. Check the form against the catalogue.
  const { host, os } = offerFor(purchase, catalogue);
  // 3. Take volume of a sale, and find the price.
  const { prices: standard, validFrom } = pricesAt(host, now);
  const sale = await takeSale(db, { sales: catalogue.sales, accountId, hostsystem: host.name, vm, standard, now });
  const monthlyPrice = sale?.monthlyPrice ?? monthlyPriceOf(vm, standard);
  assertPriceAccepted(monthlyPrice, purchase.maxPrice);
  const newVm = newVmOf(purchase, { host, os, sale, monthlyPrice, validFrom });
  await assertMonthOf(db, accountId, { added: (hosts) => highestPriceAt(newVm, hosts), hosts: catalogue.hosts, field: 'cores', now });
  // 4. Take the cost until the end of the period from the credit of the account and from the limit of the API key, and room on a node.
  const start = heldFrom(Math.floor(now / 1000), Math.floor(ports.clock.now() / 1000));
  const hold = holdOf({ start, monthlyPrice });
  const [, spending, node] = await together([
    holdCredit(db, accountId, hold),
    spend(db, purchase.spender, monthlyPrice, now),
    takeRoom(db, host.name, vm),
  ]);
  // 5. Store the VM with an identifier.
  const vmId = await insertVm(db, { ...newVm, node }, { from: drawIdentifier(random, identifiers), now, identifiers });
  // 6. Check the quota, take addresses, and store the user data.
  const { ips, allowFallbackIPs } = vm;
  const order = { pools: catalogue.pools, accountId, vmId, datacenter: host.datacenter_name, ips, allowFallbackIPs, now };
  const [, addresses] = await together([
    assertVmQuota(db, accountId),
    assignAddresses(db, order),
    vm.userData === null ? undefined : storeUserData(db, runtime, { vmId, text: vm.userData, isPending: false }),
  ]);
  const vat = vatInForce(vatRates, now);
  return {
    accountId,
    details: { vmId, hold: Number(hold), monthly: Number(monthlyPrice), spending },
    bought: { vmId, vm, host, node, os, addresses, monthlyPrice, vat, password: newPassword(random) },
    hold,
  };
}

/** The purchase with the public key that its form names, if it names one. */
export async function withStoredKey<Wanted extends Pick<Purchase, 'accountId' | 'vm' | 'broken'>>(
  db: Db,
  purchase: Wanted,
): Promise<Wanted> {
  const { accountId, vm, broken } = purchase;
  if (vm.sshKeyId === null) return purchase;
  const key = await findSshKey(db, accountId, vm.sshKeyId);
  if (!key) return { ...purchase, broken: [...broken, UNKNOWN_SSH_KEY] };
  return { ...purchase, vm: { ...vm, sshKey: key.public_key, sshKeyDisplayname: key.displayname } };
}

/** @throws Refusal 422 with all rules that the purchase breaks. */
export function offerFor(
  { vm, broken }: Pick<Purchase, 'vm' | 'broken'>,
  { hosts, images }: Catalogue,
): { readonly host: HostSystem; readonly os: OsImage } {
  const host = findHostSystem(hosts, vm.hostsystem);
  const os = findOsImage(images, vm.os);
  const all = [...broken];
  if (host) all.push(...brokenRanges(vm, host.ranges, host.name));
  else all.push({ field: 'hostsystem', rule: 'exists', message: expectedHostSystem(hosts) });
  if ('broken' in os) all.push(os.broken);
  else if (vm.disk < os.min_disk)
    all.push({ field: 'disk', rule: 'minimum', message: `must be at least ${os.min_disk} for ${os.displayname}` });
  if (all.length > 0 || !host || 'broken' in os) throw invalid(all);
  return { host, os };
}

interface Price {
  readonly host: HostSystem;
  readonly os: OsImage;
  readonly sale: PricedOffer | undefined;
  readonly monthlyPrice: Money;
  readonly validFrom: number;
}

/** The row of a new VM before it has an identifier and a node. */
export function newVmOf({ accountId, vm, now }: Purchase, { host, os, sale, monthlyPrice, validFrom }: Price): NewVm {
  return {
    account_id: accountId,
    state: 'reserved',
    hostsystem: host.name,
    cores: vm.cores,
    mem: vm.mem,
    disk: vm.disk,
    os: os.name,
    ips: vm.ips,
    backup_slots: vm.backup_slots,
    network_speed: vm.network_speed,
    hostname: vm.hostname,
    name: vm.name,
    labels: JSON.stringify(vm.labels),
    storage: vm.storage,
    ssh_key: vm.sshKey,
    ssh_key_displayname: vm.sshKeyDisplayname,
    password_enabled: 1,
    default_ptr: vm.defaultPtr ?? undefined,
    monthly_price: Number(monthlyPrice),
    prices_from: validFrom,
    sale_id: sale?.id ?? null,
    price_basis: sale ? 'SALE' : 'STANDARD',
    created: now,
  };
}

function orderOf({ vmId, vm, node, os, addresses, password }: PurchasedVm): VmOrder {
  return {
    vmId,
    node,
    cores: vm.cores,
    mem: vm.mem,
    disk: vm.disk,
    storage: vm.storage,
    networkSpeed: vm.network_speed,
    backupSlots: vm.backup_slots,
    os: os.name,
    hostname: vm.hostname,
    username: os.username,
    password,
    sshKey: vm.sshKey,
    userData: vm.userData,
    ipv4: ofFamily(4, addresses).map(({ address }) => address),
    ipv6: ofFamily(6, addresses).map(({ address }) => address),
  };
}

const startRunning = prepared<{ vmId: number; now: number }, unknown>((db, parameter) =>
  db
    .updateTable('vms')
    .set({ state: 'running', booted: parameter('now') })
    .where('id', '=', parameter('vmId')),
);

/**
 * Begins the first position. It starts with the purchase, or with the open period if a period has ended since the reservation.
 *
 * @returns The net price of 30 days.
 */
export async function startBilling(
  db: Db,
  { runtime, accountId, now }: Pick<Purchase, 'runtime' | 'accountId' | 'now'>,
  { vmId, monthlyPrice: price, hold }: Pick<PurchasedVm, 'vmId' | 'monthlyPrice'> & { readonly hold: Money },
): Promise<Money> {
  const bought = Math.floor(now / 1000);
  const start = await billingInstant(db, runtime, { accountId, now: runtime.ports.clock.now(), at: bought });
  const monthlyPrice = start === bought ? price : await presentPrice(db, { accountId, vmId, price }, start);
  const holdNow = holdOf({ start, monthlyPrice });
  if (holdNow !== hold) await releaseCredit(db, accountId, hold - holdNow);
  await beginPosition(db, { vmId, accountId, type: 'CREATE', start, monthlyPrice });
  return monthlyPrice;
}
