/** Operations of resellers that extend the specification: they manage their VMs, cancel domains and order servers. */
import { expect } from 'vitest';

import { registerDomain } from './actions-domain.ts';
import { applyServerOrder } from './actions-server.ts';
import {
  beginVmChange,
  priceWith,
  resizeRefusal,
  randomChange,
  heldByResize,
  heldInFull,
  heldCreditOnly,
  applyVmChange,
  applyResize,
} from './actions-vm.ts';
import { numberOf } from './fraction.ts';
import { creditFits, holdFrom, holdOfOrder, iso } from './model-billing.ts';
import { settleModel } from './model-jobs.ts';
import { grossShown, rateAt } from './model-vat.ts';
import { ownDomain } from './model.ts';
import type { ModelAccount, ModelServer, ModelSshKey, ModelVm, Resources } from './model.ts';
import { isAbove, randomGuard } from './price-guard.ts';
import type { PriceGuard } from './price-guard.ts';
import { buyVm } from './purchases.ts';
import { invalid, noCredit, notFound, portAway, priceTooHigh, removedOrBlocked, send, uncertain, wrongState } from './requests.ts';
import type { Prediction, Refused } from './requests.ts';
import type { Simulation } from './simulation.ts';

/** A reseller manages one of its VMs, sometimes a deleted one. */
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
    { weight: 1, run: () => bootFrom(sim, vm) },
    { weight: 1, run: () => monitor(sim, vm) },
    { weight: 2, run: () => deleteVm(sim, vm) },
    { weight: 2, run: () => editVm(sim, vm) },
  ]);
  return manage.run();
}

type Mode = 'start' | 'stop' | 'restart';

const STATE_AFTER: Readonly<Record<Mode, ModelVm['state'] | undefined>> = { start: 'running', stop: 'stopped', restart: undefined };

function setPower(sim: Simulation, vm: ModelVm, mode: Mode): Promise<void> {
  return send(sim, {
    account: vm.account,
    id: 'setVmPower',
    sent: { path: { vmid: String(vm.id) }, form: { mode } },
    otherForm: { mode: mode === 'stop' ? 'start' : 'stop' },
    predict(): Prediction<'setVmPower'> {
      if (vm.state === STATE_AFTER[mode] && !vm.changing && vm.abuse.status !== 'BLOCKED') return noChange;
      const refusal = powerRefusal(sim, vm, mode);
      if (mode === 'stop') return predictEnd(sim, vm, { refusal, delivery: 'stopVm', action: 'stop' });
      if (mode === 'restart') return { ...callsPort, refusal, delivery: 'restartVm', reserve: () => reserveRestart(sim, vm) };
      const hold = holdFrom(vm.price, sim.clock.seconds());
      return {
        ...callsPort,
        refusal,
        delivery: 'startVm',
        portFailure: portAway,
        reserve() {
          const end = beginVmChange(sim, vm, heldCreditOnly(vm, hold));
          return {
            release: end,
            confirm() {
              end();
              applyVmChange(sim, vm, 'start', false);
            },
          };
        },
      };
    },
  });
}

const callsPort = { portUse: 'a port, and one to undo it', portFailure: uncertain } as const;
const noChange = { portUse: 'no port', refusal: undefined, reserve: () => ({ release: () => {}, confirm: () => {} }) } as const;

function powerRefusal({ model, clock }: Simulation, vm: ModelVm, mode: Mode): Refused | undefined {
  if (vm.state === 'removed') return notFound;
  if (vm.abuse.status === 'BLOCKED') return wrongState;
  if (vm.changing || (vm.state === 'stopped') !== (mode === 'start') || (mode === 'start' && vm.isHeld)) return wrongState;
  if (mode !== 'start') return undefined;
  return creditFits(model, vm.account, holdFrom(vm.price, clock.seconds()), clock.seconds()) ? undefined : noCredit;
}

/** Reserves a change inside a VM, which does not affect billing. */
function reserveUnbilledChange(sim: Simulation, vm: ModelVm) {
  const end = beginVmChange(sim, vm, heldCreditOnly(vm));
  return { release: end, confirm: end };
}

function reserveRestart(sim: Simulation, vm: ModelVm) {
  const { release } = reserveUnbilledChange(sim, vm);
  return {
    release,
    confirm() {
      release();
      vm.unusedIps.clear();
    },
  };
}

/** Predicts the stop or removal of a VM: billing ends at once, and the service calls the hypervisor until it succeeds. */
function predictEnd<Id extends 'setVmPower' | 'deleteVm'>(
  sim: Simulation,
  vm: ModelVm,
  { refusal, delivery, action }: { refusal: Refused | undefined; delivery: string; action: 'stop' | 'remove' },
): Prediction<Id> {
  return {
    portUse: 'a port, until it succeeds',
    refusal,
    delivery,
    portFailure: portAway,
    reserve() {
      applyVmChange(sim, vm, action, false);
      const end = beginVmChange(sim, vm, action === 'stop' ? heldCreditOnly(vm) : heldInFull(vm));
      return { release: end, confirm: end };
    },
  };
}

function deleteVm(sim: Simulation, vm: ModelVm): Promise<void> {
  return send(sim, {
    account: vm.account,
    id: 'deleteVm',
    sent: { path: { vmid: String(vm.id) } },
    predict: () =>
      predictEnd(sim, vm, {
        refusal: vm.state === 'removed' ? notFound : vm.changing ? wrongState : undefined,
        delivery: 'removeVm',
        action: 'remove',
      }),
  });
}

function resetPassword(sim: Simulation, vm: ModelVm): Promise<void> {
  // Sometimes with a key, which may be that of another account.
  const keys = sim.dice.pick([vm.account, vm.account, sim.dice.pick(sim.model.accounts)]).sshKeys;
  const key = sim.dice.chance(0.5) ? sim.dice.pickAny(keys) : undefined;
  return send(sim, {
    account: vm.account,
    id: 'resetVmPassword',
    sent: { path: { vmid: String(vm.id) }, ...(key && { form: { ssh_key_id: key.id } }) },
    predict: () => ({
      ...callsPort,
      refusal: resetRefusal(vm, key),
      delivery: 'resetPassword',
      reserve() {
        const { release } = reserveUnbilledChange(sim, vm);
        return {
          release,
          confirm(reply) {
            release();
            if (key) vm.sshKey = key.text;
            const { password, sshKey } = sim.world.hypervisor.vms.get(vm.id) ?? {};
            expect({ password, sshKey }).toEqual({ password: reply.data().password, sshKey: vm.sshKey });
          },
        };
      },
    }),
  });
}

/** The VM boots from an ISO file, or from its disk. */
function bootFrom(sim: Simulation, vm: ModelVm): Promise<void> {
  const file = sim.dice.pick([...sim.world.hypervisor.isos.files.map(({ name }) => name), null]);
  return send(sim, {
    account: vm.account,
    id: file === null ? 'detachVmIso' : 'attachVmIso',
    sent: { path: { vmid: String(vm.id) }, ...(file !== null && { form: { iso: file } }) },
    predict: () => ({
      ...(file === null && vm.iso === null ? { portUse: 'no port' } : callsPort),
      refusal: vm.state === 'removed' ? notFound : vm.changing || vm.state !== 'running' ? wrongState : undefined,
      delivery: 'bootFromIso',
      reserve() {
        const { release, confirm } = reserveRestart(sim, vm);
        return {
          release,
          confirm() {
            // A VM that boots from its disk already stays as it is.
            if (file === null && vm.iso === null) return release();
            confirm();
            vm.iso = file;
            expect(sim.world.hypervisor.inserted.get(vm.id) ?? null).toBe(file);
          },
        };
      },
    }),
  });
}

function monitor(sim: Simulation, vm: ModelVm): Promise<void> {
  const form = { enabled: sim.dice.chance(0.7), port: sim.dice.pick([22, 80]) };
  return send(sim, {
    account: vm.account,
    id: 'setVmMonitoring',
    sent: { path: { vmid: String(vm.id) }, form },
    otherForm: { ...form, port: 443 },
    predict: () => ({
      portUse: 'no port',
      refusal: vm.state === 'removed' ? notFound : undefined,
      reserve: () => ({
        release: () => {},
        confirm(reply) {
          vm.monitoring = form;
          expect(reply.data()).toMatchObject(form);
        },
      }),
    }),
  });
}

function resetRefusal(vm: ModelVm, key: ModelSshKey | undefined): Refused | undefined {
  if (vm.state === 'removed') return notFound;
  if (vm.changing || vm.state !== 'running') return wrongState;
  return key && !vm.account.sshKeys.includes(key) ? invalid : undefined;
}

/** An edit is possible in every state and during a change, unless the VM is blocked. A search then finds the VM by its labels. */
async function editVm(sim: Simulation, vm: ModelVm): Promise<void> {
  const { dice } = sim;
  const hostname = `web${dice.integer(1, 3)}`;
  const env = dice.pick(['production', 'test']);
  await send(sim, {
    account: vm.account,
    id: 'editVm',
    sent: { path: { vmid: String(vm.id) }, form: { hostname, labels: `env=${env}` } },
    otherForm: { hostname, labels: 'env=other' },
    predict: () => ({
      portUse: 'no port',
      refusal: removedOrBlocked(vm),
      reserve: () => ({
        release: () => {},
        confirm(reply) {
          vm.edited = { hostname, labels: { env } };
          expect(reply.data()).toMatchObject(vm.edited);
        },
      }),
    }),
  });
  const found = (await sim.client.call(vm.account, 'searchVms', { form: { labels: `env=${env}` } })).data();
  const expected = sim.model.vms.filter(
    (one) => one.account === vm.account && one.state !== 'removed' && one.edited?.labels['env'] === env,
  );
  expect(found.list.map(({ vmid }) => vmid).toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
  for (const one of found.list) expect(one.hostname).toBe(expected.find(({ id }) => id === one.vmid)?.edited?.hostname);
}

function changeVm(sim: Simulation, vm: ModelVm): Promise<void> {
  const { dice } = sim;
  const allowFallbackIPs = dice.chance(0.3);
  const { backup_slots, network_speed, ...others } = randomChange(dice, vm);
  const change: Partial<Resources> = {
    ...others,
    // The minimum of the form.
    ...(backup_slots !== undefined && { backup_slots: Math.max(2, backup_slots) }),
    ...(network_speed !== undefined && { network_speed: Math.max(1000, network_speed) }),
  };
  const { storage, ...form } = change;
  const guard = randomGuard(dice, priceWith(sim, vm, { ...vm.resources, ...change }).price);
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
    predict(): Prediction<'changeVm'> {
      const to = { ...vm.resources, ...change };
      const { price, listed } = priceWith(sim, vm, to);
      const rate = rateAt(sim.model, vm.account, sim.clock.seconds());
      const isTooExpensive = isAbove(price, guard);
      const refusal = vm.state === 'removed' ? notFound : resizeRefusal(sim, vm, { to, price, allowFallbackIPs, isTooExpensive });
      if (refusal === undefined && JSON.stringify(to) === JSON.stringify(vm.resources)) return noChange;
      return {
        ...callsPort,
        refusal,
        delivery: 'resizeVm',
        portFailure: portAway,
        async reserve() {
          const end = beginVmChange(sim, vm, await heldByResize(sim, vm, to));
          return {
            release: end,
            async confirm(reply) {
              end();
              const { newConfig, pricings } = reply.data();
              expect(pricings).toEqual({
                monthly: numberOf(price),
                monthly_gross: grossShown(price, rate),
              });
              await applyResize(sim, vm, { to, price, listed }, allowFallbackIPs, false);
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
    predict() {
      const found = ownDomain(sim.model, account, name);
      return {
        portUse: 'a port, until it succeeds',
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

/** A reseller orders a server from the market. */
export async function purchaseServer(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const server = dice.chance(0.8) ? dice.pickAny(model.servers.filter(({ state }) => state === 'offered')) : dice.pickAny(model.servers);
  if (!server) return sim.describe('the market is empty');
  const account = dice.pick(model.accounts);
  const form = randomGuard(dice, server.price);
  return send(sim, {
    account,
    id: 'purchaseDedicatedServer',
    sent: { path: { identifier: server.id }, form },
    predict: () => ({
      portUse: 'no port',
      refusal: purchaseRefusal(sim, server, account, form),
      reserve: () => ({
        release: () => {},
        confirm(reply) {
          expect(reply.data()).toEqual({ identifier: server.id });
          applyServerOrder(server, account, sim.clock.seconds(), sim.world.fleet);
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
  return creditFits(model, account, holdOfOrder(server, clock.seconds()), clock.seconds()) ? undefined : noCredit;
}
