/** Operations of resellers and of the provider on existing VMs. */
import { expect } from 'vitest';

import { osImages } from './catalogue.ts';
import { less, minus, plus, ZERO } from './fraction.ts';
import { creditFits, freedByEnding, holdFrom, runningSegment } from './model-billing.ts';
import { settleModel } from './model-jobs.ts';
import { listedAt, priceOf } from './model-prices.ts';
import { freeAddresses, hasRoom, hostOf } from './model-room.ts';
import type { ModelSale, ModelSshKey, ModelVm, Resources, VmReservation } from './model.ts';
import { remove } from './model.ts';
import { runChange } from './provider-operations.ts';
import { buyVm, expectGoodAddresses, expectOwnAddressesFirst, randomResources } from './purchases.ts';
import { invalid, noCredit, noRoom, notFound, priceTooHigh, send, uncertain, wrongState } from './requests.ts';
import type { Refused } from './requests.ts';
import type { Dice } from './seeded-random.ts';
import type { Simulation } from './simulation.ts';

export async function reinstallVm(sim: Simulation): Promise<void> {
  const vm = sim.dice.pickAny(sim.model.vms);
  if (!vm) return buyVm(sim);
  const os = sim.dice.chance(0.5) ? sim.dice.pick(osImages) : undefined;
  const other = osImages.find((one) => one !== os) ?? '';
  const key = sim.dice.chance(0.3)
    ? sim.dice.pickAny((sim.dice.chance(0.9) ? vm.account : sim.dice.pick(sim.model.accounts)).sshKeys)
    : undefined;
  const userData = sim.dice.chance(0.2) ? `#!/bin/sh\necho ${sim.dice.integer(1, 9)}\n` : undefined;
  const form = { ...(os !== undefined && { os }), ...(key && { ssh_key_id: key.id }), ...(userData && { user_data: userData }) };
  return send(sim, {
    account: vm.account,
    id: 'reinstallVm',
    sent: { path: { vmid: String(vm.id) }, form },
    otherForm: { os: other },
    predict() {
      const installed = os ?? vm.os;
      return {
        portUse: 'a port',
        portFailure: uncertain,
        refusal: reinstallRefusal(vm, key),
        reserve() {
          vm.changing = true;
          return {
            release: () => void (vm.changing = false),
            confirm(reply) {
              expect(reply.message).toContain(installed);
              vm.os = installed;
              if (key) vm.sshKey = key.text;
              if (userData !== undefined) vm.userData = userData;
              vm.iso = null;
              vm.unusedIps.clear();
              const { os: system, sshKey, userData: kept, edited } = vm;
              const machine = sim.world.hypervisor.vms.get(vm.id);
              expect(machine).toMatchObject({ os: system, sshKey, userData: kept, ...(edited && { hostname: edited.hostname }) });
              vm.changing = false;
            },
          };
        },
      };
    },
  });
}

function reinstallRefusal(vm: ModelVm, key: ModelSshKey | undefined): Refused | undefined {
  if (vm.state === 'removed') return notFound;
  if (vm.state === 'stopped') return wrongState;
  if (key && !vm.account.sshKeys.includes(key)) return invalid;
  return vm.changing ? wrongState : undefined;
}

export async function resizeRandomVm(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const vm = dice.pickAny(model.vms);
  if (!vm) return buyVm(sim);
  await resize(sim, vm, randomChange(dice, vm), dice.chance(0.3));
}

/** New resources for a VM. Its disks never shrink. */
export function randomChange(dice: Dice, { host, resources }: ModelVm): Partial<Resources> {
  const { storage, ...wanted } = randomResources(dice, hostOf(host));
  const change = {
    ...wanted,
    disk: Math.max(wanted.disk, resources.disk),
    storage: Math.max(storage ?? 0, resources.storage ?? 0) || null,
  };
  return Object.fromEntries(Object.entries(change).filter(() => dice.chance(0.4)));
}

async function resize(sim: Simulation, vm: ModelVm, change: Partial<Resources>, allowFallbackIPs: boolean): Promise<void> {
  const to: Resources = { ...vm.resources, ...change };
  settleModel(sim, vm.account);
  const refusal = resizeRefusal(sim, vm, { to, price: priceWith(sim, vm, to).price, allowFallbackIPs });
  sim.describe(`the provider resizes the ${vm.state} VM ${vm.id} of ${vm.account.name}: ${JSON.stringify(change)}`);
  const callsPort = JSON.stringify(to) !== JSON.stringify(vm.resources);
  const outcome = await runChange(sim, resizeOperation(sim, vm, change, allowFallbackIPs), { refusal, callsPort, isUndone: true });
  if (outcome === 'done') await applyResize(sim, vm, { to, ...priceWith(sim, vm, to) }, allowFallbackIPs);
  if (outcome === 'interrupted') leaveInProgress(sim, vm, 'resizeVm', await heldByResize(sim, vm, to));
}

/** The additional resources, addresses and credit that a resize reserves until it ends. */
export async function heldByResize(sim: Simulation, vm: ModelVm, to: Resources): Promise<HeldResources> {
  const { resources: from } = vm;
  const rows = await sim.client.store().read((db) => db.selectFrom('ip_addresses').select('address').where('vm_id', '=', vm.id).execute());
  const has = rows.map(({ address }) => address).filter((address) => !address.includes(':'));
  const more = {
    ...to,
    cores: Math.max(0, to.cores - from.cores),
    mem: Math.max(0, to.mem - from.mem),
    disk: Math.max(0, to.disk - from.disk),
    storage: Math.max(0, (to.storage ?? 0) - (from.storage ?? 0)),
  };
  const { price, listed } = priceWith(sim, vm, to);
  const held = moreHeldByAll(sim, [{ vm, price }]);
  return { resources: more, ipv4: has.filter((address) => !vm.ipv4.includes(address)), ipv6: [], price, listed, ...held };
}

/** The credit that a change to a higher price holds. */
export function moreHeld(sim: Simulation, vm: ModelVm, price: ModelVm['price']): bigint {
  return moreHeldByAll(sim, [{ vm, price }]).hold;
}

/** The credit that one change of several VMs holds, and the price of 30 days that it adds. */
export function moreHeldByAll(
  { clock }: Simulation,
  changes: readonly { readonly vm: ModelVm; readonly price: ModelVm['price'] }[],
): Pick<HeldResources, 'hold' | 'monthly'> {
  let [hold, before, after] = [0n, ZERO, ZERO];
  for (const { vm, price } of changes) {
    const running = runningSegment(vm);
    if (!running) continue;
    before = plus(before, vm.price);
    after = plus(after, price);
    hold += holdFrom(price, clock.seconds()) - freedByEnding(running, clock.seconds());
  }
  if (!less(before, after)) return { hold: 0n, monthly: ZERO };
  return { hold: hold > 0n ? hold : 0n, monthly: minus(after, before) };
}

/** The reservation of a change of a VM. */
export type HeldResources = Pick<VmReservation, 'resources' | 'ipv4' | 'ipv6' | 'price' | 'listed' | 'hold' | 'monthly'>;

/** A change that reserves only credit. */
export function heldCreditOnly({ resources, price, listed }: ModelVm, hold = 0n): HeldResources {
  const monthly = hold > 0n ? price : ZERO;
  return { resources: { ...resources, cores: 0, mem: 0, disk: 0, storage: null }, ipv4: [], ipv6: [], price, listed, hold, monthly };
}

/** A removal reserves the resources and addresses of the VM until it ends. */
export function heldInFull({ resources, ipv4, ipv6, price, listed }: ModelVm): HeldResources {
  return { resources, ipv4: [...ipv4], ipv6: [...ipv6], price, listed, hold: 0n, monthly: ZERO };
}

/** An interrupted change keeps its reservation until it is undone or finished, and blocks other changes of the VM. */
export function leaveInProgress(sim: Simulation, vm: ModelVm, delivery: string, takes: HeldResources): void {
  sim.openRequests.push({ delivery, key: undefined, account: vm.account, hanging: undefined, release: beginVmChange(sim, vm, takes) });
}

/** Begins a change of a VM in the model. @returns A function that ends it. */
export function beginVmChange(sim: Simulation, vm: ModelVm, takes: HeldResources): () => void {
  const { id, account, host, node } = vm;
  const taken = { id, account, host, node, sale: undefined, since: sim.clock.seconds(), ...takes };
  sim.model.reservations.push(taken);
  vm.changing = true;
  return () => {
    remove(sim.model.reservations, taken);
    vm.changing = false;
  };
}

/** Returns the provider's operation that resizes a VM. */
export function resizeOperation(
  { client }: Simulation,
  { id }: ModelVm,
  resources: Partial<Resources>,
  allowFallbackIPs: boolean,
): () => Promise<unknown> {
  return () => client.service().vms.resize(id, { resources, allowFallbackIPs });
}

/** The sale whose prices apply after a resize. */
function lastingSale({ sale }: ModelVm): ModelSale | undefined {
  return sale?.upgradable ? sale : undefined;
}

/** The price of a VM with other resources at the current list prices. */
export function priceWith({ model, clock }: Simulation, vm: ModelVm, to: Resources): Pick<ModelVm, 'price' | 'listed'> {
  const listed = listedAt(model, vm.host, clock.now());
  return { listed, price: priceOf(listed, to, lastingSale(vm)?.prices.get(vm.host)) };
}

/** The resources of a resize, and its price when the service reserved it. */
export interface Resized extends Pick<ModelVm, 'price' | 'listed'> {
  readonly to: Resources;
}

/** Applies a resize to the model. */
export async function applyResize(
  sim: Simulation,
  vm: ModelVm,
  { to, price, listed }: Resized,
  allowFallbackIPs: boolean,
  isAlone = true,
): Promise<void> {
  if (JSON.stringify(to) === JSON.stringify(vm.resources)) return settleModel(sim, vm.account);
  applySize(sim, vm, { to, price, listed });
  await applyAddresses(sim, vm, allowFallbackIPs, isAlone);
}

/** Applies a resize to the model, but not to its addresses. */
export function applySize(sim: Simulation, vm: ModelVm, { to, price, listed }: Resized): void {
  const now = sim.clock.seconds();
  settleModel(sim, vm.account);
  vm.sale = lastingSale(vm);
  vm.resources = to;
  vm.price = price;
  vm.listed = listed;
  const running = runningSegment(vm);
  if (!running) return;
  running.stop = now;
  vm.segments.push({ type: 'UP-DOWNGRADE', start: now, stop: null, price });
}

export function resizeRefusal(
  { model, clock }: Simulation,
  vm: ModelVm,
  {
    to,
    price,
    allowFallbackIPs,
    isTooExpensive = false,
  }: { to: Resources; price: ModelVm['price']; allowFallbackIPs: boolean; isTooExpensive?: boolean },
): Refused | undefined {
  if (vm.state === 'removed' || vm.changing || vm.abuse.status === 'BLOCKED') return wrongState;
  const from = vm.resources;
  if (JSON.stringify(to) === JSON.stringify(from)) return undefined;
  const host = hostOf(vm.host);
  if (to.cores > host.ranges.cores.max || to.backup_slots < vm.backups.length) return invalid;
  const more = {
    cores: to.cores - from.cores,
    mem: to.mem - from.mem,
    disk: to.disk - from.disk,
    storage: (to.storage ?? 0) - (from.storage ?? 0),
  };
  const node = host.nodes.find(({ name }) => name === vm.node);
  if (!node || !hasRoom(model, node, more)) return noRoom;
  const addressRequest = { account: vm.account, datacenter: host.datacenter, allowFallbackIPs };
  if (to.ips > from.ips && freeAddresses(model, addressRequest, 4) < to.ips - from.ips) return noRoom;
  if (isTooExpensive) return priceTooHigh;
  const running = runningSegment(vm);
  if (!running || !less(vm.price, price)) return undefined;
  const now = clock.seconds();
  return creditFits(model, vm.account, holdFrom(price, now) - freedByEnding(running, now), now) ? undefined : noCredit;
}

/** Reads the addresses of a resized VM from the store, because the provider's operation does not return them. A VM never exchanges addresses. */
async function applyAddresses(sim: Simulation, vm: ModelVm, allowFallbackIPs: boolean, isAlone: boolean): Promise<void> {
  const rows = await sim.client.store().read((db) => db.selectFrom('ip_addresses').select('address').where('vm_id', '=', vm.id).execute());
  const has = rows.map(({ address }) => address).filter((address) => !address.includes(':'));
  expect(has).toHaveLength(vm.resources.ips);
  const before = new Set(vm.ipv4);
  const further = has.filter((address) => !before.has(address));
  expect(further).toHaveLength(Math.max(0, has.length - before.size));
  const addressRequest = { account: vm.account, datacenter: hostOf(vm.host).datacenter, allowFallbackIPs };
  expectGoodAddresses(sim, addressRequest, 4, further, further.length);
  if (isAlone) expectOwnAddressesFirst(sim, addressRequest, 4, further);
  vm.ipv4.splice(0, vm.ipv4.length, ...has);
  if (vm.state === 'running') for (const address of further) vm.unusedIps.add(address);
  for (const address of before) if (!has.includes(address)) forgetAddress(vm, address);
}

/** A VM no longer has an address. */
export function forgetAddress(vm: ModelVm, address: string): void {
  vm.names.delete(address);
  vm.unusedIps.delete(address);
}

/** Stops, starts or removes a VM. */
export async function changeRandomVm(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const vm = dice.pickAny(model.vms.slice(-25));
  if (!vm) return buyVm(sim);
  const { action } = dice.weighted([
    { weight: 4, action: 'stop' as const },
    { weight: 5, action: 'start' as const },
    { weight: 2, action: 'remove' as const },
  ]);
  settleModel(sim, vm.account);
  sim.describe(`the provider: ${action} the ${vm.state} VM ${vm.id} of ${vm.account.name}`);
  const outcome = await runChange(sim, changeOperation(sim, vm, action), {
    refusal: changeRefusal(sim, vm, action),
    callsPort: true,
    isUndone: action === 'start',
  });
  // The store has an interrupted stop or removal already. Only the call of the hypervisor is missing.
  if (outcome === 'done' || (outcome === 'interrupted' && action !== 'start')) applyVmChange(sim, vm, action);
  if (outcome !== 'interrupted') return;
  if (action === 'start') leaveInProgress(sim, vm, 'startVm', heldCreditOnly(vm, holdFrom(vm.price, sim.clock.seconds())));
  if (action === 'stop') leaveInProgress(sim, vm, 'stopVm', heldCreditOnly(vm));
  if (action === 'remove') leaveInProgress(sim, vm, 'removeVm', heldInFull(vm));
}

export type VmChange = 'stop' | 'start' | 'remove';

/** Returns the provider's operation that stops, starts or removes a VM. */
export function changeOperation({ client }: Simulation, { id }: ModelVm, action: VmChange): () => Promise<void> {
  return () => client.service().vms[action](id);
}

/** Applies a stop, start or removal to the model. */
export function applyVmChange(sim: Simulation, vm: ModelVm, action: VmChange, isByProvider = true): void {
  const now = sim.clock.seconds();
  settleModel(sim, vm.account);
  const running = runningSegment(vm);
  if (running) running.stop = now;
  if (action === 'start') vm.unusedIps.clear();
  if (action === 'start') vm.segments.push({ type: 'BILLINGRESTART', start: now, stop: null, price: vm.price });
  vm.isHeld = action === 'stop' && isByProvider;
  vm.state = ({ stop: 'stopped', start: 'running', remove: 'removed' } as const)[action];
}

function changeRefusal({ model, clock }: Simulation, vm: ModelVm, action: VmChange): Refused | undefined {
  if (vm.state === 'removed' || vm.changing) return wrongState;
  if (action === 'remove') return undefined;
  if (action === 'stop') return vm.state === 'stopped' ? wrongState : undefined;
  if (vm.state === 'running' || vm.abuse.status === 'BLOCKED') return wrongState;
  return creditFits(model, vm.account, holdFrom(vm.price, clock.seconds()), clock.seconds()) ? undefined : noCredit;
}
