import type { CreatedVm } from '@reseller/client';

import { ofFamily } from '../../core/vm/addresses.ts';
import { createVm as buyVm } from '../../core/vm/create.ts';
import type { PurchasedVm, WantedVm } from '../../core/vm/create.ts';
import { DEFAULTS } from '../../generated/facts.gen.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { readLabels } from '../../rules/labels.ts';
import { publicKeyOf } from '../../rules/ssh-key.ts';
import type { DeliveredOperation, FormOf } from '../operation.ts';
import { NOT_A_KEY } from './ssh-keys.ts';
import { toPricings } from './vm-resources.ts';

/** PUT /vm/create: buys a VM. */
export const createVm: DeliveredOperation<'createVm', PurchasedVm> = {
  kind: 'delivered',
  deliver: (steps, { runtime, accountId, spender, form, now }) =>
    buyVm(steps, {
      runtime,
      accountId,
      spender,
      vm: wantedVmOf(form),
      broken: brokenFormRules(form),
      maxPrice: form.max_price,
      now,
    }),
  success: async (purchased) => ({
    message: purchased.isInstalling
      ? 'The VM is being installed. GET /vm/{vmid}/status/installation shows its progress.'
      : 'The VM was created and is booting.',
    data: toCreatedVm(purchased),
    bought: { kind: 'vm', subject: String(purchased.vmId), price: Number(purchased.monthlyPrice) },
  }),
};

function toCreatedVm({ vmId, vm, host, node, os, addresses, monthlyPrice, vat, password }: PurchasedVm): CreatedVm {
  return {
    identifier: vmId,
    hostsystem: {
      datacenter: { name: host.datacenter_name, country: host.datacenter_country, city: host.datacenter_city },
      node,
      processor: host.processor,
      memory: host.memory,
      nvme_hard_drives: host.nvme_hard_drives,
    },
    config: {
      cores: vm.cores,
      mem: vm.mem,
      disk: vm.disk,
      os: { name: os.name, displayname: os.displayname },
      username: os.username,
      password,
      hostname: vm.hostname,
      network_speed: String(vm.network_speed),
      backup_slots: String(vm.backup_slots),
      ipv4: ofFamily(4, addresses).map(({ address, gateway, ddosProtection }) => ({ address, gateway, ddos_protection: ddosProtection })),
      ipv6: ofFamily(6, addresses).map(({ address, gateway }) => ({ ip_address: address, ip_gateway: gateway })),
    },
    pricings: toPricings(monthlyPrice, vat),
  };
}

/** The VM that a form wants, with the defaults of the document (specification: "PUT /vm/create form fields"). */
export function wantedVmOf(form: FormOf<'createVm'>): WantedVm {
  const { cores, mem, disk, storage, ips, backup_slots, network_speed, os, hostsystem, hostname, name, labels, ...more } = {
    ...DEFAULTS.CreateVmForm,
    ...form,
  };
  const { ssh_key, ssh_key_displayname, ssh_key_id, user_data, default_ptr, allowFallbackIPs, max_price: _maxPrice, ...unused } = more;
  // A field of the document that is missing here does not compile.
  unused satisfies Record<string, never>;
  const read = labels === undefined ? undefined : readLabels(labels);
  return {
    cores,
    mem,
    disk,
    storage: storage ?? null,
    ips,
    backup_slots,
    network_speed,
    os,
    hostsystem,
    hostname,
    name: name ?? null,
    labels: read !== undefined && 'labels' in read ? read.labels : {},
    sshKey: ssh_key === undefined ? null : (publicKeyOf(ssh_key) ?? null),
    sshKeyDisplayname: ssh_key === undefined ? null : (ssh_key_displayname ?? null),
    sshKeyId: ssh_key_id ?? null,
    userData: user_data ?? null,
    allowFallbackIPs,
    defaultPtr: default_ptr ?? null,
  };
}

/** The rules of the form that need no host system and that its schema cannot express. */
export function brokenFormRules({ ssh_key, ssh_key_id, labels }: FormOf<'createVm'>): BrokenField[] {
  const broken: BrokenField[] = [];
  const read = labels === undefined ? undefined : readLabels(labels);
  if (read !== undefined && 'broken' in read) broken.push(read.broken);
  if (ssh_key === undefined) return broken;
  if (publicKeyOf(ssh_key) === undefined) broken.push(NOT_A_KEY);
  if (ssh_key_id !== undefined) broken.push({ field: 'ssh_key_id', rule: 'ssh_key', message: 'must be left out where ssh_key is sent' });
  return broken;
}
