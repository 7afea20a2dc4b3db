/** The hypervisor fails, or the service crashes, during a command of the provider for a VM. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { SECRET, SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';
import { START } from '../../../test/ports/clock.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import { InfrastructureError } from '../../delivery/deliver.ts';
import { createService, openSqliteStore } from '../../index.ts';
import type { FencingToken, Service, Store, VmSize } from '../../index.ts';

type Command = 'start' | 'stop' | 'resize' | 'remove';
const all: readonly Command[] = ['start', 'stop', 'resize', 'remove'];

/** A hypervisor whose calls fail or hang, before or after their work. */
class FaultyHypervisor extends TestHypervisor {
  faults: readonly ('fails before' | 'fails after' | 'hangs before' | 'hangs after' | 'none')[] = [];
  hanging = 0;
  async #faulty(work: () => Promise<void>): Promise<void> {
    const [fault = 'none', ...later] = this.faults;
    this.faults = later;
    if (fault.endsWith('after')) await work();
    if (fault.startsWith('fails')) throw new Error('no route to the node');
    if (fault.startsWith('hangs')) {
      this.hanging++;
      await new Promise(() => {});
    }
    await work();
  }
  override start(vmId: number, token: FencingToken): Promise<void> {
    return this.#faulty(async () => void (await super.start(vmId, token)));
  }
  override stop(vmId: number, token: FencingToken): Promise<void> {
    return this.#faulty(() => super.stop(vmId, token));
  }
  override resize(size: VmSize, token: FencingToken): Promise<void> {
    return this.#faulty(() => super.resize(size, token));
  }
  override remove(vmId: number, token: FencingToken): Promise<void> {
    return this.#faulty(async () => void (await super.remove(vmId, token)));
  }
}

/** A VM in a state that allows the command. */
async function vmReadyFor(command: Command): Promise<{ service: TestService; hypervisor: FaultyHypervisor; vmId: number }> {
  const hypervisor = new FaultyHypervisor();
  const service = await startService({ hypervisor });
  const { body } = await service.call('createVm', { form: SMALL_VM });
  const vmId: number = body.data.identifier;
  service.clock.advance(60_000);
  if (command === 'start') await service.vms.stop(vmId);
  return { service, hypervisor, vmId };
}

function runCommand({ vms }: TestService, command: Command, vmId: number): Promise<unknown> {
  return command === 'resize' ? vms.resize(vmId, { resources: { cores: 4, disk: 60, ips: 2 } }) : vms[command](vmId);
}

/** The billing, the capacity and the addresses in the store. */
const stateOf = (store: Store) =>
  store.read(async (db) => ({
    vms: await db.selectFrom('vms').selectAll().execute(),
    positions: await db.selectFrom('positions').selectAll().orderBy('vm_id').orderBy('number').execute(),
    accounts: await db.selectFrom('accounts').select(['id', 'held']).orderBy('id').execute(),
    nodes: await db.selectFrom('host_nodes').selectAll().orderBy('name').execute(),
    taken: await db.selectFrom('ip_addresses').selectAll().where('vm_id', 'is not', null).orderBy('address').execute(),
    reservations: await db.selectFrom('reservations').selectAll().execute(),
  }));

/** The state of a VM in the hypervisor. */
function onHypervisor({ vms, stopped }: TestHypervisor, vmId: number) {
  const { cores, disk, ipv4 } = vms.get(vmId) ?? {};
  return { there: vms.has(vmId), runs: vms.has(vmId) && !stopped.has(vmId), cores, disk, ipv4 };
}

/** The state after a command without a fault. */
async function withoutFault(command: Command) {
  const { service, hypervisor, vmId } = await vmReadyFor(command);
  const before = onHypervisor(hypervisor, vmId);
  await runCommand(service, command, vmId);
  return { before, after: onHypervisor(hypervisor, vmId), ...(await shapeOf(service.store)) };
}

/** The same state without the values that differ between runs. */
async function shapeOf(store: Store) {
  const { vms, positions, taken, reservations } = await stateOf(store);
  return {
    vms: vms.map(({ state, cores, disk, ips, monthly_price, changing }) => ({ state, cores, disk, ips, monthly_price, changing })),
    positions: positions.map(({ type, start, stop, hold }) => ({ type, start, stop, hold })),
    taken: taken.map(({ address }) => address),
    reservations: reservations.length,
  };
}

describe.each(['fails before', 'fails after'] as const)('the hypervisor %s its work', (fault) => {
  test.each(['start', 'resize'] as const)('%s: bills nothing, and leaves the store and the hypervisor unchanged', async (command) => {
    const { service, hypervisor, vmId } = await vmReadyFor(command);
    const before = await stateOf(service.store);
    const outside = onHypervisor(hypervisor, vmId);
    hypervisor.faults = [fault];
    await expect(runCommand(service, command, vmId)).rejects.toThrow(InfrastructureError);
    expect(await stateOf(service.store)).toEqual(before);
    expect(onHypervisor(hypervisor, vmId)).toEqual(outside);
    await expectInvariants(service.store);
    await runCommand(service, command, vmId);
    expect(await shapeOf(service.store)).toEqual(await withoutFault(command).then(({ before: _before, after: _after, ...shape }) => shape));
  });

  test.each(['stop', 'remove'] as const)('%s: repeats the call at once and completes the command', async (command) => {
    const { service, hypervisor, vmId } = await vmReadyFor(command);
    hypervisor.faults = [fault];
    await runCommand(service, command, vmId);
    const { before: _before, after, ...shape } = await withoutFault(command);
    expect(await shapeOf(service.store)).toEqual(shape);
    expect(onHypervisor(hypervisor, vmId)).toEqual(after);
  });

  test.each(all)('%s, twice: refuses other changes until a scheduled job settles the command', async (command) => {
    const { service, hypervisor, vmId } = await vmReadyFor(command);
    const { before, after, ...shape } = await withoutFault(command);
    const stateBefore = await shapeOf(service.store);
    hypervisor.faults = [fault, 'fails before'];
    await expect(runCommand(service, command, vmId)).rejects.toThrow(InfrastructureError);
    if (command !== 'remove') {
      await expect(service.vms.remove(vmId)).rejects.toMatchObject({ status: 409, message: expect.stringContaining('in progress') });
      const reinstalled = await service.call('reinstallVm', { path: { vmid: String(vmId) } });
      expect(reinstalled.status).toBe(409);
    }
    await service.runScheduledJobs();
    const isUndone = command === 'start' || command === 'resize';
    expect(await shapeOf(service.store)).toEqual(isUndone ? stateBefore : shape);
    expect(onHypervisor(hypervisor, vmId)).toEqual(isUndone ? before : after);
    await expectInvariants(service.store);
  });
});

describe.each(['hangs before', 'hangs after'] as const)('the service crashes while the hypervisor %s its work', (fault) => {
  test.each(all)('%s: undoes or completes the command at the next start', async (command) => {
    const { service, hypervisor, vmId } = await vmReadyFor(command);
    const { before, after, ...shape } = await withoutFault(command);
    const stateBefore = await shapeOf(service.store);
    hypervisor.faults = [fault];
    // The call times out long after the test.
    runCommand(service, command, vmId).catch(() => {});
    await expect.poll(() => hypervisor.hanging).toBe(1);

    const { store } = await startAgain(service);
    const isUndone = command === 'start' || command === 'resize';
    expect(await shapeOf(store)).toEqual(isUndone ? stateBefore : shape);
    expect(onHypervisor(hypervisor, vmId)).toEqual(isUndone ? before : after);
    await expectInvariants(store);
  });
});

/** Starts a service on a copy of the files, as after a killed process. */
async function startAgain({ directory, ports }: TestService): Promise<{ store: Store; next: Service }> {
  const left = mkdtempSync(join(tmpdir(), 'left-'));
  onTestFinished(() => rmSync(left, { recursive: true, force: true }));
  cpSync(directory, left, { recursive: true });
  const store = await openSqliteStore(left);
  const next = await createService({ store, ports, secret: SECRET, logger: pino({ level: 'silent' }) });
  await next.settled();
  onTestFinished(async () => {
    await next.close();
    await store.close();
  });
  return { store, next };
}

test('begins billing in the new month if the month ends while the hypervisor starts a VM, and holds nothing in the old one', async () => {
  const { service, hypervisor, vmId } = await vmReadyFor('start');
  const go = Promise.withResolvers<void>();
  const start = hypervisor.start.bind(hypervisor);
  vi.spyOn(hypervisor, 'start').mockImplementation(async (id, token) => {
    await go.promise;
    await start(id, token);
  });
  const started = service.vms.start(vmId);
  await expect.poll(async () => (await stateOf(service.store)).reservations.length).toBe(1);
  service.clock.advanceTo('2026-12-01T00:00:10Z');
  await service.runScheduledJobs();
  go.resolve();
  await started;
  const { positions } = await stateOf(service.store);
  const begun = Math.floor(START / 1000);
  expect(positions.map(({ type, start: from, stop }) => [type, from, stop])).toEqual([
    ['CREATE', begun, begun + 60],
    ['BILLINGRESTART', Date.UTC(2026, 11, 1, 0, 0, 10) / 1000, null],
  ]);
  await expectInvariants(service.store);
});

test('responds with 503 that describes the state of the command, and settles it when the call is repeated', async () => {
  const hypervisor = new FaultyHypervisor();
  const service = await startOperator({ hypervisor });
  const vmId = (await service.call('createVm', { form: SMALL_VM })).body.data.identifier;
  const ask = (path: string, method: string, body?: object) =>
    service.operate(`/vms/${vmId}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
  hypervisor.faults = ['fails before', 'fails before'];
  const stopped = await ask('/stop', 'POST');
  expect(stopped).toMatchObject({ status: 503, body: { detail: expect.stringContaining('no longer billed') } });
  expect(stopped.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(await ask('/stop', 'POST')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('retries until') } });
  await service.runScheduledJobs();
  expect(await ask('/stop', 'POST')).toMatchObject({ status: 200, body: { state: 'stopped' } });
  expect(hypervisor.stopped.has(vmId)).toBe(true);
  hypervisor.faults = ['fails after'];
  expect(await ask('/start', 'POST')).toMatchObject({
    status: 503,
    body: { detail: expect.stringContaining('nothing of the change is billed') },
  });
  expect(hypervisor.stopped.has(vmId)).toBe(true);
  expect(await ask('/start', 'POST')).toMatchObject({ status: 200, body: { state: 'running' } });
  expect(await ask('/resize', 'POST', { ips: 3, network_speed: 2000 })).toMatchObject({ status: 200, body: { ips: 3 } });
  expect(hypervisor.vms.get(vmId)).toMatchObject({
    networkSpeed: 2000,
    ipv4: [expect.any(String), expect.any(String), expect.any(String)],
  });
  hypervisor.faults = ['fails before', 'fails before'];
  expect((await ask('', 'DELETE')).status).toBe(503);
  expect((await ask('', 'DELETE')).status).toBe(409);
  await service.runScheduledJobs();
  expect(await ask('', 'DELETE')).toMatchObject({ status: 200, body: { state: 'removed', ipv4: [] } });
});

test('refuses the second of two concurrent reinstallations of a VM', async () => {
  const hypervisor = new TestHypervisor();
  const service = await startService({ hypervisor });
  const vmid = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  const reinstall = () => service.call('reinstallVm', { path: { vmid } });
  const go = Promise.withResolvers<void>();
  const reached = vi.spyOn(hypervisor, 'reinstall').mockImplementation(() => go.promise);
  const first = reinstall();
  await expect.poll(() => reached.mock.calls.length).toBe(1);
  expect((await reinstall()).status).toBe(409);
  await expect(service.vms.stop(Number(vmid))).rejects.toMatchObject({ status: 409 });
  go.resolve();
  expect((await first).status).toBe(200);
  expect((await reinstall()).status).toBe(200);
});

test('returns the addresses of a failed resize, and keeps those that the VM already had', async () => {
  const hypervisor = new FaultyHypervisor();
  const service = await startService({ hypervisor });
  const buyVm = async (): Promise<number> => (await service.call('createVm', { form: SMALL_VM })).body.data.identifier;
  const [first, second] = [await buyVm(), await buyVm()];
  const ipv4Of = async () => (await stateOf(service.store)).taken.filter(({ vm_id: id }) => id === second);
  // An address before those of the second one becomes free.
  await service.vms.remove(first);
  const before = await ipv4Of();
  hypervisor.faults = ['fails after'];
  await expect(service.vms.resize(second, { resources: { ips: 2 } })).rejects.toThrow(InfrastructureError);
  expect(await ipv4Of()).toEqual(before);
});
