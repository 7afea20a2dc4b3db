import { expect, test } from 'vitest';

import { deployedServer, orderServer, RYZEN } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';

const path = { identifier: RYZEN };
const rows = ({ store }: TestService) =>
  store.read((db) => db.selectFrom('dedicated_servers').selectAll().where('id', '=', RYZEN).execute());

test('cancels a deployed server, which stays active until its renewal date', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  const { status, body } = await service.call('deleteDedicatedServer', { path, apiKey });
  expect(status).toBe(200);
  expect(body.data).toEqual({ identifier: RYZEN, termination_date: '2026-12-10T12:03:17.000Z' });
  service.clock.advanceTo('2026-12-10T12:03:16.999Z');
  await service.runScheduledJobs();
  const { data } = (await service.call('getDedicatedServer', { path, apiKey })).body;
  expect(data).toMatchObject({ deployed: true, accounting: { renew: '2026-12-10T12:03:17.000Z', terminated: true } });
  expect(data.management).not.toBeNull();
});

test('responds with 409 to a repeated cancellation, and keeps the termination date', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  await service.call('deleteDedicatedServer', { path, apiKey });
  const before = await rows(service);
  service.clock.advance(86_400_000);
  const { status, body } = await service.call('deleteDedicatedServer', { path, apiKey });
  expect(status).toBe(409);
  expect(body).toMatchObject({
    type: 'wrong_state',
    message: `The dedicated server ${RYZEN} is already cancelled. No action is needed: it will not be renewed.`,
  });
  expect(await rows(service)).toEqual(before);
});

test('responds with 409 during the set-up, because there is no renewal date yet', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await orderServer(service, RYZEN, id);
  const before = await rows(service);
  const { status, body } = await service.call('deleteDedicatedServer', { path, apiKey, idempotencyKey: 'one' });
  expect(status).toBe(409);
  expect(body.type).toBe('wrong_state');
  expect(body.message).toContain('is being set up');
  expect(await rows(service)).toEqual(before);
  const log = await service.call('listRequests', { apiKey });
  expect(log.body.data[0]).toMatchObject({
    success: 0,
    error_type: 'wrong_state',
    method: 'DELETE',
    endpoint: `/dedicated/${RYZEN}/delete`,
  });
  // The key of a refused request can be used again.
  service.clock.advance(900_000);
  expect((await service.call('deleteDedicatedServer', { path, apiKey, idempotencyKey: 'one' })).status).toBe(200);
});

test('responds with 404 to a server of the market and of another account, and changes nothing', async () => {
  const service = await startService();
  expect(await service.call('deleteDedicatedServer', { path })).toMatchObject({ status: 404, body: { type: 'not_found' } });
  await deployedServer(service);
  const before = await rows(service);
  expect(await service.call('deleteDedicatedServer', { path })).toMatchObject({ status: 404, body: { type: 'not_found' } });
  expect(await rows(service)).toEqual(before);
});

test('repeats the response for the same Idempotency-Key, even after the state has changed', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  const first = await service.call('deleteDedicatedServer', { path, apiKey, idempotencyKey: 'one' });
  await service.call('undeleteDedicatedServer', { path, apiKey });
  const second = await service.call('deleteDedicatedServer', { path, apiKey, idempotencyKey: 'one' });
  expect(second).toMatchObject({ status: 200, body: first.body });
  expect((await service.call('getDedicatedServer', { path, apiKey })).body.data.accounting.terminated).toBe(false);
  const other = await service.call('undeleteDedicatedServer', { path, apiKey, idempotencyKey: 'one' });
  expect(other).toMatchObject({ status: 409, body: { type: 'idempotency_key_reused' } });
});

test('accepts one of many concurrent cancellations', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  const responses = await Promise.all(Array.from({ length: 10 }, () => service.call('deleteDedicatedServer', { path, apiKey })));
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(9).fill(409)]);
});

test('ends a server that is cancelled after its renewal date with the next runtime', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  service.clock.advanceTo('2026-12-10T12:03:17Z');
  const { body } = await service.call('deleteDedicatedServer', { path, apiKey });
  expect(body.data.termination_date).toBe('2027-01-09T12:03:17.000Z');
});
