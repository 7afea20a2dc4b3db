/** Complaints about VMs: the provider sets a status, the reseller hands in a statement, and a block stops the VM. */
import * as operator from '@reseller/operator-client';
import type { SetVmAbuseStatusRequest } from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../test/engines.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { expectInvariants } from '../../test/invariants.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';

const REASON = 'Unwanted mail, complaint 2026-118';

async function buy(options: Parameters<typeof startOperator>[0] = {}) {
  const service = await startOperator(options);
  const vmid = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  const path = { vmid };
  return {
    service,
    vmid,
    path,
    set: (status: SetVmAbuseStatusRequest['status'], reason = REASON) =>
      operator.setVmAbuseStatus({ client: service.client, path: { vm_id: vmid }, body: { status, reason } }),
    state: (statement: string) => service.call('submitVmAbuseStatement', { path, form: { statement } }),
    power: (mode: string) => service.call('setVmPower', { path, form: { mode } }),
    shown: async () => {
      const { abuse_status, abuse_reason, abuse_statement } = (await service.call('getVmConfig', { path })).body.data;
      return [abuse_status, abuse_reason, abuse_statement];
    },
    status: async () => (await service.call('getVmStatus', { path })).body.data.status,
    position: async () => {
      const { data } = (await service.call('getCurrentInvoice')).body;
      return data.positions.vms[vmid].at(-1);
    },
    events: async () => {
      const { events } = (await service.call('listEvents', { form: { type: 'vm.abuse.changed' } })).body.data;
      return events.map(({ data }: { data: object }) => data);
    },
  };
}

const BLOCKED = { status: 409, body: { type: 'wrong_state', message: expect.stringContaining(`The reason: ${REASON}.`) } };

describe.each(engines)('on %s', (engine) => {
  test('a status reaches the reseller with its reason, as an event, and in the list', async () => {
    const { service, vmid, set, shown, events } = await buy({ engine });
    expect(await shown()).toEqual(['CLEAN', null, null]);
    expect(await set('WARNED')).toMatchObject({ state: 'running', abuse: { status: 'WARNED', reason: REASON, statement: null } });
    await set('WARNED');
    expect(await shown()).toEqual(['WARNED', REASON, null]);
    expect((await service.call('listVms')).body.data.list).toMatchObject([{ vmid: Number(vmid), abuse_status: 'WARNED' }]);
    await set('CLEAN', 'The complaint was wrong');
    expect(await events()).toEqual([
      { vmid: Number(vmid), abuse_status: 'WARNED', reason: REASON },
      { vmid: Number(vmid), abuse_status: 'CLEAN', reason: 'The complaint was wrong' },
    ]);
    const { items } = await operator.listAuditRecords({ client: service.client, query: { operation: 'setVmAbuseStatus' } });
    const changes = items.map(({ before, after }) => `${Object(before).abuse.status} to ${Object(after).abuse.status}`);
    expect(changes.toSorted()).toEqual(['CLEAN to WARNED', 'WARNED to CLEAN', 'WARNED to WARNED']);
  });

  test('a statement can be handed in while it is expected, and the provider reads it', async () => {
    const { service, vmid, set, state, shown } = await buy({ engine });
    for (const status of ['CLEAN', 'WARNED'] as const) {
      await set(status);
      expect(await state('It was not us.')).toMatchObject({ status: 409, body: { type: 'wrong_state' } });
    }
    await set('STATEMENT_EXPECTED');
    expect((await state('First')).status).toBe(200);
    expect((await state('Second')).status).toBe(200);
    expect((await state('Cause: a stolen password.\nMeasure: a new one.')).status).toBe(200);
    expect(await shown()).toEqual(['STATEMENT_EXPECTED', REASON, 'Cause: a stolen password.\nMeasure: a new one.']);
    expect((await state('Second')).status).toBe(200);
    expect(await shown()).toEqual(['STATEMENT_EXPECTED', REASON, 'Second']);
    const read = await operator.getVm({ client: service.client, path: { vm_id: vmid } });
    expect(read.abuse).toEqual({ status: 'STATEMENT_EXPECTED', reason: REASON, statement: 'Second' });
    await set('BLOCKED');
    expect(await shown()).toEqual(['BLOCKED', REASON, 'Second']);
    expect((await state('Third')).status).toBe(200);
    await set('STATEMENT_EXPECTED', 'It goes on');
    expect(await shown()).toEqual(['STATEMENT_EXPECTED', 'It goes on', null]);
    await set('CLEAN', 'Done');
    expect(await shown()).toEqual(['CLEAN', 'Done', null]);
    const other = await service.account();
    expect((await service.call('submitVmAbuseStatement', { path: { vmid }, form: { statement: 'x' }, apiKey: other.apiKey })).status).toBe(
      404,
    );
  });

  test('a block stops the VM, which is billed on, until it is lifted: then its billing ends, and it can be started', async () => {
    const { service, vmid, set, power, shown, status, position } = await buy({ engine });
    service.clock.advance(100_000);
    expect(await set('BLOCKED')).toMatchObject({ state: 'stopped', abuse: { status: 'BLOCKED' } });
    await set('BLOCKED');
    expect([await status(), service.hypervisor.stopped.has(Number(vmid))]).toEqual(['stopped', true]);
    for (const mode of ['start', 'restart', 'stop']) expect(await power(mode)).toMatchObject(BLOCKED);
    service.clock.advance(100_000);
    expect(await position()).toMatchObject({ type: 'CREATE', stop: null, totalRuntime: 200 });
    await expectInvariants(service.store);
    await set('WARNED');
    expect(await shown()).toEqual(['WARNED', REASON, null]);
    service.clock.advance(100_000);
    expect(await position()).toMatchObject({ type: 'CREATE', totalRuntime: 200 });
    expect((await power('start')).status).toBe(200);
    expect([await status(), (await position()).type]).toEqual(['running', 'BILLINGRESTART']);
    await expectInvariants(service.store);
  });

  test('a blocked VM is billed over the end of the month, and a removed one no longer', async () => {
    const { service, path, set, position } = await buy({ engine });
    await set('BLOCKED');
    service.clock.advanceTo('2026-12-01T00:00:10Z');
    await service.runScheduledJobs();
    expect(await position()).toMatchObject({ type: 'BILLINGRESTART', stop: null, totalRuntime: 10 });
    expect((await service.call('deleteVm', { path })).status).toBe(200);
    service.clock.advance(60_000);
    expect(await position()).toMatchObject({ totalRuntime: 10 });
    await expectInvariants(service.store);
  });

  test('a VM that was stopped before is not billed while it is blocked', async () => {
    const { service, set, power, position } = await buy({ engine });
    service.clock.advance(60_000);
    await power('stop');
    const before = await position();
    await set('BLOCKED');
    service.clock.advance(60_000);
    expect(await power('start')).toMatchObject(BLOCKED);
    await set('CLEAN', 'Done');
    expect(await position()).toEqual(before);
    expect((await power('start')).status).toBe(200);
  });
});

test('a blocked VM refuses each change of the reseller and of the provider, but not backups and its deletion', async () => {
  const { service, path, vmid, set } = await buy();
  const other = String((await service.call('createVm', { form: { ...SMALL_VM, ips: 2 } })).body.data.identifier);
  const { backup_id } = (await service.call('createVmBackup', { path })).body.data;
  const { ipv4 } = (await service.call('getVmConfig', { path: { vmid: other } })).body.data.config;
  await service.call('buyIps', { form: { vmid } });
  const [{ ip_address: first }, { ip_address: additional }] = (await service.call('getVmConfig', { path })).body.data.config.ipv4;
  await set('BLOCKED');
  const { client } = service;
  for (const refused of [
    await service.call('reinstallVm', { path, form: {} }),
    await service.call('restoreVmBackup', { path, form: { backup_id } }),
    await service.call('resetVmPassword', { path }),
    await service.call('attachVmIso', { path, form: { iso: 'systemrescue_12' } }),
    await service.call('changeVm', { path, form: { cores: 4 } }),
    await service.call('buyIps', { form: { vmid } }),
    await service.call('editVm', { path, form: { name: 'Shop' } }),
    await service.call('setVmRdns', { path, form: { domain: 'mail.example.org' } }),
    await service.call('removeVmRdns', { path: { vmid, ip_address: first }, apiKey: service.apiKey }),
    await service.call('setVmMonitoring', { path, form: { enabled: false, port: 80 } }),
    await service.call('assignIp', { path: { ip_address: ipv4[1].ip_address }, form: { vmid } }),
    await service.call('assignIp', { path: { ip_address: additional }, form: { vmid: other } }),
    await service.call('releaseIp', { path: { ip_address: additional } }),
    await service.call('detachVmIso', { path }),
    await service.call('openVmConsole', { path }),
    await service.call('setVmPower', { path, form: { mode: 'start' } }),
    await service.call('setVmPower', { path, form: { mode: 'restart' } }),
  ])
    expect(refused).toMatchObject(BLOCKED);
  const vm = { vm_id: vmid };
  for (const refused of [
    () => operator.startVm({ client, path: vm }),
    () => operator.resizeVm({ client, path: vm, body: { cores: 4 } }),
    () => operator.restoreVmBackup({ client, path: { ...vm, backup_id } }),
  ])
    expect(await refusalOf(refused())).toMatchObject({ status: 409, message: expect.stringContaining(REASON) });
  expect((await service.call('createVmBackup', { path })).status).toBe(200);
  expect((await service.call('deleteVmBackup', { path: { vmid, backup_id } })).status).toBe(200);
  expect((await service.call('deleteVm', { path })).status).toBe(200);
  expect(await refusalOf(set('CLEAN'))).toMatchObject({ status: 409 });
});

test('a block whose stop fails is in force, and the service stops the VM later', async () => {
  const { service, vmid, set, power, shown } = await buy();
  service.hypervisor.failing = new Error('no route to the node');
  expect(await refusalOf(set('BLOCKED'))).toMatchObject({ status: 503, message: expect.stringContaining('The VM is blocked') });
  expect(await shown()).toEqual(['BLOCKED', REASON, null]);
  expect((await power('start')).status).toBe(409);
  service.hypervisor.failing = undefined;
  await service.runScheduledJobs();
  expect(service.hypervisor.stopped.has(Number(vmid))).toBe(true);
  expect(await set('CLEAN')).toMatchObject({ state: 'stopped' });
});

test('a VM that is being changed is not blocked, but can be warned', async () => {
  const { service, vmid, set } = await buy();
  const change = (changing: number) =>
    service.store.commit(({ db }) => db.updateTable('vms').set({ changing }).where('id', '=', Number(vmid)).execute());
  await change(1);
  expect(await refusalOf(set('BLOCKED'))).toMatchObject({ status: 409 });
  expect(await set('WARNED')).toMatchObject({ abuse: { status: 'WARNED' } });
  await change(0);
  expect(await set('BLOCKED')).toMatchObject({ abuse: { status: 'BLOCKED' } });
  expect(
    await refusalOf(
      operator.setVmAbuseStatus({ client: service.client, path: { vm_id: '99999' }, body: { status: 'CLEAN', reason: 'x' } }),
    ),
  ).toMatchObject({
    status: 404,
  });
});

test('the export of an account has reasons and statements', async () => {
  const { service, path, set, state } = await buy();
  await set('BLOCKED');
  await state('Said by Erika Musterfrau');
  await service.call('deleteVm', { path });
  const { account_id } = await service.store.read((db) => db.selectFrom('vms').select('account_id').executeTakeFirstOrThrow());
  const { client } = service;
  const exported = JSON.stringify(await operator.exportAccount({ client, path: { account_id } }));
  for (const text of [REASON, 'Said by Erika Musterfrau']) expect(exported).toContain(text);
});
