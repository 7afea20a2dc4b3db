import { expect, test } from 'vitest';

import { deployedServer, EPYC, orderServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';

test('a fleet that fails is told again until it has done it, and holds nothing else up', async () => {
  const service = await startService();
  const { id, apiKey } = await deployedServer(service);
  await service.runDueWork();
  await orderServer(service, XEON, id);
  service.fleet.failing = new Error('nobody at the data centre');
  service.clock.advanceTo('2026-12-15T00:00:00Z');
  await expect(service.runDueWork()).rejects.toThrow('The fleet failed in 1 of 1 tasks.');
  // Set-up, renewals and the end of the period came all the same.
  const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
  expect(Object.keys(data.positions.dedicated).toSorted()).toEqual([XEON, RYZEN].toSorted());
  service.fleet.failing = undefined;
  expect(await service.runDueWork()).toBe(1);
  expect([...service.fleet.servers.keys()]).toEqual([RYZEN, XEON]);
  expect(await service.runDueWork()).toBe(0);
});

test('a server that ends before the fleet has heard of it is only retired', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service, EPYC);
  await service.call('deleteDedicatedServer', { path: { identifier: EPYC }, apiKey });
  service.clock.advanceTo('2026-12-15T00:00:00Z');
  await service.runDueWork();
  expect(service.fleet.servers.size).toBe(0);
  expect(service.fleet.retired).toEqual([EPYC]);
});
