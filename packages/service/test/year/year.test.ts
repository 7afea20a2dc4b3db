import { expect, onTestFinished, test } from 'vitest';

import { byDepth } from '../../../../.config/depth.ts';
import { engines, storePlace } from '../engines.ts';
import { checkYear } from './check.ts';
import { changePrices, fillYear } from './world.ts';

/** The benchmark does the same with 1,000 of each. */
const FEW = { accounts: 3, vms: 30, domains: 30, servers: 6 };
/** The simulator shows in each run that both engines bill alike. */
const chosen = byDepth({ usual: ['sqlite'] as const, deep: engines });

test.each(chosen)('invoices a year exactly to the cent, with all positions, on %s', async (engine) => {
  const store = await (await storePlace(engine)).open();
  const world = await fillYear(store, FEW);
  onTestFinished(() => world.service.close());
  await world.advance(370 * 86_400);
  const { invoices, positions, wrong } = await checkYear(world);
  expect(wrong).toEqual([]);
  // Twelve months of three accounts, or thirteen.
  expect(invoices).toBeGreaterThanOrEqual(36);
  expect(positions).toBeGreaterThan(350);
});

test.each(chosen)('invoices a year with two price changes exactly to the cent, on %s', async (engine) => {
  const store = await (await storePlace(engine)).open();
  const world = await fillYear(store, { accounts: 3, vms: 30, domains: 0, servers: 0 });
  onTestFinished(() => world.service.close());
  await changePrices(world, Date.UTC(2027, 1) / 1000, 0);
  await changePrices(world, Date.UTC(2027, 4) / 1000, 30 * 86_400_000 - 1);
  await world.advance(250 * 86_400);
  const { invoices, wrong } = await checkYear(world);
  expect(wrong).toEqual([]);
  expect(invoices).toBeGreaterThanOrEqual(24);
});

test('finds a wrong invoice: a cent, a second, a missing one', async () => {
  const store = await (await storePlace('sqlite')).open();
  const world = await fillYear(store, { accounts: 2, vms: 4, domains: 2, servers: 1 });
  onTestFinished(() => world.service.close());
  await world.advance(60 * 86_400);
  expect((await checkYear(world)).wrong).toEqual([]);
  const change = async (what: 'total' | 'start' | 'gone') => {
    await store.commit(async ({ db }) => {
      const { id } = await db.selectFrom('invoices').select('id').orderBy('id').limit(1).executeTakeFirstOrThrow();
      if (what === 'total')
        await db
          .updateTable('invoices')
          .set((row) => ({ total: row('total', '+', 1_000_000) }))
          .where('id', '=', id)
          .execute();
      if (what === 'start')
        await db
          .updateTable('positions')
          .set((row) => ({ start: row('start', '-', 1) }))
          .where('invoice_id', '=', id)
          .execute();
      if (what !== 'gone') return;
      await db.updateTable('positions').set({ invoice_id: null }).where('invoice_id', '=', id).execute();
      await db.updateTable('charges').set({ invoice_id: null }).where('invoice_id', '=', id).execute();
      await db.deleteFrom('issued_documents').where('invoice_id', '=', id).execute();
      await db.deleteFrom('invoices').where('id', '=', id).execute();
    });
    return (await checkYear(world)).wrong;
  };
  expect(await change('total')).toHaveLength(1);
  expect(await change('start')).toHaveLength(1);
  expect(await change('gone')).toEqual([
    expect.stringContaining('has 1 invoices in 2 months'),
    expect.stringContaining('has no invoice of'),
  ]);
});
