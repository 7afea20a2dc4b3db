import type { KvmPrice, KvmPricing } from '@reseller/client/extension';

import { priceListOf } from '../../core/accounting/account-vat.ts';
import { pricesAt } from '../../core/catalogue/host-system.ts';
import type { HostSystem } from '../../core/catalogue/host-system.ts';
import { euros } from '../../rules/money.ts';
import { INCLUDED } from '../../rules/resources.ts';
import type { ResourcePrices } from '../../rules/resources.ts';
import { vatInForce } from '../../rules/vat.ts';
import { readDomainPricings } from '../domain/get-domain-pricings.ts';
import type { ReadOperation } from '../operation.ts';
import { toUnitPrice } from '../unit-price.ts';

/** GET /accounting/pricings: the standard prices of VMs and domains. */
export const getPricings: ReadOperation<'getPricings'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, now }) {
    const { catalogue, vatRates } = await priceListOf(db, accountId);
    const vat = vatInForce(vatRates, now);
    return {
      message: 'The price list was read.',
      data: {
        kvm: Object.fromEntries(catalogue.hosts.map((host) => [host.name, toKvmPricing(host, pricesAt(host, now).prices, vat)])),
        domains: await readDomainPricings(db, { vat, now }),
      },
    };
  },
};

/** @param vat Hundredths of a percent. */
function toKvmPricing({ ranges }: HostSystem, prices: ResourcePrices, vat: number): KvmPricing {
  function toKvmPrice(price: string, unit: string): KvmPrice {
    return { ...toUnitPrice(euros(price), vat), info: `per ${unit} and 30 days` };
  }
  const { core, mem, nvme, hdd, extra_ip, extra_backup_slot, extra_gbit } = prices;
  const { ips, backup_slots, network_speed } = INCLUDED;
  return {
    core: toKvmPrice(core, 'core'),
    mem: toKvmPrice(mem, 'GB of memory'),
    nvme: toKvmPrice(nvme, 'GB of NVMe storage'),
    ...(ranges.storage && { hdd: toKvmPrice(hdd, 'GB of HDD storage') }),
    ipv4: toKvmPrice(extra_ip, `IP address beyond ${ips}`),
    backup: toKvmPrice(extra_backup_slot, `backup slot beyond ${backup_slots}`),
    network: toKvmPrice(extra_gbit, `1000 Mbit beyond ${network_speed} Mbit`),
  };
}
