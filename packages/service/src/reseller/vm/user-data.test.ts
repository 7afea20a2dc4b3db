/** User data of a VM: given to the hypervisor, kept for reinstallations, and shown in no response. */
import { createHash } from 'node:crypto';

import type { Installation } from '@reseller/adapters';
import { describe, expect, test } from 'vitest';

import { tablesWith } from '../../../test/contents.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import type { FencingToken, StartedTask, TaskState } from '../../index.ts';

const FIRST = '#!/bin/sh\necho first-secret > /etc/motd\n';
const SECOND = '#cloud-config\nwrite_files: [{ path: /etc/motd, content: second-secret }]\n';

/** A hypervisor that reinstalls VMs in a task. */
class TaskHypervisor extends TestHypervisor {
  state: TaskState = { status: 'running', percentage: null };
  override async reinstall(installation: Installation, token: FencingToken): Promise<StartedTask> {
    await super.reinstall(installation, token);
    return { task: 'reinstall' };
  }
  async task(): Promise<TaskState> {
    return this.state;
  }
}

async function buy(options: Parameters<typeof startService>[0], user_data?: string) {
  const service = await startService(options);
  const form = { ...SMALL_VM, ...(user_data !== undefined && { user_data }) };
  const vmId: number = (await service.call('createVm', { form })).body.data.identifier;
  const path = { vmid: String(vmId) };
  return {
    service,
    path,
    given: () => service.hypervisor.vms.get(vmId)?.userData,
    hash: async () => (await service.call('getVmConfig', { path })).body.data.config.user_data_sha256,
    reinstall: (more: object = {}) => service.call('reinstallVm', { path, form: { ...more } }),
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe.each(engines)('on %s', (engine) => {
  test('goes to the hypervisor at the purchase and at each reinstallation, until another one takes its place', async () => {
    const { given, hash, reinstall } = await buy({ engine }, FIRST);
    expect([given(), await hash()]).toEqual([FIRST, hashOf(FIRST)]);
    await reinstall({ os: 'debian_13' });
    expect([given(), await hash()]).toEqual([FIRST, hashOf(FIRST)]);
    await reinstall({ user_data: SECOND });
    await reinstall();
    expect([given(), await hash()]).toEqual([SECOND, hashOf(SECOND)]);
  });

  test('is that of before if the reinstallation fails', async () => {
    const { service, given, hash, reinstall } = await buy({ engine }, FIRST);
    service.hypervisor.failing = new Error('no route to the node');
    expect((await reinstall({ user_data: SECOND })).status).toBe(500);
    service.hypervisor.failing = undefined;
    await service.runScheduledJobs();
    expect(await hash()).toBe(hashOf(FIRST));
    expect((await reinstall()).status).toBe(200);
    expect([given(), await hash()]).toEqual([FIRST, hashOf(FIRST)]);
  });

  test.each<{ end: TaskState; kept: string }>([
    { end: { status: 'succeeded' }, kept: SECOND },
    { end: { status: 'failed', reason: 'The disk is full.' }, kept: FIRST },
  ])('becomes that of the VM when the task of the reinstallation is $end.status', async ({ end, kept }) => {
    const hypervisor = new TaskHypervisor();
    const { service, hash, reinstall } = await buy({ engine, hypervisor }, FIRST);
    expect((await reinstall({ user_data: SECOND })).status).toBe(200);
    expect(await hash()).toBe(hashOf(FIRST));
    hypervisor.state = end;
    service.clock.advance(60_000);
    await service.runScheduledJobs();
    expect(await hash()).toBe(hashOf(kept));
  });

  test('is nowhere in plain text, and gone with the VM', async () => {
    const { service, path, reinstall } = await buy({ engine }, FIRST);
    await reinstall({ user_data: SECOND });
    expect(await tablesWith(service.store, 'first-secret')).toEqual([]);
    expect(await tablesWith(service.store, 'second-secret')).toEqual([]);
    const { data } = (await service.call('listRequests')).body;
    expect(data.map(({ request_body }: { request_body: string }) => request_body).join()).toContain('"user_data":"***"');
    await service.call('deleteVm', { path });
    expect(await service.store.read((db) => db.selectFrom('vm_user_data').selectAll().execute())).toEqual([]);
  });
});

test('none is null, in the response and for the hypervisor', async () => {
  const { given, hash } = await buy({});
  expect([given(), await hash()]).toEqual([null, null]);
});

test.each(['echo no header', '\n#!/bin/sh', '#!/bin/sh\0'])(
  'refuses %j, which cloud-init would ignore or the seed cannot hold',
  async (user_data) => {
    const service = await startService();
    expect(await service.call('createVm', { form: { ...SMALL_VM, user_data } })).toMatchObject({
      status: 422,
      body: { data: { fields: [{ field: 'user_data', rule: 'pattern' }] } },
    });
  },
);
