import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';

test('reinstalls the current system if none is named', async () => {
  const service = await startService();
  const vmid = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  const { status, body } = await service.call('reinstallVm', { path: { vmid } });
  expect(status).toBe(200);
  expect(body.data).toBeNull();
  expect(body.message).toMatch(/debian_12 finished and the VM is booting/);
  expect(service.hypervisor.vms.get(Number(vmid))?.os).toBe('debian_12');
});

test('installs another system, which is the current one from then on', async () => {
  const service = await startService();
  const vmid = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  await service.call('reinstallVm', { path: { vmid }, form: { os: 'ubuntu_24_04' } });
  expect(service.hypervisor.vms.get(Number(vmid))?.os).toBe('ubuntu_24_04');
  expect((await service.call('reinstallVm', { path: { vmid } })).body.message).toContain('ubuntu_24_04');
});

test('refuses an unknown system', async () => {
  const service = await startService();
  const vmid = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  const { status, body } = await service.call('reinstallVm', { path: { vmid }, form: { os: 'plan_9' } });
  expect(status).toBe(422);
  expect(body.data.fields).toMatchObject([{ field: 'os', rule: 'exists' }]);
  expect(service.hypervisor.vms.get(Number(vmid))?.os).toBe('debian_12');
});

test('responds to a VM of another account as to an unknown one', async () => {
  const service = await startService();
  const vmid = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  const { apiKey } = await service.account();
  const theirs = await service.call('reinstallVm', { path: { vmid }, apiKey });
  const unknown = await service.call('reinstallVm', { path: { vmid: vmid === '99999' ? '99998' : '99999' }, apiKey });
  expect(theirs.status).toBe(404);
  expect({ ...theirs.body, requestID: '' }).toEqual({ ...unknown.body, requestID: '' });
});

test.each(['1', '123456', 'abcde', '1234x', "1' OR '1'='1", '٤٨٢١٣'])("responds with 404 to '%s', which is not a VM", async (vmid) => {
  const service = await startService();
  expect((await service.call('reinstallVm', { path: { vmid } })).status).toBe(404);
});

test('keeps the operating system if the hypervisor fails', async () => {
  const service = await startService();
  const vmid = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  service.hypervisor.failing = new Error('no');
  expect((await service.call('reinstallVm', { path: { vmid }, form: { os: 'ubuntu_24_04' } })).status).toBe(500);
  service.hypervisor.failing = undefined;
  await service.runScheduledJobs();
  expect((await service.call('reinstallVm', { path: { vmid } })).body.message).toContain('debian_12');
});
