import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import { dayIn, startOfDay } from '../../rules/day.ts';
import { DEFAULT_TIME_ZONE } from '../../rules/vat.ts';
import type { Schema } from '../schema.ts';

type Row = Record<string, unknown>;

/** Stores the VAT of a document by rate, and the rates with their days. Snapshots are changed in the same way. */
export const vatByRate: Migration = {
  async up(db: Kysely<Schema>) {
    await sql`alter table issued_documents add column vat_by_rate text not null default '[]'`.execute(db);
    await sql`
      update issued_documents
      set vat_by_rate = '[{"basisPoints":' || vat_basis_points || ',"net":' || net || ',"vat":' || vat || '}]'
    `.execute(db);
    await sql`alter table issued_documents drop column vat_basis_points`.execute(db);
    const rates = await db.selectFrom('settings').select('value').where('name', '=', 'vat_rates').executeTakeFirst();
    if (rates)
      await db
        .updateTable('settings')
        .set({ value: withDays(rates.value) })
        .where('name', '=', 'vat_rates')
        .execute();
    await changeSnapshots(db, 'issued_documents', withRate);
    await changeSnapshots(db, 'settings', (row) => (row['name'] === 'vat_rates' ? { ...row, value: withDays(String(row['value'])) } : row));
  },
};

async function changeSnapshots(db: Kysely<Schema>, table: string, change: (row: Row) => Row): Promise<void> {
  const pieces = await db.selectFrom('snapshot_rows').select(['snapshot', 'position', 'rows']).where('table_name', '=', table).execute();
  for (const { snapshot, position, rows } of pieces) {
    const before: Row[] = JSON.parse(rows);
    await db
      .updateTable('snapshot_rows')
      .set({ rows: JSON.stringify(before.map(change)) })
      .where('snapshot', '=', snapshot)
      .where('position', '=', position)
      .execute();
  }
}

function withRate({ vat_basis_points: basisPoints, ...row }: Row): Row {
  return { ...row, vat_by_rate: JSON.stringify([{ basisPoints, net: row['net'], vat: row['vat'] }]) };
}

/** Rates could begin at any instant before. Each begins with its day now. */
function withDays(text: string): string {
  const rates: { basisPoints: number; validFrom: number }[] = JSON.parse(text);
  return JSON.stringify(
    rates.map(({ basisPoints, validFrom }) => {
      const day = dayIn(DEFAULT_TIME_ZONE, validFrom);
      return { basisPoints, day, validFrom: startOfDay(DEFAULT_TIME_ZONE, day) };
    }),
  );
}
