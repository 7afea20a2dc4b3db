import { expect, test } from 'vitest';

import { orderServer, RYZEN } from '../../../test/dedicated.ts';
import { register } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';

test('runs the jobs before a failing one, and the others after it succeeds', async () => {
  const service = await startService();
  const { store, clock, fleet } = service;
  for (const name of ['first.net', 'second.net']) await register(service, name);
  clock.advanceTo('2027-11-10T11:50:00Z');
  await service.runScheduledJobs();
  const { automaticSetUp } = fleet;
  fleet.automaticSetUp = {
    after: 900,
    accessTo() {
      throw new Error('no access yet');
    },
  };
  const { id } = await service.account();
  await orderServer(service, RYZEN, id);
  clock.advanceTo('2028-11-11T00:00:00Z');
  const expiring = () =>
    store.read(async (db) =>
      (await db.selectFrom('domains').select(['name', 'expires']).orderBy('name').execute()).map(
        ({ name, expires }) => `${name} ${new Date(expires * 1000).getUTCFullYear()}`,
      ),
    );
  await expect(service.runScheduledJobs()).rejects.toThrow('no access yet');
  expect(await expiring()).toEqual(['first.net 2028', 'second.net 2028']);
  fleet.automaticSetUp = automaticSetUp;
  expect(await service.runScheduledJobs()).toBeGreaterThan(10);
  expect(await expiring()).toEqual(['first.net 2029', 'second.net 2029']);
  await expectInvariants(store);
});
