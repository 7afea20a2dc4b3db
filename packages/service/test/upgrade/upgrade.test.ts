/** A store of the first schema on the version of today: everything that could be read before reads the same, and business goes on. */
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { engines } from '../engines.ts';
import type { Engine } from '../engines.ts';
import { SMALL_VM } from '../harness.ts';
import { expectInvariants } from '../invariants.ts';
import { startOperator } from '../operator.ts';
import type { TestOperator } from '../operator.ts';
import { fillEveryTable } from './filled-store.ts';
import { freeze, freezeReads, frozenReads, thawed } from './frozen-store.ts';
import { readEverything } from './read-everything.ts';

const FROZEN_AT = '2027-01-01T00:00:07Z';
const publicUrl = 'https://reseller.example';

async function startThawed(engine: Engine): Promise<TestOperator> {
  const service = await startOperator({ engine, place: await thawed(engine), publicUrl });
  service.clock.advanceTo(FROZEN_AT);
  return service;
}

/** The columns that order the rows of tables whose order in an export has changed. The document promises none. */
const ORDER: Readonly<Record<string, readonly string[]>> = { events: ['position'], positions: ['vm_id', 'number'] };

/** A response in which the rows of an export are ordered. */
function inOrder(response: unknown): unknown {
  const { tables } = Object(Object(response).body);
  if (tables === undefined) return response;
  const ordered = Object.entries(ORDER).map(([table, columns]) => [
    table,
    tables[table].toSorted(
      (one: Row, other: Row) =>
        columns.map((column) => Number(one[column]) - Number(other[column])).find((difference) => difference !== 0) ?? 0,
    ),
  ]);
  return { ...Object(response), body: { ...Object(response).body, tables: { ...tables, ...Object.fromEntries(ordered) } } };
}

type Row = Readonly<Record<string, unknown>>;

/** Only SQLite has no row in these: it belongs to one process. */
const OF_SEVERAL_INSTANCES: ReadonlySet<string> = new Set(['instances', 'kysely_migration_lock']);

test('the store to freeze has a row in every table', async () => {
  const service = await startOperator({ engine: 'sqlite', publicUrl, tuning: { documentPartBytes: 1_000 } });
  const owner = await fillEveryTable(service);
  const empty = await service.store.read(async (db) => {
    const names: string[] = [];
    for (const { name } of await db.introspection.getTables()) {
      const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(db);
      if (rows.length === 0) names.push(name);
    }
    return names;
  });
  expect(empty.filter((name) => !OF_SEVERAL_INSTANCES.has(name))).toEqual([]);
  if (process.env['FREEZE_STORE'] === undefined) return;
  await freeze(service.store);
  freezeReads({ owner, responses: await readEverything(await startThawed('sqlite'), owner) });
});

describe.each(engines)('on %s', (engine) => {
  test('every read of the first schema returns what it returned before the upgrade', async () => {
    const service = await startThawed(engine);
    const { owner, responses: before } = frozenReads();
    const responses = await readEverything(service, owner);
    for (const [request, response] of Object.entries(before))
      expect({ request, response: inOrder(responses[request]) }).toMatchObject({ request, response: inOrder(response) });
    await expectInvariants(service.store);
  });

  test('a store of the first schema sells, bills and issues documents after the upgrade', async () => {
    const service = await startThawed(engine);
    const { apiKey } = frozenReads().owner;
    expect((await service.call('createVm', { form: SMALL_VM, apiKey, idempotencyKey: 'after' })).status).toBe(200);
    const { data: before } = (await service.call('listInvoices', { apiKey })).body;
    service.clock.advanceTo('2027-03-01T00:00:01Z');
    await service.runScheduledJobs();
    const { data: after } = (await service.call('listInvoices', { apiKey })).body;
    expect(Object.keys(after).length - Object.keys(before).length).toBe(2);
    await expectInvariants(service.store);
  });
});
