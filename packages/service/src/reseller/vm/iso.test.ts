/** VMs that boot from ISO files. */
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';

async function buy(options: Parameters<typeof startService>[0]) {
  const service = await startService(options);
  const vmId: number = (await service.call('createVm', { form: SMALL_VM })).body.data.identifier;
  const path = { vmid: String(vmId) };
  return {
    service,
    path,
    inserted: () => service.hypervisor.inserted.get(vmId) ?? null,
    shown: async () => (await service.call('getVmConfig', { path })).body.data.config.iso,
    attach: (iso: string) => service.call('attachVmIso', { path, form: { iso } }),
    detach: () => service.call('detachVmIso', { path }),
  };
}

const RESCUE = { name: 'systemrescue_12', displayname: 'SystemRescue 12', attached: true };

describe.each(engines)('on %s', (engine) => {
  test('boots a VM from a file, from another one, and from its disk again', async () => {
    const { service, path, inserted, shown, attach, detach } = await buy({ engine });
    expect([inserted(), await shown()]).toEqual([null, null]);
    service.clock.advance(60_000);
    expect(await attach(RESCUE.name)).toMatchObject({ status: 200, body: { message: 'The VM boots from SystemRescue 12.' } });
    expect([inserted(), await shown()]).toEqual([RESCUE.name, RESCUE]);
    expect((await service.call('getVmStatus', { path })).body.data).toMatchObject({ status: 'running', uptime: 0 });
    await attach('debian_13_netinst');
    expect(inserted()).toBe('debian_13_netinst');
    for (const _ of [1, 2]) expect(await detach()).toMatchObject({ status: 200, body: { message: 'The VM boots from its disk.' } });
    expect([inserted(), await shown()]).toEqual([null, null]);
    await expectInvariants(service.store);
  });

  test.each([
    ['a reinstallation', 'reinstallVm', {}],
    ['a restored backup', 'restoreVmBackup', { backup_id: '' }],
  ] as const)('boots from its disk after %s', async (_, id, form) => {
    const { service, path, inserted, shown, attach } = await buy({ engine });
    const { backup_id } = (await service.call('createVmBackup', { path })).body.data;
    await attach(RESCUE.name);
    expect((await service.call(id, { path, form: { ...form, ...('backup_id' in form && { backup_id }) } })).status).toBe(200);
    expect([inserted(), await shown()]).toEqual([null, null]);
  });

  test('boots from what it booted from before if the hypervisor fails', async () => {
    const { service, inserted, shown, attach } = await buy({ engine });
    await attach(RESCUE.name);
    service.hypervisor.failing = new Error('no route to the node');
    expect((await attach('debian_13_netinst')).status).toBe(500);
    service.hypervisor.failing = undefined;
    await service.runScheduledJobs();
    expect([inserted(), await shown()]).toEqual([RESCUE.name, RESCUE]);
    expect((await attach('debian_13_netinst')).status).toBe(200);
  });
});

describe.each(engines)('a stopped VM on %s', (engine) => {
  test('gives its file back, stays stopped, and boots from its disk at its next start', async () => {
    const { service, path, inserted, shown, attach, detach } = await buy({ engine });
    await attach(RESCUE.name);
    await service.call('setVmPower', { path, form: { mode: 'stop' } });
    expect(await detach()).toMatchObject({ status: 200, body: { message: 'The VM boots from its disk.' } });
    expect([inserted(), await shown()]).toEqual([null, null]);
    expect((await service.call('getVmStatus', { path })).body.data.status).toBe('stopped');
    await expectInvariants(service.store);
  });

  test('keeps its file if the hypervisor fails', async () => {
    const { service, path, inserted, shown, attach, detach } = await buy({ engine });
    await attach(RESCUE.name);
    await service.call('setVmPower', { path, form: { mode: 'stop' } });
    service.hypervisor.failing = new Error('no route to the node');
    expect((await detach()).status).toBe(500);
    service.hypervisor.failing = undefined;
    await service.runScheduledJobs();
    expect([inserted(), await shown()]).toEqual([RESCUE.name, RESCUE]);
    expect((await service.call('getVmStatus', { path })).body.data.status).toBe('stopped');
    expect((await detach()).status).toBe(200);
  });
});

test('refuses a file that is not offered, and a VM that does not run', async () => {
  const { service, path, attach, detach } = await buy({});
  const message = 'must be one of debian_13_netinst, systemrescue_12';
  expect(await attach('plan_9')).toMatchObject({ status: 422, body: { data: { fields: [{ field: 'iso', rule: 'exists', message }] } } });
  await service.call('setVmPower', { path, form: { mode: 'stop' } });
  expect(await attach(RESCUE.name)).toMatchObject({ status: 409, body: { type: 'wrong_state' } });
  // It boots from its disk anyway.
  expect((await detach()).status).toBe(200);
});

test('lists the files of the hypervisor', async () => {
  const service = await startService();
  const { message, data } = (await service.call('listIsoFiles')).body;
  expect({ message, names: data.map(({ name }: { name: string }) => name) }).toEqual({
    message: '2 ISO files.',
    names: ['debian_13_netinst', 'systemrescue_12'],
  });
});

test('shows the identifier of a file that the hypervisor no longer has', async () => {
  const { service, shown, attach } = await buy({});
  await attach(RESCUE.name);
  Object.assign(service.hypervisor.isos, { files: [] });
  expect(await shown()).toEqual({ name: RESCUE.name, displayname: RESCUE.name, attached: true });
});

test('responds with 501, and changes nothing, where the hypervisor has no ISO files', async () => {
  const hypervisor = new TestHypervisor();
  Reflect.deleteProperty(hypervisor, 'isos');
  const { service, path, attach, detach } = await buy({ hypervisor });
  expect((await service.call('listIsoFiles')).body.data).toEqual([]);
  for (const refused of [await attach(RESCUE.name), await detach()])
    expect(refused).toMatchObject({ status: 501, body: { type: 'not_implemented', message: expect.stringContaining('ISO files') } });
  expect((await service.call('setVmPower', { path, form: { mode: 'restart' } })).status).toBe(200);
});
