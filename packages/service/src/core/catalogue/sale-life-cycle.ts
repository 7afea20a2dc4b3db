/** How the provider creates and ends sales (specification: "Sale", by arrangement with the provider). */
import { v7 as uuidv7 } from 'uuid';

import type { Ports } from '../../ports/ports.ts';
import type { BrokenField } from '../../rules/broken-field.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import { dearerInSale, saleEndAt, saleResources } from '../../rules/sale.ts';
import type { SalePrices } from '../../rules/sale.ts';
import type { Db } from '../../store/store.ts';
import { accountExists } from '../account/account.ts';
import { catalogueOf } from './catalogue.ts';
import { pricesAt } from './host-system.ts';
import { toSaleCourse } from './sale.ts';
import type { SaleDescriptions } from './sale.ts';

/** A sale to create. */
export interface NewSale {
  /** Default: a new UUID. */
  readonly id?: string;
  readonly title: string;
  /** The only account that may use it; null for every account. */
  readonly accountId: string | null;
  /** Milliseconds. */
  readonly start: number;
  /** Milliseconds. Null for a sale that ends when it is sold out, or when the provider ends it. */
  readonly stop: number | null;
  /** Whether VMs keep its prices when they are up- or downgraded. */
  readonly upgradable: boolean;
  /** Number of VMs that can be created through it. */
  readonly maxVolume: number;
  /** Net prices of 30 days, by the name of the host system. */
  readonly pricings: Readonly<Record<string, SalePrices>>;
  /** Texts that replace the default descriptions of the properties. */
  readonly descriptions?: Partial<SaleDescriptions>;
}

/**
 * Creates a sale. It is active from its start.
 *
 * @returns Its ID.
 * @throws Refusal 422 with every broken rule. Fields have the names of the operator API.
 */
export async function createSale(db: Db, { clock, random }: Pick<Ports, 'clock' | 'random'>, sale: NewSale): Promise<string> {
  const now = clock.now();
  const broken = [...brokenSaleFields(sale), ...(await brokenReferences(db, sale, Math.max(now, sale.start)))];
  if (broken.length > 0) throw invalid(broken);
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
      descriptions: JSON.stringify({ ...defaultDescriptions(sale), ...sale.descriptions }),
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
 * Ends a scheduled or active sale. VMs that were bought in it keep its prices.
 *
 * @param now Milliseconds.
 * @throws Refusal 404 if the sale does not exist, 409 if it has already ended.
 */
export async function endSale(db: Db, saleId: string, now: number): Promise<void> {
  const sale = await db.selectFrom('sales').selectAll().where('id', '=', saleId).executeTakeFirst();
  if (!sale) throw new Refusal(404, 'not_found', `The sale ${saleId} does not exist. Check its identifier.`);
  const end = saleEndAt(toSaleCourse(sale), now);
  const ended = end
    ? undefined
    : await db.updateTable('sales').set({ ended: now }).where('id', '=', saleId).where('ended', 'is', null).executeTakeFirst();
  if (!ended || ended.numUpdatedRows === 0n)
    throw new Refusal(409, 'wrong_state', `The sale ${saleId} has already ended ${end ?? 'by hand'}.`);
}

function brokenSaleFields({ title, start, stop, maxVolume, pricings }: NewSale): BrokenField[] {
  const broken: BrokenField[] = [];
  if (title.trim() === '') broken.push({ field: 'title', rule: 'required', message: 'must not be empty' });
  if (stop !== null && stop <= start)
    broken.push({ field: 'stop_date', rule: 'minimum', message: `must be after the start, ${new Date(start).toISOString()}` });
  if (!Number.isSafeInteger(maxVolume) || maxVolume < 1)
    broken.push({ field: 'max_volume', rule: 'minimum', message: 'must be an integer of at least 1' });
  if (Object.keys(pricings).length === 0) broken.push({ field: 'pricings', rule: 'required', message: 'must name a host system' });
  for (const [hostsystem, listed] of Object.entries(pricings)) {
    const field = `pricings/${hostsystem}`;
    if (saleResources.every((resource) => listed[resource] === undefined))
      broken.push({ field, rule: 'required', message: `must have a price for ${saleResources.join(', ')} or several of them` });
    for (const resource of saleResources) {
      if ((listed[resource] ?? 0n) < 0n) broken.push({ field: `${field}/${resource}`, rule: 'minimum', message: 'must be at least 0' });
    }
  }
  return broken;
}

/** @param at When the sale begins (milliseconds): its prices are compared with the list prices at that time. */
async function brokenReferences(db: Db, { accountId, pricings }: NewSale, at: number): Promise<BrokenField[]> {
  const broken: BrokenField[] = [];
  const hosts = new Map((await catalogueOf(db)).hosts.map((host) => [host.name, host]));
  for (const [name, listed] of Object.entries(pricings)) {
    const field = `pricings/${name}`;
    const host = hosts.get(name);
    if (!host)
      broken.push({
        field,
        rule: 'exists',
        message:
          hosts.size === 0
            ? 'cannot have a price, because there is no host system yet'
            : `must be the name of a host system: ${[...hosts.keys()].join(', ')}`,
      });
    for (const { resource, standard } of host ? dearerInSale(listed, pricesAt(host, at).prices) : [])
      broken.push({ field: `${field}/${resource}`, rule: 'maximum', message: `must be at most ${standard}, the list price` });
  }
  if (accountId !== null && !(await accountExists(db, accountId)))
    broken.push({ field: 'account_id', rule: 'exists', message: 'must be the identifier of an account, or null' });
  return broken;
}

function defaultDescriptions({ stop, upgradable }: NewSale): SaleDescriptions {
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
