/** Facts of `GET /vm/{vmid}/config` that follow from what was done with a VM: its password, and addresses that need a restart. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { endQuarantine } from '../../../test/addresses.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';

async function buyVm(service: TestService, form: object = {}): Promise<string> {
  return String((await service.call('createVm', { form: { ...SMALL_VM, ...form } })).body.data.identifier);
}

async function configOf(service: TestService, vmid: string) {
  return (await service.call('getVmConfig', { path: { vmid } })).body.data.config;
}

async function expectDone(call: ReturnType<TestService['call']>): Promise<void> {
  const { status, body } = await call;
  expect([status, body.message]).toEqual([200, body.message]);
}

/** A VM of the hypervisor that the store has forgotten, taken over into the account. */
async function adopt(service: Awaited<ReturnType<typeof startOperator>>): Promise<string> {
  const vmid = '48299';
  await buyVm(service);
  const [machine] = service.hypervisor.vms.values();
  if (!machine) throw new Error('The hypervisor has no VM.');
  service.hypervisor.vms.set(Number(vmid), { ...machine, vmId: Number(vmid) });
  const { id } = await service.store.read((db) =>
    db.selectFrom('accounts').select('id').where('name', '=', 'test').executeTakeFirstOrThrow(),
  );
  await operator.adoptVm({ client: service.client, path: { vm_id: vmid }, body: { account_id: id, hostsystem: 'nl_ryzen' } });
  return vmid;
}

describe.each(engines)('on %s', (engine) => {
  test('a bought VM has a password, and an adopted one from its first reset or reinstallation on', async () => {
    const service = await startOperator({ engine });
    expect(await configOf(service, await buyVm(service))).toMatchObject({ password_enabled: true });
    const vmid = await adopt(service);
    const path = { vmid };
    expect(await configOf(service, vmid)).toMatchObject({ password_enabled: null });
    const { backup_id } = (await service.call('createVmBackup', { path })).body.data;
    await expectDone(service.call('resetVmPassword', { path }));
    expect(await configOf(service, vmid)).toMatchObject({ password_enabled: true });
    await expectDone(service.call('restoreVmBackup', { path, form: { backup_id } }));
    expect(await configOf(service, vmid)).toMatchObject({ password_enabled: null });
    await expectDone(service.call('reinstallVm', { path }));
    expect(await configOf(service, vmid)).toMatchObject({ password_enabled: true });
  });

  test.each([
    ['a restart', 'setVmPower', { mode: 'restart' }],
    ['a reinstallation', 'reinstallVm', {}],
    ['an attached ISO file', 'attachVmIso', { iso: 'systemrescue_12' }],
    ['a restored backup', 'restoreVmBackup', { backup_id: '' }],
  ] as const)('an address of a running VM requires a restart, until %s', async (_, id, form) => {
    const service = await startService({ engine });
    const vmid = await buyVm(service);
    const path = { vmid };
    const { backup_id } = (await service.call('createVmBackup', { path })).body.data;
    await expectDone(service.call('buyIps', { form: { vmid } }));
    const [first, second] = (await configOf(service, vmid)).ipv4;
    expect([first.requires_restart, second.requires_restart]).toEqual([false, true]);
    expect((await configOf(service, vmid)).ipv6).toMatchObject([{ requires_restart: false }]);
    await expectDone(service.call(id, { path, form: { ...form, ...('backup_id' in form && { backup_id }) } }));
    expect((await configOf(service, vmid)).ipv4.map((one: { requires_restart: boolean }) => one.requires_restart)).toEqual([false, false]);
    await expectInvariants(service.store);
  });

  test('an address that moves to a running VM requires a restart there, and none of a stopped VM does', async () => {
    const service = await startService({ engine });
    const [from, to] = [await buyVm(service), await buyVm(service)];
    await service.call('setVmPower', { path: { vmid: from }, form: { mode: 'stop' } });
    await expectDone(service.call('buyIps', { form: { vmid: from } }));
    const [, extra] = (await configOf(service, from)).ipv4;
    expect(extra.requires_restart).toBe(false);
    const path = { ip_address: extra.ip_address };
    await expectDone(service.call('assignIp', { path, form: { vmid: to } }));
    await service.runScheduledJobs();
    expect((await configOf(service, to)).ipv4[1]).toMatchObject({ ip_address: extra.ip_address, requires_restart: true });
    await service.call('setVmPower', { path: { vmid: to }, form: { mode: 'stop' } });
    expect((await configOf(service, to)).ipv4[1].requires_restart).toBe(false);
    await service.call('setVmPower', { path: { vmid: to }, form: { mode: 'start' } });
    expect((await configOf(service, to)).ipv4[1].requires_restart).toBe(false);
    await expectDone(service.call('assignIp', { path, form: { vmid: from } }));
    await service.runScheduledJobs();
    expect((await configOf(service, from)).ipv4[1].requires_restart).toBe(false);
  });
});

test.each([
  { addressesNeedRestart: true, restartsToResize: false, form: { cores: 4 }, required: true, uptime: 60_000 },
  { addressesNeedRestart: true, restartsToResize: true, form: { cores: 4 }, required: false, uptime: 0 },
  { addressesNeedRestart: true, restartsToResize: true, form: { network_speed: 2000 }, required: true, uptime: 60_000 },
  { addressesNeedRestart: false, restartsToResize: false, form: { cores: 4 }, required: false, uptime: 60_000 },
])('a change of resources and addresses: $form with $addressesNeedRestart and $restartsToResize', async ({ form, required, ...given }) => {
  const service = await startService();
  const { addressesNeedRestart, restartsToResize, uptime } = given;
  Object.assign(service.hypervisor, { addressesNeedRestart, restartsToResize });
  const vmid = await buyVm(service);
  const path = { vmid };
  service.clock.advance(60_000);
  await expectDone(service.call('buyIps', { form: { vmid } }));
  expect((await configOf(service, vmid)).ipv4[1].requires_restart).toBe(addressesNeedRestart);
  await expectDone(service.call('changeVm', { path, form }));
  expect((await configOf(service, vmid)).ipv4[1].requires_restart).toBe(required);
  expect((await service.call('getVmStatus', { path })).body.data.uptime).toBe(uptime / 1_000);
});

test('an address that was released requires no restart of the VM that is bought with it', async () => {
  const service = await startService();
  const vmid = await buyVm(service);
  await expectDone(service.call('buyIps', { form: { vmid } }));
  const [, { ip_address }] = (await configOf(service, vmid)).ipv4;
  await expectDone(service.call('releaseIp', { path: { ip_address } }));
  await endQuarantine(service);
  const { ipv4 } = await configOf(service, await buyVm(service));
  expect(ipv4).toMatchObject([{ ip_address, requires_restart: false }]);
});
