/**
 * Measures how long the end of a month takes for each VM. Its jobs close the period of each account, with few and with many VMs.
 *
 *   node packages/service/bench/month-end.ts [rounds, default 3]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { sql } from 'kysely';

import { median, report } from '../../../.config/bench-row.ts';
import { openSqliteStore } from '../src/index.ts';
import type { Store } from '../src/index.ts';
import { monthAfter, monthOf } from '../test/simulator/virtual-clock.ts';
import { fillYear } from '../test/year/world.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const [FEW, MANY] = [1_000, 100_000];
/** Each buys one VM, whose positions are copied. */
const ACCOUNTS = 10;

/** Milliseconds for each VM. Both cases end the month of the same number of VMs: the one with few of them ends more months. */
async function measure(vms: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'month-end-'));
  const store = await openSqliteStore(directory);
  try {
    const world = await fillYear(store, { accounts: ACCOUNTS, vms: ACCOUNTS, domains: 0, servers: 0 });
    await copyPositions(store, vms / ACCOUNTS);
    let milliseconds = 0;
    for (let ended = 0; ended < MANY; ended += vms) {
      await world.advance(monthAfter(monthOf(world.now())) - 1 - world.now());
      const begun = performance.now();
      await world.advance(2);
      milliseconds += performance.now() - begun;
    }
    await world.service.close();
    return milliseconds / MANY;
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * Copies the open positions of each account. The end of a month reads nothing else. Their identifiers are beyond the 90,000 of real
 * VMs.
 */
async function copyPositions(store: Store, count: number): Promise<void> {
  await store.commit(async ({ db }) => {
    const { rows } = await sql<{ name: string }>`select name from pragma_table_info('positions') where name <> 'vm_id'`.execute(db);
    const columns = sql.join(rows.map(({ name }) => sql.ref(name)));
    const ours = sql`(select id from accounts where name like 'year %')`;
    await sql`
      insert into positions (vm_id, ${columns})
      with recursive copies (number_of_copy) as (select 1 union all select number_of_copy + 1 from copies where number_of_copy < ${count - 1})
      select vm_id + number_of_copy * 100000, ${columns} from positions, copies where invoice_id is null and account_id in ${ours}`.execute(
      db,
    );
    await sql`
      update accounts set held = (select coalesce(sum(hold), 0) from positions where account_id = accounts.id and invoice_id is null)
      where id in ${ours}`.execute(db);
  });
}

const few: number[] = [];
const many: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  few.push(await measure(FEW));
  many.push(await measure(MANY));
}
report({
  name: `Embedded: end of a month for each VM, with ${MANY} VMs / with ${FEW}`,
  unit: '',
  target: { kind: 'at most', value: 1.5 },
  rounds: many.map((each, index) => each / (few[index] ?? 0)),
  detail: `${(median(many) * 1000).toFixed(0)} and ${(median(few) * 1000).toFixed(0)} µs`,
});
