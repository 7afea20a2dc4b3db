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

test('installs the SSH key that the request names, and the hostname that the VM has now', async () => {
  const service = await startService();
  const vmid = String((await service.call('createVm', { form: { ...SMALL_VM, hostname: 'web1' } })).body.data.identifier);
  const machine = () => service.hypervisor.vms.get(Number(vmid));
  const ssh_key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMvH6YYJeE9ZuxP8J2kJSTkz8PltKk+QffHf0dVokw7I ops';
  const { ssh_key_id } = (await service.call('addSshKey', { form: { ssh_key } })).body.data;
  await service.call('editVm', { path: { vmid }, form: { hostname: 'web2' } });
  expect(machine()).toMatchObject({ hostname: 'web1', sshKey: null });
  expect((await service.call('reinstallVm', { path: { vmid }, form: { ssh_key_id } })).status).toBe(200);
  expect(machine()).toMatchObject({ os: 'debian_12', hostname: 'web2', sshKey: ssh_key });
  // The VM keeps the key that the account no longer has.
  await service.call('removeSshKey', { path: { ssh_key_id } });
  await service.call('reinstallVm', { path: { vmid } });
  expect(machine()).toMatchObject({ hostname: 'web2', sshKey: ssh_key });
});

test('refuses an SSH key that the account does not have, together with an unknown system', async () => {
  const service = await startService();
  const vmid = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  const form = { os: 'plan_9', ssh_key_id: '01900000-0000-7000-8000-00000000cccc' };
  const { status, body } = await service.call('reinstallVm', { path: { vmid }, form });
  expect(status).toBe(422);
  expect(body.data.fields).toMatchObject([
    { field: 'os', rule: 'exists' },
    { field: 'ssh_key_id', rule: 'exists' },
  ]);
  expect((await service.call('reinstallVm', { path: { vmid } })).status).toBe(200);
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
