/** What resellers and the provider do with VMs that there are. */
import { expect } from 'vitest';

import { osImages } from './catalogue.ts';
import { invalid, noCredit, noRoom, notFound, priceTooHigh, send, wrongState } from './delivery.ts';
import type { Refused } from './delivery.ts';
import { less } from './fraction.ts';
import { creditFits, freedByEnding, holdFrom, runningStretch } from './model-billing.ts';
import { settleModel } from './model-due.ts';
import { listedAt, priceOf } from './model-prices.ts';
import { freeAddresses, hasRoom, hostOf } from './model-room.ts';
import type { ModelSale, ModelVm, Resources, VmReservation } from './model.ts';
import { remove } from './model.ts';
import { tryChange } from './provider-act.ts';
import { buyVm, expectGoodAddresses, expectOwnAddressesFirst, someResources } from './purchases.ts';
import type { Dice } from './seeded-random.ts';
import type { Simulation } from './simulation.ts';

export async function reinstallVm(sim: Simulation): Promise<void> {
  const vm = sim.dice.pickAny(sim.model.vms);
  if (!vm) return buyVm(sim);
  const os = sim.dice.chance(0.5) ? sim.dice.pick(osImages) : undefined;
  const other = osImages.find((one) => one !== os) ?? '';
  return send(sim, {
    account: vm.account,
    id: 'reinstallVm',
    sent: { path: { vmid: String(vm.id) }, form: os === undefined ? {} : { os } },
    otherForm: { os: other },
    prospect() {
      const installed = os ?? vm.os;
      return {
        asks: 'a port',
        refusal: vm.state === 'removed' ? notFound : vm.state === 'stopped' || vm.changing ? wrongState : undefined,
        reserve() {
          vm.changing = true;
          return {
            release: () => void (vm.changing = false),
            confirm(reply) {
              expect(reply.message).toContain(installed);
              vm.os = installed;
              vm.changing = false;
            },
          };
        },
      };
    },
  });
}

export async function resizeSomeVm(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const vm = dice.pickAny(model.vms);
  if (!vm) return buyVm(sim);
  await resize(sim, vm, someChange(dice, vm), dice.chance(0.3));
}

/** Other resources that a VM may be given. Its disks do not shrink. */
export function someChange(dice: Dice, { host, resources }: ModelVm): Partial<Resources> {
  const { storage, ...wanted } = someResources(dice, hostOf(host));
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
  const refusal = resizeRefusal(sim, vm, { to, price: priceAfter(sim, vm, to).price, allowFallbackIPs });
  sim.say(`the provider resizes the ${vm.state} VM ${vm.id} of ${vm.account.name}: ${JSON.stringify(change)}`);
  const asks = JSON.stringify(to) !== JSON.stringify(vm.resources);
  const outcome = await tryChange(sim, resizing(sim, vm, change, allowFallbackIPs), { refusal, asks, gives: true });
  if (outcome === 'done') await vmResized(sim, vm, { to, ...priceAfter(sim, vm, to) }, allowFallbackIPs);
  if (outcome === 'interrupted') await leaveResize(sim, vm, to);
}

/** A resize that could not be taken back keeps what it would have taken, until it is. */
async function leaveResize(sim: Simulation, vm: ModelVm, to: Resources): Promise<void> {
  leave(sim, vm, 'resizeVm', await takenByResize(sim, vm, to));
}

/** The resources, addresses and credit that a resize takes until it has ended. */
export async function takenByResize(sim: Simulation, vm: ModelVm, to: Resources): Promise<Takes> {
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
  const { price, listed } = priceAfter(sim, vm, to);
  const now = sim.clock.seconds();
  const running = runningStretch(vm);
  const hold = running && less(vm.price, price) ? holdFrom(price, now) - freedByEnding(running, now) : 0n;
  return { resources: more, ipv4: has.filter((address) => !vm.ipv4.includes(address)), ipv6: [], price, listed, hold };
}

/** What a change of a VM takes while it is under way. */
export type Takes = Pick<VmReservation, 'resources' | 'ipv4' | 'ipv6' | 'price' | 'listed' | 'hold'>;

/** A change that takes nothing but credit. */
export function takesOnly({ resources, price, listed }: ModelVm, hold = 0n): Takes {
  return { resources: { ...resources, cores: 0, mem: 0, disk: 0, storage: null }, ipv4: [], ipv6: [], price, listed, hold };
}

/** A removal keeps what the VM had. */
export function takesAll({ resources, ipv4, ipv6, price, listed }: ModelVm): Takes {
  return { resources, ipv4: [...ipv4], ipv6: [...ipv6], price, listed, hold: 0n };
}

/** An interrupted change keeps its reservation until it is undone or finished, and blocks other changes of the VM. */
function leave(sim: Simulation, vm: ModelVm, what: string, takes: Takes): void {
  sim.underWay.push({ what, key: undefined, account: vm.account, hanging: undefined, release: begin(sim, vm, takes) });
}

/** Begins a change of a VM. @returns Ends it. */
export function begin(sim: Simulation, vm: ModelVm, takes: Takes): () => void {
  const { id, account, host, node } = vm;
  const taken = { id, account, host, node, sale: undefined, since: sim.clock.seconds(), ...takes };
  sim.model.reservations.push(taken);
  vm.changing = true;
  return () => {
    remove(sim.model.reservations, taken);
    vm.changing = false;
  };
}

/** What the provider does to resize a VM. */
export function resizing(
  { client }: Simulation,
  { id }: ModelVm,
  resources: Partial<Resources>,
  allowFallbackIPs: boolean,
): () => Promise<unknown> {
  return () => client.service().vms.resize(id, { resources, allowFallbackIPs });
}

/** Sale prices last where the sale is upgradable. */
function lastingSale({ sale }: ModelVm): ModelSale | undefined {
  return sale?.upgradable ? sale : undefined;
}

/** The price of a VM with other resources, at the list prices of now. */
export function priceAfter({ model, clock }: Simulation, vm: ModelVm, to: Resources): Pick<ModelVm, 'price' | 'listed'> {
  const listed = listedAt(model, vm.host, clock.now());
  return { listed, price: priceOf(listed, to, lastingSale(vm)?.prices.get(vm.host)) };
}

/** The resources of a resize, and the price of the time of its reservation. */
export interface Resized extends Pick<ModelVm, 'price' | 'listed'> {
  readonly to: Resources;
}

/** A VM has other resources now. */
export async function vmResized(
  sim: Simulation,
  vm: ModelVm,
  { to, price, listed }: Resized,
  allowFallbackIPs: boolean,
  isAlone = true,
): Promise<void> {
  const now = sim.clock.seconds();
  settleModel(sim, vm.account);
  if (JSON.stringify(to) === JSON.stringify(vm.resources)) return;
  vm.sale = lastingSale(vm);
  vm.resources = to;
  vm.price = price;
  vm.listed = listed;
  await followAddresses(sim, vm, allowFallbackIPs, isAlone);
  const running = runningStretch(vm);
  if (!running) return;
  running.stop = now;
  vm.stretches.push({ type: 'UP-DOWNGRADE', start: now, stop: null, price });
}

export function resizeRefusal(
  { model, clock }: Simulation,
  vm: ModelVm,
  {
    to,
    price,
    allowFallbackIPs,
    isTooDear = false,
  }: { to: Resources; price: ModelVm['price']; allowFallbackIPs: boolean; isTooDear?: boolean },
): Refused | undefined {
  if (vm.state === 'removed' || vm.changing) return wrongState;
  const from = vm.resources;
  if (JSON.stringify(to) === JSON.stringify(from)) return undefined;
  const host = hostOf(vm.host);
  if (to.cores > host.ranges.cores.max) return invalid;
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
  if (isTooDear) return priceTooHigh;
  const running = runningStretch(vm);
  if (!running || !less(vm.price, price)) return undefined;
  const now = clock.seconds();
  return creditFits(model, vm.account, holdFrom(price, now) - freedByEnding(running, now), now) ? undefined : noCredit;
}

/** No answer tells which addresses a resized VM has, so the store is asked; the ones that it keeps are the ones that it had. */
async function followAddresses(sim: Simulation, vm: ModelVm, allowFallbackIPs: boolean, isAlone: boolean): Promise<void> {
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
}

/** Stops, starts or removes a VM. */
export async function changeSomeVm(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const vm = dice.pickAny(model.vms.slice(-25));
  if (!vm) return buyVm(sim);
  const { does } = dice.weighted([
    { weight: 4, does: 'stop' as const },
    { weight: 5, does: 'start' as const },
    { weight: 2, does: 'remove' as const },
  ]);
  settleModel(sim, vm.account);
  sim.say(`the provider has the ${vm.state} VM ${vm.id} of ${vm.account.name} ${does}`);
  const outcome = await tryChange(sim, changing(sim, vm, does), {
    refusal: changeRefusal(sim, vm, does),
    asks: true,
    gives: does === 'start',
  });
  // What takes away is done in the store at once, and left for the hypervisor alone.
  if (outcome === 'done' || (outcome === 'interrupted' && does !== 'start')) vmChanged(sim, vm, does);
  if (outcome !== 'interrupted') return;
  if (does === 'start') leave(sim, vm, 'startVm', takesOnly(vm, holdFrom(vm.price, sim.clock.seconds())));
  if (does === 'stop') leave(sim, vm, 'stopVm', takesOnly(vm));
  if (does === 'remove') leave(sim, vm, 'removeVm', takesAll(vm));
}

export type VmChange = 'stop' | 'start' | 'remove';

/** Returns the provider's operation that stops, starts or removes a VM. */
export function changing({ client }: Simulation, { id }: ModelVm, does: VmChange): () => Promise<void> {
  return () => client.service().vms[does](id);
}

/** A VM was stopped, started or removed. */
export function vmChanged(sim: Simulation, vm: ModelVm, does: VmChange, isByProvider = true): void {
  const now = sim.clock.seconds();
  settleModel(sim, vm.account);
  const running = runningStretch(vm);
  if (running) running.stop = now;
  if (does === 'start') vm.stretches.push({ type: 'BILLINGRESTART', start: now, stop: null, price: vm.price });
  vm.isHeld = does === 'stop' && isByProvider;
  vm.state = ({ stop: 'stopped', start: 'running', remove: 'removed' } as const)[does];
}

function changeRefusal({ model, clock }: Simulation, vm: ModelVm, does: VmChange): Refused | undefined {
  if (vm.state === 'removed' || vm.changing) return wrongState;
  if (does === 'remove') return undefined;
  if (does === 'stop') return vm.state === 'stopped' ? wrongState : undefined;
  if (vm.state === 'running') return wrongState;
  return creditFits(model, vm.account, holdFrom(vm.price, clock.seconds()), clock.seconds()) ? undefined : noCredit;
}
