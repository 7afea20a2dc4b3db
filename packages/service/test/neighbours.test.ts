/** A slow, large or hostile thing of one account makes no other account wait. */
import { GuestError } from '@reseller/adapters';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';

import { accountsWithDue, deliveriesOf, dueDeliveries, dueWebhooks, MAX_WAITING } from '../src/core/events/deliveries.ts';
import { enterInSteps, eventsAfter } from '../src/core/events/feed.ts';
import { nextStart } from '../src/core/vm/ended-machines.ts';
import { createService } from '../src/index.ts';
import type { Db } from '../src/store/store.ts';
import { engines } from './engines.ts';
import { SECRET, SMALL_VM, startService } from './harness.ts';
import type { TestService } from './harness.ts';
import { insertMany } from './insert-many.ts';
import { until } from './instances.ts';
import { startOperator } from './operator.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { Standstill } from './ports/standstill.ts';
import { accept, addConfirmed, startReceiver } from './webhook-receiver.ts';

const DAY = 86_400_000;

/** A service whose hypervisor can be brought to a standstill. */
async function startStandingStill(options: Parameters<typeof startService>[0] = {}) {
  const still = new Standstill();
  const hypervisor = still.around(new TestHypervisor());
  const service = await startService({ ...options, hypervisor });
  return { service, still };
}

/** Buys VMs with a daily backup. Returns their identifiers. */
async function buyScheduled(service: TestService, count: number, apiKey = service.apiKey): Promise<number[]> {
  const bought: number[] = [];
  while (bought.length < count) {
    const { identifier } = (await service.call('createVm', { form: SMALL_VM, apiKey })).body.data;
    const path = { vmid: String(identifier) };
    expect((await service.call('setVmBackupSchedule', { path, form: { interval: 'daily' }, apiKey })).status).toBe(200);
    bought.push(identifier);
  }
  return bought;
}

test.each(engines)('an event reaches its webhook and a month ends while the backups of another account hang, on %s', async (engine) => {
  const [{ service, still }, receiver] = await Promise.all([startStandingStill({ engine }), startReceiver()]);
  const other = await service.account();
  const { apiKey } = other;
  await addConfirmed(service, { url: receiver.url }, apiKey);
  await buyScheduled(service, 6);
  await service.call('createVm', { form: SMALL_VM, apiKey });
  service.clock.advanceTo('2026-12-01T00:00:01Z');
  Object.assign(still, { holds: 'before' });
  await service.runRound();
  await until(() => still.held.length > 0);
  expect(new Set(still.held)).toEqual(new Set(['create']));
  const statuses = await service.store.read((db) =>
    db.selectFrom('invoices').select('status').where('account_id', '=', other.id).execute(),
  );
  expect(statuses).toContainEqual({ status: 'OPEN' });
  await until(async () => {
    await service.runRound();
    return receiver.got.some(({ event }) => event.type === 'vm.created');
  });
  expect(still.ended).toBe(0);
  still.release();
  await service.settled();
});

test.each([1, 2, 8])('%s scheduled backups at the same time: each account has at most half, and takes turns', async (scheduledBackups) => {
  const { service, still } = await startStandingStill({ tuning: { scheduledBackups } });
  const { apiKey } = await service.account();
  await buyScheduled(service, 6);
  service.clock.advance(1_000);
  const others = await buyScheduled(service, 1, apiKey);
  service.clock.advance(DAY);
  Object.assign(still, { holds: 'before' });
  await service.runRound();
  const half = Math.ceil(scheduledBackups / 2);
  const begun = Math.min(half + 1, scheduledBackups);
  await until(() => still.held.length === begun);
  still.release();
  await service.settled();
  expect(still.held).toHaveLength(begun);
  const copied = [...service.hypervisor.copies.keys()];
  expect(copied).toHaveLength(7);
  // The backups of the other account are due later, and only one of its turns comes before.
  expect(copied.indexOf(others[0] ?? 0)).toBeLessThanOrEqual(half);
});

test('readiness and metrics overtake the reads that wait for the only connection', { tags: 'outer' }, async () => {
  const service = await startOperator({ engine: 'postgres', tuning: { connections: 1 } });
  const { store } = service;
  const readAccounts = (db: Db) => db.selectFrom('accounts').select('id').execute();
  const [held, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = store.commit(async ({ db }) => {
    await readAccounts(db);
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  const READS = 50;
  const order: string[] = [];
  const reads = Array.from({ length: READS }, () => store.read(readAccounts).then(() => order.push('read')));
  await until(() => store.pool?.().waiting === READS);
  const asked = ['/readyz', '/metrics'].map(async (path) => {
    const { status } = await service.operate(path);
    order.push(path);
    return status;
  });
  await until(() => (store.pool?.().waiting ?? 0) > READS + 1);
  held.resolve();
  expect(await Promise.all(asked)).toEqual([200, 200]);
  await Promise.all([holding, ...reads]);
  // Each of their own reads may begin after one of the others.
  expect(order.indexOf('/readyz')).toBeLessThan(READS / 2);
  expect(order.indexOf('/metrics')).toBeLessThan(READS / 2);
});

test('the service starts and runs rounds while the delivery of an earlier process hangs, and settles it later', async () => {
  const { service, still } = await startStandingStill({ engine: 'sqlite' });
  const path = { vmid: String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier) };
  Object.assign(still, { holds: 'before' });
  const pending = service.call('setVmPower', { path, form: { mode: 'stop' } });
  await until(() => still.held.length === 1);
  // As after a crash: the embedded store considers the earlier process dead.
  const next = await createService({ store: service.store, ports: service.ports, secret: SECRET, logger: pino({ level: 'silent' }) });
  await next.runRound();
  await until(() => still.held.length === 2);
  expect(await service.store.read((db) => db.selectFrom('reservations').select('delivery').execute())).toEqual([{ delivery: 'stopVm' }]);
  still.release();
  await next.settled();
  await next.close();
  await pending;
  expect(await service.store.read((db) => db.selectFrom('reservations').selectAll().execute())).toEqual([]);
});

/** Events of an account, all about one subject, each with a delivery that waits for the webhook. */
async function fillQueue(service: TestService, { accountId, webhookId, count }: { accountId: string; webhookId: string; count: number }) {
  const entered = service.clock.now();
  const events = Array.from({ length: count }, (_, index) => ({
    id: `event-${String(index).padStart(6, '0')}`,
    account_id: accountId,
    position: index + 1,
    type: 'account.resumed',
    subject: 'account',
    data: '{}',
    entered: entered + index,
  }));
  const deliveries = events.map(({ id, subject, position }) => ({
    webhook_id: webhookId,
    number: position,
    event_id: id,
    subject,
    state: 'pending',
    attempts: 0,
    next_attempt: entered,
    claimed_until: 0,
    created: entered,
  }));
  await service.store.commit(async ({ db }) => {
    await insertMany(service.store, db, 'events', events);
    await insertMany(service.store, db, 'webhook_deliveries', deliveries);
    await db.updateTable('webhooks').set({ last_delivery: count }).where('id', '=', webhookId).execute();
    await db.insertInto('event_feeds').values({ account_id: accountId, last: count, deleted: 0 }).execute();
  });
}

async function startWithQueue(options: Parameters<typeof startService>[0] & { count: number; url?: string }) {
  const service = await startService(options);
  const { id: accountId, apiKey } = await service.account();
  const form = { url: options.url ?? 'http://127.0.0.1:9/', enabled: false };
  const webhookId: string = (await addConfirmed(service, form, apiKey)).webhook_id;
  await fillQueue(service, { accountId, webhookId, count: options.count });
  const count = async (table: 'webhook_deliveries' | 'webhooks' | 'webhook_secrets') =>
    (await service.store.read((db) => db.selectFrom(table).selectAll().execute())).length;
  return { service, apiKey, webhookId, path: { webhook_id: webhookId }, count };
}

describe.each(engines)('the queue of a webhook, on %s', (engine) => {
  test.each([1, 2, 3, 100])(
    'is deleted in steps of %i once the webhook is removed, and nothing shows it meanwhile',
    async (deliveryStep) => {
      const { service, apiKey, path, count } = await startWithQueue({ engine, count: 6, tuning: { deliveryStep } });
      expect((await service.call('removeWebhook', { path, apiKey })).status).toBe(200);
      expect([await count('webhook_deliveries'), await count('webhook_secrets')]).toEqual([6, 0]);
      expect((await service.call('listWebhooks', { apiKey })).body.data.list).toEqual([]);
      for (const operation of ['editWebhook', 'removeWebhook', 'rotateWebhookSecret'] as const)
        expect((await service.call(operation, { path, apiKey })).status).toBe(404);
      await service.runScheduledJobs();
      expect([await count('webhook_deliveries'), await count('webhooks')]).toEqual([0, 0]);
    },
  );

  test.each([1, 2, 3, 100])('is made due in steps of %i when the webhook is enabled, and sent in its order', async (deliveryStep) => {
    const receiver = await startReceiver();
    const { service, apiKey, path, count } = await startWithQueue({ engine, count: 6, tuning: { deliveryStep }, url: receiver.url });
    await service.store.commit(({ db }) =>
      db
        .updateTable('webhook_deliveries')
        .set({ attempts: 3, first_attempt: 1, next_attempt: service.clock.now() + DAY })
        .execute(),
    );
    await service.call('editWebhook', { path, form: { enabled: true }, apiKey });
    await until(async () => {
      await service.runRound();
      return receiver.got.length === 6;
    });
    expect(receiver.got.map(({ id }) => id)).toEqual(receiver.got.map((_, index) => `event-00000${index}`));
    expect(await count('webhook_deliveries')).toBe(6);
  });

  test('may be as long as the limit, and no longer through a replay or a test', async () => {
    const { service, apiKey, webhookId } = await startWithQueue({ engine, count: MAX_WAITING });
    const since = new Date(service.clock.now() + MAX_WAITING - 1).toISOString();
    const form = { url: 'http://127.0.0.1:9/' };
    const other = { webhook_id: (await addConfirmed(service, form, apiKey)).webhook_id };
    const refused = { status: 409, body: { type: 'quota_exceeded', message: expect.stringContaining(`More than ${MAX_WAITING}`) } };
    expect(await service.call('replayWebhook', { path: other, form: { since }, apiKey })).toMatchObject(refused);
    expect(await service.call('testWebhook', { path: other, apiKey })).toMatchObject(refused);
    await service.store.commit(({ db }) =>
      db
        .updateTable('webhook_deliveries')
        .set({ state: 'delivered' })
        .where('webhook_id', '=', webhookId)
        .where('number', '=', 1)
        .execute(),
    );
    expect(await service.call('replayWebhook', { path: other, form: { since }, apiKey })).toMatchObject({
      status: 200,
      body: { data: { replayed: 1 } },
    });
  });
});

test('the query of what is due walks no delivery that waits for another of its subject', async () => {
  const { service, webhookId } = await startWithQueue({ engine: 'sqlite', count: 500 });
  const rows = await service.store.read((db) =>
    db.selectFrom('webhook_deliveries').select('number').where('webhook_id', '=', webhookId).where('blocked', '=', 0).execute(),
  );
  expect(rows).toEqual([{ number: 1 }]);
  const plans: string[] = [];
  await service.store.read(async (db) => {
    for (const query of [dueDeliveries(db, { webhookId, confirming: null, now: 1 }), dueWebhooks(db, 1).selectAll()]) {
      const compiled = query.compile();
      plans.push(JSON.stringify(await db.executeQuery({ ...compiled, sql: `explain query plan ${compiled.sql}` })));
    }
  });
  for (const plan of plans) expect(plan).toContain('INDEX first_deliveries');
});

test('the queries of a type of event, of deliveries in one state and of the next start of an account walk no other rows', async () => {
  const { service, webhookId } = await startWithQueue({ engine: 'sqlite', count: 1 });
  await service.store.read(async (db) => {
    for (const [query, index] of [
      [eventsAfter(db, { accountId: 'one', start: 0, type: 'invoice.paid' }), 'events_by_type'],
      [deliveriesOf(db, { webhookId, before: undefined, limit: 1, state: 'failed' }), 'deliveries_by_state'],
      [nextStart(db, { accountId: 'one', now: 1 }), 'ended_machines_of_account'],
    ] as const) {
      const compiled = query.compile();
      const plan = await db.executeQuery({ ...compiled, sql: `explain query plan ${compiled.sql}` });
      expect(JSON.stringify(plan)).toContain(`INDEX ${index}`);
      expect(JSON.stringify(plan)).not.toContain('TEMP B-TREE');
    }
  });
});

test('receivers that hang have at most the places of their account, and a ninth account gets its event at once', async () => {
  const [service, hanging, quick] = await Promise.all([
    startService({ tuning: { webhookRequests: 16, webhookRequestsOfAccount: 1 } }),
    startReceiver(() => {}),
    startReceiver(),
  ]);
  for (let count = 0; count < 8; count++) {
    const { apiKey } = await service.account();
    for (let webhook = 0; webhook < 3; webhook++) await addConfirmed(service, { url: hanging.url }, apiKey);
    for (let vm = 0; vm < 2; vm++) await service.call('createVm', { form: SMALL_VM, apiKey });
  }
  await service.runRound();
  await until(() => hanging.got.length === 8);
  const { apiKey } = await service.account();
  await addConfirmed(service, { url: quick.url }, apiKey);
  await service.call('createVm', { form: SMALL_VM, apiKey });
  await service.runRound();
  await until(() => quick.got.length === 1);
  expect(hanging.got).toHaveLength(8);
});

/** The most events that one transaction brings into the feeds during some work. */
async function mostEntered({ store }: TestService, work: () => Promise<unknown>): Promise<number> {
  const count = async () => (await store.read((db) => db.selectFrom('events').select('id').execute())).length;
  let [before, most] = [await count(), 0];
  const commit = store.commit.bind(store);
  const spy = vi.spyOn(store, 'commit').mockImplementation(async (run, options) => {
    const result = await commit(run, options);
    const after = await count();
    [before, most] = [after, Math.max(most, after - before)];
    return result;
  });
  await work();
  spy.mockRestore();
  return most;
}

test.each([
  ['a round', 1, (service: TestService) => service.runScheduledJobs()],
  ['a round', 25, (service: TestService) => service.runScheduledJobs()],
  ['a reader', 2, (service: TestService) => service.call('listEvents')],
  ['a new webhook', 2, (service: TestService) => service.call('addWebhook', { form: { url: 'http://127.0.0.1:9/' } })],
])('%s brings at most %i events of an account into its feed in a transaction', async (_, jobBatch, work) => {
  const service = await startService({ tuning: { jobBatch } });
  const { account_id } = await service.store.read((db) => db.selectFrom('api_keys').select('account_id').executeTakeFirstOrThrow());
  const noted = Array.from({ length: 60 }, () => ({ account_id, type: 'account.resumed', subject: 'account', facts: '{}' }));
  await service.store.commit(({ db }) => db.insertInto('event_inbox').values(noted).execute());
  expect(await mostEntered(service, () => work(service))).toBe(jobBatch);
  expect(await service.store.read((db) => db.selectFrom('event_inbox').selectAll().execute())).toEqual([]);
});

test('the account whose event has waited longest comes first, and within it the webhook', async () => {
  const service = await startService();
  const due = async (now: number) => service.store.read((db) => accountsWithDue(db, now));
  const accounts = [await service.account(), await service.account(), await service.account()].toSorted((one, other) =>
    one.id < other.id ? 1 : -1,
  );
  for (const { id, apiKey } of accounts) {
    await addConfirmed(service, { url: 'http://127.0.0.1:9/' }, apiKey);
    await service.call('createVm', { form: SMALL_VM, apiKey });
    await enterInSteps({ accountId: id, now: service.clock.now(), runtime: service });
    service.clock.advance(1_000);
  }
  expect(await due(service.clock.now())).toEqual(accounts.map(({ id }) => id));
});

test.each([1, 2, 50])('at most %i requests to one host begin within a second, for whichever webhook', async (webhookRequestsOfHost) => {
  const receiver = await startReceiver();
  const service = await startService({ tuning: { webhookRequestsOfHost } });
  for (let webhook = 0; webhook < 3; webhook++) await addConfirmed(service, { url: `${receiver.url}/${webhook}` });
  await service.call('createVm', { form: SMALL_VM });
  await service.call('createVm', { form: SMALL_VM });
  const all = 6;
  for (let expected = 0; expected < all;) {
    expected = Math.min(expected + webhookRequestsOfHost, all);
    await service.runRound();
    await until(() => receiver.got.length === expected);
    await service.runRound();
    expect(receiver.got).toHaveLength(expected);
    service.clock.advance(1_000);
  }
});

test('what an instance that died had claimed is sent after 20 seconds at most', async () => {
  const [service, hanging] = [await startService(), await startReceiver(() => {})];
  await addConfirmed(service, { url: hanging.url });
  await service.call('createVm', { form: SMALL_VM });
  await service.runRound();
  await until(() => hanging.got.length === 1);
  const claimed = () => service.store.read((db) => db.selectFrom('webhook_deliveries').select('claimed_until').executeTakeFirstOrThrow());
  const { claimed_until } = await claimed();
  expect(Number(claimed_until) - service.clock.now()).toBe(20_000);
});

test('a webhook that is slow gets one request at a time, as one that fails does', async () => {
  let [atOnce, most] = [0, 0];
  const receiver = await startReceiver((got, response) => {
    most = Math.max(most, ++atOnce);
    setTimeout(() => {
      atOnce--;
      accept(got, response);
    }, 20);
  });
  const service = await startService({ tuning: { slowWebhookMs: 1 } });
  const { webhook_id } = await addConfirmed(service, { url: receiver.url });
  await service.call('testWebhook', { path: { webhook_id } });
  await service.runRound();
  await until(() => receiver.got.length === 1);
  for (let vm = 0; vm < 6; vm++) await service.call('createVm', { form: SMALL_VM });
  await until(async () => {
    await service.runRound();
    return receiver.got.length === 7;
  });
  expect(most).toBe(1);
});

test('a guest whose agent refuses is a conflict with a way out, and the VM stays as it was', async () => {
  const service = await startService();
  const vmId: number = (await service.call('createVm', { form: SMALL_VM })).body.data.identifier;
  const path = { vmid: String(vmId) };
  const before = service.hypervisor.vms.get(vmId);
  service.hypervisor.setLogin = () =>
    Promise.reject(new GuestError('agent.sock got more than 1000 messages, so the connection was closed.'));
  expect(await service.call('resetVmPassword', { path })).toMatchObject({
    status: 409,
    body: { type: 'wrong_state', message: expect.stringContaining('check that its QEMU guest agent runs') },
  });
  expect(service.hypervisor.vms.get(vmId)).toEqual(before);
  expect((await service.call('getVmStatus', { path })).body.data).toMatchObject({ status: 'running', task: null });
});
