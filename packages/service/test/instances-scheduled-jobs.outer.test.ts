/** Several instances on one PostgreSQL database share the scheduled jobs. */
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { orderDedicatedServer } from '../src/core/dedicated/order.ts';
import { createAccount, issueApiKey, StoreUnavailableError } from '../src/index.ts';
import { euros } from '../src/rules/money.ts';
import { sandboxMarket } from '../src/sandbox/market.ts';
import { countBlocked } from './databases.ts';
import { PERSON, PHONE } from './domains.ts';
import { SECRET, SMALL_VM } from './harness.ts';
import { newInstances, until } from './instances.ts';
import type { TestInstance, TestInstances } from './instances.ts';
import { TestFleet } from './ports/fleet.ts';
import { TestHypervisor } from './ports/hypervisor.ts';

/** Creates accounts with a VM and a domain each. The first ones also have a dedicated server. */
async function fill(instances: TestInstances, instance: TestInstance, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number++) {
    const { id, apiKey } = await instance.store.commit(async ({ db }) => {
      const account = await createAccount(db, instances.ports, { name: `account ${number}`, creditLimit: euros('10000.00') });
      return { id: account, apiKey: await issueApiKey(db, instances.ports, account, { label: 'test', mode: 'sandbox' }) };
    });
    ids.push(id);
    await instance.call('createVm', { form: SMALL_VM, apiKey });
    const { body } = await instance.call('createHandle', { form: { ...PERSON, phone: PHONE }, apiKey });
    const registered = await instance.call('registerDomain', {
      form: { domain: `shared-${number}.net`, handle: body.data.handle },
      apiKey,
    });
    expect(registered.status).toBe(200);
    const offer = sandboxMarket[number]?.identifier;
    if (offer !== undefined)
      await instance.store.commit(({ db }) =>
        orderDedicatedServer(db, { ports: instances.ports, secret: SECRET }, { identifier: offer, accountId: id }),
      );
  }
  return ids;
}

/** Everything that was billed, without the values that differ on every database. */
async function billedOn({ store }: TestInstance): Promise<unknown> {
  return store.read(async (db) => ({
    invoices: await db
      .selectFrom('invoices')
      .innerJoin('accounts', 'accounts.id', 'invoices.account_id')
      .select(['accounts.name', 'invoices.period_start', 'invoices.total', 'invoices.created'])
      .orderBy('accounts.name')
      .orderBy('invoices.period_start')
      .execute(),
    charges: await db
      .selectFrom('charges')
      .innerJoin('accounts', 'accounts.id', 'charges.account_id')
      .leftJoin('invoices', 'invoices.id', 'charges.invoice_id')
      .select(['accounts.name', 'charges.kind', 'charges.type', 'charges.start', 'charges.amount', 'invoices.period_start'])
      .orderBy('accounts.name')
      .orderBy('charges.kind')
      .orderBy('charges.start')
      .execute(),
    accounts: await db.selectFrom('accounts').select(['name', 'held', 'unpaid', 'period_start']).orderBy('name').execute(),
    numbers: (await db.selectFrom('positions').select(['number', 'start', 'stop']).orderBy('number').orderBy('start').execute()).map(
      (position) => JSON.stringify(position),
    ),
  }));
}

test('three instances run each job once, in the order of its account, with the same result as one instance', async () => {
  const COUNT = 12;
  const alone = await newInstances({ fleet: new TestFleet() });
  const single = await alone.start();
  await fill(alone, single, COUNT);
  alone.clock.advanceTo('2028-01-15T00:00:00Z');
  const all = await single.service.runScheduledJobs();

  const instances = await newInstances({ fleet: new TestFleet() });
  const first = await instances.start();
  await fill(instances, first, COUNT);
  const several = [first, await instances.start(), await instances.start()];
  instances.clock.advanceTo('2028-01-15T00:00:00Z');
  const done = await Promise.all(several.map(({ service }) => service.runScheduledJobs()));
  // An instance that finds no job to claim stops. The others finish the jobs that they have claimed.
  expect(done.reduce((sum, count) => sum + count, 0)).toBe(all);
  expect(done.filter((count) => count > 0).length, `each did ${done.join(', ')}`).toBeGreaterThan(1);
  expect(await billedOn(first)).toEqual(await billedOn(single));
  expect(await first.service.runScheduledJobs()).toBe(0);
});

test('skips an account that another instance has locked, and runs its jobs later', async () => {
  const instances = await newInstances();
  const instance = await instances.start();
  const [held] = await fill(instances, instance, 3);
  instances.clock.advanceTo('2026-12-01T00:00:00Z');
  const other = new Client({ connectionString: instances.url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('begin');
  await other.query('select 1 from accounts where id = $1 for no key update', [held]);
  const open = () =>
    instance.store.read((db) =>
      db
        .selectFrom('accounts')
        .select('id')
        .where('period_start', '<', Date.UTC(2026, 11) / 1000)
        .execute(),
    );
  await instance.service.runScheduledJobs();
  expect(await open()).toEqual([{ id: held }]);
  await other.query('commit');
  await instance.service.runScheduledJobs();
  expect(await open()).toEqual([]);
});

test('a request that advances the clock waits for the jobs of another instance and finds no job to run', async () => {
  const instances = await newInstances();
  const instance = await instances.start();
  const [held] = await fill(instances, instance, 2);
  const other = new Client({ connectionString: instances.url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('begin');
  await other.query('select 1 from accounts where id = $1 for no key update', [held]);
  let hasResponse = false;
  const advanced = instance.operate('POST', '/sandbox/clock/advance', { to: '2026-12-01T00:00:00Z' }).finally(() => (hasResponse = true));
  const closed = () => instance.store.read((db) => db.selectFrom('invoices').select('account_id').execute());
  const waits = async () =>
    (
      await instance.store.read((db) =>
        db
          .selectFrom('accounts')
          .select('id')
          .where('period_start', '<', Date.UTC(2026, 11) / 1000)
          .execute(),
      )
    ).length;
  await until(async () => (await countBlocked(other)) > 0);
  expect({ hasResponse, left: (await waits()) > 0 }).toEqual({ hasResponse: false, left: true });
  await other.query('commit');
  expect((await advanced).status).toBe(200);
  expect(await waits()).toBe(0);
  expect(await closed()).toHaveLength(2);
});

test('one of several instances calls the fleet, and another one takes over if it dies', async () => {
  const fleet = new TestFleet();
  const calls: string[] = [];
  const hanging = Promise.withResolvers<void>();
  let hangs = true;
  const setUp = fleet.setUp.bind(fleet);
  fleet.setUp = async (order, token) => {
    calls.push(order.identifier);
    if (hangs) await hanging.promise;
    await setUp(order, token);
  };
  const instances = await newInstances({ fleet });
  const [dying, other] = [await instances.start({ lease: 600_000 }), await instances.start({ lease: 200 })];
  await fill(instances, dying, 1);
  const never = dying.service.runScheduledJobs();
  await until(() => calls.length === 1);
  await other.service.runScheduledJobs();
  expect(calls).toHaveLength(1);
  hangs = false;
  await dying.store.commit(({ db }) =>
    db.updateTable('instances').set({ lease_until: 0 }).where('id', 'in', db.selectFrom('reservations').select('owner')).execute(),
  );
  await until(async () => {
    await other.service.runScheduledJobs();
    return calls.length === 2;
  });
  expect(fleet.servers.size).toBe(1);
  expect(await other.store.read((db) => db.selectFrom('reservations').select('id').execute())).toEqual([]);
  hanging.resolve();
  await never;
});

test('an instance that cannot renew its lease leaves scheduled jobs to the others', async () => {
  const instances = await newInstances();
  const first = await instances.start({ lease: 1_000 });
  await fill(instances, first, 2);
  const other = new Client({ connectionString: instances.url });
  await other.connect();
  onTestFinished(() => other.end());
  // Blocks every query for the lease of the first instance.
  await other.query('begin');
  await other.query('select 1 from instances for update');
  const second = await instances.start();
  const isOver = async () =>
    (await other.query('select count(*)::int as count from instances where lease_until <= extract(epoch from clock_timestamp()) * 1000'))
      .rows[0].count;
  await until(async () => (await isOver()) === 1);
  instances.clock.advanceTo('2026-12-01T00:00:00Z');
  await expect(first.service.runScheduledJobs()).rejects.toThrow(StoreUnavailableError);
  const invoices = () => first.store.read((db) => db.selectFrom('invoices').select('id').execute());
  expect(await invoices()).toEqual([]);
  await second.service.runScheduledJobs();
  expect(await invoices()).toHaveLength(2);
  await other.query('rollback');
  await until(() =>
    first.service.runScheduledJobs().then(
      () => true,
      () => false,
    ),
  );
});

test('keeps idempotency keys for a day, after which any instance deletes them', async () => {
  const instances = await newInstances();
  const first = await instances.start();
  const keys = () => first.store.read((db) => db.selectFrom('idempotency_keys').select('state').execute());
  await first.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' });
  instances.clock.advance(86_400_000);
  await (await instances.start()).service.runScheduledJobs();
  expect(await keys()).toHaveLength(1);
  instances.clock.advance(3_601_000);
  const others = [await instances.start(), await instances.start()];
  await Promise.all(others.map(({ service }) => service.runScheduledJobs()));
  expect(await keys()).toEqual([]);
});

test('two instances measure each VM once, and wait for none that is being changed', async () => {
  const instances = await newInstances();
  const { hypervisor, clock, apiKey } = instances;
  const [one, other] = [await instances.start({}, { usageBatch: 1 }), await instances.start({}, { usageBatch: 1 })];
  const vmIds: number[] = [];
  for (let number = 0; number < 6; number++) vmIds.push((await one.call('createVm', { form: SMALL_VM, apiKey })).body.data.identifier);
  for (const vmId of vmIds) hypervisor.use(vmId, { seconds: 10, sent: 100 });
  const [changing = 0, ...others] = vmIds;
  const change = new Client({ connectionString: instances.url });
  await change.connect();
  onTestFinished(() => change.end());
  await change.query('begin');
  await change.query('select 1 from vms where id = $1 for update', [changing]);
  const asked: number[] = [];
  hypervisor.usage = (ids) => {
    asked.push(...ids);
    return TestHypervisor.prototype.usage.call(hypervisor, ids);
  };
  clock.advance(300_000);
  await Promise.all([one.service.runScheduledJobs(), other.service.runScheduledJobs()]);
  expect(asked.filter((id) => vmIds.includes(id)).toSorted()).toEqual(vmIds.toSorted());
  const traffic = () => one.store.read((db) => db.selectFrom('vm_traffic').select(['vm_id', 'sent']).where('vm_id', 'in', vmIds).execute());
  expect((await traffic()).map(({ vm_id }) => vm_id).toSorted()).toEqual(others.toSorted());
  await change.query('rollback');
  clock.advance(300_000);
  await Promise.all([one.service.runScheduledJobs(), other.service.runScheduledJobs()]);
  expect((await traffic()).map(({ sent }) => sent)).toEqual(vmIds.map(() => 100));
});
