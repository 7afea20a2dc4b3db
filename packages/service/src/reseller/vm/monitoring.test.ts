/** Ports of VMs that the service checks. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { startOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';

const MINUTE = 60_000;

async function buy(options: Parameters<typeof startOperator>[0] = {}) {
  const service = await startOperator(options);
  const vmId: number = (await service.call('createVm', { form: SMALL_VM })).body.data.identifier;
  const path = { vmid: String(vmId) };
  const { hypervisor } = service;
  const ours = () => hypervisor.checked.filter((one) => one.startsWith(`${vmId}:`)).length;
  let total = 0;
  // A VM of another account that is due in each round.
  const { apiKey } = await service.account();
  const other: number = (await service.call('createVm', { form: SMALL_VM, apiKey })).body.data.identifier;
  await service.call('setVmMonitoring', { path: { vmid: String(other) }, form: { enabled: true, port: 22 }, apiKey });
  return {
    service,
    vmId,
    path,
    set: (enabled: boolean, port = 80) => service.call('setVmMonitoring', { path, form: { enabled, port } }),
    shown: async () => (await service.call('getVmConfig', { path })).body.data.monitoring,
    /** The round after the next minute, and the checks that it begins. */
    async minute(checks: number, ms = MINUTE) {
      service.clock.advance(ms);
      await service.runRound();
      await service.settled();
      total += checks;
      expect(ours()).toBe(total);
    },
    async failures() {
      const stored = service.store.read((db) =>
        db.selectFrom('vm_monitors').select('failures').where('vm_id', '=', vmId).executeTakeFirstOrThrow(),
      );
      return (await stored).failures;
    },
    async events() {
      await service.runScheduledJobs();
      const { events } = (await service.call('listEvents', { form: { limit: 100 } })).body.data;
      const monitored = events.filter(({ type }: { type: string }) => type.startsWith('vm.monitoring'));
      return monitored.map(({ type, data }: { type: string; data: object }) => [type, data]);
    },
  };
}

describe.each(engines)('on %s', (engine) => {
  test('three failures one after another are an event, and so is the next success', async () => {
    const { service, vmId, set, shown, minute, failures, events } = await buy({ engine });
    const status = async (expected: string) => expect.poll(async () => (await shown()).status).toBe(expected);
    expect(await shown()).toEqual({ enabled: false, port: null, status: null });
    expect((await set(true)).body.data).toEqual({ enabled: true, port: 80, status: 'unknown' });
    await minute(0);
    await minute(1);
    await status('reachable');
    service.hypervisor.unreachable.add(vmId);
    for (const count of [1, 2]) {
      await minute(1);
      await expect.poll(failures).toBe(count);
    }
    expect([(await shown()).status, await events()]).toEqual(['reachable', []]);
    await minute(1);
    await status('unreachable');
    await minute(1);
    service.hypervisor.unreachable.delete(vmId);
    await minute(1);
    await status('reachable');
    expect(await events()).toEqual([
      ['vm.monitoring.unreachable', { vmid: vmId, port: 80 }],
      ['vm.monitoring.reachable', { vmid: vmId, port: 80 }],
    ]);
  });

  test('a VM is not checked while it is stopped, starts, is changed, or its account is suspended', async () => {
    const { service, path, set, minute } = await buy({ engine });
    await set(true);
    await minute(1, 2 * MINUTE);
    await service.call('setVmPower', { path, form: { mode: 'stop' } });
    await minute(0);
    await service.call('setVmPower', { path, form: { mode: 'start' } });
    await minute(0, 2 * MINUTE - 1);
    await minute(1, 1);
    const change = (changing: number) =>
      service.store.commit(({ db }) => db.updateTable('vms').set({ changing }).where('id', '=', Number(path.vmid)).execute());
    await change(1);
    await minute(0);
    await change(0);
    const id = Number(path.vmid);
    const { account_id } = await service.store.read((db) =>
      db.selectFrom('vms').select('account_id').where('id', '=', id).executeTakeFirstOrThrow(),
    );
    const { client } = service;
    await operator.suspendAccount({ client, path: { account_id }, body: { reason: 'Unpaid' } });
    await minute(0);
    await operator.unsuspendAccount({ client, path: { account_id } });
    await minute(1);
    await set(false);
    await minute(0);
    await set(true, 443);
    await minute(1);
    expect(service.hypervisor.checked).toContain(`${path.vmid}:443`);
    await service.call('deleteVm', { path });
    await minute(0);
    expect(await service.store.read((db) => db.selectFrom('vm_monitors').selectAll().where('vm_id', '=', id).execute())).toEqual([]);
  });
});

test('a success between failures begins the count again', async () => {
  const { service, vmId, set, minute, failures, events } = await buy();
  await set(true);
  await minute(1, 2 * MINUTE);
  const outages = [1, 2, 1];
  for (const length of outages) {
    service.hypervisor.unreachable.add(vmId);
    for (let count = 1; count <= length; count++) {
      await minute(1);
      await expect.poll(failures).toBe(count);
    }
    service.hypervisor.unreachable.delete(vmId);
    await minute(1);
    await expect.poll(failures).toBe(0);
  }
  expect(await events()).toEqual([]);
});

test.each([
  ['another port', true, 81],
  ['no port', false, 80],
])('an unreachable port that makes way for %s is no longer an incident', async (_, enabled, port) => {
  const { service, vmId, set, minute, failures, events, shown } = await buy();
  await set(true);
  await minute(0);
  service.hypervisor.unreachable.add(vmId);
  for (let check = 0; check < 3; check++) {
    await minute(1);
    await expect.poll(failures).toBe(check + 1);
  }
  await set(enabled, port);
  expect((await shown()).status).toBe(enabled ? 'unknown' : null);
  expect(await events()).toEqual([
    ['vm.monitoring.unreachable', { vmid: vmId, port: 80 }],
    ['vm.monitoring.reachable', { vmid: vmId, port: 80 }],
  ]);
});

test('the same setting goes on with its status, and another port begins again', async () => {
  const { set, shown, minute } = await buy();
  await set(true);
  await minute(1, 2 * MINUTE);
  await expect.poll(async () => (await shown()).status).toBe('reachable');
  expect((await set(true)).body.data.status).toBe('reachable');
  expect((await set(true, 443)).body.data).toEqual({ enabled: true, port: 443, status: 'unknown' });
  expect((await set(false, 443)).body.data).toEqual({ enabled: false, port: 443, status: null });
});

test('a round does not wait for a check that hangs, and begins no second one', async () => {
  const hypervisor = new TestHypervisor();
  const { service, vmId, set, shown } = await buy({ hypervisor });
  await set(true);
  const held = Promise.withResolvers<boolean>();
  let begun = 0;
  hypervisor.reaches = async (checked) => {
    if (checked !== vmId) return true;
    begun += 1;
    return held.promise;
  };
  for (let round = 0; round < 3; round++) {
    service.clock.advance(2 * MINUTE);
    await service.runScheduledJobs();
    await expect.poll(() => begun).toBe(1);
  }
  held.resolve(true);
  await expect.poll(async () => (await shown()).status).toBe('reachable');
});

test('as many ports are checked at once as the tuning says, half of them for one account, and each once', async () => {
  const hypervisor = new TestHypervisor();
  const { service, set } = await buy({ hypervisor, tuning: { portChecks: 4 } });
  await set(true);
  const ids = [0, 1, 2, 3].map(async () => String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier));
  for (const vmid of await Promise.all(ids)) await service.call('setVmMonitoring', { path: { vmid }, form: { enabled: true, port: 80 } });
  let [atOnce, most] = [0, 0];
  const seen: number[] = [];
  const held = Promise.withResolvers<void>();
  hypervisor.reaches = async (vmId) => {
    seen.push(vmId);
    most = Math.max(most, ++atOnce);
    await held.promise;
    atOnce -= 1;
    return true;
  };
  service.clock.advance(2 * MINUTE);
  await service.runScheduledJobs();
  // Two of this account, and the only one of another.
  await expect.poll(() => atOnce).toBe(3);
  held.resolve();
  await expect.poll(() => seen.length).toBe(6);
  expect([new Set(seen).size, most]).toEqual([6, 3]);
});

test('a check that fails or finds nothing out counts neither way', async () => {
  const hypervisor = new TestHypervisor();
  const { service, vmId, set, shown } = await buy({ hypervisor });
  await set(true);
  let calls = 0;
  hypervisor.reaches = async (checked) => {
    if (checked !== vmId) return true;
    calls += 1;
    if (calls > 3) return null;
    throw new Error('no route to the node');
  };
  for (let count = 1; count <= 6; count++) {
    service.clock.advance(2 * MINUTE);
    await service.runScheduledJobs();
    await expect.poll(() => calls).toBe(count);
  }
  expect((await shown()).status).toBe('unknown');
});

test('responds with 501 where the hypervisor reaches no ports', async () => {
  const hypervisor = new TestHypervisor();
  Object.defineProperty(hypervisor, 'reaches', { value: undefined });
  const { set } = await buy({ hypervisor });
  expect(await set(true)).toMatchObject({
    status: 501,
    body: { type: 'not_implemented', message: expect.stringContaining('from outside') },
  });
  expect((await set(false)).status).toBe(200);
});
