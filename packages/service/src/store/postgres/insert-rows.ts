import { sql } from 'kysely';

import type { InsertRows } from '../store.ts';

export const insertRows: InsertRows = async (db, table, columns, rows) => {
  const names = sql.join(columns.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(table)} (${names})
    select ${names} from json_populate_recordset(null::${sql.table(table)}, ${rows}::json)`.execute(db);
};
