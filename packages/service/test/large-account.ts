/** An account with many VMs, made of copies of one. */
import { sql } from 'kysely';

import { periodOf, SECONDS_PER_PRICE } from '../src/rules/billing.ts';
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

/** Prices from 3.00000001 to 23 EUR for 30 days, in units. */
const LEAST_PRICE = 300_000_001;
const PRICE_STEP = 736_878_701;
const PRICE_RANGE = 2_000_000_011;
const START_STEP = 12_377;
const START_RANGE = 700_001;

/** Gives the running VMs of an account prices with eight decimals and starts at odd seconds, most of them different, and the right holds. */
export async function makeUneven(db: Db, accountId: string): Promise<void> {
  const { start } = await db.selectFrom('positions').select('start').where('account_id', '=', accountId).executeTakeFirstOrThrow();
  const price = `${LEAST_PRICE} + vm_id * ${PRICE_STEP} % ${PRICE_RANGE}`;
  const seconds = `${periodOf(start).end - start} - vm_id * ${START_STEP} % ${START_RANGE}`;
  const cost = `((${price}) * (${seconds}) + ${SECONDS_PER_PRICE - 1n}) / ${SECONDS_PER_PRICE}`;
  await sql`
    update positions set
      monthly_price = ${sql.raw(price)}, start = start + vm_id * ${sql.lit(START_STEP)} % ${sql.lit(START_RANGE)}, hold = ${sql.raw(cost)}
    where account_id = ${accountId}`.execute(db);
  await sql`
    update vms set monthly_price = (select monthly_price from positions where vm_id = vms.id) where account_id = ${accountId}`.execute(db);
  await sql`
    update accounts set held = (select sum(hold) from positions where account_id = ${accountId}) where id = ${accountId}`.execute(db);
}
