import { expect, test } from 'vitest';

import { EPYC, orderServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';

test('returns servers of the sandbox at both locations', async () => {
  const service = await startService();
  const { status, body } = await service.call('listDedicatedMarket');
  expect(status).toBe(200);
  expect(body.data.list.map(({ datacenter }: { datacenter: { name: string } }) => datacenter.name)).toEqual([
    'FRA1',
    'FRA1',
    'AMS1',
    'AMS1',
  ]);
  expect(body.data.list[0]).toEqual({
    identifier: EPYC,
    datacenter: { name: 'FRA1', displayname: 'Frankfurt 1', country: 'Germany', city: 'Frankfurt am Main' },
    hardware: {
      cpu: { amount: 2, cores: 24, type: 'AMD EPYC 7443' },
      memory: { size: 256, unit: 'GB', type: 'DDR4 ECC' },
      disks: [
        { amount: 2, size: 1920, total_size: 3840, unit: 'GB', type: 'NVMe' },
        { amount: 2, size: 8000, total_size: 16_000, unit: 'GB', type: 'HDD' },
      ],
    },
    ips: { ipv4: { included: true, amount: 1 }, ipv6: { included: true, amount: 1 } },
    network: { traffic: { limit: true, amount: 50, unit: 'TB' }, connection: '1 x 10 Gbit/s' },
    status: { type: 'not_ready', description: 'The server is set up after the order.' },
    // 149.00 x 1.19
    price: { net: 149, gross: 177.31, runtime: { amount: 30, unit: 'days' } },
  });
});

test('returns 0 addresses if the price does not include any', async () => {
  const service = await startService();
  const { body } = await service.call('listDedicatedMarket');
  const xeon = body.data.list.find(({ identifier }: { identifier: string }) => identifier === XEON);
  expect(xeon.ips).toEqual({ ipv4: { included: true, amount: 1 }, ipv6: { included: false, amount: null } });
  expect(JSON.stringify(body)).not.toContain('100.80.0.');
});

test('no longer lists an ordered server for any account', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  await orderServer(service, RYZEN, id);
  for (const key of [service.apiKey, apiKey]) {
    const { body } = await service.call('listDedicatedMarket', { apiKey: key });
    expect(body.data.list.map(({ identifier }: { identifier: string }) => identifier)).not.toContain(RYZEN);
    expect(body.data.list).toHaveLength(3);
  }
});

test('returns an empty list if all servers are sold', async () => {
  const service = await startService();
  const { id } = await service.account('1000000.00');
  const { body } = await service.call('listDedicatedMarket');
  for (const { identifier } of body.data.list) await orderServer(service, identifier, id);
  expect((await service.call('listDedicatedMarket')).body.data).toEqual({ list: [] });
});
