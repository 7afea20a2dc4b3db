import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';

test('names the protection of each address, IPv4 first', async () => {
  const service = await startService();
  const { identifier, config } = (await service.call('createVm', { form: { ...SMALL_VM, ips: 2 } })).body.data;
  const { message, data } = (await service.call('getVmDdosProtection', { path: { vmid: String(identifier) } })).body;
  expect(message).toBe('3 addresses.');
  expect(data.list).toEqual([
    ...config.ipv4.map(({ address, ddos_protection }: Record<string, string>) => ({ ip_address: address, ddos_protection })),
    { ip_address: config.ipv6[0].ip_address, ddos_protection: expect.any(String) },
  ]);
});
