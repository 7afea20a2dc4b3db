/** Resellers buy, move and release addresses of their VMs, and read the list. */
import { expect } from 'vitest';

import {
  applyResize,
  applySize,
  beginVmChange,
  forgetAddress,
  heldByResize,
  moreHeldByAll,
  priceWith,
  resizeRefusal,
} from './actions-vm.ts';
import type { Resized } from './actions-vm.ts';
import { numberOf, plus, ZERO } from './fraction.ts';
import { creditFits } from './model-billing.ts';
import { hostOf } from './model-room.ts';
import { grossShown, rateAt } from './model-vat.ts';
import type { ModelAccount, ModelVm, Resources } from './model.ts';
import { isAbove, randomGuard } from './price-guard.ts';
import { buyVm } from './purchases.ts';
import { invalid, noCredit, notFound, portAway, priceTooHigh, send, wrongState } from './requests.ts';
import type { Prediction, Refused } from './requests.ts';
import type { Simulation } from './simulation.ts';

const CALLS_PORT = { portUse: 'a port, and one to undo it', delivery: 'resizeVm', portFailure: portAway } as const;

export async function changeIps(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const latest = model.vms.slice(-25);
  const vm = dice.pickAny(latest);
  if (!vm) return buyVm(sim);
  if (vm.state === 'removed' || dice.chance(0.4)) return buyIps(sim, vm);
  // Few VMs have an address that can move.
  const movable = latest.filter(
    (from) => isFree(from) && from.ipv4.length > 1 && latest.some((to) => isFree(to) && isMoveAllowed(from, to)),
  );
  return dice.chance(0.3) ? releaseIp(sim, vm) : moveIp(sim, dice.pickAny(movable) ?? vm);
}

function buyIps(sim: Simulation, vm: ModelVm): Promise<void> {
  const { dice } = sim;
  const count = dice.integer(1, 3);
  const allowFallbackIPs = dice.chance(0.3);
  const withMore = (): Resources => ({ ...vm.resources, ips: vm.resources.ips + count });
  const guard = randomGuard(dice, priceWith(sim, vm, withMore()).price);
  const form = { vmid: String(vm.id), count, ...(allowFallbackIPs && { allowFallbackIPs }), ...guard };
  return send(sim, {
    account: vm.account,
    id: 'buyIps',
    sent: { form },
    otherForm: { ...form, count: count + 1 },
    predict(): Prediction<'buyIps'> {
      const to = withMore();
      const priced = priceWith(sim, vm, to);
      const isTooExpensive = isAbove(priced.price, guard);
      const isTooMany = vm.state === 'removed' || to.ips > hostOf(vm.host).ranges.ips.max;
      const refusal = isTooMany ? invalid : resizeRefusal(sim, vm, { to, price: priced.price, allowFallbackIPs, isTooExpensive });
      const rate = rateAt(sim.model, vm.account, sim.clock.seconds());
      return {
        ...CALLS_PORT,
        refusal,
        async reserve() {
          const end = beginVmChange(sim, vm, await heldByResize(sim, vm, to));
          return {
            release: end,
            async confirm(reply) {
              end();
              const before = new Set(vm.ipv4);
              await applyResize(sim, vm, { to, ...priced }, allowFallbackIPs, false);
              const { vmid, list, pricings } = reply.data();
              expect([vmid, list.map(({ ip_address }) => ip_address).toSorted()]).toEqual([
                vm.id,
                vm.ipv4.filter((address) => !before.has(address)).toSorted(),
              ]);
              expect(pricings).toEqual({ monthly: numberOf(priced.price), monthly_gross: grossShown(priced.price, rate) });
            },
          };
        },
      };
    },
  });
}

function releaseIp(sim: Simulation, vm: ModelVm): Promise<void> {
  // The engines may list the addresses in another order.
  const address = sim.dice.pick(vm.ipv4.toSorted());
  return send(sim, {
    account: vm.account,
    id: 'releaseIp',
    sent: { path: { ip_address: address } },
    predict(): Prediction<'releaseIp'> {
      const to = { ...vm.resources, ips: vm.resources.ips - 1 };
      const priced = priceWith(sim, vm, to);
      const refusal =
        vm.state === 'removed'
          ? notFound
          : address === vm.firstIp
            ? wrongState
            : resizeRefusal(sim, vm, { to, price: priced.price, allowFallbackIPs: false });
      return {
        ...CALLS_PORT,
        refusal,
        async reserve() {
          const end = beginVmChange(sim, vm, await heldByResize(sim, vm, to));
          return {
            release: end,
            async confirm(reply) {
              end();
              await applyResize(sim, vm, { to, ...priced }, false, false);
              expect(vm.ipv4).not.toContain(address);
              expect(reply.data()).toMatchObject({ ip_address: address, vmid: vm.id, pricings: { monthly: numberOf(priced.price) } });
            },
          };
        },
      };
    },
  });
}

/** Moves an address to another VM: mostly to one that can have it. */
function moveIp(sim: Simulation, from: ModelVm): Promise<void> {
  const { dice, model } = sim;
  const extra = from.ipv4.filter((one) => one !== from.firstIp).toSorted();
  const address = dice.chance(0.9) ? (dice.pickAny(extra) ?? from.firstIp) : from.firstIp;
  const latest = model.vms.slice(-25);
  const to = dice.pickAny(dice.chance(0.9) ? latest.filter((vm) => isFree(vm) && isMoveAllowed(from, vm)) : latest) ?? from;
  const change = (vm: ModelVm, ips: number): Resized => {
    const resources = { ...vm.resources, ips: vm.resources.ips + ips };
    return { to: resources, ...priceWith(sim, vm, resources) };
  };
  const guard = randomGuard(dice, plus(change(from, -1).price, change(to, 1).price));
  const form = { vmid: String(to.id), ...guard };
  return send(sim, {
    account: from.account,
    id: 'assignIp',
    sent: { path: { ip_address: address }, form },
    otherForm: { ...form, vmid: String(from.id) },
    predict(): Prediction<'assignIp'> {
      const [less, more] = [change(from, -1), change(to, 1)];
      const rate = rateAt(model, from.account, sim.clock.seconds());
      return {
        // A failed call for the other VM is enqueued, and a test of its own repeats it.
        portUse: 'a port',
        delivery: 'assignIp',
        portFailure: portAway,
        refusal: moveRefusal(sim, { address, from, to, less, more, isTooExpensive: isAbove(plus(less.price, more.price), guard) }),
        async reserve() {
          const held = moreHeldByMove(sim, { from, to, less, more });
          const endFrom = beginVmChange(sim, from, { ...(await heldByResize(sim, from, less.to)), ...NOTHING_HELD });
          const endTo = beginVmChange(sim, to, { ...(await heldByResize(sim, to, more.to)), ...held });
          const end = () => [endFrom(), endTo()];
          return {
            release: end,
            async confirm(reply) {
              end();
              applySize(sim, from, less);
              applySize(sim, to, more);
              from.ipv4.splice(from.ipv4.indexOf(address), 1);
              forgetAddress(from, address);
              to.ipv4.push(address);
              if (to.state === 'running') to.unusedIps.add(address);
              expect(reply.data()).toEqual({
                ip_address: address,
                vmid: to.id,
                pricings: { monthly: numberOf(more.price), monthly_gross: grossShown(more.price, rate) },
                from_vmid: from.id,
                from_pricings: { monthly: numberOf(less.price), monthly_gross: grossShown(less.price, rate) },
              });
            },
          };
        },
      };
    },
  });
}

function isFree({ state, changing }: ModelVm): boolean {
  return state !== 'removed' && changing !== true;
}

function isMoveAllowed(from: ModelVm, to: ModelVm): boolean {
  return (
    to !== from &&
    to.account === from.account &&
    to.state !== 'removed' &&
    hostOf(to.host).datacenter === hostOf(from.host).datacenter &&
    to.resources.ips < hostOf(to.host).ranges.ips.max
  );
}

interface Move {
  readonly address: string;
  readonly from: ModelVm;
  readonly to: ModelVm;
  readonly less: Resized;
  readonly more: Resized;
  readonly isTooExpensive: boolean;
}

const NOTHING_HELD = { hold: 0n, monthly: ZERO };

/** A move needs what both VMs together cost more. */
function moreHeldByMove(sim: Simulation, { from, to, less, more }: Pick<Move, 'from' | 'to' | 'less' | 'more'>) {
  return moreHeldByAll(sim, [
    { vm: from, price: less.price },
    { vm: to, price: more.price },
  ]);
}

function moveRefusal(sim: Simulation, { address, from, to, less, more, isTooExpensive }: Move): Refused | undefined {
  if (from.state === 'removed') return notFound;
  if (address === from.firstIp) return wrongState;
  if (to === from) return wrongState;
  if (!isMoveAllowed(from, to)) return invalid;
  for (const vm of [from, to]) {
    if (vm.changing || vm.abuse.status === 'BLOCKED') return wrongState;
    if (vm.resources.cores > hostOf(vm.host).ranges.cores.max) return invalid;
  }
  if (isTooExpensive) return priceTooHigh;
  const { hold: held } = moreHeldByMove(sim, { from, to, less, more });
  return held === 0n || creditFits(sim.model, from.account, held, sim.clock.seconds()) ? undefined : noCredit;
}

/** Compares the list of the addresses of an account. The API shows the new addresses of a change while it is in progress. */
export async function checkIps({ client, model }: Simulation, account: ModelAccount): Promise<void> {
  const { list } = (await client.call(account, 'listIps')).data();
  for (const { id, changing, state, ipv4, ipv6, firstIp } of model.vms) {
    const listed = list.filter(({ vmid }) => vmid === id);
    if (changing || state === 'removed' || listed.length === 0) continue;
    expect(listed.map(({ ip_address }) => ip_address).toSorted(), `addresses of VM ${id}`).toEqual([...ipv4, ...ipv6].toSorted());
    expect(listed[0], `first address of VM ${id}`).toMatchObject({ ip_address: firstIp, first: true });
  }
  const own = model.vms.filter((vm) => vm.account === account && vm.state !== 'removed').map(({ id }) => id);
  expect([...new Set(list.map(({ vmid }) => vmid))].toSorted(), `VMs with addresses of ${account.name}`).toEqual(own.toSorted());
}
