/** Backups within the paid slots, and their restoration over a resize and a reinstallation. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import { PortCalls } from '../../../test/ports/port-calls.ts';

interface Listed {
  readonly backup_id: string;
  readonly description: string;
  readonly scheduled: boolean;
  readonly status: string;
}

async function buy(service: TestOperator, more: object = {}) {
  const vmId: number = (await service.call('createVm', { form: { ...SMALL_VM, ...more } })).body.data.identifier;
  const path = { vmid: String(vmId) };
  return {
    vmId,
    path,
    list: async (): Promise<Listed[]> => (await service.call('listVmBackups', { path })).body.data.list,
    backUp: (description?: string) => service.call('createVmBackup', { path, form: { ...(description !== undefined && { description }) } }),
    restore: (backup_id: string) => service.call('restoreVmBackup', { path, form: { backup_id } }),
    remove: (backup_id: string) => service.call('deleteVmBackup', { path: { ...path, backup_id } }),
    change: (form: object) => service.call('changeVm', { path, form: { ...form } }),
    config: async () => (await service.call('getVmConfig', { path })).body.data,
  };
}

describe.each(engines)('on %s', (engine) => {
  test('makes as many backups as there are slots, and one more when one was deleted', async () => {
    const service = await startOperator({ engine });
    const { list, backUp, remove, config } = await buy(service);
    const before = await config();
    const first = (await backUp('before the upgrade')).body.data;
    expect(first).toMatchObject({ description: 'before the upgrade', status: 'available', scheduled: false, disk: 40, os: 'debian_12' });
    expect((await backUp()).status).toBe(200);
    expect(await backUp()).toMatchObject({ status: 409, body: { type: 'quota_exceeded', message: expect.stringContaining('2 of 2') } });
    expect(await remove(first.backup_id)).toMatchObject({ status: 200 });
    expect(await remove(first.backup_id)).toMatchObject({ status: 404 });
    expect((await backUp()).status).toBe(200);
    expect(await list()).toMatchObject([{ description: '' }, { description: '' }]);
    // Slots are paid, and backups are not.
    expect((await config()).pricings).toEqual(before.pricings);
    await expectInvariants(service.store);
  });

  test('restores the operating system, hostname and key of a backup with the resources and the price of now', async () => {
    const service = await startOperator({ engine });
    const { vmId, path, backUp, restore, change, config } = await buy(service, { hostname: 'first' });
    const { backup_id } = (await backUp()).body.data;
    await change({ cores: 4, mem: 8192, disk: 80 });
    await service.call('editVm', { path, form: { hostname: 'second' } });
    await service.call('reinstallVm', { path, form: { os: 'debian_13' } });
    const before = await config();
    expect(before.config).toMatchObject({ hostname: 'second', os: { name: 'debian_13' } });
    service.clock.advance(60_000);
    expect(await restore(backup_id)).toMatchObject({ status: 200, body: { message: 'The backup was restored.' } });
    const after = await config();
    expect(after.config).toMatchObject({ hostname: 'first', os: { name: 'debian_12' }, cores: 4, mem: 8192, disk: 80 });
    expect(after.pricings).toEqual(before.pricings);
    expect(service.hypervisor.vms.get(vmId)).toMatchObject({ os: 'debian_12', hostname: 'first', cores: 4, disk: 80 });
    expect((await service.call('getVmStatus', { path })).body.data).toEqual({ status: 'running', uptime: 0, task: null, usage: null });
    await expectInvariants(service.store);
  });

  test('refuses a backup with a larger disk than the VM has', async () => {
    const service = await startOperator({ engine });
    const { vmId, backUp, restore } = await buy(service);
    const { backup_id } = (await backUp()).body.data;
    const disk = (size: number) => service.store.commit(({ db }) => db.updateTable('vm_backups').set({ disk: size }).execute());
    await disk(41);
    expect(await restore(backup_id)).toMatchObject({
      status: 409,
      body: {
        type: 'wrong_state',
        message: `The backup has a disk of 41 GB, and the VM ${vmId} has only 40 GB. Enlarge the disk with POST /vm/{vmid}/change, then restore the backup.`,
      },
    });
    await disk(40);
    expect((await restore(backup_id)).status).toBe(200);
  });

  test('backs up and restores a stopped VM, which stays stopped and is not billed', async () => {
    const service = await startOperator({ engine });
    const { vmId, path, backUp, restore } = await buy(service);
    await service.call('setVmPower', { path, form: { mode: 'stop' } });
    const { backup_id } = (await backUp()).body.data;
    expect((await restore(backup_id)).status).toBe(200);
    expect((await service.call('getVmStatus', { path })).body.data.status).toBe('stopped');
    expect(service.hypervisor.stopped.has(vmId)).toBe(true);
    await expectInvariants(service.store);
  });

  test('refuses fewer slots than backups, and accepts as many', async () => {
    const service = await startOperator({ engine });
    const { backUp, change } = await buy(service, { backup_slots: 4 });
    for (let count = 0; count < 3; count++) await backUp();
    expect(await change({ backup_slots: 2 })).toMatchObject({
      status: 422,
      body: {
        data: { fields: [{ field: 'backup_slots', message: 'must be at least 3, because the VM has 3 backups; delete one first' }] },
      },
    });
    expect((await change({ backup_slots: 3 })).status).toBe(200);
  });

  test('a removed VM leaves no backup, in the store and in the hypervisor', async () => {
    const service = await startOperator({ engine });
    const { vmId, path, backUp } = await buy(service);
    await backUp();
    await service.call('deleteVm', { path });
    expect(await service.store.read((db) => db.selectFrom('vm_backups').selectAll().execute())).toEqual([]);
    expect(service.hypervisor.copies.has(vmId)).toBe(false);
  });

  test('a backup that fails uses no slot, and a restoration that fails leaves the VM as it was', async () => {
    const calls = new PortCalls();
    const service = await startOperator({ engine, hypervisor: new TestHypervisor(calls) });
    const { list, backUp, restore, config } = await buy(service);
    const { backup_id } = (await backUp()).body.data;
    const before = await config();
    calls.plan = ['fails before'];
    expect((await backUp()).status).toBe(503);
    expect(await list()).toHaveLength(1);
    calls.plan = ['fails before'];
    expect((await restore(backup_id)).status).toBe(500);
    expect(await config()).toEqual(before);
    expect((await restore(backup_id)).status).toBe(200);
  });

  test('lets the operator make, restore and delete backups under the rules of the account', async () => {
    const service = await startOperator({ engine, delays: { backup: 60_000 } });
    const { client } = service;
    const { vmId, path, list } = await buy(service);
    const vm = { vm_id: String(vmId) };
    async function finish(): Promise<void> {
      service.clock.advance(60_000);
      await service.runScheduledJobs();
    }
    const [made] = (await operator.createVmBackup({ client, path: vm })).backups;
    expect(made).toMatchObject({ scheduled: false });
    const first = made?.id ?? '';
    const one = { ...vm, backup_id: first };
    // While a backup is made, the VM accepts no other change.
    const whileBusy = [
      () => operator.createVmBackup({ client, path: vm }),
      () => operator.restoreVmBackup({ client, path: one }),
      () => operator.deleteVmBackup({ client, path: one }),
    ];
    for (const change of whileBusy) expect(await refusalOf(change())).toMatchObject({ status: 409 });
    await finish();
    await operator.createVmBackup({ client, path: vm });
    await finish();
    expect(await refusalOf(operator.createVmBackup({ client, path: vm }))).toMatchObject({
      status: 409,
      message: expect.stringContaining('2 of 2'),
    });
    await operator.restoreVmBackup({ client, path: one });
    expect((await service.call('getVmStatus', { path })).body.data.task).toBe('BACKUP_RESTORE');
    await finish();
    await operator.deleteVmBackup({ client, path: one });
    await finish();
    expect((await list()).map(({ backup_id }) => backup_id)).not.toContain(first);
    await expectInvariants(service.store);
  });

  test('responds with 501, and changes nothing, where the hypervisor makes no backups', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { vmId, list, backUp, restore, remove } = await buy(service);
    const { backup_id } = (await backUp()).body.data;
    const before = await list();
    Object.defineProperty(service.hypervisor, 'backups', { value: undefined });
    const message = 'The hypervisor of this service makes no backups. Back up the VM from inside, or ask the provider.';
    for (const refused of [await backUp(), await restore(backup_id), await remove(backup_id)])
      expect(refused).toMatchObject({ status: 501, body: { type: 'not_implemented', message } });
    const vm = { vm_id: String(vmId) };
    const one = { ...vm, backup_id };
    const asOperator = [
      operator.createVmBackup({ client, path: vm }),
      operator.restoreVmBackup({ client, path: one }),
      operator.deleteVmBackup({ client, path: one }),
    ];
    for (const refusal of await Promise.all(asOperator.map(refusalOf)))
      expect(refusal).toMatchObject({
        status: 501,
        type: expect.stringMatching(/not-implemented$/),
        message: expect.stringContaining(message),
      });
    expect(await list()).toEqual(before);
  });

  test('shows the task while a backup is made and restored', async () => {
    const service = await startOperator({ engine, delays: { backup: 60_000 } });
    const { path, list, backUp, restore } = await buy(service);
    const task = async () => (await service.call('getVmStatus', { path })).body.data.task;
    const { backup_id, status } = (await backUp()).body.data;
    expect([status, await task(), (await list())[0]?.status]).toEqual(['creating', 'BACKUP_CREATE', 'creating']);
    expect((await restore(backup_id)).status).toBe(409);
    service.clock.advance(60_000);
    await service.runScheduledJobs();
    expect([await task(), (await list())[0]?.status]).toEqual([null, 'available']);
    expect((await restore(backup_id)).body.message).toContain('is being restored');
    expect(await task()).toBe('BACKUP_RESTORE');
    service.clock.advance(60_000);
    await service.runScheduledJobs();
    expect(await task()).toBeNull();
  });

  test('makes a backup every day in the place of its oldest one, and none in the place of another', async () => {
    const service = await startOperator({ engine });
    const { path, list, backUp } = await buy(service);
    await backUp('mine');
    const set = (interval: string) => service.call('setVmBackupSchedule', { path, form: { interval } });
    expect((await set('daily')).body.data).toEqual({ schedule: 'daily', next: '2026-11-11T12:03:17.000Z' });
    const seen: string[] = [];
    for (const hours of [23, 1, 24, 72]) {
      service.clock.advance(hours * 3_600_000);
      await service.runScheduledJobs();
      seen.push((await list()).map(({ description, scheduled }) => `${description}${scheduled ? ' (s)' : ''}`).join());
    }
    expect(seen).toEqual(['mine', 'mine,Scheduled (s)', 'mine,Scheduled (s)', 'mine,Scheduled (s)']);
    await set('off');
    service.clock.advance(7 * 86_400_000);
    await service.runScheduledJobs();
    expect((await service.call('listVmBackups', { path })).body.data).toMatchObject({ schedule: 'off', next: null, list: [{}, {}] });
  });

  test('refuses a schedule for which no slot can become free, and ends one at any time', async () => {
    const service = await startOperator({ engine });
    const { path, backUp } = await buy(service);
    const set = (interval: string) => service.call('setVmBackupSchedule', { path, form: { interval } });
    await backUp();
    expect((await set('daily')).status).toBe(200);
    await set('off');
    await backUp();
    expect(await set('weekly')).toMatchObject({
      status: 409,
      body: { type: 'quota_exceeded', message: expect.stringContaining('2 of 2') },
    });
    expect((await set('off')).status).toBe(200);
  });

  test('keeps the last scheduled backup while others fail, tells it once, and goes on at the same hour', async () => {
    const service = await startOperator({ engine });
    const { path, list, backUp } = await buy(service);
    await backUp('mine');
    const { next } = (await service.call('setVmBackupSchedule', { path, form: { interval: 'daily' } })).body.data;
    const begun = Date.parse(next);
    async function after(hours: number): Promise<void> {
      service.clock.advance(hours * 3_600_000);
      await service.runScheduledJobs();
    }
    await after(24);
    const [, kept] = await list();
    expect(kept).toMatchObject({ scheduled: true, status: 'available' });
    service.hypervisor.backups.create = () => Promise.reject(new Error('The disk is full.'));
    await after(24);
    for (let hour = 0; hour < 5; hour++) await after(1);
    expect(await list()).toMatchObject([{ description: 'mine' }, kept ?? {}]);
    const { events } = (await service.call('listEvents', { form: { limit: 100 } })).body.data;
    expect(events.filter(({ type }: { type: string }) => type === 'vm.backup.failed')).toHaveLength(1);
    service.hypervisor.backups.create = (...call) => service.hypervisor.createBackup(...call);
    await after(1);
    const [mine, replaced, ...others] = await list();
    expect([mine?.description, replaced?.scheduled, replaced?.backup_id === kept?.backup_id, others]).toEqual(['mine', true, false, []]);
    const { next: following } = (await service.call('listVmBackups', { path })).body.data;
    expect((Date.parse(following) - begun) % 86_400_000).toBe(0);
  });
});
