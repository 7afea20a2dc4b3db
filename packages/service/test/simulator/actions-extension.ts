/** What resellers do through the extension: they change, stop and delete their own VMs, cancel domains and order servers. */
import { expect } from 'vitest';

import { registerDomain } from './actions-domain.ts';
import { serverOrdered } from './actions-server.ts';
import { begin, priceAfter, resizeRefusal, someChange, takenByResize, takesAll, takesOnly, vmChanged, vmResized } from './actions-vm.ts';
import { noCredit, notFound, portAway, priceTooHigh, send, wrongState } from './delivery.ts';
import type { Prospect, Refused } from './delivery.ts';
import { cents, numberOfCents, over, times, units } from './fraction.ts';
import { creditFits, holdFrom, iso } from './model-billing.ts';
import { settleModel } from './model-due.ts';
import { ownDomain } from './model.ts';
import type { ModelAccount, ModelServer, ModelVm, Resources } from './model.ts';
import { isAbove, someGuard } from './price-guard.ts';
import type { PriceGuard } from './price-guard.ts';
import { buyVm } from './purchases.ts';
import type { Simulation } from './simulation.ts';

/** A reseller manages one of its VMs, and sometimes one that is deleted. */
export async function manageVm(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const vm = dice.pickAny(model.vms.slice(-25));
  if (!vm) return buyVm(sim);
  const manage = dice.weighted([
    { weight: 4, run: () => setPower(sim, vm, 'stop') },
    { weight: 5, run: () => setPower(sim, vm, 'start') },
    { weight: 2, run: () => setPower(sim, vm, 'restart') },
    { weight: 5, run: () => changeVm(sim, vm) },
    { weight: 1, run: () => resetPassword(sim, vm) },
    { weight: 2, run: () => deleteVm(sim, vm) },
  ]);
  return manage.run();
}

type Mode = 'start' | 'stop' | 'restart';

const LEADS_TO: Readonly<Record<Mode, ModelVm['state'] | undefined>> = { start: 'running', stop: 'stopped', restart: undefined };

function setPower(sim: Simulation, vm: ModelVm, mode: Mode): Promise<void> {
  return send(sim, {
    account: vm.account,
    id: 'setVmPower',
    sent: { path: { vmid: String(vm.id) }, form: { mode } },
    otherForm: { mode: mode === 'stop' ? 'start' : 'stop' },
    prospect(): Prospect<'setVmPower'> {
      if (vm.state === LEADS_TO[mode] && !vm.changing) return nothingToDo;
      const refusal = powerRefusal(sim, vm, mode);
      if (mode === 'stop') return finished(sim, vm, { refusal, delivery: 'stopVm', does: 'stop' });
      if (mode === 'restart') return { ...undone, refusal, delivery: 'restartVm', reserve: () => unbilled(sim, vm) };
      const hold = holdFrom(vm.price, sim.clock.seconds());
      return {
        ...undone,
        refusal,
        delivery: 'startVm',
        portFailure: portAway,
        reserve() {
          const end = begin(sim, vm, takesOnly(vm, hold));
          return {
            release: end,
            confirm() {
              end();
              vmChanged(sim, vm, 'start', false);
            },
          };
        },
      };
    },
  });
}

const undone = { asks: 'a port, and one to undo it' } as const;
const nothingToDo = { asks: 'no port', refusal: undefined, reserve: () => ({ release: () => {}, confirm: () => {} }) } as const;

function powerRefusal({ model, clock }: Simulation, vm: ModelVm, mode: Mode): Refused | undefined {
  if (vm.state === 'removed') return notFound;
  if (vm.changing || (vm.state === 'stopped') !== (mode === 'start') || (mode === 'start' && vm.isHeld)) return wrongState;
  if (mode !== 'start') return undefined;
  return creditFits(model, vm.account, holdFrom(vm.price, clock.seconds()), clock.seconds()) ? undefined : noCredit;
}

/** A change inside a VM, which is not billed. */
function unbilled(sim: Simulation, vm: ModelVm) {
  const end = begin(sim, vm, takesOnly(vm));
  return { release: end, confirm: end };
}

/** A change that takes away: billing ends at once, and the hypervisor is asked until it succeeds. */
function finished<Id extends 'setVmPower' | 'deleteVm'>(
  sim: Simulation,
  vm: ModelVm,
  { refusal, delivery, does }: { refusal: Refused | undefined; delivery: string; does: 'stop' | 'remove' },
): Prospect<Id> {
  return {
    asks: 'a port, until it succeeds',
    refusal,
    delivery,
    portFailure: portAway,
    reserve() {
      vmChanged(sim, vm, does, false);
      const end = begin(sim, vm, does === 'stop' ? takesOnly(vm) : takesAll(vm));
      return { release: end, confirm: end };
    },
  };
}

function deleteVm(sim: Simulation, vm: ModelVm): Promise<void> {
  return send(sim, {
    account: vm.account,
    id: 'deleteVm',
    sent: { path: { vmid: String(vm.id) } },
    prospect: () =>
      finished(sim, vm, {
        refusal: vm.state === 'removed' ? notFound : vm.changing ? wrongState : undefined,
        delivery: 'removeVm',
        does: 'remove',
      }),
  });
}

function resetPassword(sim: Simulation, vm: ModelVm): Promise<void> {
  return send(sim, {
    account: vm.account,
    id: 'resetVmPassword',
    sent: { path: { vmid: String(vm.id) } },
    prospect: () => ({
      ...undone,
      refusal: vm.state === 'removed' ? notFound : vm.changing || vm.state !== 'running' ? wrongState : undefined,
      delivery: 'resetPassword',
      reserve() {
        const { release } = unbilled(sim, vm);
        return {
          release,
          confirm(reply) {
            release();
            expect(sim.world.hypervisor.vms.get(vm.id)?.password).toBe(reply.data().password);
          },
        };
      },
    }),
  });
}

function changeVm(sim: Simulation, vm: ModelVm): Promise<void> {
  const { dice } = sim;
  const allowFallbackIPs = dice.chance(0.3);
  const { backup_slots, network_speed, ...others } = someChange(dice, vm);
  const change: Partial<Resources> = {
    ...others,
    // The least that the form takes.
    ...(backup_slots !== undefined && { backup_slots: Math.max(2, backup_slots) }),
    ...(network_speed !== undefined && { network_speed: Math.max(1000, network_speed) }),
  };
  const { storage, ...form } = change;
  const guard = someGuard(dice, priceAfter(sim, vm, { ...vm.resources, ...change }).price);
  return send(sim, {
    account: vm.account,
    id: 'changeVm',
    sent: {
      path: { vmid: String(vm.id) },
      form: {
        ...form,
        ...(storage !== undefined && { storage: storage ?? 0 }),
        ...(allowFallbackIPs && { allowFallbackIPs }),
        ...guard,
      },
    },
    otherForm: { ...form, disk: 200 },
    prospect(): Prospect<'changeVm'> {
      const to = { ...vm.resources, ...change };
      const { price, listed } = priceAfter(sim, vm, to);
      const isTooDear = isAbove(price, guard);
      const refusal = vm.state === 'removed' ? notFound : resizeRefusal(sim, vm, { to, price, allowFallbackIPs, isTooDear });
      if (refusal === undefined && JSON.stringify(to) === JSON.stringify(vm.resources)) return nothingToDo;
      return {
        ...undone,
        refusal,
        delivery: 'resizeVm',
        portFailure: portAway,
        async reserve() {
          const end = begin(sim, vm, await takenByResize(sim, vm, to));
          return {
            release: end,
            async confirm(reply) {
              end();
              const { newConfig, pricings } = reply.data();
              expect(pricings).toEqual({
                monthly: numberOfCents(cents(price)),
                monthly_gross: numberOfCents(cents(over(times(price, 119), 100))),
              });
              await vmResized(sim, vm, { to, price, listed }, allowFallbackIPs, false);
              expect(newConfig).toEqual({ ...to, network_speed: String(to.network_speed), backup_slots: String(to.backup_slots) });
            },
          };
        },
      };
    },
  });
}

/** A reseller cancels a domain. */
export function deleteDomain(sim: Simulation): Promise<void> {
  const domain = sim.dice.pickAny([...sim.model.domains.values()]);
  if (!domain) return registerDomain(sim);
  const { account, name } = domain;
  return send(sim, {
    account,
    id: 'deleteDomain',
    sent: { path: { domain: name } },
    prospect() {
      const found = ownDomain(sim.model, account, name);
      return {
        asks: 'a port, until it succeeds',
        refusal: !found ? notFound : found.state !== 'registered' || found.terminated ? wrongState : undefined,
        delivery: 'terminateDomain',
        subject: name,
        portFailure: portAway,
        reserve() {
          const present = ownDomain(sim.model, account, name);
          if (!present) throw new Error(`The model has no domain ${name}.`);
          present.terminated = true;
          present.state = 'changing';
          const release = () => void (present.state = 'registered');
          return {
            release,
            confirm(reply) {
              release();
              expect(reply.data()).toEqual({ domain: name, termination_date: iso(present.expires) });
            },
          };
        },
      };
    },
  });
}

/** A reseller orders a server of the market. */
export async function purchaseServer(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const server = dice.chance(0.8) ? dice.pickAny(model.servers.filter(({ state }) => state === 'offered')) : dice.pickAny(model.servers);
  if (!server) return sim.say('the market is empty');
  const account = dice.pick(model.accounts);
  const form = someGuard(dice, server.price);
  return send(sim, {
    account,
    id: 'purchaseDedicatedServer',
    sent: { path: { identifier: server.id }, form },
    prospect: () => ({
      asks: 'no port',
      refusal: purchaseRefusal(sim, server, account, form),
      reserve: () => ({
        release: () => {},
        confirm(reply) {
          expect(reply.data()).toEqual({ identifier: server.id });
          serverOrdered(server, account, sim.clock.seconds(), sim.world.fleet);
        },
      }),
    }),
  });
}

function purchaseRefusal(sim: Simulation, server: ModelServer, account: ModelAccount, form: PriceGuard): Refused | undefined {
  const { model, clock } = sim;
  if (server.account) settleModel(sim, server.account);
  if (server.state !== 'offered') return server.account === account && server.state !== 'ended' ? wrongState : notFound;
  if (isAbove(server.price, form)) return priceTooHigh;
  return creditFits(model, account, units(server.price), clock.seconds()) ? undefined : noCredit;
}
