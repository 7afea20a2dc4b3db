import type { Mode } from '../rules/mode.ts';
import type { Db } from './store.ts';

const REQUIRED = [
  { name: 'seller', operation: 'setSeller (PUT /invoicing/seller)' },
  { name: 'vat_rates', operation: 'setVatRates (PUT /settings/vat-rates)' },
] as const;

export type MissingSetting = (typeof REQUIRED)[number]['name'];

/** The settings without which a live service would invoice in no one's name, or with a VAT that its provider did not choose. */
export async function missingSettings(db: Db, mode: Mode): Promise<MissingSetting[]> {
  if (mode === 'sandbox') return [];
  const names = REQUIRED.map(({ name }) => name);
  const rows = await db.selectFrom('settings').select('name').where('name', 'in', names).execute();
  const present = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !present.has(name));
}

/** The operations that set them, for a message. */
export function operationsThatSet(missing: readonly MissingSetting[]): string {
  return REQUIRED.filter(({ name }) => missing.includes(name))
    .map(({ operation }) => operation)
    .join(' and ');
}
