import { expect, test } from 'vitest';

import { SECRET, SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { START } from '../../../test/ports/clock.ts';
import { restartBilling } from './change.ts';

async function buyVm(service: TestService): Promise<number> {
  return (await service.call('createVm', { form: SMALL_VM })).body.data.identifier;
}

function restart({ store, ports, clock }: TestService, vmId: number): Promise<void> {
  return store.commit(({ db }) => restartBilling(db, { ports, secret: SECRET }, { vmId, now: clock.now() }));
}

test('refuses a change that the state of a VM does not allow, and names the states that allow it', async () => {
  const service = await startService();
  const { vms } = service;
  const vm = await buyVm(service);
  const expectRefusal = (change: Promise<unknown>, message: string) =>
    expect(change).rejects.toMatchObject({ status: 409, type: 'wrong_state', message: `The VM ${vm} is ${message}` });
  await expectRefusal(vms.start(vm), 'running. Only a stopped VM can be started.');
  await vms.stop(vm);
  await expectRefusal(vms.stop(vm), 'stopped. Only a running VM can be stopped.');
  await expectRefusal(restart(service, vm), 'stopped. Only a running VM has a position that can be restarted.');
  const path = { vmid: String(vm) };
  for (const [call, what] of [
    [service.call('setVmPower', { path, form: { mode: 'restart' } }), 'be restarted'],
    [service.call('resetVmPassword', { path }), 'get a new password'],
  ] as const)
    expect(await call).toMatchObject({ status: 409, body: { message: `The VM ${vm} is stopped. Only a running VM can ${what}.` } });
  await vms.remove(vm);
  await expectRefusal(vms.resize(vm, { resources: { cores: 3 } }), 'removed. Only a running or stopped VM can be resized.');
  await expectRefusal(vms.remove(vm), 'removed. Only a running or stopped VM can be removed.');
  await expect(vms.start(1)).rejects.toMatchObject({ status: 404, message: 'The VM 1 does not exist. Check its identifier.' });
});

test('lets an account resize and delete a VM that the provider has stopped, but not start it', async () => {
  const service = await startService();
  const vm = await buyVm(service);
  const path = { vmid: String(vm) };
  await service.vms.stop(vm);
  const start = () => service.call('setVmPower', { path, form: { mode: 'start' } });
  expect(await start()).toMatchObject({
    status: 409,
    body: { message: `The provider has stopped the VM ${vm}. Ask the provider to start it.` },
  });
  expect((await service.call('changeVm', { path, form: { cores: 3 } })).status).toBe(200);
  await service.vms.start(vm);
  expect((await service.call('setVmPower', { path, form: { mode: 'stop' } })).status).toBe(200);
  // Stopped by the account itself.
  expect((await start()).status).toBe(200);
  await service.vms.stop(vm);
  expect((await service.call('deleteVm', { path })).status).toBe(200);
});

test('restarts billing with a new position at the same price, and holds the cost of the whole period', async () => {
  const service = await startService({ creditLimit: '7.11' });
  const vm = await buyVm(service);
  const heldAmount = async () =>
    (await service.store.read((db) => db.selectFrom('accounts').select('held').where('name', '=', 'test').execute()))[0];
  const before = await heldAmount();
  service.clock.advanceTo('2026-11-20T12:00:00Z');
  await restart(service, vm);
  const positions = await service.store.read((db) =>
    db
      .selectFrom('positions')
      .select(['number', 'type', 'start', 'stop', 'monthly_price'])
      .where('vm_id', '=', vm)
      .orderBy('number')
      .execute(),
  );
  const [begun, restarted] = [Math.floor(START / 1000), Date.UTC(2026, 10, 20, 12) / 1000];
  expect(positions).toEqual([
    { number: 1, type: 'CREATE', start: begun, stop: restarted, monthly_price: 1_040_000_000 },
    { number: 2, type: 'BILLINGRESTART', start: restarted, stop: null, monthly_price: 1_040_000_000 },
  ]);
  // Each position is rounded separately.
  expect(Math.abs(((await heldAmount())?.held ?? 0) - (before?.held ?? 0))).toBeLessThanOrEqual(1);
  const vms = await service.store.read((db) => db.selectFrom('vms').select(['state', 'changing']).where('id', '=', vm).execute());
  expect(vms).toEqual([{ state: 'running', changing: 0 }]);
});
