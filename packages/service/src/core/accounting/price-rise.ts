/** Prices that the provider sets for what accounts already have, such as VMs and domains. */
import { brokenMonth, LARGE_MONTH } from '../../rules/credit.ts';
import type { Money } from '../../rules/money.ts';
import { monthlyPriceOf } from '../../rules/resources.ts';
import type { ResourcePrices } from '../../rules/resources.ts';
import { lockName } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import { highestMonthOf, MONTHS } from './credit-hold.ts';

/** An account, and a bound of what new prices cost it in a month. */
interface PayingAccount {
  readonly id: string;
  readonly month: Money;
}

/** The accounts that pay prices for all VMs of a host system. One VM with all resources costs as much, unless a VM is being changed. */
export async function accountsWithVms(db: Db, hostsystem: string, prices: ResourcePrices): Promise<PayingAccount[]> {
  const accounts = await db
    .selectFrom('vms')
    .select(({ fn }) => [
      'account_id',
      fn.sum<number>('cores').as('cores'),
      fn.sum<number>('mem').as('mem'),
      fn.sum<number>('disk').as('disk'),
      fn.sum<number>('ips').as('ips'),
      fn.sum<number>('backup_slots').as('backup_slots'),
      fn.sum<number>('network_speed').as('network_speed'),
      fn.sum<number | null>('storage').as('storage'),
      fn.max('changing').as('changing'),
    ])
    .where('hostsystem', '=', hostsystem)
    .where('state', '!=', 'removed')
    .where(({ or, eb }) => or([eb('price_basis', '=', 'STANDARD'), eb('changing', '=', 1)]))
    .groupBy('account_id')
    .execute();
  return accounts.map(({ account_id, changing, ...resources }) => ({
    id: account_id,
    month: changing === 1 ? LARGE_MONTH : monthlyPriceOf(resources, prices),
  }));
}

/** The accounts that pay the renewals of a TLD. */
export async function accountsWithDomains(db: Db, tld: string, renew: Money): Promise<PayingAccount[]> {
  const accounts = await db
    .selectFrom('domains')
    .select(({ fn }) => ['account_id', fn.countAll<number>().as('count')])
    .where('tld', '=', tld)
    .groupBy('account_id')
    .execute();
  return accounts.map(({ account_id, count }) => ({ id: account_id, month: BigInt(count) * renew }));
}

/**
 * Why prices are refused: a month of an account would cost too much to bill. Undefined if all can be billed. Large orders that are being
 * reserved are waited for, so that each of them is checked at these prices, or is among what these prices are checked for.
 *
 * @param paying Finds the accounts that pay the prices, which are stored already.
 * @param now Milliseconds.
 */
export async function brokenPriceRise(db: Db, paying: () => Promise<readonly PayingAccount[]>, now: number): Promise<string | undefined> {
  await lockName(db, MONTHS);
  for (const { id } of (await paying()).filter(({ month }) => month >= LARGE_MONTH)) {
    const broken = brokenMonth(await highestMonthOf(db, id, now), `the account ${id}`);
    if (broken !== undefined) return broken;
  }
  return undefined;
}
