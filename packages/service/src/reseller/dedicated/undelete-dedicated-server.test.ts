import { expect, test } from 'vitest';

import { deployedServer, orderServer, RYZEN } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';

const path = { identifier: RYZEN };

test('a cancelled server is renewed again at the date at which it would have ended', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  service.clock.advanceTo('2026-12-10T11:59:59Z');
  const { status, body } = await service.call('undeleteDedicatedServer', { path, apiKey });
  expect(status).toBe(200);
  expect(body.data).toEqual({ identifier: RYZEN, renew_date: '2026-12-10T12:00:00.000Z' });
  service.clock.advance(1000);
  await service.runScheduledJobs();
  const { data } = (await service.call('getDedicatedServer', { path, apiKey })).body;
  expect(data.accounting).toMatchObject({ renew: '2027-01-09T12:00:00.000Z', terminated: false });
});

test('a server that is not cancelled: 409, deployed or being set up', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await orderServer(service, RYZEN, id);
  for (const wait of [0, 900_000]) {
    service.clock.advance(wait);
    const { status, body } = await service.call('undeleteDedicatedServer', { path, apiKey });
    expect(status).toBe(409);
    expect(body).toMatchObject({
      type: 'wrong_state',
      message: `The dedicated server ${RYZEN} is not cancelled, so there is no cancellation to withdraw. No action is needed: it will be renewed.`,
    });
  }
});

test('from the termination date on there is nothing to bring back: 404', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  service.clock.advanceTo('2026-12-10T12:00:00Z');
  // The timed work has not run yet.
  expect(await service.call('undeleteDedicatedServer', { path, apiKey })).toMatchObject({ status: 404, body: { type: 'not_found' } });
  await service.runScheduledJobs();
  expect(await service.call('undeleteDedicatedServer', { path, apiKey })).toMatchObject({ status: 404, body: { type: 'not_found' } });
});

test('a server of another account: 404, and it stays cancelled', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  expect(await service.call('undeleteDedicatedServer', { path })).toMatchObject({ status: 404, body: { type: 'not_found' } });
  expect((await service.call('getDedicatedServer', { path, apiKey })).body.data.accounting.terminated).toBe(true);
});

test('nothing is charged, and the credit limit is not asked: the renewal was agreed on with the order', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  await service.store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit: 0 }).execute());
  expect((await service.call('undeleteDedicatedServer', { path, apiKey })).status).toBe(200);
  const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
  expect(data.positions.dedicated[RYZEN]).toHaveLength(1);
});

test('the same Idempotency-Key gets the same response again', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  const first = await service.call('undeleteDedicatedServer', { path, apiKey, idempotencyKey: 'one' });
  expect(await service.call('undeleteDedicatedServer', { path, apiKey, idempotencyKey: 'one' })).toMatchObject({
    status: 200,
    body: first.body,
  });
  expect((await service.call('undeleteDedicatedServer', { path, apiKey, idempotencyKey: 'two' })).status).toBe(409);
});

test('of cancellations and withdrawals at once, each that succeeds follows one of the other kind', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  const operations = ['deleteDedicatedServer', 'undeleteDedicatedServer'] as const;
  const responses = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const operation = operations[index % 2] ?? 'deleteDedicatedServer';
      return { operation, status: (await service.call(operation, { path, apiKey })).status };
    }),
  );
  const succeeded = (operation: string) =>
    responses.filter((response) => response.operation === operation && response.status === 200).length;
  expect(responses.every(({ status }) => status === 200 || status === 409)).toBe(true);
  const surplus = succeeded('deleteDedicatedServer') - succeeded('undeleteDedicatedServer');
  const { data } = (await service.call('getDedicatedServer', { path, apiKey })).body;
  expect(surplus).toBe(data.accounting.terminated ? 1 : 0);
  expect(succeeded('deleteDedicatedServer')).toBeGreaterThan(0);
});
