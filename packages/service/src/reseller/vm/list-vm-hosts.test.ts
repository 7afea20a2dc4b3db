import type { VmHost } from '@reseller/client';
import { expect, test } from 'vitest';

import { startService } from '../../../test/harness.ts';

test('returns host systems of both locations, with HDD storage only in Frankfurt', async () => {
  const service = await startService();
  const { status, body } = await service.call('listVmHosts');
  expect(status).toBe(200);
  const hosts = body.data.map((host: VmHost) => ({
    name: host.name,
    city: host.datacenter.city,
    mbit: host.configuration.network_speed.max,
    hdd: 'storage' in host.configuration,
  }));
  expect(hosts).toEqual([
    { name: 'de_epyc', city: 'Frankfurt am Main', mbit: 1000, hdd: true },
    { name: 'de_xeon', city: 'Frankfurt am Main', mbit: 1000, hdd: true },
    { name: 'nl_ryzen', city: 'Amsterdam', mbit: 5000, hdd: false },
  ]);
});

test('sells a VM with the listed maximum of each resource', async () => {
  const service = await startService({ creditLimit: '100000.00' });
  const { body } = await service.call('listVmHosts');
  for (const { name, configuration } of body.data) {
    const form = Object.fromEntries(Object.entries<{ max: number }>(configuration).map(([field, { max }]) => [field, max]));
    expect((await service.call('createVm', { form: { ...form, os: 'debian_12', hostsystem: name } })).status).toBe(200);
  }
});
