import type { Settings } from '@reseller/operator-client';

import type { Mode } from '../rules/mode.ts';
import type { Db } from './store.ts';

export type MissingSetting = Settings['missing'][number];

const REQUIRED: readonly MissingSetting[] = ['seller', 'vat_rates'];

/** The settings without which a live service would invoice in no one's name, or with a VAT that its provider did not choose. */
export async function missingSettings(db: Db, mode: Mode): Promise<MissingSetting[]> {
  if (mode === 'sandbox') return [];
  const rows = await db.selectFrom('settings').select('name').where('name', 'in', REQUIRED).execute();
  const present = new Set(rows.map(({ name }) => name));
  return REQUIRED.filter((name) => !present.has(name));
}

const OPERATIONS: Readonly<Record<MissingSetting, string>> = {
  seller: 'setSeller (PUT /invoicing/seller)',
  vat_rates: 'setVatRates (PUT /settings/vat-rates)',
};

/** The operations that set them, for a message. */
export function operationsThatSet(missing: readonly MissingSetting[]): string {
  return missing.map((name) => OPERATIONS[name]).join(' and ');
}
