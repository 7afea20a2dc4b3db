/** The addresses of all VMs of an account, and the free ones. */
import { sql } from 'kysely';

import type { FieldRule } from '../../rules/broken-field.ts';
import { euros } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { invalid, notFound, Refusal } from '../../rules/refusal.ts';
import { INCLUDED } from '../../rules/resources.ts';
import { addressOf, assignedOf, firstAddressOf } from '../../rules/reverse-dns.ts';
import type { Db } from '../../store/store.ts';
import { catalogueOf } from '../catalogue/catalogue.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { findHostSystem, pricesAt } from '../catalogue/host-system.ts';
import { PROVIDER } from '../catalogue/ip-pool.ts';
import { namesOf } from '../domain/reverse-zones.ts';
import { addressesOfVms, hasRested, ipv4Of } from './addresses.ts';
import type { AssignedAddress } from './addresses.ts';
import { hostSystemOf, underWay } from './change.ts';
import type { Vm } from './change.ts';
import { ownVms, vmIdOf } from './own-vm.ts';

/** Free addresses are counted up to this number, so that a request does not read a whole pool. */
const MAX_COUNTED = 1000;

/** An address of an account. */
export interface OwnIp extends AssignedAddress {
  readonly vmId: number;
  /** Whether the VM has had it from the beginning, and keeps it. */
  readonly isFirst: boolean;
  /** Its name in reverse DNS, or that of the first address of a network. */
  readonly domain: string | null;
  /** Net price of 30 days. */
  readonly price: Money;
}

/** The addresses of an account, by VM. */
export async function ownIps(db: Db, accountId: string): Promise<OwnIp[]> {
  const vms = await ownVms(db, accountId).select(['id', 'hostsystem', 'prices_from']).orderBy('id').execute();
  const { hosts } = await catalogueOf(db);
  const byVm = await addressesOfVms(
    db,
    vms.map(({ id }) => id),
  );
  const assigned = Array.from(byVm.values(), (addresses) => addresses.map(({ address }) => address)).flat();
  const names = new Map((await namesOf(db, assigned)).map(({ address, domain }) => [address, domain]));
  return vms.flatMap(({ id: vmId, hostsystem, prices_from }) => {
    const host = findHostSystem(hosts, hostsystem);
    const extra = host ? euros(pricesAt(host, prices_from).prices.extra_ip) : 0n;
    // IPv4 addresses come first, so their place is their number.
    return (byVm.get(vmId) ?? []).map((address, place) => ({
      ...address,
      vmId,
      isFirst: address.family === 6 || place === 0,
      domain: names.get(firstAddressOf(address.address)) ?? null,
      price: address.family === 4 && place >= INCLUDED.ips ? extra : 0n,
    }));
  });
}

/** The free IPv4 addresses in a data centre. */
export interface FreeIps {
  readonly ofProvider: number;
  /** In subnets of the account. Null if it has none there. */
  readonly own: number | null;
}

/** The free IPv4 addresses for an account, by the name of the data centre. */
export async function freeIps(
  db: Db,
  { hosts, pools }: Catalogue,
  { accountId, now }: { readonly accountId: string; readonly now: number },
): Promise<ReadonlyMap<string, FreeIps>> {
  const free = new Map<string, FreeIps>();
  for (const datacenter of new Set(hosts.map(({ datacenter_name }) => datacenter_name))) {
    const hasOwn = pools.some((pool) => pool.account_id === accountId && pool.datacenter_name === datacenter && pool.family === 4);
    free.set(datacenter, {
      ofProvider: await countFree(db, datacenter, { owner: PROVIDER, now }),
      own: hasOwn ? await countFree(db, datacenter, { owner: accountId, now }) : null,
    });
  }
  return free;
}

async function countFree(db: Db, datacenter: string, { owner, now }: { readonly owner: string; readonly now: number }): Promise<number> {
  const free = db
    .selectFrom('ip_addresses')
    .select('address')
    .where('datacenter_name', '=', datacenter)
    .where('family', '=', 4)
    .where('owner', '=', owner)
    .where('vm_id', 'is', null)
    .where(hasRested(sql`${now}`))
    .limit(MAX_COUNTED)
    .as('free');
  const { count } = await db
    .selectFrom(free)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** An additional IPv4 address of a VM. */
export interface ExtraIp {
  readonly address: string;
  readonly vm: Vm;
}

/**
 * Finds an additional address of an account.
 *
 * @param text The address in any notation.
 * @throws Refusal 404 if no VM of the account has the address, 409 if the VM keeps it or does not have it yet.
 */
export async function findExtraIp(db: Db, accountId: string, text: string): Promise<ExtraIp> {
  const address = addressOf(text);
  const assigned = address && assignedOf(address);
  const found =
    assigned && (await db.selectFrom('ip_addresses').select(['vm_id', 'pending']).where('address', '=', assigned).executeTakeFirst());
  const vm = found && found.vm_id !== null && (await ownVms(db, accountId).selectAll().where('id', '=', found.vm_id).executeTakeFirst());
  if (!vm) throw notFound('address');
  if (found.pending === 1) throw underWay(vm.id);
  const isNetwork = assigned.includes(':');
  if (!isNetwork && (await ipv4Of(db, vm.id))[0] !== assigned) return { address: assigned, vm };
  throw new Refusal(
    409,
    'wrong_state',
    `The address ${assigned} is ${isNetwork ? 'the IPv6 network' : 'the first one'} of the VM ${vm.id}, which keeps it. Choose an additional address: GET /ip/list lists them.`,
  );
}

/** @throws Refusal 422 if the account has no such VM. */
export async function vmOfForm(db: Db, accountId: string, vmid: string): Promise<Vm> {
  const vm = await ownVms(db, accountId).selectAll().where('id', '=', vmIdOf(vmid)).executeTakeFirst();
  if (vm) return vm;
  throw broken('vmid', 'exists', 'must be a VM of this account; GET /vm/list lists them');
}

/** @throws Refusal 422 if the host system does not allow as many addresses. */
export async function assertMoreIps(db: Db, vm: Vm, count: number): Promise<void> {
  const { ranges, name } = await hostSystemOf(db, vm);
  const { max } = ranges.ips;
  if (vm.ips + count <= max) return;
  throw broken(
    'count',
    'maximum',
    `must be at most ${Math.max(0, max - vm.ips)}, because a VM has at most ${max} addresses on the host system ${name} and this one has ${vm.ips}`,
  );
}

/** @throws Refusal 409 if the VM has the address already, 422 if it cannot get an additional address of the other VM. */
export async function assertAssignable(db: Db, from: Vm, to: Vm): Promise<void> {
  if (from.id === to.id) throw new Refusal(409, 'wrong_state', `The VM ${to.id} has the address already. Choose another VM.`);
  const [source, target] = [await hostSystemOf(db, from), await hostSystemOf(db, to)];
  if (source.datacenter_name !== target.datacenter_name)
    throw broken('vmid', 'unavailable', `must be a VM in the data centre of the address, ${source.datacenter_name}`);
  if (to.ips >= target.ranges.ips.max)
    throw broken(
      'vmid',
      'maximum',
      `must be a VM with fewer addresses: on the host system ${target.name} a VM has at most ${target.ranges.ips.max}`,
    );
}

function broken(field: string, rule: FieldRule, message: string): Refusal {
  return invalid([{ field, rule, message }]);
}
