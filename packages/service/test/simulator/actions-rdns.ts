/** Resellers set and remove the names of their VMs' addresses in reverse DNS. */
import { expect } from 'vitest';

import { standardNameservers } from '../ports/registrar.ts';
import type { Model, ModelAccount, ModelDomain, ModelVm } from './model.ts';
import { buyVm } from './purchases.ts';
import { invalid, notFound, removedOrBlocked, send } from './requests.ts';
import type { Dice } from './seeded-random.ts';
import type { Simulation } from './simulation.ts';

/** Often a name of a domain of the service, which may have an A record of it. */
export function randomName({ dice, model }: Pick<Simulation, 'dice' | 'model'>): string {
  const domain = dice.chance(0.7) ? dice.pickAny([...model.domains.keys()]) : undefined;
  return `${dice.pick(['www', 'mail'])}.${domain ?? 'elsewhere.example'}`;
}

export async function changeRdns(sim: Simulation): Promise<void> {
  const { dice, model } = sim;
  const vm = dice.pickAny(model.vms.slice(-25));
  if (!vm) return buyVm(sim);
  const isOwn = dice.chance(0.9);
  const address = randomAddress(dice, isOwn ? vm : dice.pick(model.vms));
  return dice.chance(0.6) ? setName(sim, vm, address) : removeName(sim, vm, address);
}

function randomAddress(dice: Dice, { ipv4, ipv6: [network = ''] }: ModelVm): string {
  // The engines may list the addresses in another order.
  return dice.pick([...ipv4.toSorted(), firstOf(network), network.replace('::/64', `::${dice.integer(2, 3)}`)]);
}

function firstOf(network: string): string {
  return network.replace('::/64', '::1');
}

function hasAddress({ ipv4, ipv6 }: ModelVm, address: string): boolean {
  return ipv4.includes(address) || ipv6.some((network) => address.startsWith(network.replace('/64', '')));
}

function setName(sim: Simulation, vm: ModelVm, address: string): Promise<void> {
  const domain = randomName(sim);
  // Without an address, the name is that of all first addresses.
  const isForAll = sim.dice.chance(0.2);
  const form = { domain, ...(!isForAll && { ip_address: address }) };
  return send(sim, {
    account: vm.account,
    id: 'setVmRdns',
    sent: { path: { vmid: String(vm.id) }, form },
    otherForm: { ...form, domain: 'another.example' },
    predict: () => ({
      portUse: 'no port',
      refusal: removedOrBlocked(vm) ?? (isForAll || hasAddress(vm, address) ? undefined : invalid),
      reserve: () => ({
        release: () => {},
        confirm() {
          for (const one of isForAll ? [...vm.ipv4, ...vm.ipv6.map(firstOf)] : [address]) vm.names.set(one, domain);
        },
      }),
    }),
  });
}

function removeName(sim: Simulation, vm: ModelVm, address: string): Promise<void> {
  return send(sim, {
    account: vm.account,
    id: 'removeVmRdns',
    sent: { path: { vmid: String(vm.id), ip_address: address } },
    predict: () => ({
      portUse: 'no port',
      refusal: removedOrBlocked(vm) ?? (hasAddress(vm, address) ? undefined : notFound),
      reserve: () => ({ release: () => {}, confirm: () => void vm.names.set(address, null) }),
    }),
  });
}

/** Compares the names of a VM's addresses. */
export async function checkNames({ client, model }: Simulation, account: ModelAccount, vm: ModelVm): Promise<void> {
  // The API shows the new addresses of a change while it is in progress.
  if (vm.changing) return;
  const { list } = (await client.call(account, 'listVmRdns', { path: { vmid: String(vm.id) } })).data();
  const names = new Map<string, string | null>([...vm.ipv4, ...vm.ipv6.map(firstOf)].map((address) => [address, vm.defaultPtr]));
  for (const [address, name] of vm.names) if (name !== null || names.has(address)) names.set(address, name);
  const expected = Array.from(names, ([ip_address, domain]) => ({
    ip_address,
    domain,
    forward_confirmed: domain === null ? null : isConfirmed(model, domain, ip_address),
  }));
  const byAddress = (one: { ip_address: string }, other: { ip_address: string }) => (one.ip_address < other.ip_address ? -1 : 1);
  expect(list.toSorted(byAddress), `names of VM ${vm.id}`).toEqual(expected.toSorted(byAddress));
}

function isConfirmed({ domains }: Model, name: string, address: string): boolean | null {
  const [sub = '', ...rest] = name.split('.');
  const domain = domains.get(rest.join('.'));
  if (domain === undefined || domain.state === 'reserved' || !isAnsweredHere(domain)) return null;
  const records = domain.records.filter((record) => record.sub === sub);
  // The simulated aliases lead to other domains.
  if (records.some(({ type }) => type === 'CNAME')) return null;
  return records.some(({ type, data }) => type === 'A' && data === address);
}

function isAnsweredHere({ nameservers }: ModelDomain): boolean {
  return nameservers.every((nameserver) => standardNameservers.includes(nameserver));
}
