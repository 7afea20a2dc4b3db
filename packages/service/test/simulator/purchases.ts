/** The purchase of VMs, and its effect on the model. */
import { expect } from 'vitest';

import { hosts, osImages } from './catalogue.ts';
import type { CatalogueHost } from './catalogue.ts';
import { numberOf } from './fraction.ts';
import { creditFits, holdFrom, offersFor } from './model-billing.ts';
import { settleModel } from './model-jobs.ts';
import { listedAt, listedFrom, priceOf } from './model-prices.ts';
import { freeAddresses, usedAddresses, hasRoom, isIn, poolsFor } from './model-room.ts';
import type { AddressRequest, Family } from './model-room.ts';
import { grossShown, rateAt, runtimeAlone } from './model-vat.ts';
import { remove } from './model.ts';
import type { ModelAccount, ModelSshKey, Resources, VmReservation } from './model.ts';
import { isAbove, randomGuard } from './price-guard.ts';
import { invalid, noCredit, noRoom, priceTooHigh, send } from './requests.ts';
import type { PlannedRequest, Refused, Reserved } from './requests.ts';
import type { Dice } from './seeded-random.ts';
import type { Simulation } from './simulation.ts';

/** A VM that a reseller requests. */
export interface PurchaseRequest {
  readonly account: ModelAccount;
  readonly host: CatalogueHost;
  readonly resources: Resources;
  readonly os: string;
  readonly allowFallbackIPs: boolean;
  /** A stored key, sometimes of another account. */
  readonly sshKey: ModelSshKey | undefined;
  readonly defaultPtr: string | undefined;
  readonly userData: string | undefined;
}

export function randomPurchaseRequest(sim: Simulation): PurchaseRequest {
  const { dice, model } = sim;
  const host = dice.pick(hosts);
  const account = dice.pick(model.accounts);
  return {
    account,
    host,
    resources: randomResources(dice, host),
    os: dice.pick(osImages),
    allowFallbackIPs: dice.chance(0.3),
    sshKey: dice.chance(0.3) ? dice.pickAny((dice.chance(0.9) ? account : dice.pick(model.accounts)).sshKeys) : undefined,
    defaultPtr: dice.chance(0.3) ? dice.pick(['www', 'mail']).concat('.elsewhere.example') : undefined,
    userData: dice.chance(0.3) ? '#!/bin/sh\necho bought\n' : undefined,
  };
}

export function randomResources(dice: Dice, { ranges }: CatalogueHost): Resources {
  const within = (range: { min: number; max: number; step: number }, most = range.max): number =>
    range.min + range.step * dice.integer(0, Math.floor((most - range.min) / range.step));
  return {
    // 3 % of the requests exceed the limit of the host system.
    cores: dice.chance(0.03) ? ranges.cores.max + 1 : within(ranges.cores),
    mem: within(ranges.mem),
    disk: within(ranges.disk),
    ips: within(ranges.ips),
    backup_slots: within(ranges.backup_slots, 4),
    network_speed: within(ranges.network_speed),
    storage: ranges.storage && dice.chance(0.4) ? within(ranges.storage) : null,
  };
}

/** The form of a purchase. It omits fields that have the document's default. */
export function formOf({ host, resources, os, allowFallbackIPs, sshKey, defaultPtr, userData }: PurchaseRequest): Record<string, unknown> {
  const { ips, backup_slots, network_speed, storage, ...needed } = resources;
  return {
    ...needed,
    os,
    hostsystem: host.name,
    ...(ips !== 1 && { ips }),
    ...(backup_slots !== 2 && { backup_slots }),
    ...(network_speed !== 1000 && { network_speed }),
    ...(storage !== null && { storage }),
    ...(allowFallbackIPs && { allowFallbackIPs }),
    ...(sshKey && { ssh_key_id: sshKey.id }),
    ...(defaultPtr !== undefined && { default_ptr: defaultPtr }),
    ...(userData !== undefined && { user_data: userData }),
  };
}

/** Whether the form breaks a rule. */
function isInvalid({ account, host, resources, sshKey }: PurchaseRequest): boolean {
  return resources.cores > host.ranges.cores.max || (sshKey !== undefined && !account.sshKeys.includes(sshKey));
}

export async function buyVm(sim: Simulation): Promise<void> {
  const purchase = randomPurchaseRequest(sim);
  if (sim.dice.chance(0.5)) await quoteVm(sim, purchase);
  return send(sim, plannedPurchase(sim, purchase));
}

/** Asks for the price before the purchase. The model bills the VM at the same price, so the quote is what is then invoiced. */
async function quoteVm(sim: Simulation, purchase: PurchaseRequest): Promise<void> {
  const { account } = purchase;
  const { model, clock } = sim;
  settleModel(sim, account);
  const reply = await sim.client.call(account, 'quoteCreateVm', { form: formOf(purchase) });
  if (isInvalid(purchase)) return void expect(reply.status).toBe(422);
  const { sale, price } = priceNow(sim, purchase);
  const now = clock.seconds();
  const quote = reply.data();
  expect({ ...quote.price, sale: quote.sale?.title }).toMatchObject({
    net: numberOf(price),
    gross: grossShown(price, rateAt(model, account, now)),
    sale: sale?.title,
  });
  expect(quote.untilPeriodEnd).toEqual(runtimeAlone(model, account, price, now));
}

function plannedPurchase(sim: Simulation, purchase: PurchaseRequest): PlannedRequest<'createVm'> {
  const { account } = purchase;
  const guard = randomGuard(sim.dice, priceNow(sim, purchase).price);
  const form = { ...formOf(purchase), ...guard };
  return {
    account,
    id: 'createVm',
    sent: { form },
    otherForm: { ...form, disk: purchase.resources.disk + 5 },
    predict() {
      const now = sim.clock.seconds();
      const { sale, listed, price } = priceNow(sim, purchase);
      const hold = holdFrom(price, now);
      return {
        portUse: 'a port, and one to undo it',
        refusal: refusalOf(sim, purchase, { hold, isTooExpensive: isAbove(price, guard) }),
        reserve: () => reserveVm(sim, purchase, { sale, listed, price, hold, since: now }),
      };
    },
  };
}

function priceNow({ model, clock }: Simulation, { account, host: { name }, resources }: PurchaseRequest) {
  const [sale] = offersFor(model, account, name, resources, clock.now());
  const listed = listedAt(model, name, clock.now());
  return { sale, listed, price: priceOf(listed, resources, sale?.prices.get(name)) };
}

function refusalOf(
  { model, clock }: Simulation,
  purchase: PurchaseRequest,
  { hold, isTooExpensive }: { hold: bigint; isTooExpensive: boolean },
): Refused | undefined {
  const { account, host, resources, allowFallbackIPs } = purchase;
  if (isInvalid(purchase)) return invalid;
  if (isTooExpensive) return priceTooHigh;
  if (!creditFits(model, account, hold, clock.seconds())) return noCredit;
  if (!host.nodes.some((node) => hasRoom(model, node, resources))) return noRoom;
  const from: AddressRequest = { account, datacenter: host.datacenter, allowFallbackIPs };
  return freeAddresses(model, from, 4) < resources.ips || freeAddresses(model, from, 6) < 1 ? noRoom : undefined;
}

/** Makes the reservation in the model. The call of the hypervisor shows which VM, node and addresses the service has chosen. */
export function reserveVm(
  sim: Simulation,
  purchase: PurchaseRequest,
  terms: Pick<VmReservation, 'sale' | 'price' | 'listed' | 'hold' | 'since'>,
  order = sim.world.hypervisor.lastOrder,
  isAlone = true,
): Reserved<'createVm'> {
  const { model } = sim;
  const { account, host, resources, os } = purchase;
  if (!order) throw new Error('The hypervisor has not received an order.');
  const { vmId: id, ipv4, ipv6 } = order;
  expect(order).toMatchObject({
    cores: resources.cores,
    mem: resources.mem,
    disk: resources.disk,
    os,
    sshKey: purchase.sshKey?.text ?? null,
    userData: purchase.userData ?? null,
  });
  expect([...model.vms, ...model.reservations].map((vm) => vm.id)).not.toContain(id);
  const node = host.nodes.find(({ name }) => name === order.node);
  expect(node && hasRoom(model, node, resources), `room on ${order.node}`).toBe(true);
  const from = { account, datacenter: host.datacenter, allowFallbackIPs: purchase.allowFallbackIPs };
  for (const family of [4, 6] as const) {
    const addresses = family === 4 ? ipv4 : ipv6;
    expectGoodAddresses(sim, from, family, addresses, family === 4 ? resources.ips : 1);
    if (isAlone) expectOwnAddressesFirst(sim, from, family, addresses);
  }
  const taken = {
    id,
    account,
    host: host.name,
    node: order.node,
    resources,
    ipv4: [...ipv4],
    ipv6: [...ipv6],
    monthly: terms.price,
    ...terms,
  };
  if (taken.sale) taken.sale.used++;
  model.reservations.push(taken);
  const release = () => {
    remove(model.reservations, taken);
    if (taken.sale) taken.sale.used--;
  };
  return {
    release,
    confirm(reply) {
      const { identifier, hostsystem, config, pricings } = reply.data();
      expect({ identifier, node: hostsystem.node, password: config.password }).toEqual({
        identifier: id,
        node: order.node,
        password: order.password,
      });
      expect(config.ipv4.map(({ address }) => address).toSorted()).toEqual([...ipv4].toSorted());
      expect(config.ipv6.map(({ ip_address }) => ip_address)).toEqual(ipv6);
      remove(model.reservations, taken);
      settleModel(sim, account);
      const start = Math.max(terms.since, account.period);
      // A month whose prices apply to all VMs may have begun since the reservation.
      const listed = start === terms.since ? taken.listed : listedFrom(model, taken, account.period);
      const price = listed === taken.listed ? terms.price : priceOf(listed, resources);
      expect(pricings).toEqual({ monthly: numberOf(price), monthly_gross: grossShown(price, rateAt(model, account, terms.since)) });
      model.vms.push({
        ...taken,
        listed,
        price,
        firstIp: ipv4[0] ?? '',
        os,
        sshKey: purchase.sshKey?.text ?? null,
        userData: purchase.userData ?? null,
        iso: null,
        defaultPtr: purchase.defaultPtr ?? `vm${id}.reseller-vm.invalid`,
        unusedIps: new Set(),
        monitoring: { enabled: false, port: null },
        abuse: { status: 'CLEAN', reason: null, statement: null },
        names: new Map(),
        backups: [],
        state: 'running',
        segments: [{ type: 'CREATE', start, stop: null, price }],
      });
    },
  };
}

/** Checks that the number of addresses is right, that no other VM has them, and that they belong to permitted pools. */
export function expectGoodAddresses(
  sim: Simulation,
  purchase: AddressRequest,
  family: Family,
  addresses: readonly string[],
  count: number,
): void {
  const { model } = sim;
  expect(new Set(addresses).size).toBe(count);
  const used = new Set(usedAddresses(model, family));
  expect(
    addresses.filter((address) => used.has(address)),
    'addresses of other VMs',
  ).toEqual([]);
  const pools = poolsFor(model, purchase, family);
  expect(
    addresses.filter((address) => !pools.some((pool) => isIn(address, pool))),
    'addresses outside the permitted pools',
  ).toEqual([]);
}

/** Checks that a VM gets addresses of the provider only after the account's own addresses have run out. */
export function expectOwnAddressesFirst(
  { model }: Simulation,
  purchase: AddressRequest,
  family: Family,
  addresses: readonly string[],
): void {
  const pools = poolsFor(model, purchase, family);
  if (pools.every(({ accountId }) => accountId === null)) return;
  const own = freeAddresses(model, { ...purchase, allowFallbackIPs: false }, family);
  const provided = addresses.filter((address) => pools.some((pool) => pool.accountId === null && isIn(address, pool)));
  expect(provided.length, 'addresses of the provider').toBe(Math.max(0, addresses.length - own));
}
