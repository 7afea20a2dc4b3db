/** What the provider does with sales (specification: "Sale", by arrangement with the provider). */
import { v7 as uuidv7 } from 'uuid';

import type { BrokenField } from '../../rules/broken-field.ts';
import type { SaleDescriptions } from './sale.ts';
import { allHostSystems } from '../vm/host-system.ts';
import type { Ports } from '../../ports/ports.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import { dearerInSale, saleEndAt, saleResources } from '../../rules/sale.ts';
import type { SalePrices } from '../../rules/sale.ts';
import type { Db } from '../../store/store.ts';

/** A sale before it exists. */
export interface NewSale {
  /** Its ID; a new one unless given. */
  readonly id?: string;
  readonly title: string;
  /** The only account that may use it; null for every account. */
  readonly accountId: string | null;
  /** Milliseconds: it is active from this moment. */
  readonly start: number;
  /** Milliseconds; null where it ends by hand or by volume alone. */
  readonly stop: number | null;
  /** Whether its prices stay for VMs that are up- or downgraded. */
  readonly upgradable: boolean;
  /** How many VMs may be created through it. */
  readonly maxVolume: number;
  /** Net prices of 30 days by name of the host system. */
  readonly pricings: Readonly<Record<string, SalePrices>>;
  /** Texts that answers give beside the properties, where the usual ones do not fit. */
  readonly descriptions?: Partial<SaleDescriptions>;
}

/**
 * Sets a sale up. It becomes active by itself when its start is reached.
 *
 * @returns Its ID.
 * @throws Refusal 422 naming everything that is wrong with it.
 */
export async function createSale(db: Db, { clock, random }: Pick<Ports, 'clock' | 'random'>, sale: NewSale): Promise<string> {
  const broken = [...brokenRules(sale), ...(await brokenReferences(db, sale))];
  if (broken.length > 0) throw invalid(broken);
  const now = clock.now();
  const id = sale.id ?? uuidv7({ msecs: now, random: random.bytes(16) });
  await db
    .insertInto('sales')
    .values({
      id,
      account_id: sale.accountId,
      title: sale.title,
      start: sale.start,
      stop: sale.stop,
      upgradable: sale.upgradable ? 1 : 0,
      max_volume: sale.maxVolume,
      used_volume: 0,
      ended: null,
      descriptions: JSON.stringify({ ...usualDescriptions(sale), ...sale.descriptions }),
      created: now,
    })
    .execute();
  const prices = Object.entries(sale.pricings).flatMap(([hostsystem, listed]) =>
    saleResources.flatMap((resource) => {
      const net = listed[resource];
      return net === undefined ? [] : [{ sale_id: id, hostsystem, resource, price_net: Number(net) }];
    }),
  );
  await db.insertInto('sale_prices').values(prices).execute();
  return id;
}

/**
 * Ends a sale by hand, one that is scheduled too. VMs that were bought in it keep its prices.
 *
 * @param now Milliseconds: it has ended from this moment on.
 * @throws Refusal 404 when there is no such sale, 409 when it has ended already.
 */
export async function endSale(db: Db, saleId: string, now: number): Promise<void> {
  const sale = await db.selectFrom('sales').selectAll().where('id', '=', saleId).executeTakeFirst();
  if (!sale) throw new Refusal(404, 'not_found', `There is no sale ${saleId}.`);
  const end = saleEndAt({ ...sale, maxVolume: sale.max_volume, usedVolume: sale.used_volume }, now);
  const ended = end
    ? undefined
    : await db.updateTable('sales').set({ ended: now }).where('id', '=', saleId).where('ended', 'is', null).executeTakeFirst();
  if (!ended || ended.numUpdatedRows === 0n)
    throw new Refusal(409, 'wrong_state', `The sale ${saleId} has ended ${end ?? 'by hand'} already.`);
}

function brokenRules({ title, start, stop, maxVolume, pricings }: NewSale): BrokenField[] {
  const broken: BrokenField[] = [];
  if (title.trim() === '') broken.push({ field: 'title', rule: 'required', message: 'must not be empty' });
  if (stop !== null && stop <= start) broken.push({ field: 'stop', rule: 'minimum', message: 'must be after the start' });
  if (!Number.isSafeInteger(maxVolume) || maxVolume < 1)
    broken.push({ field: 'maxVolume', rule: 'minimum', message: 'must be a whole number from 1 on' });
  const prices = Object.entries(pricings).map(([hostsystem, listed]) => ({
    hostsystem,
    nets: saleResources.map((resource) => listed[resource]),
  }));
  if (prices.length === 0) broken.push({ field: 'pricings', rule: 'required', message: 'must name a host system' });
  for (const { hostsystem, nets } of prices) {
    if (nets.every((net) => net === undefined))
      broken.push({ field: 'pricings', rule: 'required', message: `must name a price for the host system ${hostsystem}` });
    if (nets.some((net) => net !== undefined && net < 0n))
      broken.push({ field: 'pricings', rule: 'minimum', message: `must not be below 0 for the host system ${hostsystem}` });
  }
  return broken;
}

/** Rules that depend on what there is. */
async function brokenReferences(db: Db, { accountId, pricings }: NewSale): Promise<BrokenField[]> {
  const broken: BrokenField[] = [];
  const hosts = new Map((await allHostSystems(db)).map((host) => [host.name, host]));
  for (const [name, listed] of Object.entries(pricings)) {
    const host = hosts.get(name);
    if (!host) broken.push({ field: 'pricings', rule: 'exists', message: `must contain only names of host systems; ${name} is not one` });
    for (const { resource, standard } of host ? dearerInSale(listed, host.prices) : [])
      broken.push({
        field: 'pricings',
        rule: 'maximum',
        message: `must be at most ${standard}, the list price, for ${resource} on ${name}`,
      });
  }
  const account = accountId === null || (await db.selectFrom('accounts').select('id').where('id', '=', accountId).executeTakeFirst());
  if (!account) broken.push({ field: 'accountId', rule: 'exists', message: 'must be the ID of an account, or null for every account' });
  return broken;
}

function usualDescriptions({ stop, upgradable }: NewSale): SaleDescriptions {
  return {
    startDate: 'The sale is active from this moment.',
    stopDate: stop === null ? 'No end is scheduled; the provider ends the sale manually.' : 'The sale ends at this moment.',
    upgradable: upgradable
      ? 'Sale prices stay for VMs bought in the sale, also after upgrade and downgrade.'
      : 'Sale prices end with the first upgrade or downgrade of a VM.',
    maxVolume: 'Maximum number of VMs; the sale ends automatically when it is reached.',
    usedVolume: 'VMs already created through the sale.',
    pricings:
      'Net and gross price of 30 days for each core, GB of memory and GB of NVMe storage. Host systems and resources that are not listed keep their standard prices.',
  };
}
