import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as fc from 'fast-check';
import { Client } from 'pg';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';

import { newDatabase } from '../../../test/engines.ts';
import { SECRET } from '../../../test/harness.ts';
import { finishOpenRequests } from '../../../test/simulator/actions-time.ts';
import { checkBilling, checkDomains, checkLog, checkServers } from '../../../test/simulator/api-checks.ts';
import { canonicalState, differencesOf } from '../../../test/simulator/canonical-state.ts';
import { openClient } from '../../../test/simulator/client.ts';
import { actions } from '../../../test/simulator/runner.ts';
import { newSimulation } from '../../../test/simulator/simulation.ts';
import type { Simulation } from '../../../test/simulator/simulation.ts';
import { createService } from '../../service.ts';
import { openPostgresStore } from '../postgres/open.ts';
import { openSqliteStore } from '../sqlite/open.ts';
import type { Store } from '../store.ts';
import { compared, sumsOf } from './figures.ts';
import type { MovedRow } from './figures.ts';
import { MoveDiffersError, moveStore } from './move.ts';

/** A store in a directory with the data of a provider and three resellers over years. */
async function filledStore(seed: number): Promise<{ sim: Simulation; directory: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'move-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const sim = await newSimulation(seed, { engine: 'sqlite', open: () => openSqliteStore(directory) });
  for (let step = 0; step < 150; step++) await sim.dice.weighted(actions).run(sim);
  await finishOpenRequests(sim);
  return { sim, directory };
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

test('keeps years of purchases unchanged, and a service on the database agrees with their model', async () => {
  const { sim, directory } = await filledStore(4);
  const before = await canonicalState(sim.client.store());
  await sim.client.service().close();
  await sim.client.store().close();
  const url = await newDatabase();
  const figures = await moveStore({ from: directory, to: url });
  expect(figures.filter(({ source, target }) => source !== target)).toEqual([]);
  expect(figures).toContainEqual(
    expect.objectContaining({ table: 'positions', figure: 'sum of monthly_price', target: expect.stringMatching(/^[1-9]/) }),
  );

  const open = async () => {
    const store = await openPostgresStore(url);
    onTestFinished(() => store.close());
    return store;
  };
  const store = await open();
  const after = await canonicalState(store);
  expect(Object.keys(after)).toEqual(Object.keys(before));
  expect(differencesOf(before, after)).toEqual([]);
  await expect(
    createService({ store, ports: sim.world.ports, secret: `${SECRET}, but another`, logger: pino({ level: 'silent' }) }),
  ).rejects.toThrow(/not the one that the store was first used with/);
  await continueOn(sim, open);
});

/** Continues the simulation on another store. */
async function continueOn(sim: Simulation, open: () => Promise<Store>): Promise<void> {
  // Repeatable requests go to the service from which the store was moved.
  const moved: Simulation = { ...sim, repeatables: [], client: await openClient({ engine: 'postgres', open }, sim.world, async () => {}) };
  for (const account of moved.model.accounts) {
    await checkBilling(moved, account);
    await checkServers(moved, account);
    await checkDomains(moved, account);
    await checkLog(moved, account);
  }
  for (let step = 0; step < 40; step++) await moved.dice.weighted(actions).run(moved);
  await finishOpenRequests(moved);
  for (const account of moved.model.accounts) await checkBilling(moved, account);
  await moved.client.service().close();
}

test(
  'leaves the database empty if it stores other rows than it was given, and reports the figures that differ',
  { tags: 'deep' },
  async () => {
    const { sim, directory } = await filledStore(5);
    await sim.client.service().close();
    await sim.client.store().close();
    const url = await newDatabase();
    await (await openPostgresStore(url)).close();
    await query(
      url,
      `create function a_cent_less() returns trigger language plpgsql as $$
      begin if new.total - new.credited > 1000000 then new.total := new.total - 1000000; end if; return new; end
    $$`,
    );
    await query(url, 'create trigger a_cent_less before insert on invoices for each row execute function a_cent_less()');
    const failure = await moveStore({ from: directory, to: url }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(MoveDiffersError);
    expect(failure instanceof MoveDiffersError && failure.differences.map(({ table, figure }) => `${table} ${figure}`)).toEqual([
      'invoices sum of total',
      'invoices checksum',
    ]);
    expect(await query(url, 'select * from accounts')).toEqual([]);
    await query(url, 'drop trigger a_cent_less on invoices');
    await query(url, 'create function keep_nothing() returns trigger language plpgsql as $$ begin return null; end $$');
    await query(url, 'create trigger no_invoice before insert on positions for each row execute function keep_nothing()');
    await expect(moveStore({ from: directory, to: url })).rejects.toThrow(/figures differ\. Nothing was moved\.$/);
  },
);

test('returns different figures for different tables, independent of the order of rows', () => {
  const value = fc.oneof(fc.constantFrom(null, '', 'a', '1'), fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }));
  const row: fc.Arbitrary<MovedRow> = fc.record({ a: value, b: value });
  const figuresOf = (rows: readonly MovedRow[]) => {
    const sums = sumsOf(['b', 'a']);
    for (const one of rows) sums.add(one);
    return sums.figures();
  };
  const text = (rows: readonly MovedRow[]) =>
    rows.map(({ a, b }) => JSON.stringify([a, b].map((one) => (typeof one === 'bigint' ? String(one) : one)))).toSorted();
  fc.assert(
    fc.property(fc.array(row), fc.array(row), (one, other) => {
      expect(figuresOf(one.toReversed())).toEqual(figuresOf(one));
      const differences = compared('t', figuresOf(one), figuresOf(other)).filter(({ source, target }) => source !== target);
      const isSame = JSON.stringify(text(one)) === JSON.stringify(text(other));
      if (!isSame) expect(differences).not.toEqual([]);
      expect(compared('t', figuresOf(one), figuresOf(one)).every(({ source, target }) => source === target)).toBe(true);
    }),
  );
});
