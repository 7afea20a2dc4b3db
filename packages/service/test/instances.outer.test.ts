/** Several instances on one PostgreSQL database. One of them leaves interrupted deliveries. */
import { expect, test } from 'vitest';

import { openPostgresStore } from '../src/store/postgres/open.ts';
import { PERSON, PHONE } from './domains.ts';
import { SMALL_VM } from './harness.ts';
import { newInstances, until } from './instances.ts';
import type { TestInstance } from './instances.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { TestRegistrar } from './ports/registrar.ts';

/** A hypervisor whose creations wait for the test, and whose removals can be made to fail. */
class HangingHypervisor extends TestHypervisor {
  readonly #released = Promise.withResolvers<void>();
  hangs = true;
  cannotRemove = false;
  removals = 0;
  override async create(...call: Parameters<TestHypervisor['create']>): Promise<void> {
    await super.create(...call);
    if (this.hangs) await this.#released.promise;
  }
  override async remove(...call: Parameters<TestHypervisor['remove']>): Promise<void> {
    this.removals++;
    if (this.cannotRemove) throw new Error('The hypervisor cannot be reached.');
    await super.remove(...call);
  }
  letGo(): void {
    this.hangs = false;
    this.#released.resolve();
  }
}

const left = ({ store }: TestInstance) => store.read((db) => db.selectFrom('reservations').select(['id', 'owner']).execute());
const holds = ({ store }: TestInstance) => store.read((db) => db.selectFrom('accounts').select('held').orderBy('id').execute());

/** Lets the instance that owns the reservations appear dead: its lease has ended and is not renewed. */
async function declareDead({ store }: TestInstance): Promise<void> {
  await store.commit(({ db }) =>
    db.updateTable('instances').set({ lease_until: 0 }).where('id', 'in', db.selectFrom('reservations').select('owner')).execute(),
  );
}

test('a starting instance leaves the deliveries of a live one alone, whatever the sandbox clock says', async () => {
  const hypervisor = new HangingHypervisor();
  const instances = await newInstances({ hypervisor });
  const first = await instances.start();
  const bought = first.call('createVm', { form: SMALL_VM });
  await until(() => hypervisor.vms.size === 1);
  const second = await instances.start();
  await second.operate('POST', '/sandbox/clock/advance', { by_seconds: 100_000 });
  await second.service.runScheduledJobs();
  expect(await left(second)).toHaveLength(1);
  hypervisor.letGo();
  expect((await bought).status).toBe(200);
  expect(hypervisor.vms.size).toBe(1);
  expect(await left(second)).toEqual([]);
});

test('a live instance undoes the purchase of a dead one once, and refuses its late confirmation', async () => {
  const hypervisor = new HangingHypervisor();
  const instances = await newInstances({ hypervisor });
  const dying = await instances.start({ lease: 600_000 });
  const others = [await instances.start({ lease: 2_000 }), await instances.start({ lease: 2_000 })];
  const before = await holds(dying);
  const late = dying.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' });
  await until(() => hypervisor.vms.size === 1);
  await Promise.all(others.map(({ service }) => service.runScheduledJobs()));
  expect(await left(dying)).toHaveLength(1);

  await declareDead(dying);
  await until(async () => {
    await Promise.all(others.map(({ service }) => service.runScheduledJobs()));
    return (await left(dying)).length === 0;
  });
  expect(hypervisor.vms.size).toBe(0);
  expect(hypervisor.removals).toBe(1);
  expect(await holds(dying)).toEqual(before);
  hypervisor.hangs = false;
  const again = await others[0]?.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' });
  expect(again?.status).toBe(200);

  hypervisor.letGo();
  const { status, headers } = await late;
  expect([status, headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect([...hypervisor.vms.keys()]).toEqual([again?.body.data.identifier]);
  expect(await dying.store.read((db) => db.selectFrom('vms').select('id').execute())).toEqual([{ id: again?.body.data.identifier }]);
});

test('an instance that signs off hands its unfinished deliveries to the others at once', async () => {
  const hypervisor = new HangingHypervisor();
  const instances = await newInstances({ hypervisor });
  const other = await instances.start({ lease: 600_000 });
  const store = await openPostgresStore(instances.url);
  const leaving = await instances.start({ store, lease: 600_000 });
  const late = leaving.call('createVm', { form: SMALL_VM });
  await until(() => hypervisor.vms.size === 1);
  await leaving.service.close();
  await other.service.runScheduledJobs();
  expect(await left(other)).toEqual([]);
  expect(hypervisor.vms.size).toBe(0);
  hypervisor.letGo();
  await late;
  await store.close();
});

test('an instance renews its lease while it runs', async () => {
  const instances = await newInstances();
  const instance = await instances.start({ lease: 200 });
  const lease = async () =>
    (await instance.store.read((db) => db.selectFrom('instances').select('lease_until').executeTakeFirstOrThrow())).lease_until;
  const first = await lease();
  await expect.poll(lease).toBeGreaterThan(first + 400);
});

test('an instance starts while a port is down, and undoes the unfinished delivery when the port is back', async () => {
  const hypervisor = new HangingHypervisor();
  const instances = await newInstances({ hypervisor });
  const first = await instances.start();
  const late = first.call('createVm', { form: SMALL_VM });
  await until(() => hypervisor.vms.size === 1);
  await first.service.close();
  hypervisor.cannotRemove = true;
  const second = await instances.start();
  expect((await second.call('listDomains')).status).toBe(200);
  await second.service.runScheduledJobs();
  expect(await left(second)).toHaveLength(1);
  hypervisor.cannotRemove = false;
  await second.service.runScheduledJobs();
  expect(await left(second)).toEqual([]);
  expect(hypervisor.vms.size).toBe(0);
  hypervisor.letGo();
  await late;
});

test('the same instance retries a compensation that failed', async () => {
  const hypervisor = new HangingHypervisor();
  hypervisor.hangs = false;
  const instances = await newInstances({ hypervisor });
  const instance = await instances.start();
  const before = await holds(instance);
  hypervisor.failing = new Error('The hypervisor broke.');
  hypervisor.cannotRemove = true;
  expect((await instance.call('createVm', { form: SMALL_VM })).status).toBe(503);
  expect(await left(instance)).toHaveLength(1);
  hypervisor.failing = undefined;
  hypervisor.cannotRemove = false;
  await instance.service.runScheduledJobs();
  expect(await left(instance)).toEqual([]);
  expect(await holds(instance)).toEqual(before);
});

test('a late registration leaves the domain to the account that owns it by then', async () => {
  const registrar = new TestRegistrar();
  const instances = await newInstances({ registrar });
  const [dying, other] = [await instances.start({ lease: 600_000 }), await instances.start({ lease: 200 })];
  const { body } = await other.call('createHandle', { form: { ...PERSON, phone: PHONE } });
  const register = (instance: TestInstance) =>
    instance.call('registerDomain', { form: { domain: 'wanted.net', handle: body.data.handle }, idempotencyKey: 'order-1' });
  const hanging = Promise.withResolvers<void>();
  registrar.waiting = hanging.promise;
  const late = register(dying);
  await until(() => registrar.held === 1);
  await declareDead(dying);
  await until(async () => {
    await other.service.runScheduledJobs();
    return (await left(other)).length === 0;
  });
  registrar.waiting = undefined;
  // The caller got no response and sends the request again.
  expect((await register(other)).status).toBe(200);
  hanging.resolve();
  expect((await late).status).toBe(503);
  expect([...registrar.domains.keys()]).toEqual(['wanted.net']);
  expect((await other.call('getDomain', { path: { domain: 'wanted.net' } })).status).toBe(200);
});

test.each([
  ['setDomainNameservers', { form: { ns1: 'old1.reseller-dns.example', ns2: 'old2.reseller-dns.example' } }],
  ['requestDomainAuthcode', {}],
  ['undeleteDomain', {}],
] as const)('a late %s of a dead instance does not overwrite newer changes of the domain', async (operation, sent) => {
  const registrar = new TestRegistrar();
  const instances = await newInstances({ registrar });
  const [dying, other] = [await instances.start({ lease: 600_000 }), await instances.start({ lease: 200 })];
  const path = { domain: 'wanted.net' };
  const { body } = await other.call('createHandle', { form: { ...PERSON, phone: PHONE } });
  await other.call('registerDomain', { form: { ...path, handle: body.data.handle } });
  await other.service.domains.terminate(path.domain);
  const hanging = Promise.withResolvers<void>();
  registrar.waiting = hanging.promise;
  const late = dying.call(operation, { path, ...sent });
  await until(() => registrar.held === 1);
  registrar.waiting = undefined;
  await declareDead(dying);
  await until(async () => {
    await other.service.runScheduledJobs();
    return (await left(other)).length === 0;
  });
  const form = { ns1: 'new1.reseller-dns.example', ns2: 'new2.reseller-dns.example' };
  expect((await other.call('setDomainNameservers', { path, form })).status).toBe(200);
  const { authcode } = (await other.call('requestDomainAuthcode', { path })).body.data;
  expect((await other.call('undeleteDomain', { path })).status).toBe(200);
  await other.service.domains.terminate(path.domain);
  const newest = { nameservers: Object.values(form), authcode, renewed: false };
  expect(registrar.domains.get(path.domain)).toMatchObject(newest);

  hanging.resolve();
  expect((await late).status).toBe(503);
  expect(registrar.domains.get(path.domain)).toMatchObject(newest);
});
