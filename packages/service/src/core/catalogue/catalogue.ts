/** The provider's offer: host systems, images, sales, address pools and VAT. Every purchase reads it, and it rarely changes. */
import type { Selectable } from 'kysely';

import type { BrokenField } from '../../rules/broken-field.ts';
import type { VatRate } from '../../rules/vat.ts';
import { prepared, scopeOf } from '../../store/prepared.ts';
import { readVatRates } from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';
import type { IpPoolsTable, OsImagesTable } from '../../store/tables/catalogue.ts';
import { readHostSystems } from './host-system.ts';
import type { HostSystem } from './host-system.ts';
import { pricedSales } from './sale.ts';
import type { PricedSale } from './sale.ts';

/** The catalogue at one version. It is never modified, so anything that is derived from it can be cached by it. */
export interface Catalogue {
  readonly version: string;
  /** In the order that the provider has set. */
  readonly hosts: readonly HostSystem[];
  /** Ordered by name. */
  readonly images: readonly Selectable<OsImagesTable>[];
  /** Sales that the provider has not ended, with their prices. Used volumes are outdated, except whether a sale is sold out. */
  readonly sales: readonly PricedSale[];
  /** Ordered by identifier. */
  readonly pools: readonly Selectable<IpPoolsTable>[];
  readonly vatRates: readonly VatRate[];
}

/** The newest catalogue that each store has read. */
const newest = new WeakMap<object, Catalogue>();

/**
 * The current catalogue. Database triggers change its version whenever it changes, and only then is it read again. So the cache is right on
 * all instances. Versions are random, so a version that was rolled back never occurs again.
 */
export async function catalogueOf(db: Db): Promise<Catalogue> {
  // The version is read first. If the catalogue changes meanwhile, it is read again next time.
  const [row] = await presentVersion(db, {});
  return catalogueAt(db, row?.version ?? '');
}

/** @param version The current version, which was read in the same transaction. */
export async function catalogueAt(db: Db, version: string): Promise<Catalogue> {
  const cached = newest.get(scopeOf(db));
  if (cached?.version === version) return cached;
  const catalogue = {
    version,
    hosts: await readHostSystems(db),
    images: await db.selectFrom('os_images').selectAll().orderBy('name').execute(),
    sales: await pricedSales(db),
    pools: await db.selectFrom('ip_pools').selectAll().orderBy('id').execute(),
    vatRates: await readVatRates(db),
  };
  newest.set(scopeOf(db), catalogue);
  return catalogue;
}

const presentVersion = prepared<Record<never, never>, { version: string }>((db) => db.selectFrom('catalogue_version').select('version'));

export type OsImage = Selectable<OsImagesTable>;

/** The operating system that a form names, or the rule that the form breaks. */
export function findOsImage(images: readonly OsImage[], name: string): OsImage | { readonly broken: BrokenField } {
  const named = images.find((image) => image.name === name);
  if (named) return named;
  const message =
    images.length === 0
      ? 'cannot be chosen, because the provider has not set up an operating system yet'
      : `must be one of ${images.map((image) => image.name).join(', ')}`;
  return { broken: { field: 'os', rule: 'exists', message } };
}
