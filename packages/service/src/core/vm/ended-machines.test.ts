/** Machines of running VMs that ended by themselves, as the account, the provider and the hypervisor see it. */
import { describe, expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import type { FencingToken, StartedTask, TaskState } from '../../index.ts';

/** The service measures VMs every five minutes. */
const ROUND_MS = 300_000;
/** And looks for ended machines more often. */
const HALF_MINUTE_MS = 30_000;

/** A hypervisor that starts machines in a task. */
class StartingHypervisor extends TestHypervisor {
  starts = 0;
  state: TaskState = { status: 'running', percentage: null };
  override async start(vmId: number, token: FencingToken): Promise<StartedTask> {
    this.starts++;
    await super.start(vmId, token);
    return { task: 'start' };
  }
  async task(): Promise<TaskState> {
    return this.state;
  }
}

async function buy(service: TestOperator) {
  const { body } = await service.call('createVm', { form: SMALL_VM });
  const vmId: number = body.data.identifier;
  service.hypervisor.use(vmId, { seconds: 1 });
  await service.runScheduledJobs();
  return vmId;
}

async function half(service: TestOperator): Promise<void> {
  service.clock.advance(HALF_MINUTE_MS);
  await service.runScheduledJobs();
}

async function round(service: TestOperator): Promise<void> {
  service.clock.advance(ROUND_MS);
  await service.runScheduledJobs();
}

async function statusOf(service: TestOperator, vmId: number): Promise<string> {
  return (await service.call('getVmStatus', { path: { vmid: String(vmId) } })).body.data.status;
}

async function eventsOf(service: TestOperator): Promise<(readonly [string, unknown])[]> {
  const events: { type: string; data: { reason?: unknown } }[] = (await service.call('listEvents', { form: {} })).body.data.events;
  return events.map(({ type, data }) => [type, data.reason] as const);
}

async function positionsOf(service: TestOperator, vmId: number): Promise<{ type: string; stop: string | null }[]> {
  return (await service.call('getCurrentInvoice')).body.data.positions.vms[vmId];
}

async function countOf(service: TestOperator): Promise<string | undefined> {
  return /^reseller_vms_differ (\d+)$/m.exec((await service.operate('/metrics')).text)?.[1];
}

describe.each(engines)('on %s', (engine) => {
  test('are started again within half a minute if the hypervisor lists what runs', async () => {
    const service = await startOperator({ engine, tuning: { statementRows: 2 } });
    const vmIds = [await buy(service), await buy(service), await buy(service)];
    const { hypervisor } = service;
    // Nobody misses the machine of a VM that its reseller stopped.
    const stopped = await buy(service);
    await service.call('setVmPower', { path: { vmid: String(stopped) }, form: { mode: 'stop' } });
    let lists = 0;
    hypervisor.running = async () => {
      lists++;
      return [...hypervisor.vms.keys()].filter((vmId) => !hypervisor.stopped.has(vmId));
    };
    await half(service);
    expect((await eventsOf(service)).filter(([type]) => type === 'vm.stopped')).toEqual([['vm.stopped', undefined]]);
    const before = lists;
    await service.runScheduledJobs();
    expect(lists).toBe(before);
    for (const vmId of vmIds) hypervisor.stopped.add(vmId);
    await half(service);
    expect([...hypervisor.stopped]).toEqual([stopped]);
    expect((await eventsOf(service)).filter(([, reason]) => reason === 'machine_ended')).toHaveLength(3);
    await expectInvariants(service.store);
  });

  test('are found in the next round, started again, and told', async () => {
    const service = await startOperator({ engine });
    const [ended, other] = [await buy(service), await buy(service)];
    await round(service);
    service.hypervisor.failing = new Error('The host is busy.');
    service.hypervisor.stopped.add(ended);
    await round(service);
    expect([await statusOf(service, ended), await statusOf(service, other), await countOf(service)]).toEqual(['stopped', 'running', '1']);
    service.hypervisor.failing = undefined;
    await round(service);
    expect([service.hypervisor.stopped.has(ended), await statusOf(service, ended), await countOf(service)]).toEqual([
      false,
      'running',
      '0',
    ]);
    expect((await eventsOf(service)).slice(2)).toEqual([
      ['vm.stopped', 'machine_ended'],
      ['vm.started', undefined],
    ]);
    // It stayed billed, because it kept its room.
    expect(await positionsOf(service, ended)).toMatchObject([{ type: 'CREATE', stop: null }]);
    await expectInvariants(service.store);
  });

  test('that do not start in five attempts leave a stopped VM, which is billed no longer', async () => {
    const service = await startOperator({ engine });
    const vmId = await buy(service);
    await round(service);
    service.hypervisor.stopped.add(vmId);
    // The machine does not boot, and the hypervisor can stop it.
    service.hypervisor.start = async () => {
      throw new Error('The disk of the machine is missing.');
    };
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await positionsOf(service, vmId)).toMatchObject([{ stop: null }]);
      service.clock.advance(ROUND_MS * 2 ** attempt);
      await service.runScheduledJobs();
      await service.runScheduledJobs();
    }
    expect([await statusOf(service, vmId), await countOf(service)]).toEqual(['stopped', '0']);
    expect(await positionsOf(service, vmId)).toMatchObject([{ type: 'CREATE', stop: expect.any(String) }]);
    expect((await eventsOf(service)).slice(1)).toEqual([
      ['vm.stopped', 'machine_ended'],
      ['vm.stopped', undefined],
    ]);
    await expectInvariants(service.store);
  });
});

test('are not looked for while the hypervisor only cannot measure a VM, or does not respond', async () => {
  const service = await startOperator();
  const vmId = await buy(service);
  service.hypervisor.used.clear();
  await round(service);
  expect([await statusOf(service, vmId), await countOf(service)]).toEqual(['running', '0']);
  service.hypervisor.stopped.add(vmId);
  service.hypervisor.failingToMeasure = new Error('connect ECONNREFUSED');
  await round(service);
  expect([await statusOf(service, vmId), await countOf(service)]).toEqual(['running', '0']);
});

test('are not looked for while the list of what runs cannot be read', async () => {
  const service = await startOperator();
  const vmId = await buy(service);
  service.hypervisor.running = async () => {
    throw new Error('connect ECONNREFUSED');
  };
  await half(service);
  expect([await statusOf(service, vmId), await countOf(service)]).toEqual(['running', '0']);
  service.hypervisor.running = async () => [];
  await half(service);
  expect((await eventsOf(service)).slice(1)).toEqual([
    ['vm.stopped', 'machine_ended'],
    ['vm.started', undefined],
  ]);
});

test('a VM that was started while the list was read is not missed', async () => {
  const service = await startOperator();
  const vmId = await buy(service);
  await service.call('setVmPower', { path: { vmid: String(vmId) }, form: { mode: 'stop' } });
  service.hypervisor.running = async () => {
    service.clock.advance(1);
    await service.call('setVmPower', { path: { vmid: String(vmId) }, form: { mode: 'start' } });
    return [];
  };
  await half(service);
  expect((await eventsOf(service)).map(([, reason]) => reason)).not.toContain('machine_ended');
});

test('run again when the task of their start has ended', async () => {
  const hypervisor = new StartingHypervisor();
  const service = await startOperator({ hypervisor });
  const vmId = await buy(service);
  hypervisor.stopped.add(vmId);
  await round(service);
  await half(service);
  expect([hypervisor.starts, await statusOf(service, vmId)]).toEqual([1, 'stopped']);
  hypervisor.state = { status: 'succeeded' };
  await half(service);
  expect([hypervisor.starts, await statusOf(service, vmId)]).toEqual([1, 'running']);
  await expectInvariants(service.store);
});

test('of sample VMs, which never had a machine, are not looked for', async () => {
  const service = await startOperator();
  const vmId = await buy(service);
  await service.store.commit(({ db }) => db.updateTable('vms').set({ is_sample: 1 }).where('id', '=', vmId).execute());
  service.hypervisor.stopped.add(vmId);
  service.hypervisor.running = async () => [];
  await half(service);
  await round(service);
  expect((await eventsOf(service)).map(([, reason]) => reason)).not.toContain('machine_ended');
  expect(service.hypervisor.stopped).toContain(vmId);
});

test('are started again for each account in turn, one at a time with the smallest tuning', async () => {
  const service = await startOperator({ tuning: { restartedMachines: 1, usageBatch: 1 } });
  const vmIds = [await buy(service), await buy(service), await buy(service)];
  for (const vmId of vmIds) service.hypervisor.stopped.add(vmId);
  await round(service);
  expect(service.hypervisor.stopped.size).toBe(0);
  expect(await countOf(service)).toBe('0');
});
