import { createAccount } from '../core/account/account.ts';
import { writeSeller } from '../core/accounting/invoice-document/parties.ts';
import { storePrices } from '../core/catalogue/host-system.ts';
import { addIpPool } from '../core/catalogue/ip-pool.ts';
import { createSale } from '../core/catalogue/sale-life-cycle.ts';
import { setTldPrices } from '../core/catalogue/tld-price.ts';
import { addMarketServer } from '../core/dedicated/order.ts';
import type { Ports } from '../ports/ports.ts';
import { euros } from '../rules/money.ts';
import type { Db, Store } from '../store/store.ts';
import { sandboxHostSystems, sandboxIpPools, sandboxOsImages } from './catalogue.ts';
import { sandboxMarket } from './market.ts';
import { sandboxSales } from './sales.ts';
import { sandboxSeller } from './seller.ts';
import { sandboxTldPrices } from './tld-prices.ts';

const DEMO_CREDIT_LIMIT = euros('1000.00');

/** The account that every sandbox has. */
export const DEMO_ACCOUNT = '01900000-0000-7000-8000-000000000001';

/** Fills an empty store with the catalogue and the demo account. A store that has the account stays unchanged. */
export function seedSandbox(store: Store, ports: Ports): Promise<void> {
  return store.commit(async ({ db }) => {
    const account = await db.selectFrom('accounts').select('id').where('id', '=', DEMO_ACCOUNT).executeTakeFirst();
    if (!account) await fillSandbox(db, ports);
  });
}

/** Fills empty tables with the catalogue and the demo account. */
export async function fillSandbox(db: Db, ports: Ports): Promise<void> {
  await db
    .insertInto('os_images')
    .values([...sandboxOsImages])
    .execute();
  for (const [position, host] of sandboxHostSystems.entries()) {
    const { datacenter, nodes, ranges, prices, ...described } = host;
    await db
      .insertInto('host_systems')
      .values({
        ...described,
        datacenter_name: datacenter.name,
        datacenter_displayname: datacenter.displayname,
        datacenter_country: datacenter.country,
        datacenter_city: datacenter.city,
        ranges: JSON.stringify(ranges),
        position,
      })
      .execute();
    await storePrices(db, host.name, { validFrom: 0, prices, appliesTo: 'new_purchases' });
    await db
      .insertInto('host_nodes')
      .values(nodes.map((node) => ({ ...node, hostsystem: host.name, used_cores: 0, used_mem: 0, used_disk: 0, used_storage: 0 })))
      .execute();
  }
  for (const pool of sandboxIpPools) await addIpPool(db, pool);
  await setTldPrices(db, sandboxTldPrices, 0);
  await writeSeller(db, sandboxSeller);
  for (const server of sandboxMarket) await addMarketServer(db, ports, server);
  await createAccount(db, ports, { id: DEMO_ACCOUNT, name: 'Demo reseller', creditLimit: DEMO_CREDIT_LIMIT });
  for (const sale of sandboxSales(ports.clock.now())) await createSale(db, ports, sale);
}
