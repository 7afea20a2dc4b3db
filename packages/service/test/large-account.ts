/** An account with many VMs, made of copies of one. */
import { sql } from 'kysely';

import type { Db } from '../src/store/store.ts';

const FIRST_ID = 10_000;

/**
 * Copies the only VM of an account, with its position and its hold, until the account has a number of VMs.
 *
 * @param first No other VM has one of the `count` identifiers from this one on.
 */
export async function copyVms(db: Db, accountId: string, count: number, first = FIRST_ID): Promise<void> {
  const { id } = await db.selectFrom('vms').select('id').where('account_id', '=', accountId).executeTakeFirstOrThrow();
  for (const [table, key] of [
    ['vms', 'id'],
    ['positions', 'vm_id'],
  ] as const) {
    const names = Object.keys(await db.selectFrom(table).selectAll().where(sql.ref(key), '=', id).executeTakeFirstOrThrow());
    const values = names.map((name) => (name === key ? sql`copy` : sql.ref(name)));
    await sql`
      insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
      with recursive numbers (number) as
        (select ${sql.lit(first)} union all select number + 1 from numbers where number < ${sql.lit(first + count - 2)}),
      copies (copy) as (select number + case when number >= ${sql.lit(id)} then 1 else 0 end from numbers)
      select ${sql.join(values)} from ${sql.table(table)}, copies where ${sql.ref(key)} = ${sql.lit(id)}`.execute(db);
  }
  await sql`
    update accounts set held = (select sum(hold) from positions where account_id = ${accountId} and invoice_id is null) where id = ${accountId}
  `.execute(db);
}
