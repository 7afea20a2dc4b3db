import type { VmListItem } from '@reseller/client/extension';

import { vatAt } from '../../core/accounting/account-vat.ts';
import { catalogueOf } from '../../core/catalogue/catalogue.ts';
import type { HostSystem } from '../../core/catalogue/host-system.ts';
import { firstIpv4 } from '../../core/vm/addresses.ts';
import { ownVms } from '../../core/vm/own-vm.ts';
import { counted } from '../../rules/counted.ts';
import { toInstant } from '../../rules/instants.ts';
import { labelMatcher, labelsOf } from '../../rules/labels.ts';
import type { Labels } from '../../rules/labels.ts';
import type { Db } from '../../store/store.ts';
import { tuningOf } from '../../store/tuning.ts';
import { inTurns } from '../../store/turns.ts';
import type { ReadOperation, Success } from '../operation.ts';
import { toPricings } from './vm-resources.ts';

/** GET /vm/list: the VMs of the account. */
export const listVms: ReadOperation<'listVms'> = {
  kind: 'read',
  settles: false,
  isLong: true,
  run: (db, call) => vmsOf(db, call, () => true),
};

/** POST /vm/search: the VMs of the account whose labels fulfil all conditions. */
export const searchVms: ReadOperation<'searchVms'> = {
  kind: 'read',
  settles: false,
  isLong: true,
  run: (db, call) => vmsOf(db, call, labelMatcher(call.form.labels)),
};

async function vmsOf(
  db: Db,
  { accountId, now }: { readonly accountId: string; readonly now: number },
  isWanted: (labels: Labels) => boolean,
): Promise<Pick<Success<'listVms'>, 'message' | 'data'>> {
  const vms = ownVms(db, accountId)
    .select([
      'id',
      'created',
      'node',
      'hostname',
      'name',
      'labels',
      'state',
      'hostsystem',
      'cores',
      'mem',
      'disk',
      'abuse_status',
      'monthly_price',
    ])
    .select(firstIpv4)
    .orderBy('created')
    .orderBy('id');
  const hosts = new Map((await catalogueOf(db)).hosts.map((host) => [host.name, host]));
  const vat = await vatAt(db, accountId, now);
  const total = { cores: 0, mem: 0, disk: 0 };
  const list: VmListItem[] = [];
  await inTurns(vms.stream(tuningOf(db).streamedRows), (vm) => {
    const { node, hostname, state: status, cores, mem, disk } = vm;
    const labels = labelsOf(vm.labels);
    if (!isWanted(labels)) return;
    total.cores += cores;
    total.mem += mem;
    total.disk += disk;
    list.push({
      vmid: vm.id,
      createDate: toInstant(vm.created),
      node,
      hostname,
      name: vm.name ?? hostname,
      labels,
      status,
      abuse_status: vm.abuse_status,
      hostsystem: { datacenter: toDatacenter(hosts.get(vm.hostsystem)), name: vm.hostsystem, node },
      config: { cores, mem, disk },
      address: vm.address,
      pricings: toPricings(BigInt(vm.monthly_price), vat),
    });
  });
  return { message: `${counted(list.length, 'VM')}.`, data: { total_vms: list.length, total_stats: total, list } };
}

function toDatacenter(host: HostSystem | undefined): VmListItem['hostsystem']['datacenter'] {
  if (!host) throw new Error('A VM is on a host system that does not exist.');
  return { name: host.datacenter_name, country: host.datacenter_country, city: host.datacenter_city };
}
