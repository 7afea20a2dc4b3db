/** A port that does not respond: every call times out, and late effects of the port never leave a wrong state. */
import { describe, expect, test } from 'vitest';

import { deployedServer, EPYC, orderServer, RYZEN, XEON } from './dedicated.ts';
import { footprint, handleOf, register } from './domains.ts';
import { SMALL_VM, startService } from './harness.ts';
import type { TestService } from './harness.ts';
import type { Received } from './http-client.ts';
import { expectExactHolds, expectInvariants } from './invariants.ts';
import { TestFleet } from './ports/fleet.ts';
import { TestHypervisor } from './ports/hypervisor.ts';
import { TestRegistrar } from './ports/registrar.ts';
import { Standstill } from './ports/standstill.ts';

/** Milliseconds: shorter than the timeout of a test, and longer than a working call. */
const LIMIT = 300;
const DOMAIN = 'standing-still.net';
const path = { domain: DOMAIN };

interface Standing extends TestService {
  readonly still: Standstill;
  readonly vmId: number;
  readonly handle: string;
}

/** A service with a VM and a domain, whose ports can be brought to a standstill. */
async function startStandstill(): Promise<Standing> {
  const still = new Standstill();
  const [hypervisor, registrar, fleet] = [new TestHypervisor(), new TestRegistrar(), new TestFleet()].map((port) => still.around(port));
  if (!(hypervisor instanceof TestHypervisor && registrar instanceof TestRegistrar && fleet instanceof TestFleet))
    throw new Error('no port');
  const service = await startService({ hypervisor, registrar, fleet, portTimeout: LIMIT });
  const { body } = await service.call('createVm', { form: SMALL_VM });
  await register(service, DOMAIN);
  return { ...service, still, vmId: body.data.identifier, handle: await handleOf(service) };
}

/** The states that must agree: the store and the ports. */
const stateOf = async (service: TestService) => ({
  ...(await service.store.read(async (db) => ({
    vms: await db.selectFrom('vms').selectAll().orderBy('id').execute(),
    positions: await db.selectFrom('positions').selectAll().orderBy('vm_id').orderBy('number').execute(),
    nodes: await db.selectFrom('host_nodes').selectAll().orderBy('name').execute(),
    backups: await db.selectFrom('vm_backups').selectAll().orderBy('id').execute(),
    taken: await db.selectFrom('ip_addresses').selectAll().where('vm_id', 'is not', null).orderBy('address').execute(),
  }))),
  footprint: withoutDelegation(await footprint(service)),
  ...outsideOf(service),
});

/** Resolvers may have got nameservers that were set and undone, so that instant stays. */
const withoutDelegation = ({ domains, ...rest }: Awaited<ReturnType<typeof footprint>>) => ({
  ...rest,
  domains: domains.map((domain) => ({ ...domain, delegation_settled: 0 })),
});

const outsideOf = ({ hypervisor, registrar }: TestService) => ({
  runs: [...hypervisor.vms].map(([id, order]) => ({ id, order, runs: !hypervisor.stopped.has(id) })),
  registered: [...registrar.domains],
});

/** A change that calls a port and is undone if the call fails. */
interface Undone {
  readonly what: string;
  prepare?(service: Standing): Promise<unknown>;
  act(service: Standing): Promise<Received | unknown>;
}

const undone: readonly Undone[] = [
  { what: 'createVm', act: (service) => service.call('createVm', { form: SMALL_VM, idempotencyKey: 'order-1' }) },
  {
    what: 'registerDomain',
    act: (service) => service.call('registerDomain', { form: { domain: 'new.net', handle: service.handle } }),
  },
  {
    what: 'registerDomain, by transfer',
    act: (service) =>
      service.call('registerDomain', { form: { domain: 'new.net', handle: service.handle, authcode: 'example-authcode-1' } }),
  },
  {
    what: 'setDomainNameservers',
    act: (service) =>
      service.call('setDomainNameservers', { path, form: { ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example' } }),
  },
  { what: 'requestDomainAuthcode', act: (service) => service.call('requestDomainAuthcode', { path }) },
  {
    what: 'undeleteDomain',
    prepare: (service) => service.domains.terminate(DOMAIN),
    act: (service) => service.call('undeleteDomain', { path }),
  },
  {
    what: 'start of a VM',
    prepare: (service) => service.vms.stop(service.vmId),
    act: (service) => service.vms.start(service.vmId),
  },
  { what: 'createVmBackup', act: (service) => service.call('createVmBackup', { path: { vmid: String(service.vmId) } }) },
  { what: 'resize of a VM', act: (service) => service.vms.resize(service.vmId, { resources: { cores: 4, ips: 2 } }) },
];

/** Whether the call failed, by its HTTP status or by an exception. */
async function failureOf(acting: Promise<unknown>): Promise<unknown> {
  const outcome = await acting.catch((error: unknown) => error);
  if (outcome instanceof Error) return outcome.name;
  if (typeof outcome === 'object' && outcome !== null && 'status' in outcome) return outcome.status;
  return 'done';
}

describe.each(undone)('$what', ({ what, prepare, act }) => {
  test.each([
    ['does its work only after the timeout', 'before'],
    ['has done its work, and does not say so', 'after'],
  ] as const)('a port that %s: fails in time, and is undone even if the call completes late', async (_, holds) => {
    const service = await startStandstill();
    const { still } = service;
    await prepare?.(service);
    const [before, outside] = [await stateOf(service), outsideOf(service)];
    Object.assign(still, { holds, most: 1 });
    expect([500, 503, 'InfrastructureError']).toContain(await failureOf(act(service)));
    expect(still.held).toHaveLength(1);
    await service.runScheduledJobs();
    expect(await stateOf(service)).toEqual(before);
    await expectInvariants(service.store);

    still.release();
    await expect.poll(() => still.ended).toBe(1);
    await expect.poll(() => outsideOf(service)).toEqual(outside);
    expect(await stateOf(service)).toEqual(before);
    // The same request can be sent again.
    expect([200, 'done']).toContain(await failureOf(act(service)));
    await expectInvariants(service.store);
  });

  const tags = what === 'createVm' ? [] : ['deep'];
  test(
    'a port that never responds: the request fails in time, keeps its reservation, and is undone when the port is back',
    { tags },
    async () => {
      const service = await startStandstill();
      const { still } = service;
      await prepare?.(service);
      const before = await stateOf(service);
      still.holds = 'before';
      expect([500, 503, 'InfrastructureError']).toContain(await failureOf(act(service)));
      await service.runScheduledJobs();
      expect(still.held).toHaveLength(3);
      const left = await service.store.read((db) => db.selectFrom('reservations').select('id').execute());
      expect(left).toHaveLength(1);
      await expectExactHolds(service.store);
      still.release();
      await service.runScheduledJobs();
      await expect.poll(() => still.held.length - still.ended).toBe(0);
      await service.runScheduledJobs();
      expect(await stateOf(service)).toEqual(before);
    },
  );
});

describe.each(['stop', 'remove'] as const)('%s of a VM', (does) => {
  test.each(['before', 'after'] as const)('the service repeats a call that hangs %s its work until it succeeds', async (holds) => {
    const service = await startStandstill();
    const { still, vmId } = service;
    still.holds = holds;
    expect(await failureOf(service.vms[does](vmId))).toBe('InfrastructureError');
    await service.runScheduledJobs();
    // The VM is no longer billed, and its capacity is still reserved.
    expect((await stateOf(service)).positions).toMatchObject([{ stop: expect.any(Number) }]);
    expect((await stateOf(service)).taken).not.toEqual([]);
    still.release();
    await service.runScheduledJobs();
    await expect.poll(() => still.held.length - still.ended).toBe(0);
    expect(outsideOf(service).runs.filter(({ runs }) => runs)).toEqual([]);
    expect(service.hypervisor.vms.has(vmId)).toBe(does === 'stop');
    expect((await stateOf(service)).vms).toMatchObject([{ state: does === 'stop' ? 'stopped' : 'removed', changing: 0 }]);
    await expectInvariants(service.store);
  });
});

test('a reinstallation without a response fails in time, and the VM can be changed again', async () => {
  const service = await startStandstill();
  const { still, vmId } = service;
  Object.assign(still, { holds: 'before', most: 1 });
  expect((await service.call('reinstallVm', { path: { vmid: String(vmId) } })).status).toBe(500);
  await service.runScheduledJobs();
  expect((await service.call('reinstallVm', { path: { vmid: String(vmId) } })).status).toBe(200);
  still.release();
});

test('ports that never respond do not block scheduled jobs, and every missed call is repeated', async () => {
  const service = await startStandstill();
  const { still, vmId } = service;
  const { id } = await deployedServer(service);
  await service.runScheduledJobs();
  for (const server of [EPYC, XEON]) await orderServer(service, server, id);
  still.holds = 'before';
  // There are more calls than run concurrently. One after another, they would take minutes.
  await Promise.all(
    Array.from({ length: 24 }, async () => expect((await service.call('createVm', { form: { ...SMALL_VM, ips: 1 } })).status).toBe(503)),
  );
  service.clock.advanceTo('2026-12-15T00:00:00Z');
  await service.runScheduledJobs();
  expect(await service.store.read((db) => db.selectFrom('invoices').select('account_id').execute())).toHaveLength(2);
  expect(await service.store.read((db) => db.selectFrom('reservations').select('id').execute())).toHaveLength(26);
  still.release();
  await expect.poll(() => still.held.length - still.ended).toBe(0);
  await service.runScheduledJobs();
  expect(await service.store.read((db) => db.selectFrom('reservations').select('id').execute())).toEqual([]);
  expect([...service.hypervisor.vms.keys()]).toEqual([vmId]);
  expect([...service.fleet.servers.keys()].toSorted()).toEqual([EPYC, RYZEN, XEON].toSorted());
  await expectInvariants(service.store);
});

test('a service stops in time although a port never responds', async () => {
  const service = await startStandstill();
  const { still } = service;
  still.holds = 'before';
  const open = service.call('createVm', { form: SMALL_VM });
  await expect.poll(() => still.held.length).toBe(1);
  const working = service.runScheduledJobs();
  await service.close();
  expect((await open).status).toBe(503);
  await working;
  still.release();
});

test('a call that runs after its timeout and after newer changes has no effect', async () => {
  const service = await startStandstill();
  const { still, vmId, hypervisor, registrar } = service;
  Object.assign(still, { holds: 'before', most: 5 });
  const vmid = String(vmId);
  const older = await Promise.all([
    service.call('setDomainNameservers', { path, form: { ns1: 'old1.reseller-dns.example', ns2: 'old2.reseller-dns.example' } }),
    service.call('reinstallVm', { path: { vmid }, form: { os: 'ubuntu_24_04' } }),
  ]);
  expect(older.map(({ status }) => status)).toEqual([500, 500]);
  still.most = 0;
  await service.runScheduledJobs();
  const form = { ns1: 'new1.reseller-dns.example', ns2: 'new2.reseller-dns.example' };
  expect((await service.call('setDomainNameservers', { path, form })).status).toBe(200);
  await service.vms.stop(vmId);
  const outside = outsideOf(service);
  still.release();
  await expect.poll(() => still.held.length - still.ended).toBe(0);
  await service.runScheduledJobs();
  expect(outsideOf(service)).toEqual(outside);
  // It would erase the newer data of its owner, and run without being billed.
  expect(hypervisor.vms.get(vmId)?.os).toBe('debian_12');
  expect(registrar.domains.get(DOMAIN)?.nameservers).toEqual(Object.values(form));
  await expectInvariants(service.store);
});

test('a set-up that runs after its timeout does not set up a server that has ended', async () => {
  const service = await startStandstill();
  const { still, fleet } = service;
  const { apiKey } = await deployedServer(service, EPYC);
  Object.assign(still, { holds: 'before', most: 1 });
  await service.runScheduledJobs();
  await service.call('deleteDedicatedServer', { path: { identifier: EPYC }, apiKey });
  service.clock.advanceTo('2026-12-15T00:00:00Z');
  await service.runScheduledJobs();
  expect(fleet.retired).toEqual([EPYC]);
  still.release();
  await expect.poll(() => still.ended).toBe(1);
  expect([...fleet.servers.keys()]).toEqual([]);
});
