import { priceListOf } from '../../core/accounting/account-vat.ts';
import { pricesAt } from '../../core/catalogue/host-system.ts';
import { freeIps, ownIps } from '../../core/vm/own-ips.ts';
import { counted } from '../../rules/counted.ts';
import { euros } from '../../rules/money.ts';
import { vatInForce } from '../../rules/vat.ts';
import type { ReadOperation } from '../operation.ts';
import { toUnitPrice } from '../unit-price.ts';

/** GET /ip/list */
export const listIps: ReadOperation<'listIps'> = {
  kind: 'read',
  settles: true,
  isLong: true,
  async run(db, { accountId, now }) {
    const { vatRates } = await priceListOf(db, accountId);
    const vat = vatInForce(vatRates, now);
    const list = (await ownIps(db, accountId)).map(({ address, family, gateway, ddosProtection, vmId, isFirst, domain, price }) => ({
      ip_address: address,
      family,
      gateway,
      ddos_protection: ddosProtection,
      vmid: vmId,
      first: isFirst,
      domain,
      ...toUnitPrice(price, vat),
    }));
    return { message: `${counted(list.length, 'address', 'addresses')}.`, data: { list } };
  },
};

/** GET /ip/available */
export const listAvailableIps: ReadOperation<'listAvailableIps'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, now }) {
    const { catalogue, vatRates } = await priceListOf(db, accountId);
    const vat = vatInForce(vatRates, now);
    const free = await freeIps(db, catalogue, { accountId, now });
    const list = catalogue.hosts.map((host) => {
      const { ofProvider = 0, own = null } = free.get(host.datacenter_name) ?? {};
      return {
        hostsystem: host.name,
        datacenter: {
          name: host.datacenter_name,
          displayname: host.datacenter_displayname,
          country: host.datacenter_country,
          city: host.datacenter_city,
        },
        available: ofProvider,
        own,
        ...toUnitPrice(euros(pricesAt(host, now).prices.extra_ip), vat),
      };
    });
    return { message: `${counted(list.length, 'host system')}.`, data: { list } };
  },
};
