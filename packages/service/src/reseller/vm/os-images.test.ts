/** The facts of an operating system: its platform, its picture, and the smallest disk that it fits on. */
import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { SMALL_VM } from '../../../test/harness.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';

const icon = 'https://images.example/haiku.svg';
const haiku = { displayname: 'Haiku', username: 'user', platform: 'linux', icon, min_disk: 25 } as const;

test('lists what the provider has defined, and no picture where there is none', async () => {
  const { call, client } = await startOperator();
  await operator.defineOsImage({ client, path: { os: 'haiku' }, body: haiku });
  const shown = { name: 'haiku', displayname: 'Haiku', platform: 'linux', minDiskSize: 25 };
  expect((await call('listVmOsImages')).body.data).toContainEqual({ ...shown, icon });
  const { icon: _, ...withoutPicture } = haiku;
  await operator.defineOsImage({ client, path: { os: 'haiku' }, body: withoutPicture });
  const { data } = (await call('listVmOsImages')).body;
  expect(data).toContainEqual(shown);
  expect(data).toContainEqual({ name: 'windows_server_2022', displayname: 'Windows Server 2022', platform: 'windows', minDiskSize: 40 });
});

test('sells and quotes an operating system with its smallest disk, and refuses the step below it', async () => {
  const { call, client } = await startOperator();
  await operator.defineOsImage({ client, path: { os: 'haiku' }, body: haiku });
  for (const operation of ['createVm', 'quoteCreateVm'] as const) {
    const small = await call(operation, { form: { ...SMALL_VM, os: 'haiku', disk: 20 } });
    expect(small.status).toBe(422);
    expect(small.body.data).toMatchObject({ fields: [{ field: 'disk', rule: 'minimum', message: 'must be at least 25 for Haiku' }] });
    expect((await call(operation, { form: { ...SMALL_VM, os: 'haiku', disk: 25 } })).status).toBe(200);
  }
});

test('reinstalls a VM with an operating system once its disk is large enough', async () => {
  const { call, client } = await startOperator();
  await operator.defineOsImage({ client, path: { os: 'haiku' }, body: haiku });
  const vmid = String((await call('createVm', { form: { ...SMALL_VM, disk: 20 } })).body.data.identifier);
  const refused = await call('reinstallVm', { path: { vmid }, form: { os: 'haiku' } });
  expect(refused.status).toBe(422);
  expect(refused.body.data).toMatchObject({
    fields: [{ field: 'os', rule: 'minimum', message: 'needs a disk of at least 25 GB, and the VM has 20 GB. Resize the VM first' }],
  });
  expect((await call('changeVm', { path: { vmid }, form: { disk: 25 } })).status).toBe(200);
  expect((await call('reinstallVm', { path: { vmid }, form: { os: 'haiku' } })).status).toBe(200);
  // The provider may raise the limit. The VM keeps running, and is not reinstalled with the larger system.
  await operator.defineOsImage({ client, path: { os: 'haiku' }, body: { ...haiku, min_disk: 26 } });
  expect((await call('reinstallVm', { path: { vmid } })).status).toBe(422);
});

test.each([
  [{ icon: 'http://images.example/haiku.svg' }, '#/icon'],
  [{ icon: 'javascript:alert(1)' }, '#/icon'],
  [{ min_disk: 0 }, '#/min_disk'],
  [{ min_disk: 1_000_001 }, '#/min_disk'],
  [{ platform: 'amiga' }, '#/platform'],
])('refuses to define an operating system with %j', async (wrong, field) => {
  const { client } = await startOperator();
  const body = { ...haiku, ...wrong } as operator.DefineOsImageRequest;
  expect(await refusalOf(operator.defineOsImage({ client, path: { os: 'haiku' }, body }))).toMatchObject({
    status: 422,
    fields: [{ field }],
  });
});
