import { storePrices } from '../src/core/catalogue/host-system.ts';
import type { TestService } from './harness.ts';

/**
 * Raises the price of a core of `SMALL_VM` for new purchases, from 2.00 EUR in a new sandbox. Without that, a moved or released address costs
 * nothing more.
 */
export async function raiseCorePrice({ store, clock }: TestService, core: string): Promise<void> {
  const prices = { core, mem: '1.20', nvme: '0.04', hdd: '0.01', extra_ip: '1.50', extra_backup_slot: '0.50', extra_gbit: '5.00' };
  await store.commit(({ db }) => storePrices(db, 'nl_ryzen', { validFrom: clock.now(), prices, appliesTo: 'new_purchases' }));
}
