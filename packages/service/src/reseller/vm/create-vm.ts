import type { CreatedVm } from '@reseller/client';
import * as v from 'valibot';

import { lockAccountAt } from '../../core/account/lock.ts';
import { assertVmQuota } from '../../core/account/quota.ts';
import { giveSpendingBack, spend, spendingDetails } from '../../core/account/spending.ts';
import type { Spending } from '../../core/account/spending.ts';
import { holdCredit, releaseCredit } from '../../core/accounting/credit-hold.ts';
import { giveVolumeBack, takeSale } from '../../core/accounting/sale.ts';
import { beginPosition, holdOf } from '../../core/accounting/vm-billing.ts';
import { catalogueOf, vatAt } from '../../core/catalogue.ts';
import { settle } from '../../core/jobs/settle.ts';
import { assignAddresses, lockAddresses, releaseAddresses } from '../../core/vm/addresses.ts';
import type { AssignedAddress } from '../../core/vm/addresses.ts';
import { expectedHostSystem, findHostSystem, pricesAt } from '../../core/vm/host-system.ts';
import type { HostSystem } from '../../core/vm/host-system.ts';
import { drawIdentifier } from '../../core/vm/identifier.ts';
import { findOsImage } from '../../core/vm/os-image.ts';
import { leaveNode, placeVm } from '../../core/vm/placement.ts';
import type { NewVm } from '../../core/vm/placement.ts';
import { vmSubject } from '../../core/vm/subject.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { newPassword } from '../../rules/credentials.ts';
import type { Money } from '../../rules/money.ts';
import { assertPriceAccepted } from '../../rules/price-guard.ts';
import { invalid } from '../../rules/refusal.ts';
import { brokenRanges, monthlyPriceOf } from '../../rules/resources.ts';
import { deferredWrite } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import { deliveredOperation } from '../operation.ts';
import type { Call } from '../operation.ts';
import { brokenFormRules, vmRequestOf } from './create-vm-form.ts';
import type { VmRequest } from './create-vm-form.ts';
import { toPricings } from './vm-resources.ts';

interface Reserved {
  readonly vmId: number;
  readonly vm: VmRequest;
  readonly host: HostSystem;
  /** Known after the commit. */
  node(): string;
  readonly os: { readonly name: string; readonly displayname: string; readonly username: string };
  /** Known after the commit. */
  addresses(): readonly AssignedAddress[];
  readonly monthlyPrice: Money;
  readonly hold: Money;
  readonly spending: Spending | undefined;
  /** Hundredths of a percent. */
  readonly vat: number;
}

const details = v.object({ vmId: v.number(), hold: v.number(), spending: v.optional(spendingDetails) });
type Details = v.InferOutput<typeof details>;

interface Plan {
  readonly call: Call<'createVm'>;
  readonly reserved: Reserved;
  readonly password: string;
}

/** PUT /vm/create: buys a VM. Billing starts when the purchase is confirmed. */
export const createVm = deliveredOperation<'createVm', Details, Plan>({
  recovery: 'undo',
  isRepeatable: true,
  draw: (call) => void drawnFor(call),
  details,
  subject: vmSubject,

  async reserve({ db }, call) {
    const reserved = await reserve(db, call);
    const { vmId, hold, spending } = reserved;
    const plan = { call, reserved, password: drawnFor(call).password };
    return { accountId: call.accountId, details: { vmId, hold: Number(hold), spending }, plan };
  },

  async call({ hypervisor }, { reserved: { vmId, vm, node, os, addresses }, password }, token) {
    await hypervisor.create(
      {
        vmId,
        node: node(),
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
        ipv4: addresses()
          .filter(({ family }) => family === 4)
          .map(({ address }) => address),
        ipv6: addresses()
          .filter(({ family }) => family === 6)
          .map(({ address }) => address),
      },
      token,
    );
  },

  async confirm({ db }, { call, reserved, password }) {
    await startBilling(db, call, reserved);
    await startRunning(db, { vmId: reserved.vmId, now: call.runtime.ports.clock.now() });
    return { message: 'The VM was created and is booting.', data: toCreatedVm(reserved, password) };
  },

  compensate: ({ hypervisor }, { vmId }, token) => hypervisor.remove(vmId, token),

  async rollBack({ db }, { vmId, hold, spending }) {
    const vm = await db.selectFrom('vms').selectAll().where('id', '=', vmId).where('state', '=', 'reserved').executeTakeFirst();
    if (!vm) return;
    // The locks are taken in the order of the purchase. Otherwise two transactions on PostgreSQL could deadlock.
    if (vm.sale_id !== null) await giveVolumeBack(db, vm.sale_id);
    await releaseCredit(db, vm.account_id, BigInt(hold));
    await giveSpendingBack(db, spending);
    await leaveNode(db, vm.node, vm);
    await releaseAddresses(db, vmId);
    await db.deleteFrom('vms').where('id', '=', vmId).execute();
  },
});

interface Drawn {
  readonly identifier: number;
  readonly password: string;
}

const drawn = new WeakMap<Call<'createVm'>, Drawn>();

/** The identifiers that this instance has drawn. */
const identifiers = new WeakMap<Runtime, Set<number>>();

/** The random values of a purchase, which stay the same when its transaction runs again. */
function drawnFor(call: Call<'createVm'>): Drawn {
  const kept = drawn.get(call);
  if (kept) return kept;
  const { runtime } = call;
  const { random } = runtime.ports;
  const before = identifiers.get(runtime) ?? new Set();
  identifiers.set(runtime, before);
  const values = { identifier: drawIdentifier(random, runtime.vmIdentifiers, before), password: newPassword(random) };
  drawn.set(call, values);
  return values;
}

async function reserve(db: Db, call: Call<'createVm'>): Promise<Reserved> {
  const { runtime, accountId, form, now } = call;
  const vm = vmRequestOf(form);
  const catalogue = await catalogueOf(db);
  const { hosts, pools } = catalogue;
  const host = findHostSystem(hosts, vm.hostsystem);
  const os = findOsImage(catalogue.images, vm.os);
  const broken = brokenFormRules(form);
  if (host) broken.push(...brokenRanges(vm, host.ranges, host.name));
  else broken.push({ field: 'hostsystem', rule: 'exists', message: expectedHostSystem(hosts) });
  if ('broken' in os) broken.push(os.broken);
  if (broken.length > 0 || !host || 'broken' in os) throw invalid(broken);

  const { identifier: from } = drawnFor(call);
  const { ips, allowFallbackIPs } = vm;
  const order = { request: call, pools, accountId, datacenter: host.datacenter_name, ips, allowFallbackIPs };
  await lockAddresses(db, order, 1);
  const instant = Math.floor(now / 1000);
  await settle(db, runtime, { accountId, now });
  const { prices: standard, validFrom: pricesFrom } = pricesAt(host, now);
  const sale = await takeSale(db, { sales: catalogue.sales, accountId, hostsystem: host.name, vm, standard, now });
  const monthlyPrice = sale?.monthlyPrice ?? monthlyPriceOf(vm, standard);
  assertPriceAccepted(monthlyPrice, form.max_price);
  const hold = holdOf({ start: instant, monthlyPrice });
  await holdCredit(db, accountId, hold);
  const spending = await spend(db, call.spender, monthlyPrice, now);
  const row: NewVm = {
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
    storage: vm.storage,
    ssh_key: vm.sshKey,
    ssh_key_displayname: vm.sshKeyDisplayname,
    default_ptr: vm.defaultPtr ?? undefined,
    monthly_price: Number(monthlyPrice),
    prices_from: pricesFrom,
    sale_id: sale?.id ?? null,
    price_basis: sale ? 'SALE' : 'STANDARD',
    created: now,
  };
  const { id: vmId, node } = await placeVm(db, row, { from, now, identifiers: runtime.vmIdentifiers });
  await assertVmQuota(db, accountId);
  const addresses = await assignAddresses(db, { ...order, vmId });
  const vat = vatAt(catalogue, now);
  return { vmId, vm, host, node, os, addresses, monthlyPrice, hold, spending, vat };
}

const startRunning = deferredWrite<{ vmId: number; now: number }>((db, parameter) =>
  db
    .updateTable('vms')
    .set({ state: 'running', booted: parameter('now') })
    .where('id', '=', parameter('vmId')),
);

/** Begins the first position. It starts with the purchase, or with the open period if a period has ended since the reservation. */
async function startBilling(db: Db, call: Call<'createVm'>, { vmId, monthlyPrice, hold }: Reserved): Promise<void> {
  const { runtime, accountId, now } = call;
  await settle(db, runtime, { accountId, now: runtime.ports.clock.now() });
  const start = await lockAccountAt(db, accountId, Math.floor(now / 1000));
  const holdNow = holdOf({ start, monthlyPrice });
  if (holdNow !== hold) await releaseCredit(db, accountId, hold - holdNow);
  await beginPosition(db, { vmId, accountId, type: 'CREATE', start, monthlyPrice });
}

function toCreatedVm({ vmId, vm, host, node, os, addresses, monthlyPrice, vat }: Reserved, password: string): CreatedVm {
  return {
    identifier: vmId,
    hostsystem: {
      datacenter: { name: host.datacenter_name, country: host.datacenter_country, city: host.datacenter_city },
      node: node(),
      processor: host.processor,
      memory: host.memory,
      nvme_hard_drives: host.nvme_hard_drives,
    },
    config: {
      cores: vm.cores,
      mem: vm.mem,
      disk: vm.disk,
      os: { name: os.name, displayname: os.displayname },
      username: os.username,
      password,
      hostname: vm.hostname,
      network_speed: String(vm.network_speed),
      backup_slots: String(vm.backup_slots),
      ipv4: addresses()
        .filter(({ family }) => family === 4)
        .map(({ address, gateway, ddosProtection }) => ({ address, gateway, ddos_protection: ddosProtection })),
      ipv6: addresses()
        .filter(({ family }) => family === 6)
        .map(({ address, gateway }) => ({ ip_address: address, ip_gateway: gateway })),
    },
    pricings: toPricings(monthlyPrice, vat),
  };
}
