import type { CreatedVm } from '@reseller/client';

import { ofFamily } from '../../core/vm/addresses.ts';
import { createVm as create } from '../../core/vm/create.ts';
import type { Purchase, PurchasedVm } from '../../core/vm/create.ts';
import type { DeliveredOperation } from '../operation.ts';
import { brokenFormRules, wantedVmOf } from './create-vm-form.ts';
import { toPricings } from './vm-resources.ts';

/** PUT /vm/create: buys a VM. */
export const createVm: DeliveredOperation<'createVm', Purchase, PurchasedVm> = {
  kind: 'delivered',
  deliveryFor: () => create,
  requestOf: ({ runtime, accountId, spender, form, now }) => ({
    runtime,
    accountId,
    spender,
    vm: wantedVmOf(form),
    broken: brokenFormRules(form),
    maxPrice: form.max_price,
    now,
  }),
  success: async (purchased) => ({ message: 'The VM was created and is booting.', data: toCreatedVm(purchased) }),
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
