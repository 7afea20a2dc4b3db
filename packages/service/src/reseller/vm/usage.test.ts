/** The use and the traffic of VMs, from the counters of the hypervisor. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { holdFirst } from '../../../test/hold-first.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';

const MINUTES = 60_000;

async function buy(service: TestOperator, more: object = {}) {
  const vmId: number = (await service.call('createVm', { form: { ...SMALL_VM, cores: 2, ...more } })).body.data.identifier;
  const path = { vmid: String(vmId) };
  return {
    vmId,
    path,
    usage: async () => (await service.call('getVmUsage', { path })).body.data,
    traffic: async () => (await service.call('getVmTraffic', { path })).body.data,
    status: async () => (await service.call('getVmStatus', { path })).body.data,
  };
}

/** Lets the service measure its VMs some time later. */
async function later(service: TestOperator, minutes: number): Promise<void> {
  service.clock.advance(minutes * MINUTES);
  await service.runScheduledJobs();
}

/** Lets the service measure its VMs at an instant. */
async function at(service: TestOperator, instant: string): Promise<void> {
  service.clock.advanceTo(instant);
  await service.runScheduledJobs();
}

describe.each(engines)('on %s', (engine) => {
  test('has a sample every five minutes, with averages since the one before', async () => {
    const service = await startOperator({ engine });
    const { vmId, path, usage, status } = await buy(service);
    const { hypervisor } = service;
    expect(await usage()).toEqual({ interval: 300, list: [] });
    expect((await status()).usage).toBeNull();
    hypervisor.use(vmId, {
      seconds: 100,
      cpuSeconds: 50,
      received: 1_000,
      sent: 40_000,
      diskRead: 500,
      memory: 3 * 1024 ** 3,
      disk: 1024 ** 3,
    });
    await at(service, '2026-11-10T12:05:00.000Z');
    hypervisor.use(vmId, { seconds: 400, cpuSeconds: 170, received: 31_000, sent: 40_000, diskRead: 500, memory: 1024 ** 3, disk: 5e8 });
    await at(service, '2026-11-10T12:05:01.000Z');
    await at(service, '2026-11-10T12:09:59.999Z');
    expect((await usage()).list).toHaveLength(1);
    await at(service, '2026-11-10T12:10:00.000Z');
    const { list } = await usage();
    const zero = { disk_read: 0, disk_written: 0, received: 0, sent: 0 };
    expect(list).toEqual([
      { at: '2026-11-10T12:05:00.000Z', cpu: 25, mem: 3 * 1024 ** 3, disk: 1024 ** 3, ...zero, disk_read: 5, received: 10, sent: 400 },
      { at: '2026-11-10T12:10:00.000Z', cpu: 20, mem: 1024 ** 3, disk: 5e8, ...zero, received: 100 },
    ]);
    const { samples } = await operator.getVmUsage({ client: service.client, path: { vm_id: path.vmid } });
    expect(samples.map((sample) => sample.at)).toEqual(list.map((sample: { at: string }) => sample.at));
    expect((await status()).usage).toEqual({
      cpu: { data: 20, unit: '%' },
      mem: { data: 1024, unit: 'MB' },
      nvme_storage: { data: 0.47, unit: 'GB' },
    });
    await expectInvariants(service.store);
  });

  test('adds traffic to days and months, and shows what the host system includes', async () => {
    const service = await startOperator({ engine });
    service.clock.advanceTo('2026-11-30T23:57:00.000Z');
    const { vmId, path, traffic } = await buy(service);
    expect(await service.call('getVmTraffic', { path })).toMatchObject({
      body: { message: 'The service has counted no traffic of the VM.', data: { months: [], days: [] } },
    });
    service.hypervisor.use(vmId, { seconds: 60, received: 100, sent: 1_000 });
    await at(service, '2026-11-30T23:59:00.000Z');
    expect((await traffic()).days).toEqual([{ day: '2026-11-30', received: 100, sent: 1_000, total: 1_100 }]);
    // One of the five minutes is in November.
    service.hypervisor.use(vmId, { seconds: 360, received: 100, sent: 6_000 });
    await later(service, 5);
    await later(service, 30);
    const november = { received: 100, sent: 2_000, total: 2_100 };
    const december = { received: 0, sent: 4_000, total: 4_000 };
    const { included, months, days } = await traffic();
    expect({ months, days }).toEqual({
      months: [
        { month: '2026-11', ...november },
        { month: '2026-12', ...december },
      ],
      days: [
        { day: '2026-11-30', ...november },
        { day: '2026-12-01', ...december },
      ],
    });
    const { traffic_limit: limit } = (await service.call('getVmConfig', { path })).body.data.config;
    expect([included, limit]).toEqual([20_000_000_000_000, 20_000]);
    expect(await operator.getVmTraffic({ client: service.client, path: { vm_id: path.vmid } })).toEqual({ included, months, days });
  });

  test('includes what the provider sets for the host system, from 1 GB on, and nothing without an amount', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { traffic } = await buy(service);
    const path = { hostsystem: SMALL_VM.hostsystem };
    const { name: _, nodes, ...host } = await operator.getHostSystem({ client, path });
    const bare = nodes.map(({ name, cores, mem, disk, storage }) => ({ name, cores, mem, disk, storage }));
    const define = (changed: object) => operator.defineHostSystem({ client, path, body: { ...host, nodes: bare, ...changed } });
    for (const [set, included] of [
      [1, 1_000_000_000],
      [9_000_000, 9_000_000_000_000_000],
      [null, null],
      [5, 5_000_000_000],
      [undefined, null],
    ] as const) {
      expect((await define({ included_traffic: set })).included_traffic).toBe(set ?? null);
      expect((await traffic()).included).toBe(included);
    }
    for (const wrong of [0, 9_000_001, 1.5]) expect(await refusalOf(define({ included_traffic: wrong }))).toMatchObject({ status: 422 });
  });

  test('keeps samples for 24 hours, days for two months, and months for a year', async () => {
    const service = await startOperator({ engine });
    service.clock.advanceTo('2027-01-15T12:00:00.000Z');
    const { vmId, usage, traffic } = await buy(service);
    for (const [round, sent] of [10, 30, 60, 100].entries()) {
      service.hypervisor.use(vmId, { seconds: 60 * (round + 1), sent });
      await later(service, 5);
    }
    expect((await usage()).list).toMatchObject([{}, {}, {}, { at: '2027-01-15T12:20:00.000Z' }]);
    // The first one is a day and five minutes old, and the second one a day.
    await at(service, '2027-01-16T12:10:00.000Z');
    expect((await usage()).list).toMatchObject([{ at: '2027-01-15T12:15:00.000Z' }, {}, { at: '2027-01-16T12:10:00.000Z' }]);
    await at(service, '2027-02-14T00:00:00.000Z');
    expect(await traffic()).toMatchObject({ months: [{ month: '2027-01', total: 100 }], days: [{ day: '2027-01-15', total: 100 }] });
    service.hypervisor.use(vmId, { seconds: 1_000, sent: 175 });
    await later(service, 5);
    await at(service, '2027-03-20T00:00:00.000Z');
    const [january, february] = [{ month: '2027-01' }, { month: '2027-02', total: 75 }];
    expect(await traffic()).toMatchObject({ months: [january, february], days: [{ day: '2027-02-14', total: 75 }] });
    await at(service, '2028-01-31T23:59:59.999Z');
    expect((await traffic()).months).toMatchObject([january, february]);
    service.clock.advance(1);
    expect((await traffic()).months).toMatchObject([february]);
    const stored = (table: 'vm_traffic' | 'vm_usage') =>
      service.store.read((db) => db.selectFrom(table).selectAll().where('vm_id', '=', vmId).execute());
    expect(await stored('vm_traffic')).toHaveLength(2);
    await service.runScheduledJobs();
    expect(await stored('vm_traffic')).toHaveLength(1);
    expect(await stored('vm_usage')).toHaveLength(2);
  });

  test('a stopped VM has no present use, and its next run counts from its beginning', async () => {
    const service = await startOperator({ engine });
    const { vmId, path, usage, traffic, status } = await buy(service);
    service.hypervisor.use(vmId, { seconds: 10, sent: 100 });
    await later(service, 5);
    await service.call('setVmPower', { path, form: { mode: 'stop' } });
    expect((await status()).usage).toBeNull();
    await later(service, 60);
    expect((await usage()).list).toHaveLength(1);
    await service.call('setVmPower', { path, form: { mode: 'start' } });
    expect((await status()).usage).toBeNull();
    service.hypervisor.use(vmId, { run: 'second', seconds: 100, sent: 50 });
    await later(service, 5);
    expect((await usage()).list).toMatchObject([{}, { sent: 1 }]);
    expect((await traffic()).months).toMatchObject([{ sent: 150 }]);
    expect((await status()).usage).not.toBeNull();
    // A hypervisor that no longer says anything.
    service.hypervisor.used.clear();
    await later(service, 14);
    expect((await status()).usage).not.toBeNull();
    await later(service, 1);
    expect((await status()).usage).toBeNull();
  });

  test('a removed VM leaves nothing, so that the next VM with its number begins at 0', async () => {
    const service = await startOperator({ engine });
    const { vmId, path } = await buy(service);
    service.hypervisor.use(vmId, { seconds: 10, sent: 100 });
    await later(service, 5);
    await service.call('deleteVm', { path });
    const rows = (table: 'vm_counters' | 'vm_usage' | 'vm_traffic') =>
      service.store.read((db) => db.selectFrom(table).selectAll().where('vm_id', '=', vmId).execute());
    expect([await rows('vm_counters'), await rows('vm_usage'), await rows('vm_traffic')]).toEqual([[], [], []]);
    service.hypervisor.use(vmId, { seconds: 10, sent: 100 });
    await later(service, 5);
    expect(await rows('vm_usage')).toEqual([]);
    expect(await operator.getVmUsage({ client: service.client, path: { vm_id: path.vmid } })).toEqual({ interval: 300, samples: [] });
  });

  test('a VM that is removed while the hypervisor measures it leaves nothing', async () => {
    const service = await startOperator({ engine });
    const [removed, other] = [await buy(service), await buy(service)];
    for (const { vmId } of [removed, other]) service.hypervisor.use(vmId, { seconds: 10, sent: 100 });
    const measuring = holdFirst((vmIds: readonly number[]) => TestHypervisor.prototype.usage.call(service.hypervisor, vmIds));
    service.hypervisor.usage = (vmIds) => measuring.run(vmIds);
    service.clock.advance(5 * MINUTES);
    const jobs = service.runScheduledJobs();
    jobs.catch(() => {});
    await measuring.done;
    await service.call('deleteVm', { path: removed.path });
    measuring.release();
    await jobs;
    for (const table of ['vm_counters', 'vm_usage', 'vm_traffic'] as const) {
      const rows = await service.store.read((db) => db.selectFrom(table).select('vm_id').execute());
      expect(rows.map(({ vm_id }) => vm_id).filter((id) => id === removed.vmId || id === other.vmId)).toEqual([other.vmId]);
    }
  });

  test('measures all VMs in batches of any size, and a VM that is not measured holds up no other', async () => {
    for (const usageBatch of [1, 2, 3, 50]) {
      const service = await startOperator({ engine, tuning: { usageBatch } });
      const vms = [await buy(service), await buy(service), await buy(service)];
      for (const { vmId } of vms.slice(1)) service.hypervisor.use(vmId, { seconds: 10, sent: vmId });
      await later(service, 5);
      expect(await Promise.all(vms.map(async ({ usage }) => (await usage()).list.length)), `batches of ${usageBatch}`).toEqual([0, 1, 1]);
      const last = vms.at(-1) ?? expect.fail('There are three VMs.');
      expect((await last.traffic()).months).toMatchObject([{ sent: last.vmId }]);
    }
  });

  test('a hypervisor that fails is asked again in the next round, and counts what it had meanwhile', async () => {
    const service = await startOperator({ engine, tuning: { usageBatch: 1 } });
    const [one, other] = [await buy(service), await buy(service)];
    for (const { vmId } of [one, other]) service.hypervisor.use(vmId, { seconds: 10, sent: 100 });
    service.hypervisor.failingToMeasure = new Error('The node is away.');
    await later(service, 5);
    service.hypervisor.failingToMeasure = undefined;
    await service.runScheduledJobs();
    expect((await one.usage()).list).toEqual([]);
    await later(service, 5);
    for (const vm of [one, other]) expect((await vm.traffic()).months).toMatchObject([{ sent: 100 }]);
  });

  test('stores no number that cannot be one', async () => {
    const service = await startOperator({ engine });
    const { vmId, usage, traffic } = await buy(service);
    const wrong = { cpuSeconds: Number.NaN, memory: -1, disk: Infinity, diskRead: 2 ** 53 + 2, diskWritten: 0.6, received: null };
    service.hypervisor.use(vmId, { seconds: 1, run: 'x'.repeat(200), ...wrong });
    await later(service, 5);
    expect((await usage()).list).toMatchObject([
      { cpu: null, mem: null, disk: null, disk_read: 2, disk_written: 1, received: null, sent: 0 },
    ]);
    expect(await traffic()).toMatchObject({ months: [], days: [] });
  });
});
