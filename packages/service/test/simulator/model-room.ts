/** The model's rules for nodes and addresses: nothing is assigned twice, and no more is assigned than exists. */
import { BlockList } from 'node:net';

import { hosts } from './catalogue.ts';
import type { CatalogueHost, Node, SeededPool } from './catalogue.ts';
import type { Model, ModelAccount, Resources, Taken } from './model.ts';

export function hostOf(name: string): CatalogueHost {
  const host = hosts.find((one) => one.name === name);
  if (!host) throw new Error(`The catalogue has no host system ${name}.`);
  return host;
}

/** Everything that takes room and addresses now. */
export function taking(model: Model): Taken[] {
  return [...model.vms.filter(({ state }) => state !== 'removed'), ...model.reservations];
}

/** What is used of a node. */
export function usedOn(model: Model, node: string): Omit<Node, 'name'> {
  const own = taking(model).filter((vm) => vm.node === node);
  const total = (of: (resources: Resources) => number): number => own.reduce((used, { resources }) => used + of(resources), 0);
  return {
    cores: total(({ cores }) => cores),
    mem: total(({ mem }) => mem),
    disk: total(({ disk }) => disk),
    storage: total(({ storage }) => storage ?? 0),
  };
}

/** Whether a node has room for so much more. */
export function hasRoom(model: Model, node: Node, more: Pick<Resources, 'cores' | 'mem' | 'disk' | 'storage'>): boolean {
  const used = usedOn(model, node.name);
  return (
    used.cores + more.cores <= node.cores &&
    used.mem + more.mem <= node.mem &&
    used.disk + more.disk <= node.disk &&
    used.storage + (more.storage ?? 0) <= node.storage
  );
}

export type Family = 4 | 6;

/** The facts that decide from which pools an order may take addresses. */
export interface AddressRequest {
  readonly account: ModelAccount;
  readonly datacenter: string;
  readonly allowFallbackIPs: boolean;
}

/** The pools that an order may take from: its own first, the provider's only where it has none or allows it. */
export function poolsFor(model: Model, { account, datacenter, allowFallbackIPs }: AddressRequest, family: Family): SeededPool[] {
  const here = model.pools.filter((pool) => pool.datacenter === datacenter && familyOf(pool) === family);
  const own = here.filter(({ accountId }) => accountId === account.id);
  const provided = here.filter(({ accountId }) => accountId === null);
  if (own.length === 0) return provided;
  return allowFallbackIPs ? [...own, ...provided] : own;
}

/** Addresses that are free for an order. */
export function freeAddresses(model: Model, addressRequest: AddressRequest, family: Family): number {
  const given = givenAddresses(model, family);
  return poolsFor(model, addressRequest, family).reduce(
    (free, pool) => free + sizeOf(pool) - given.filter((one) => isIn(one, pool)).length,
    0,
  );
}

/** Every address of a family that is given to something now, once for each that has it. */
export function givenAddresses(model: Model, family: Family): string[] {
  return taking(model).flatMap(({ ipv4, ipv6 }) => (family === 4 ? ipv4 : ipv6));
}

/** Whether an address, or a network in its notation, lies in a pool. */
export function isIn(address: string, { cidr }: SeededPool): boolean {
  const [network = '', prefix = ''] = cidr.split('/');
  const family = cidr.includes(':') ? 'ipv6' : 'ipv4';
  const [bare = ''] = address.split('/');
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), family);
  return list.check(bare, family);
}

function familyOf({ cidr }: SeededPool): Family {
  return cidr.includes(':') ? 6 : 4;
}

/** Addresses without network, gateway and broadcast; /64 networks without the gateway's. */
function sizeOf({ cidr }: SeededPool): number {
  const prefix = Number(cidr.split('/')[1]);
  return cidr.includes(':') ? 2 ** (64 - prefix) - 1 : 2 ** (32 - prefix) - 3;
}
