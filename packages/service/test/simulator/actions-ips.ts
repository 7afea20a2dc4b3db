/** Resellers buy and release addresses of their VMs, and read the list. */
import { expect } from 'vitest';

import { applyResize, beginVmChange, heldByResize, priceWith, resizeRefusal } from './actions-vm.ts';
import { numberOf } from './fraction.ts';
import { hostOf } from './model-room.ts';
import { grossShown, rateAt } from './model-vat.ts';
import type { ModelAccount, ModelVm, Resources } from './model.ts';
import { isAbove, randomGuard } from './price-guard.ts';
import { buyVm } from './purchases.ts';
import { invalid, notFound, portAway, send, wrongState } from './requests.ts';
import type { Prediction } from './requests.ts';
import type { Simulation } from './simulation.ts';

const CALLS_PORT = { portUse: 'a port, and one to undo it', delivery: 'resizeVm', portFailure: portAway } as const;

export async function changeIps(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const vm = dice.pickAny(model.vms.slice(-25));
  if (!vm) return buyVm(sim);
  return dice.chance(0.5) || vm.state === 'removed' ? buyIps(sim, vm) : releaseIp(sim, vm);
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
