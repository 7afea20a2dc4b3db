import { expect, test } from 'vitest';

import { deployedServer, EPYC, orderServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';

test('repeats calls to a failing fleet until they succeed, without delaying other jobs', async () => {
  const service = await startService();
  const { id, apiKey } = await deployedServer(service);
  await service.runScheduledJobs();
  await orderServer(service, XEON, id);
  service.fleet.failing = new Error('the data centre is closed');
  service.clock.advanceTo('2026-12-15T00:00:00Z');
  await service.runScheduledJobs();
  expect([...service.fleet.servers.keys()]).toEqual([RYZEN]);
  // The set-up, the renewals and the end of the period took place nevertheless.
  const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
  expect(Object.keys(data.positions.dedicated).toSorted()).toEqual([XEON, RYZEN].toSorted());
  service.fleet.failing = undefined;
  await service.runScheduledJobs();
  expect([...service.fleet.servers.keys()]).toEqual([RYZEN, XEON]);
});

test('only retires a server that ends before the fleet has set it up', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service, EPYC);
  await service.call('deleteDedicatedServer', { path: { identifier: EPYC }, apiKey });
  service.clock.advanceTo('2026-12-15T00:00:00Z');
  await service.runScheduledJobs();
  expect(service.fleet.servers.size).toBe(0);
  expect(service.fleet.retired).toEqual([EPYC]);
});
