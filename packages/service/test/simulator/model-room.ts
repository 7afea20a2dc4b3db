/** The model's rules for nodes and addresses: nothing is assigned twice, and no more is assigned than exists. */
import { BlockList } from 'node:net';

import { hosts } from './catalogue.ts';
import type { CatalogueHost, Node, SeededPool } from './catalogue.ts';
import type { Model, ModelAccount, Resources, Allocation } from './model.ts';

export function hostOf(name: string): CatalogueHost {
  const host = hosts.find((one) => one.name === name);
  if (!host) throw new Error(`The catalogue has no host system ${name}.`);
  return host;
}

/** Everything that uses capacity and addresses now. */
export function allocationsIn(model: Model): Allocation[] {
  return [...model.vms.filter(({ state }) => state !== 'removed'), ...model.reservations];
}

/** The used resources of a node. */
export function usedOn(model: Model, node: string): Omit<Node, 'name'> {
  const own = allocationsIn(model).filter((vm) => vm.node === node);
  const total = (of: (resources: Resources) => number): number => own.reduce((used, { resources }) => used + of(resources), 0);
  return {
    cores: total(({ cores }) => cores),
    mem: total(({ mem }) => mem),
    disk: total(({ disk }) => disk),
    storage: total(({ storage }) => storage ?? 0),
  };
}

/** Whether a node has room for additional resources. */
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

/** The facts that decide which pools a purchase can use. */
export interface AddressRequest {
  readonly account: ModelAccount;
  readonly datacenter: string;
  readonly allowFallbackIPs: boolean;
}

/** The pools that a purchase can use: the account's own pools, and the provider's only if the account has none or allows them. */
export function poolsFor(model: Model, { account, datacenter, allowFallbackIPs }: AddressRequest, family: Family): SeededPool[] {
  const here = model.pools.filter((pool) => pool.datacenter === datacenter && familyOf(pool) === family);
  const own = here.filter(({ accountId }) => accountId === account.id);
  const provided = here.filter(({ accountId }) => accountId === null);
  if (own.length === 0) return provided;
  return allowFallbackIPs ? [...own, ...provided] : own;
}

/** The number of free addresses in the pools that a purchase can use. */
export function freeAddresses(model: Model, addressRequest: AddressRequest, family: Family): number {
  const given = usedAddresses(model, family);
  return poolsFor(model, addressRequest, family).reduce(
    (free, pool) => free + sizeOf(pool) - given.filter((one) => isIn(one, pool)).length,
    0,
  );
}

/** The addresses of a family that are in use now. An address with two users would be in the list twice. */
export function usedAddresses(model: Model, family: Family): string[] {
  return allocationsIn(model).flatMap(({ ipv4, ipv6 }) => (family === 4 ? ipv4 : ipv6));
}

/** Whether an address or a network is in a pool. */
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

/** The number of assignable addresses: without network, gateway and broadcast, or /64 networks without the gateway's. */
function sizeOf({ cidr }: SeededPool): number {
  const prefix = Number(cidr.split('/')[1]);
  return cidr.includes(':') ? 2 ** (64 - prefix) - 1 : 2 ** (32 - prefix) - 3;
}
