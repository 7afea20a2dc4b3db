import { expect, test } from 'vitest';

import { deployedServer, EPYC, orderServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';

test('calls a fleet that fails again until it succeeds, and delays nothing else', async () => {
  const service = await startService();
  const { id, apiKey } = await deployedServer(service);
  await service.runScheduledJobs();
  await orderServer(service, XEON, id);
  service.fleet.failing = new Error('the data centre is closed');
  service.clock.advanceTo('2026-12-15T00:00:00Z');
  await service.runScheduledJobs();
  expect([...service.fleet.servers.keys()]).toEqual([RYZEN]);
  // Set-up, renewals and the end of the period came all the same.
  const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
  expect(Object.keys(data.positions.dedicated).toSorted()).toEqual([XEON, RYZEN].toSorted());
  service.fleet.failing = undefined;
  await service.runScheduledJobs();
  expect([...service.fleet.servers.keys()]).toEqual([RYZEN, XEON]);
});

test('a server that ends before the fleet has heard of it is only retired', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service, EPYC);
  await service.call('deleteDedicatedServer', { path: { identifier: EPYC }, apiKey });
  service.clock.advanceTo('2026-12-15T00:00:00Z');
  await service.runScheduledJobs();
  expect(service.fleet.servers.size).toBe(0);
  expect(service.fleet.retired).toEqual([EPYC]);
});
