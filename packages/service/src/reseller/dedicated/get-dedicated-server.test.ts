import { expect, test } from 'vitest';

import { ACCESS, completeSetUp, deployedServer, orderServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';

const path = { identifier: RYZEN };

test('returns the addresses of a server during its set-up, without management and renewal', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await orderServer(service, RYZEN, id);
  const { status, body } = await service.call('getDedicatedServer', { path, apiKey });
  expect(status).toBe(200);
  expect(body.data).toEqual({
    identifier: RYZEN,
    deployed: false,
    accounting: { price: { net: 89, gross: 105.91 }, runtime: { amount: 30, unit: 'days' }, renew: null, terminated: false },
    management: null,
    datacenter: { name: 'FRA1', displayname: 'Frankfurt 1', country: 'Germany', city: 'Frankfurt am Main' },
    hardware: {
      cpu: { cores: 16, type: 'AMD Ryzen 9 7950X' },
      memory: { size: 128, unit: 'GB', type: 'DDR5 ECC' },
      disks: [{ amount: 2, size: 1920, total_size: 3840, unit: 'GB', type: 'NVMe' }],
    },
    ips: {
      ipv4: [{ address: '100.112.0.11', gateway: '100.112.0.1' }],
      ipv6: [{ address: '2001:db8:69d0:11::/64', gateway: '2001:db8:69d0::1' }],
    },
    network: { traffic: { limit: true, amount: 50, unit: 'TB' }, connection: '1 x 10 Gbit/s' },
  });
});

test('returns management and the renewal date after the set-up, a quarter of an hour after the order', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await orderServer(service, RYZEN, id);
  service.clock.advance(899_000);
  expect((await service.call('getDedicatedServer', { path, apiKey })).body.data.deployed).toBe(false);
  service.clock.advance(1_000);
  expect(await service.runScheduledJobs()).toBeGreaterThan(0);
  const { data } = (await service.call('getDedicatedServer', { path, apiKey })).body;
  // 10 November 12:18:17 and 30 days.
  expect(data).toMatchObject({ deployed: true, accounting: { renew: '2026-12-10T12:18:17.000Z', terminated: false } });
  expect(data.management).toEqual({
    dashboard: `https://dedicated.reseller-service.invalid/servers/${RYZEN}`,
    username: 'server-8a3f5c12',
    email: 'server-8a3f5c12@dedicated.reseller-service.invalid',
    password: expect.stringMatching(/^[A-Za-z0-9]{20}$/),
  });
  expect((await service.call('getDedicatedServer', { path, apiKey })).body.data).toEqual(data);
});

test('completes a due set-up for a request that arrives before the scheduled jobs run', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await orderServer(service, RYZEN, id);
  service.clock.advance(3_600_000);
  const { data } = (await service.call('getDedicatedServer', { path, apiKey })).body;
  expect(data.accounting.renew).toBe('2026-12-10T12:18:17.000Z');
});

test('leaves the set-up to the provider if the fleet does not complete set-ups', async () => {
  const service = await startService();
  service.fleet.automaticSetUp = null;
  const { id, apiKey } = await service.account();
  await orderServer(service, RYZEN, id);
  service.clock.advanceTo('2026-11-20T08:00:00.750Z');
  await service.runScheduledJobs();
  expect((await service.call('getDedicatedServer', { path, apiKey })).body.data.deployed).toBe(false);
  await completeSetUp(service, RYZEN);
  const { data } = (await service.call('getDedicatedServer', { path, apiKey })).body;
  expect(data).toMatchObject({ deployed: true, management: ACCESS, accounting: { renew: '2026-12-20T08:00:00.000Z' } });
});

test('leaves set-ups in progress to the provider if the fleet no longer completes them', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await orderServer(service, RYZEN, id);
  service.fleet.automaticSetUp = null;
  service.clock.advance(900_000);
  await service.runScheduledJobs();
  expect(await service.runScheduledJobs()).toBe(0);
  expect((await service.call('getDedicatedServer', { path, apiKey })).body.data.deployed).toBe(false);
  await completeSetUp(service, RYZEN);
  expect((await service.call('getDedicatedServer', { path, apiKey })).body.data.deployed).toBe(true);
});

test('returns a server of the market like one that is not set up yet', async () => {
  const service = await startService();
  const { status, body } = await service.call('getDedicatedServer', { path });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    identifier: RYZEN,
    deployed: false,
    accounting: { price: { net: 89 }, renew: null, terminated: false },
    management: null,
    ips: { ipv4: [], ipv6: [] },
  });
});

test('responds to a server of another account as to an unknown one, even during its set-up', async () => {
  const service = await startService();
  const { id } = await deployedServer(service, RYZEN);
  await orderServer(service, XEON, id);
  const unknown = await service.call('getDedicatedServer', { path: { identifier: '00000000-0000-4000-8000-000000000000' } });
  expect(unknown).toMatchObject({ status: 404, body: { type: 'not_found' } });
  for (const identifier of [RYZEN, XEON]) {
    const { status, body } = await service.call('getDedicatedServer', { path: { identifier } });
    expect(status).toBe(404);
    expect({ ...body, requestID: '' }).toEqual({ ...unknown.body, requestID: '' });
  }
});

test('responds to an offer for one account as to an unknown server for other accounts', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await service.store.commit(({ db }) => db.updateTable('dedicated_servers').set({ offered_to: id }).where('id', '=', RYZEN).execute());
  expect(await service.call('getDedicatedServer', { path, apiKey })).toMatchObject({ status: 200, body: { data: { identifier: RYZEN } } });
  const unknown = await service.call('getDedicatedServer', { path: { identifier: '00000000-0000-4000-8000-000000000000' } });
  const { status, body } = await service.call('getDedicatedServer', { path });
  expect([status, { ...body, requestID: '' }]).toEqual([404, { ...unknown.body, requestID: '' }]);
});

test('accepts upper-case letters in an identifier', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  const { body } = await service.call('getDedicatedServer', { path: { identifier: RYZEN.toUpperCase() }, apiKey });
  expect(body.data.identifier).toBe(RYZEN);
});

test.each([
  'x',
  '7',
  `${RYZEN}0`,
  RYZEN.replaceAll('-', ''),
  `{${RYZEN}}`,
  "' or 1=1 --",
  '%',
  '__proto__',
  '٧c9e6679-7425-40de-944b-e07fc1f90ae7',
  'null',
])("responds with 404 to '%s', which is not an identifier", async (identifier) => {
  const service = await startService();
  const { apiKey } = await deployedServer(service);
  for (const operation of ['getDedicatedServer', 'deleteDedicatedServer', 'undeleteDedicatedServer'] as const) {
    expect(await service.call(operation, { path: { identifier }, apiKey })).toMatchObject({ status: 404, body: { type: 'not_found' } });
  }
});
