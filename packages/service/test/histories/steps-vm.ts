/** Steps that change VMs and their addresses. */
import { ZERO, minus, plus, sum } from '../simulator/fraction.ts';
import type { Fraction } from '../simulator/fraction.ts';
import type { Dice } from '../simulator/seeded-random.ts';
import { monthAfter } from './calendar.ts';
import { bill, changedPrice, costOf, creditOf, isBilled, neededFor, offerFor } from './ledger.ts';
import type { Account, Ledger, Resources, Vm } from './ledger.ts';
import { buy, isRefused } from './purchase.ts';
import type { Turn } from './purchase.ts';
import { HOSTS, done } from './world.ts';

/** The cost of the rest of the period at a new price of a VM, less that at its present one. */
function addedBy({ now }: Ledger, vm: Vm | undefined, price: Fraction): Fraction {
  if (vm && !isBilled(vm)) return ZERO;
  return costOf({ price: minus(price, vm?.price ?? ZERO) }, monthAfter(now) - now);
}

function drawnResources(dice: Dice, host: string): Resources {
  return {
    cores: dice.integer(1, 4),
    mem: 1024 + 512 * dice.integer(0, 8),
    disk: 10 + 5 * dice.integer(0, 20),
    storage: host === 'de_epyc' && dice.chance(0.4) ? 100 * dice.integer(1, 5) : 0,
    ips: dice.integer(1, 3),
    backup_slots: dice.integer(2, 4),
    network_speed: host === 'de_epyc' ? 1000 : dice.pick([1000, 1100, 2000, 5000]),
  };
}

export async function createVm(turn: Turn): Promise<void> {
  const { ledger, dice } = turn;
  const account = dice.pick(ledger.accounts);
  const host = dice.pick(HOSTS);
  const resources = drawnResources(dice, host);
  const { price, sale, from } = offerFor(ledger, host, resources);
  const { storage, ...others } = resources;
  await buy(turn, account, {
    id: 'createVm',
    quote: 'quoteCreateVm',
    sent: { form: { ...others, ...(storage > 0 && { storage }), os: 'debian_12', hostsystem: host } },
    price,
    added: addedBy(ledger, undefined, price),
    enter({ data }) {
      if (sale) sale.used++;
      const vm: Vm = { id: data.identifier, host, resources, price, pricesFrom: from, sale, state: 'running', isHeld: false, runtimes: [] };
      account.vms.push(vm);
      bill(vm, ledger.now, 'CREATE');
    },
  });
}

const someVm = ({ ledger, dice }: Turn, states: readonly Vm['state'][] = ['running', 'stopped']) =>
  dice.pickAny(
    ledger.accounts.flatMap((account) => account.vms.filter(({ state }) => states.includes(state)).map((vm) => ({ account, vm }))),
  );

function reprice(ledger: Ledger, vm: Vm, resources: Resources): void {
  const { price, sale, from } = changedPrice(ledger, vm, resources);
  const wasBilled = isBilled(vm);
  Object.assign(vm, { resources, price, sale, pricesFrom: from });
  if (wasBilled) bill(vm, ledger.now, 'UP-DOWNGRADE');
}

export async function changeVm(turn: Turn): Promise<void> {
  const { ledger, dice } = turn;
  const one = someVm(turn);
  if (!one) return;
  const { account, vm } = one;
  const drawn = drawnResources(dice, vm.host);
  const resources = { ...drawn, disk: Math.max(drawn.disk, vm.resources.disk), storage: Math.max(drawn.storage, vm.resources.storage) };
  if (JSON.stringify(resources) === JSON.stringify(vm.resources)) return;
  const { price } = changedPrice(ledger, vm, resources);
  const { storage, ...others } = resources;
  await buy(turn, account, {
    id: 'changeVm',
    quote: 'quoteChangeVm',
    sent: { path: { vmid: String(vm.id) }, form: { ...others, ...(storage > 0 && { storage }) } },
    price,
    added: addedBy(ledger, vm, price),
    enter: () => reprice(ledger, vm, resources),
  });
}

export async function resizeByOperator({ door, ledger, facts, dice, describe, ...turn }: Turn): Promise<void> {
  const one = someVm({ door, ledger, facts, dice, describe, ...turn });
  if (!one) return;
  const { account, vm } = one;
  const resources = { ...vm.resources, cores: dice.integer(1, 4), backup_slots: dice.integer(2, 4) };
  if (JSON.stringify(resources) === JSON.stringify(vm.resources)) return;
  const { price } = changedPrice(ledger, vm, resources);
  const added = addedBy(ledger, vm, price);
  const expected = isRefused(neededFor(ledger, account, added), added, creditOf(ledger, account).remaining) ? 409 : 200;
  describe(`the operator resizes VM ${vm.id} of ${account.name}`);
  const { cores, backup_slots } = resources;
  const { status } = await door.operate('POST', `/vms/${vm.id}/resize`, { cores, backup_slots });
  facts.same('status of a resize by the operator', status, expected);
  if (status === 200) reprice(ledger, vm, resources);
}

export async function powerVm({ door, ledger, facts, dice, describe, ...turn }: Turn): Promise<void> {
  const one = someVm({ door, ledger, facts, dice, describe, ...turn });
  if (!one) return;
  const { account, vm } = one;
  const [byOperator, stops] = [dice.chance(0.4), vm.state === 'running'];
  describe(`${byOperator ? 'the operator' : account.name} ${stops ? 'stops' : 'starts'} VM ${vm.id} of ${account.name}`);
  const added = stops ? ZERO : costOf({ price: vm.price }, monthAfter(ledger.now) - ledger.now);
  const fits = !isRefused(neededFor(ledger, account, added), added, creditOf(ledger, account).remaining);
  const path = { vmid: String(vm.id) };
  const { status } = byOperator
    ? await door.operate('POST', `/vms/${vm.id}/${stops ? 'stop' : 'start'}`)
    : await door.call(account.apiKey, 'setVmPower', { path, form: { mode: stops ? 'stop' : 'start' } });
  const refusal = byOperator ? (fits ? 200 : 409) : account.isSuspended ? 403 : !stops && vm.isHeld ? 409 : fits ? 200 : 402;
  facts.same(`status of a ${stops ? 'stop' : 'start'}`, status, refusal);
  if (status !== 200) return;
  vm.state = stops ? 'stopped' : 'running';
  vm.isHeld = stops && byOperator;
  bill(vm, ledger.now, stops ? undefined : 'BILLINGRESTART');
}

export async function restartBilling({ door, ledger, dice, describe, ...turn }: Turn): Promise<void> {
  const one = someVm({ door, ledger, dice, describe, ...turn }, ['running']);
  if (!one) return;
  describe(`the operator restarts the billing of VM ${one.vm.id}`);
  await done(door.operate('POST', `/vms/${one.vm.id}/restart-billing`));
  bill(one.vm, ledger.now, 'BILLINGRESTART');
}

export async function blockVm({ door, ledger, dice, describe, ...turn }: Turn): Promise<void> {
  const one = someVm({ door, ledger, dice, describe, ...turn }, ['running', 'stopped', 'blocked']);
  if (!one) return;
  const { vm } = one;
  const lifts = vm.state === 'blocked';
  describe(`the operator ${lifts ? 'lifts the block of' : 'blocks'} VM ${vm.id}`);
  await done(door.operate('PUT', `/vms/${vm.id}/abuse-status`, { status: lifts ? 'CLEAN' : 'BLOCKED', reason: 'spam' }));
  if (lifts && isBilled(vm)) bill(vm, ledger.now, undefined);
  vm.state = lifts ? 'stopped' : 'blocked';
}

export async function removeVm({ door, ledger, facts, dice, describe, ...turn }: Turn): Promise<void> {
  const one = someVm({ door, ledger, facts, dice, describe, ...turn }, ['running', 'stopped', 'blocked']);
  if (!one) return;
  const { account, vm } = one;
  describe(`VM ${vm.id} of ${account.name} is removed`);
  if (dice.chance(0.5)) await done(door.operate('DELETE', `/vms/${vm.id}`));
  else {
    const { status } = await door.call(account.apiKey, 'deleteVm', { path: { vmid: String(vm.id) } });
    facts.same('status of a removal', status, account.isSuspended ? 403 : 200);
    if (status !== 200) return;
  }
  if (isBilled(vm)) bill(vm, ledger.now, undefined);
  vm.state = 'gone';
}

export async function moveAddress(turn: Turn): Promise<void> {
  const { door, ledger, dice } = turn;
  const hasPair = ({ isSuspended, vms }: Account) => {
    const own = vms.filter(({ state }) => state === 'running' || state === 'stopped');
    return !isSuspended && HOSTS.some((host) => own.filter((vm) => vm.host === host).length > 1);
  };
  const account = dice.pickAny(ledger.accounts.filter(hasPair));
  if (!account) return;
  const { list } = (await done(door.call(account.apiKey, 'listIps'))).data;
  const own = account.vms.filter(({ state }) => state === 'running' || state === 'stopped');
  const further = list.filter(({ family, first }: { family: number; first: boolean }) => family === 4 && !first);
  const address = dice.pickAny(further.filter(({ vmid }: { vmid: number }) => own.some(({ id }) => id === vmid))) as
    | { ip_address: string; vmid: number }
    | undefined;
  const from = own.find(({ id }) => id === address?.vmid);
  const to = dice.pickAny(own.filter((vm) => vm !== from && vm.host === from?.host && vm.resources.ips < 4));
  if (!address || !from || !to) return;
  const less1 = { ...from.resources, ips: from.resources.ips - 1 };
  const more = { ...to.resources, ips: to.resources.ips + 1 };
  const prices = [changedPrice(ledger, to, more).price, changedPrice(ledger, from, less1).price] as const;
  await buy(turn, account, {
    id: 'assignIp',
    quote: 'quoteAssignIp',
    sent: { path: { ip_address: address.ip_address }, form: { vmid: to.id } },
    price: sum(prices),
    added: plus(addedBy(ledger, to, prices[0]), addedBy(ledger, from, prices[1])),
    async enter() {
      // The VM that loses the address loses it first.
      reprice(ledger, from, less1);
      reprice(ledger, to, more);
      await door.settled();
    },
  });
}

export async function buyAddress(turn: Turn): Promise<void> {
  const { door, ledger, dice } = turn;
  const one = someVm(turn);
  if (!one || one.vm.resources.ips >= 4) return;
  const { account, vm } = one;
  if (dice.chance(0.6)) {
    const resources = { ...vm.resources, ips: vm.resources.ips + 1 };
    const { price } = changedPrice(ledger, vm, resources);
    await buy(turn, account, {
      id: 'buyIps',
      quote: 'quoteBuyIps',
      sent: { form: { vmid: vm.id } },
      price,
      added: addedBy(ledger, vm, price),
      enter: () => reprice(ledger, vm, resources),
    });
    return;
  }
  if (account.isSuspended || vm.resources.ips < 2) return;
  const { list } = (await done(door.call(account.apiKey, 'listIps'))).data;
  const address = list.find(
    (each: { family: number; first: boolean; vmid: number }) => each.family === 4 && !each.first && each.vmid === vm.id,
  );
  if (!address) return;
  turn.describe(`${account.name} releases an address of VM ${vm.id}`);
  const resources = { ...vm.resources, ips: vm.resources.ips - 1 };
  const { price } = changedPrice(ledger, vm, resources);
  const added = addedBy(ledger, vm, price);
  const { status } = await door.call(account.apiKey, 'releaseIp', { path: { ip_address: address.ip_address } });
  // A release that makes the VM dearer, because a price has risen or a sale ends, may be refused for want of credit.
  turn.facts.same(
    'status of a release',
    status,
    isRefused(neededFor(ledger, account, added), added, creditOf(ledger, account).remaining) ? 402 : 200,
  );
  if (status === 200) reprice(ledger, vm, resources);
}
