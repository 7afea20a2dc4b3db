/** Several instances on one PostgreSQL database. A change through one of them takes effect on all others. */
import { expect, test, vi } from 'vitest';

import { SMALL_VM } from './harness.ts';
import { newInstances, until } from './instances.ts';
import type { TestInstance, TestInstances } from './instances.ts';

async function two(): Promise<{ instances: TestInstances; one: TestInstance; other: TestInstance }> {
  const instances = await newInstances();
  return { instances, one: await instances.start(), other: await instances.start() };
}

test('refuses a revoked key on the other instance, which learns of it by itself', async () => {
  const { instances, one, other } = await two();
  expect((await other.call('listDomains')).status).toBe(200);
  const { body } = await one.operate('GET', `/accounts/${instances.accountId}/api-keys`);
  expect((await one.operate('POST', `/api-keys/${body.items[0].id}/revoke`)).status).toBe(200);
  await vi.waitUntil(async () => (await other.call('listDomains')).status === 401, {
    timeout: 300_000,
    interval: 20,
  });
});

test('applies an advance of the clock on every instance, for resellers and the operator', async () => {
  const { one, other } = await two();
  const runtime = async () => Object.values((await other.call('getCurrentInvoice')).body.data.positions.vms);
  await other.call('createVm', { form: SMALL_VM });
  expect(await runtime()).toMatchObject([[{ totalRuntime: 0 }]]);
  expect((await one.operate('POST', '/sandbox/clock/advance', { by_seconds: 86_400 })).status).toBe(200);
  expect(await runtime()).toMatchObject([[{ totalRuntime: 86_400 }]]);
  expect((await other.operate('GET', '/sandbox/clock')).body.advance_seconds).toBe(86_400);
});

test('another instance runs the jobs that became due when one instance advanced the clock', async () => {
  const { one, other } = await two();
  await other.call('createVm', { form: SMALL_VM });
  await other.service.runScheduledJobs();
  // The instance dies directly after it has stored the new time.
  await one.store.commit(({ db }) =>
    db
      .insertInto('settings')
      .values({ name: 'clock_offset', value: String(40 * 86_400_000) })
      .execute(),
  );
  await until(async () => (await other.service.runScheduledJobs()) > 0);
  expect(await other.store.read((db) => db.selectFrom('invoices').select('id').execute())).toHaveLength(1);
});

test('adds up two advances of the clock that two instances receive at the same time', async () => {
  const { one, other } = await two();
  const advance = (node: TestInstance) => node.operate('POST', '/sandbox/clock/advance', { by_seconds: 3_600 });
  const responses = await Promise.all([one, other, one, other].map(advance));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await one.operate('GET', '/sandbox/clock')).body.advance_seconds).toBe(4 * 3_600);
});

test('counts the occurrences of a fault across both instances', async () => {
  const { one, other } = await two();
  expect((await other.call('listDomains')).status).toBe(200);
  const made = await one.operate('POST', '/sandbox/faults', {
    operations: ['listDomains'],
    effect: { kind: 'error', status: 503 },
    times: 4,
  });
  expect(made.status).toBe(201);
  expect((await other.call('listDomains')).status).toBe(503);
  const statuses = await Promise.all(
    [other, one, other, one, other, one].map(async (instance) => (await instance.call('listDomains')).status),
  );
  expect(statuses.toSorted()).toEqual([200, 200, 200, 503, 503, 503]);
  const again = await one.operate('POST', '/sandbox/faults', {
    operations: ['listDomains'],
    effect: { kind: 'error', status: 503 },
    times: 3,
  });
  expect((await other.operate('DELETE', `/sandbox/faults/${again.body.id}`)).status).toBe(204);
  expect((await one.call('listDomains')).status).toBe(200);
});

test('resets the clock, keys and data of the other instance at once', async () => {
  const { instances, one, other } = await two();
  await other.call('createVm', { form: SMALL_VM });
  await other.operate('POST', '/sandbox/clock/advance', { by_seconds: 40 * 86_400 });
  expect((await other.call('listDomains')).status).toBe(200);
  expect((await one.operate('POST', '/sandbox/reset')).status).toBe(200);
  expect((await other.call('listDomains')).status).toBe(401);
  expect((await other.operate('GET', '/vms')).body.items).toMatchObject([{ id: '48213' }]);
  await other.service.runScheduledJobs();
  const accounts = await other.store.read((db) => db.selectFrom('accounts').select(['id', 'period_start']).execute());
  expect(accounts.map(({ period_start }) => period_start)).toEqual([Date.UTC(2026, 10) / 1000]);
  expect(accounts.map(({ id }) => id)).not.toContain(instances.accountId);
});

test('takes a consistent snapshot while another instance sells, and restores it without running jobs early', async () => {
  const { one, other } = await two();
  await one.call('createVm', { form: SMALL_VM });
  const selling = Promise.all(Array.from({ length: 12 }, () => other.call('createVm', { form: SMALL_VM })));
  expect((await one.operate('PUT', '/sandbox/snapshots/before')).status).toBe(200);
  await selling;
  await one.operate('POST', '/sandbox/clock/advance', { by_seconds: 40 * 86_400 });
  expect(await one.store.read((db) => db.selectFrom('invoices').select('id').execute())).toHaveLength(1);

  // The other instance keeps running scheduled jobs, as a process does.
  const restored = new AbortController();
  const working = (async () => {
    while (!restored.signal.aborted) await other.service.runScheduledJobs();
  })();
  expect((await one.operate('POST', '/sandbox/snapshots/before/restore')).status).toBe(200);
  restored.abort();
  await working;
  expect(await other.store.read((db) => db.selectFrom('invoices').select('id').execute())).toEqual([]);
  expect((await other.operate('GET', '/sandbox/clock')).body.advance_seconds).toBe(0);
  const { held, vms, reserved } = await other.store.read(async (db) => ({
    held: (await db.selectFrom('accounts').select('held').where('name', '=', 'test').executeTakeFirstOrThrow()).held,
    vms: await db.selectFrom('positions').select('hold').execute(),
    reserved: await db.selectFrom('reservations').select('id').execute(),
  }));
  // The unfinished purchase in the snapshot is undone, and the remaining holds belong to the other purchases.
  expect(reserved).toEqual([]);
  expect(held).toBe(vms.reduce((sum, { hold }) => sum + hold, 0));
  expect(await other.store.read((db) => db.selectFrom('vms').select('id').where('state', '=', 'reserved').execute())).toEqual([]);
});

test('keeps the time of the clock when a restore fails', async () => {
  const { one, other } = await two();
  await one.operate('POST', '/sandbox/clock/advance', { by_seconds: 3_600 });
  expect((await one.operate('POST', '/sandbox/snapshots/missing/restore')).status).toBe(404);
  expect((await other.operate('GET', '/sandbox/clock')).body.advance_seconds).toBe(3_600);
});
