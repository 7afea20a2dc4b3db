import type { VmHostPrice, VmHostPrices } from '@reseller/client';

import { catalogueOf, vatAt } from '../../core/catalogue.ts';
import type { Catalogue } from '../../core/catalogue.ts';
import type { HostSystem } from '../../core/vm/host-system.ts';
import { counted } from '../../rules/counted.ts';
import { decimalOf, euros, numberOf } from '../../rules/money.ts';
import { INCLUDED } from '../../rules/resources.ts';
import { grossOf } from '../../rules/vat.ts';
import type { DataOf, ReadOperation } from '../operation.ts';
import { shareData } from '../shared-data.ts';

type VmHost = DataOf<'listVmHosts'>[number];

/** GET /vm/list/hosts: the host systems, with the limits and prices of the resources of their VMs. */
export const listVmHosts: ReadOperation<'listVmHosts'> = {
  kind: 'read',
  settles: false,
  async run(db, { now }) {
    const catalogue = await catalogueOf(db);
    const data = priceListOf(catalogue, vatAt(catalogue, now));
    return { message: `${counted(data.length, 'host system')}.`, data };
  },
};

const priceLists = new WeakMap<Catalogue, Map<number, VmHost[]>>();

/** @param vat Hundredths of a percent. */
function priceListOf(catalogue: Catalogue, vat: number): VmHost[] {
  const lists = priceLists.get(catalogue) ?? new Map<number, VmHost[]>();
  priceLists.set(catalogue, lists);
  const list = lists.get(vat) ?? shareData(catalogue.hosts.map((host) => toVmHost(host, vat)));
  lists.set(vat, list);
  return list;
}

function toVmHost(host: HostSystem, vat: number): VmHost {
  return {
    name: host.name,
    displayname: host.displayname,
    datacenter: {
      name: host.datacenter_name,
      displayname: host.datacenter_displayname,
      country: host.datacenter_country,
      city: host.datacenter_city,
    },
    hardware: { processor: host.processor, memory: host.memory, nvme_hard_drives: host.nvme_hard_drives },
    configuration: host.ranges,
    prices: toPrices(host, vat),
    included: INCLUDED,
  };
}

/** @param vat Hundredths of a percent. */
function toPrices({ prices, ranges }: HostSystem, vat: number): VmHostPrices {
  function toPrice(price: string): VmHostPrice {
    const net = euros(price);
    return { price_net: decimalOf(net), price_gross: numberOf(grossOf(net, vat)) };
  }
  const { core, mem, nvme, hdd, extra_ip, extra_backup_slot, extra_gbit } = prices;
  return {
    core: toPrice(core),
    mem: toPrice(mem),
    nvme: toPrice(nvme),
    ...(ranges.storage && { hdd: toPrice(hdd) }),
    extra_ip: toPrice(extra_ip),
    extra_backup_slot: toPrice(extra_backup_slot),
    extra_gbit: toPrice(extra_gbit),
  };
}
