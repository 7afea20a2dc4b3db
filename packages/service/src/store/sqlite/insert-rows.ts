import { sql } from 'kysely';

import type { InsertRows } from '../store.ts';

export const insertRows: InsertRows = async (db, table, columns, rows) => {
  const values = columns.map((column) => sql`value ->> ${sql.lit(column)}`);
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    select ${sql.join(values)} from json_each(${rows})`.execute(db);
};
