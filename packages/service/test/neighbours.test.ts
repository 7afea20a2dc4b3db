/** What is slow or large in one account makes no other account wait. */
import { pino } from 'pino';
import { expect, test } from 'vitest';

import { createService } from '../src/index.ts';
import { engines } from './engines.ts';
import { SECRET, SMALL_VM, startService } from './harness.ts';
import type { TestService } from './harness.ts';
import { until } from './instances.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { Standstill } from './ports/standstill.ts';
import { startReceiver } from './webhook-receiver.ts';

const DAY = 86_400_000;

/** A service whose hypervisor can be brought to a standstill. */
async function startStandingStill(options: Parameters<typeof startService>[0] = {}) {
  const still = new Standstill();
  const hypervisor = still.around(new TestHypervisor());
  const service = await startService({ ...options, hypervisor });
  return { service, still };
}

async function buyScheduled(service: TestService, count: number): Promise<void> {
  for (let bought = 0; bought < count; bought++) {
    const path = { vmid: String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier) };
    expect((await service.call('setVmBackupSchedule', { path, form: { interval: 'daily' } })).status).toBe(200);
  }
}

test.each(engines)('an event reaches its webhook and a month ends while the backups of another account hang, on %s', async (engine) => {
  const [{ service, still }, receiver] = await Promise.all([startStandingStill({ engine }), startReceiver()]);
  const other = await service.account();
  const { apiKey } = other;
  await service.call('addWebhook', { form: { url: receiver.url }, apiKey });
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
  await buyScheduled(service, 6);
  service.clock.advance(DAY);
  Object.assign(still, { holds: 'before' });
  await service.runRound();
  const half = Math.ceil(scheduledBackups / 2);
  await until(() => still.held.length === half);
  still.release();
  await service.settled();
  expect(still.held).toHaveLength(half);
  expect(service.hypervisor.copies.size).toBe(6);
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
