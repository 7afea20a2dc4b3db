import { getVmAccess, removeVm } from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { SMALL_VM } from '../../test/harness.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';

test('returns the ports that the host of a VM forwards, and none for a removed VM', async () => {
  const { client, call, hypervisor } = await startOperator();
  const { identifier } = (await call('createVm', { form: SMALL_VM })).body.data;
  const path = { vm_id: String(identifier) };
  expect(await getVmAccess({ client, path })).toEqual({ forwarded_ports: [] });
  hypervisor.forwarded = [
    { port: 80, address: '127.0.0.1:45213' },
    { port: 22, address: '127.0.0.1:38131' },
  ];
  expect(await getVmAccess({ client, path })).toEqual({
    forwarded_ports: [
      { port: 22, address: '127.0.0.1:38131' },
      { port: 80, address: '127.0.0.1:45213' },
    ],
  });
  await removeVm({ client, path });
  expect(await getVmAccess({ client, path })).toEqual({ forwarded_ports: [] });
});

test('responds with 404 to an unknown VM, and with 503 if the hypervisor fails', async () => {
  const { client, call, hypervisor } = await startOperator();
  const { identifier } = (await call('createVm', { form: SMALL_VM })).body.data;
  expect(await refusalOf(getVmAccess({ client, path: { vm_id: '10000' } }))).toMatchObject({ status: 404 });
  hypervisor.failing = new Error('The host is gone.');
  expect(await refusalOf(getVmAccess({ client, path: { vm_id: String(identifier) } }))).toMatchObject({ status: 503 });
});
