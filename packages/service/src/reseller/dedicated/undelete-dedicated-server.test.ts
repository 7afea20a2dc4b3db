import { expect, test } from 'vitest';

import { deployedServer, orderServer, RYZEN } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';

const path = { identifier: RYZEN };

test('renews a server on the date on which it would have ended', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  service.clock.advanceTo('2026-12-10T12:03:16.999Z');
  const { status, body } = await service.call('undeleteDedicatedServer', { path, apiKey });
  expect(status).toBe(200);
  expect(body.data).toEqual({ identifier: RYZEN, renew_date: '2026-12-10T12:03:17.000Z' });
  service.clock.advance(1);
  await service.runScheduledJobs();
  const { data } = (await service.call('getDedicatedServer', { path, apiKey })).body;
  expect(data.accounting).toMatchObject({ renew: '2027-01-09T12:03:17.000Z', terminated: false });
});

test('responds with 409 to a server that is not cancelled, deployed or in set-up', async () => {
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

test('responds with 404 from the termination date on', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  service.clock.advanceTo('2026-12-10T12:03:17Z');
  // The scheduled job has not run yet.
  expect(await service.call('undeleteDedicatedServer', { path, apiKey })).toMatchObject({ status: 404, body: { type: 'not_found' } });
  await service.runScheduledJobs();
  expect(await service.call('undeleteDedicatedServer', { path, apiKey })).toMatchObject({ status: 404, body: { type: 'not_found' } });
});

test('responds with 404 to a server of another account, which stays cancelled', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  expect(await service.call('undeleteDedicatedServer', { path })).toMatchObject({ status: 404, body: { type: 'not_found' } });
  expect((await service.call('getDedicatedServer', { path, apiKey })).body.data.accounting.terminated).toBe(true);
});

test('charges nothing and does not check the credit limit, because the order already included renewals', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  await service.store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit: 0 }).execute());
  expect((await service.call('undeleteDedicatedServer', { path, apiKey })).status).toBe(200);
  const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
  expect(data.positions.dedicated[RYZEN]).toHaveLength(1);
});

test('repeats the response for the same Idempotency-Key', async () => {
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

test('alternates between cancellations and withdrawals if many of both are concurrent', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  const operations = ['deleteDedicatedServer', 'undeleteDedicatedServer'] as const;
  const responses = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const operation = operations[index % 2] ?? 'deleteDedicatedServer';
      return { operation, status: (await service.call(operation, { path, apiKey })).status };
    }),
  );
  const countSuccesses = (operation: string) =>
    responses.filter((response) => response.operation === operation && response.status === 200).length;
  expect(responses.every(({ status }) => status === 200 || status === 409)).toBe(true);
  const surplus = countSuccesses('deleteDedicatedServer') - countSuccesses('undeleteDedicatedServer');
  const { data } = (await service.call('getDedicatedServer', { path, apiKey })).body;
  expect(surplus).toBe(data.accounting.terminated ? 1 : 0);
  expect(countSuccesses('deleteDedicatedServer')).toBeGreaterThan(0);
});
