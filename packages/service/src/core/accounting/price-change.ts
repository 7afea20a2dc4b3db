import { sql } from 'kysely';

import { periodOf } from '../../rules/billing.ts';
import type { Seconds } from '../../rules/billing.ts';
import type { Money } from '../../rules/money.ts';
import { pricesOfAllVms } from '../../rules/price-version.ts';
import type { PriceVersion } from '../../rules/price-version.ts';
import { monthlyPriceOf } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';
import { tuningOf } from '../../store/tuning.ts';
import { catalogueOf } from '../catalogue/catalogue.ts';

/**
 * Gives the VMs of an account, running or stopped, the prices that apply to all VMs from the start of a period on. VMs in a sale keep
 * theirs. The transaction must have locked the account.
 *
 * @param ids Only these VMs. Default: all of the account.
 * @returns The new net prices of 30 days, by the identifier of the VM.
 */
export async function changePrices(
  db: Db,
  accountId: string,
  periodStart: Seconds,
  ids?: readonly number[],
): Promise<ReadonlyMap<number, Money>> {
  const { statementRows } = tuningOf(db);
  const changed = new Map<number, Money>();
  for (const { name, priceVersions } of (await catalogueOf(db)).hosts) {
    const version = pricesOfAllVms(priceVersions, periodStart);
    if (!version) continue;
    const vms = await db
      .selectFrom('vms')
      .select(['id', 'cores', 'mem', 'disk', 'ips', 'backup_slots', 'network_speed', 'storage'])
      .where('account_id', '=', accountId)
      .where('hostsystem', '=', name)
      .where('price_basis', '=', 'STANDARD')
      .where('prices_from', '<', version.validFrom)
      .$if(ids === undefined, (query) => query.where('state', 'in', ['running', 'stopped']))
      .$if(ids !== undefined, (query) => query.where('id', 'in', ids ?? []))
      .execute();
    const prices = vms.map((vm) => ({ id: vm.id, price: monthlyPriceOf(vm, version.prices) }));
    for (let from = 0; from < prices.length; from += statementRows)
      await storeVmPrices(db, prices.slice(from, from + statementRows), version);
    for (const { id, price } of prices) changed.set(id, price);
  }
  return changed;
}

/** A VM with the resources and the price of its order. */
export interface OrderedVm {
  readonly accountId: string;
  readonly vmId: number;
  /** Net price of 30 days when the order was reserved. */
  readonly price: Money;
}

/**
 * The price of a VM whose order is confirmed: that of its reservation, unless a period has begun since whose prices apply to all VMs. Its row
 * has the resources of the order already. The transaction must have locked the account.
 *
 * @param instant An instant of the open period, in seconds.
 */
export async function presentPrice(db: Db, { accountId, vmId, price }: OrderedVm, instant: Seconds): Promise<Money> {
  return (await changePrices(db, accountId, periodOf(instant).start, [vmId])).get(vmId) ?? price;
}

async function storeVmPrices(
  db: Db,
  vms: readonly { readonly id: number; readonly price: Money }[],
  { validFrom }: PriceVersion,
): Promise<void> {
  const rows = vms.map(({ id, price }) => sql`(cast(${id} as bigint), cast(${Number(price)} as bigint))`);
  await sql`
    with changed (id, price) as (values ${sql.join(rows)})
    update vms set monthly_price = changed.price, prices_from = ${validFrom} from changed where vms.id = changed.id
  `.execute(db);
}
