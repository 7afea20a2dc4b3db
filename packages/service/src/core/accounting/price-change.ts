import { sql } from 'kysely';

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
      .where('state', 'in', ['running', 'stopped'])
      .where('price_basis', '=', 'STANDARD')
      .where('prices_from', '<', version.validFrom)
      .$if(ids !== undefined, (query) => query.where('id', 'in', ids ?? []))
      .execute();
    const prices = vms.map((vm) => ({ id: vm.id, price: monthlyPriceOf(vm, version.prices) }));
    for (let from = 0; from < prices.length; from += statementRows)
      await storeVmPrices(db, prices.slice(from, from + statementRows), version);
    for (const { id, price } of prices) changed.set(id, price);
  }
  return changed;
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
