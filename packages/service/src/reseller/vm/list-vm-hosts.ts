import type { VmHostPrice, VmHostPrices } from '@reseller/client';

import { priceListOf } from '../../core/accounting/account-vat.ts';
import type { Catalogue } from '../../core/catalogue/catalogue.ts';
import { pricesAt } from '../../core/catalogue/host-system.ts';
import type { HostSystem } from '../../core/catalogue/host-system.ts';
import { counted } from '../../rules/counted.ts';
import { unchangedAround } from '../../rules/in-force.ts';
import { euros } from '../../rules/money.ts';
import { INCLUDED } from '../../rules/resources.ts';
import { vatInForce } from '../../rules/vat.ts';
import type { DataOf, ReadOperation } from '../operation.ts';
import { toUnitPrice } from '../unit-price.ts';

type VmHost = DataOf<'listVmHosts'>[number];

/** GET /vm/list/hosts: the host systems, with the limits and prices of the resources of their VMs. */
export const listVmHosts: ReadOperation<'listVmHosts'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, now }) {
    const { catalogue, vatRates } = await priceListOf(db, accountId);
    const data = hostsAt(catalogue, { vat: vatInForce(vatRates, now), now });
    return { message: `${counted(data.length, 'host system')}.`, data };
  },
};

/** The host systems with their prices, and the time in which these are in force (milliseconds). */
interface PricedHosts {
  readonly from: number;
  readonly until: number;
  readonly hosts: VmHost[];
}

/** By VAT rate. */
const pricedHosts = new WeakMap<Catalogue, Map<number, PricedHosts>>();

function hostsAt(catalogue: Catalogue, at: At): VmHost[] {
  const { vat, now } = at;
  const byRate = pricedHosts.get(catalogue) ?? new Map<number, PricedHosts>();
  const cached = byRate.get(vat);
  if (cached && cached.from <= now && now < cached.until) return cached.hosts;
  const priced = {
    ...unchangedAround(
      catalogue.hosts.flatMap(({ priceVersions }) => priceVersions.map(({ validFrom }) => validFrom)),
      now,
    ),
    hosts: catalogue.hosts.map((host) => toVmHost(host, at)),
  };
  pricedHosts.set(catalogue, byRate.set(vat, priced));
  return priced.hosts;
}

/** When prices are shown: hundredths of a percent, and milliseconds. */
interface At {
  readonly vat: number;
  readonly now: number;
}

function toVmHost(host: HostSystem, at: At): VmHost {
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
    prices: toVmHostPrices(host, at),
    included: INCLUDED,
  };
}

function toVmHostPrices(host: HostSystem, { vat, now }: At): VmHostPrices {
  function toPrice(price: string): VmHostPrice {
    return toUnitPrice(euros(price), vat);
  }
  const { core, mem, nvme, hdd, extra_ip, extra_backup_slot, extra_gbit } = pricesAt(host, now).prices;
  return {
    core: toPrice(core),
    mem: toPrice(mem),
    nvme: toPrice(nvme),
    ...(host.ranges.storage && { hdd: toPrice(hdd) }),
    extra_ip: toPrice(extra_ip),
    extra_backup_slot: toPrice(extra_backup_slot),
    extra_gbit: toPrice(extra_gbit),
  };
}
