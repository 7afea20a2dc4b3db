import type { Seconds } from '../../rules/billing.ts';
import type { Money } from '../../rules/money.ts';
import { pricesOfAllVms } from '../../rules/price-version.ts';
import { monthlyPriceOf } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';
import { catalogueOf } from '../catalogue.ts';

/**
 * Gives the VMs of an account, running or stopped, the prices that apply to all VMs from the start of a period on. VMs in a sale keep
 * theirs. The transaction must have locked the account.
 *
 * @returns The new net prices of 30 days, by the identifier of the VM.
 */
export async function changePrices(db: Db, accountId: string, periodStart: Seconds): Promise<ReadonlyMap<number, Money>> {
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
      .execute();
    for (const vm of vms) {
      const price = monthlyPriceOf(vm, version.prices);
      await db
        .updateTable('vms')
        .set({ monthly_price: Number(price), prices_from: version.validFrom })
        .where('id', '=', vm.id)
        .execute();
      changed.set(vm.id, price);
    }
  }
  return changed;
}
