/** The hypervisor fails, or the service dies, in the middle of what the provider does with a VM. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { SECRET, SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import { InfrastructureError } from '../../delivery/deliver.ts';
import { createService, openSqliteStore } from '../../index.ts';
import type { FencingToken, Service, Store, VmSize } from '../../index.ts';

type Does = 'start' | 'stop' | 'resize' | 'remove';
const all: readonly Does[] = ['start', 'stop', 'resize', 'remove'];

/** Calls that fail or hang, as a test says, before or after they have done their work. */
class TroubledHypervisor extends TestHypervisor {
  trouble: readonly ('fails before' | 'fails after' | 'hangs before' | 'hangs after' | 'none')[] = [];
  hanging = 0;
  async #troubled(work: () => Promise<void>): Promise<void> {
    const [trouble = 'none', ...later] = this.trouble;
    this.trouble = later;
    if (trouble.endsWith('after')) await work();
    if (trouble.startsWith('fails')) throw new Error('no route to the node');
    if (trouble.startsWith('hangs')) {
      this.hanging++;
      await new Promise(() => {});
    }
    await work();
  }
  override start(vmId: number, token: FencingToken): Promise<void> {
    return this.#troubled(() => super.start(vmId, token));
  }
  override stop(vmId: number, token: FencingToken): Promise<void> {
    return this.#troubled(() => super.stop(vmId, token));
  }
  override resize(size: VmSize, token: FencingToken): Promise<void> {
    return this.#troubled(() => super.resize(size, token));
  }
  override remove(vmId: number, token: FencingToken): Promise<void> {
    return this.#troubled(() => super.remove(vmId, token));
  }
}

/** A VM that can be started, or stopped and the like. */
async function vmFor(does: Does): Promise<{ service: TestService; hypervisor: TroubledHypervisor; vmId: number }> {
  const hypervisor = new TroubledHypervisor();
  const service = await startService({ hypervisor });
  const { body } = await service.call('createVm', { form: SMALL_VM });
  const vmId: number = body.data.identifier;
  service.clock.advance(60_000);
  if (does === 'start') await service.vms.stop(vmId);
  return { service, hypervisor, vmId };
}

function act({ vms }: TestService, does: Does, vmId: number): Promise<unknown> {
  return does === 'resize' ? vms.resize(vmId, { resources: { cores: 4, disk: 60, ips: 2 } }) : vms[does](vmId);
}

/** Everything that billing, room and addresses are in the store. */
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

/** The state that an act leads to where nothing is in its way. */
async function undisturbed(does: Does) {
  const { service, hypervisor, vmId } = await vmFor(does);
  const before = onHypervisor(hypervisor, vmId);
  await act(service, does, vmId);
  return { before, after: onHypervisor(hypervisor, vmId), ...(await shapeOf(service.store)) };
}

/** The same without what differs from run to run. */
async function shapeOf(store: Store) {
  const { vms, positions, taken, reservations } = await stateOf(store);
  return {
    vms: vms.map(({ state, cores, disk, ips, monthly_price, changing }) => ({ state, cores, disk, ips, monthly_price, changing })),
    positions: positions.map(({ type, start, stop, hold }) => ({ type, start, stop, hold })),
    taken: taken.map(({ address }) => address),
    reservations: reservations.length,
  };
}

describe.each(['fails before', 'fails after'] as const)('the hypervisor %s it does its work', (trouble) => {
  test.each(['start', 'resize'] as const)('%s: nothing is billed, and all is as before on both sides', async (does) => {
    const { service, hypervisor, vmId } = await vmFor(does);
    const before = await stateOf(service.store);
    const outside = onHypervisor(hypervisor, vmId);
    hypervisor.trouble = [trouble];
    await expect(act(service, does, vmId)).rejects.toThrow(InfrastructureError);
    expect(await stateOf(service.store)).toEqual(before);
    expect(onHypervisor(hypervisor, vmId)).toEqual(outside);
    await expectInvariants(service.store);
    await act(service, does, vmId);
    expect(await shapeOf(service.store)).toEqual(await undisturbed(does).then(({ before: _before, after: _after, ...shape }) => shape));
  });

  test.each(['stop', 'remove'] as const)('%s: it is told again at once, and all is as it should be', async (does) => {
    const { service, hypervisor, vmId } = await vmFor(does);
    hypervisor.trouble = [trouble];
    await act(service, does, vmId);
    const { before: _before, after, ...shape } = await undisturbed(does);
    expect(await shapeOf(service.store)).toEqual(shape);
    expect(onHypervisor(hypervisor, vmId)).toEqual(after);
  });

  test.each(all)('%s, and once more: other changes wait until it is settled with the work that is due', async (does) => {
    const { service, hypervisor, vmId } = await vmFor(does);
    const { before, after, ...shape } = await undisturbed(does);
    const stateBefore = await shapeOf(service.store);
    hypervisor.trouble = [trouble, 'fails before'];
    await expect(act(service, does, vmId)).rejects.toThrow(InfrastructureError);
    if (does !== 'remove') {
      await expect(service.vms.remove(vmId)).rejects.toMatchObject({ status: 409, message: expect.stringContaining('in progress') });
      const reinstalled = await service.call('reinstallVm', { path: { vmid: String(vmId) } });
      expect(reinstalled.status).toBe(409);
    }
    await service.runScheduledJobs();
    const isUndone = does === 'start' || does === 'resize';
    expect(await shapeOf(service.store)).toEqual(isUndone ? stateBefore : shape);
    expect(onHypervisor(hypervisor, vmId)).toEqual(isUndone ? before : after);
    await expectInvariants(service.store);
  });
});

describe.each(['hangs before', 'hangs after'] as const)('the service dies while the hypervisor %s it has done its work', (trouble) => {
  test.each(all)('%s: the next start undoes or finishes it', async (does) => {
    const { service, hypervisor, vmId } = await vmFor(does);
    const { before, after, ...shape } = await undisturbed(does);
    const stateBefore = await shapeOf(service.store);
    hypervisor.trouble = [trouble];
    // The call times out long after the test.
    act(service, does, vmId).catch(() => {});
    await vi.waitUntil(() => hypervisor.hanging === 1, { timeout: 60_000 });

    const { store } = await startAgain(service);
    const isUndone = does === 'start' || does === 'resize';
    expect(await shapeOf(store)).toEqual(isUndone ? stateBefore : shape);
    expect(onHypervisor(hypervisor, vmId)).toEqual(isUndone ? before : after);
    await expectInvariants(store);
  });
});

/** The next process starts with the files that a killed process would leave on the disk. */
async function startAgain({ directory, ports }: TestService): Promise<{ store: Store; next: Service }> {
  const left = mkdtempSync(join(tmpdir(), 'left-'));
  onTestFinished(() => rmSync(left, { recursive: true, force: true }));
  cpSync(directory, left, { recursive: true });
  const store = await openSqliteStore(left);
  const next = await createService({ store, ports, secret: SECRET, logger: pino({ level: 'silent' }) });
  onTestFinished(async () => {
    await next.close();
    await store.close();
  });
  return { store, next };
}

test('a month ends while the hypervisor starts a VM: billing begins in the new one, and the old holds nothing of it', async () => {
  const { service, hypervisor, vmId } = await vmFor('start');
  const go = Promise.withResolvers<void>();
  const start = hypervisor.start.bind(hypervisor);
  vi.spyOn(hypervisor, 'start').mockImplementation(async (id, token) => {
    await go.promise;
    await start(id, token);
  });
  const started = service.vms.start(vmId);
  await vi.waitUntil(async () => (await stateOf(service.store)).reservations.length === 1, { timeout: 60_000 });
  service.clock.advanceTo('2026-12-01T00:00:10Z');
  await service.runScheduledJobs();
  go.resolve();
  await started;
  const { positions } = await stateOf(service.store);
  expect(positions.map(({ type, start: from, stop }) => [type, from, stop])).toEqual([
    ['CREATE', Date.UTC(2026, 10, 10, 12) / 1000, Date.UTC(2026, 10, 10, 12, 1) / 1000],
    ['BILLINGRESTART', Date.UTC(2026, 11, 1, 0, 0, 10) / 1000, null],
  ]);
  await expectInvariants(service.store);
});

test('the operator is told with 503 what became of it, and the same call again settles it', async () => {
  const hypervisor = new TroubledHypervisor();
  const service = await startOperator({ hypervisor });
  const vmId = (await service.call('createVm', { form: SMALL_VM })).body.data.identifier;
  const ask = (path: string, method: string, body?: object) =>
    service.operate(`/vms/${vmId}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
  hypervisor.trouble = ['fails before', 'fails before'];
  const stopped = await ask('/stop', 'POST');
  expect(stopped).toMatchObject({ status: 503, body: { detail: expect.stringContaining('no longer billed') } });
  expect(stopped.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(await ask('/stop', 'POST')).toMatchObject({ status: 409, body: { detail: expect.stringContaining('retries until') } });
  await service.runScheduledJobs();
  expect(await ask('/stop', 'POST')).toMatchObject({ status: 200, body: { state: 'stopped' } });
  expect(hypervisor.stopped.has(vmId)).toBe(true);
  hypervisor.trouble = ['fails after'];
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
  hypervisor.trouble = ['fails before', 'fails before'];
  expect((await ask('', 'DELETE')).status).toBe(503);
  expect((await ask('', 'DELETE')).status).toBe(409);
  await service.runScheduledJobs();
  expect(await ask('', 'DELETE')).toMatchObject({ status: 200, body: { state: 'removed', ipv4: [] } });
});

test('two reinstallations of a VM at once: the second is refused', async () => {
  const hypervisor = new TestHypervisor();
  const service = await startService({ hypervisor });
  const vmid = String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  const reinstall = () => service.call('reinstallVm', { path: { vmid } });
  const go = Promise.withResolvers<void>();
  const reached = vi.spyOn(hypervisor, 'reinstall').mockImplementation(() => go.promise);
  const first = reinstall();
  await vi.waitUntil(() => reached.mock.calls.length === 1, { timeout: 60_000 });
  expect((await reinstall()).status).toBe(409);
  await expect(service.vms.stop(Number(vmid))).rejects.toMatchObject({ status: 409 });
  go.resolve();
  expect((await first).status).toBe(200);
  expect((await reinstall()).status).toBe(200);
});

test('addresses that a resize would have brought are given back, and none that the VM had before', async () => {
  const hypervisor = new TroubledHypervisor();
  const service = await startService({ hypervisor });
  const bought = async (): Promise<number> => (await service.call('createVm', { form: SMALL_VM })).body.data.identifier;
  const [first, second] = [await bought(), await bought()];
  const ipv4Of = async () => (await stateOf(service.store)).taken.filter(({ vm_id: id }) => id === second);
  // An address before those of the second one becomes free.
  await service.vms.remove(first);
  const before = await ipv4Of();
  hypervisor.trouble = ['fails after'];
  await expect(service.vms.resize(second, { resources: { ips: 2 } })).rejects.toThrow(InfrastructureError);
  expect(await ipv4Of()).toEqual(before);
});
