import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { seededPlace } from '../../../test/prepared-store.ts';
import { claimRows, lockAdvisory, textTable } from '../../store/postgres/sharing.ts';
import { runDirectly } from '../../store/prepared.ts';
import type { Schema } from '../../store/schema.ts';
import { assignAddresses } from './addresses.ts';

/** The statement that assigns addresses to a VM on PostgreSQL. */
async function textOfAssignment(): Promise<string> {
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (one) => new PostgresIntrospector(one),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const sent: string[] = [];
  runDirectly(db, {
    scope: db,
    claim: claimRows,
    textTable,
    lock: lockAdvisory,
    rows({ text }) {
      sent.push(text);
      throw new Error('Only the text is needed.');
    },
  });
  const order = { pools: [], accountId: 'a', vmId: 10_000, datacenter: 'AMS1', ips: 2, allowFallbackIPs: false, now: 1 };
  await expect(assignAddresses(db, order)).rejects.toThrow('Only the text is needed.');
  return sent.join(';');
}

test('PostgreSQL finds the addresses for a VM in indexes after it has analysed the table', async () => {
  const client = new Client({ connectionString: await seededPlace('postgres') });
  await client.connect();
  onTestFinished(() => client.end());
  async function plan(): Promise<string> {
    const { rows } = await client.query(`explain (generic_plan) ${await textOfAssignment()}`);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  }
  await client.query('analyze ip_addresses');
  expect(await plan()).not.toContain('Seq Scan on ip_addresses');
  expect(await plan()).toContain('Index Scan using free_addresses');
});
