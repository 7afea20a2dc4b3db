/** Infrastructure that starts a change and carries it out after the response: clients see how far it is, and the service waits for its end. */
import { describe, expect, test } from 'vitest';

import { handleOf } from './domains.ts';
import { engines } from './engines.ts';
import { SMALL_VM, startService } from './harness.ts';
import type { TestService } from './harness.ts';
import { expectInvariants } from './invariants.ts';
import { StartingHypervisor } from './ports/starting-hypervisor.ts';

const SECOND = 1_000;
const DOMAIN = 'reseller-customer.net';

async function dataOf(service: TestService, operation: 'getVmStatus' | 'getVmInstallation', vmid: number, apiKey = service.apiKey) {
  const { status, body } = await service.call(operation, { path: { vmid: String(vmid) }, apiKey });
  return status === 200 ? body.data : status;
}

/** Lets time pass and the service work. */
async function pass(service: TestService, milliseconds: number): Promise<void> {
  service.clock.advance(milliseconds);
  await service.runScheduledJobs();
  await expectInvariants(service.store);
}

const currentInvoice = async ({ call }: TestService) => (await call('getCurrentInvoice')).body.data;

describe.each(engines)('on %s', (engine) => {
  test('an installation that takes time can be watched, and is billed from its end', async () => {
    const service = await startService({ engine, delays: { install: 20 * SECOND } });
    const limit = (await currentInvoice(service)).creditLimitRemaining;
    const purchase = { form: SMALL_VM, idempotencyKey: 'one-purchase' };
    const { status, body } = await service.call('createVm', purchase);
    expect([status, body.message]).toEqual([200, 'The VM is being installed. GET /vm/{vmid}/status/installation shows its progress.']);
    const { identifier, config } = body.data;
    expect(config.password).not.toBe('');
    expect(await dataOf(service, 'getVmStatus', identifier)).toEqual({ status: 'stopped', uptime: 0, task: 'BOOTING', usage: null });
    expect(await dataOf(service, 'getVmInstallation', identifier)).toEqual({ status: 'pending', progress: { percentage: 0 } });
    expect((await service.call('listVms')).body.data.total_vms).toBe(1);
    expect((await service.call('createVm', purchase)).body).toEqual(body);

    await pass(service, 15 * SECOND);
    expect(await dataOf(service, 'getVmInstallation', identifier)).toEqual({ status: 'pending', progress: { percentage: 75 } });
    const during = await currentInvoice(service);
    expect([during.positions.vms, during.creditLimitRemaining < limit]).toEqual([{}, true]);

    await pass(service, 5 * SECOND);
    expect(await dataOf(service, 'getVmInstallation', identifier)).toEqual({ status: 'finished', progress: null });
    service.clock.advance(3 * SECOND);
    expect(await dataOf(service, 'getVmStatus', identifier)).toEqual({ status: 'running', uptime: 3, task: null, usage: null });
    const [position] = (await currentInvoice(service)).positions.vms[identifier];
    expect(position).toMatchObject({ type: 'CREATE', totalRuntime: 3 });
  });

  test('a reinstallation, a start and a resize that take time show their task, and no other change can begin', async () => {
    const service = await startService({
      engine,
      delays: { install: 10 * SECOND, start: 4 * SECOND, stop: 2 * SECOND, resize: 6 * SECOND, remove: 8 * SECOND },
    });
    const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
    const path = { vmid: String(identifier) };
    expect((await service.call('reinstallVm', { path })).status).toBe(409);
    expect((await service.call('deleteVm', { path })).status).toBe(409);
    await pass(service, 10 * SECOND);

    const reinstalled = await service.call('reinstallVm', { path, form: { os: 'ubuntu_24_04' } });
    expect([reinstalled.status, reinstalled.body.message]).toEqual([200, expect.stringContaining('has started')]);
    expect(await dataOf(service, 'getVmStatus', identifier)).toMatchObject({ status: 'running', task: 'REINSTALL' });
    expect(await dataOf(service, 'getVmInstallation', identifier)).toMatchObject({ status: 'pending' });
    expect((await service.call('changeVm', { path, form: { cores: 4 } })).status).toBe(409);
    await pass(service, 10 * SECOND);
    expect((await service.call('getVmConfig', { path })).body.data.config.os.name).toBe('ubuntu_24_04');

    expect((await service.call('changeVm', { path, form: { cores: 4 } })).body.data.newConfig.cores).toBe(4);
    expect((await service.call('getVmConfig', { path })).body.data.config.cores).toBe(2);
    await pass(service, 6 * SECOND);
    expect((await service.call('getVmConfig', { path })).body.data.config.cores).toBe(4);

    expect((await service.call('setVmPower', { path, form: { mode: 'stop' } })).body.message).toContain('is stopping');
    await pass(service, 2 * SECOND);
    await service.call('setVmPower', { path, form: { mode: 'start' } });
    expect(await dataOf(service, 'getVmStatus', identifier)).toEqual({ status: 'stopped', uptime: 0, task: 'BOOTING', usage: null });
    await pass(service, 4 * SECOND);
    expect(await dataOf(service, 'getVmStatus', identifier)).toEqual({ status: 'running', uptime: 0, task: null, usage: null });

    expect((await service.call('deleteVm', { path })).status).toBe(200);
    expect(await dataOf(service, 'getVmStatus', identifier)).toBe(404);
    await pass(service, 8 * SECOND);
    expect(await service.store.read((db) => db.selectFrom('reservations').select('id').execute())).toEqual([]);
  });

  test('a domain is PENDING until the registry has registered it, and is charged then', async () => {
    const service = await startService({ engine, delays: { domain: 30 * SECOND } });
    const handle = await handleOf(service);
    const path = { domain: DOMAIN };
    const statusNow = async () => (await service.call('getDomain', { path })).body.data.domain.status;
    const { status, body } = await service.call('registerDomain', { form: { domain: DOMAIN, handle } });
    expect([status, body.data.domain.status]).toEqual([200, 'PENDING']);
    expect((await service.call('setDomainNameservers', { path, form: { ns1: 'default', ns2: 'default' } })).status).toBe(409);
    expect((await service.call('deleteDomain', { path })).status).toBe(409);
    await pass(service, 29 * SECOND);
    expect([await statusNow(), (await currentInvoice(service)).currentInvoiceTotal]).toEqual(['PENDING', 0]);
    await pass(service, SECOND);
    expect([await statusNow(), (await currentInvoice(service)).currentInvoiceTotal > 0]).toEqual(['LOCK', true]);
    const charges = await service.store.read((db) => db.selectFrom('charges').select(['subject', 'type']).execute());
    expect(charges).toEqual([{ subject: DOMAIN, type: 'CREATE' }]);
    const transfer = await service.call('registerDomain', { form: { domain: 'moved-here.net', handle, authcode: 'example-authcode-1' } });
    expect(transfer.body.data.domain.status).toBe('PENDING');
    await pass(service, 30 * SECOND);
    expect((await currentInvoice(service)).positions.domains['moved-here.net']).toMatchObject([{ type: 'TRANSFER' }]);
  });

  test('a refused registration is refused at once', async () => {
    const service = await startService({ engine, delays: { domain: 30 * SECOND } });
    const handle = await handleOf(service);
    expect((await service.call('registerDomain', { form: { domain: 'taken-name.net', handle } })).status).toBe(409);
    const form = { domain: DOMAIN, handle, authcode: 'wrong' };
    expect((await service.call('registerDomain', { form })).status).toBe(422);
    await expectInvariants(service.store);
  });

  async function startInstallation() {
    const hypervisor = new StartingHypervisor();
    const service = await startService({ engine, hypervisor });
    const before = (await currentInvoice(service)).creditLimitRemaining;
    const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
    return { service, hypervisor, before, identifier, task: `create/${identifier}` };
  }

  test('an installation that fails at its end is undone, and costs nothing', async () => {
    const { service, hypervisor, before, identifier, task } = await startInstallation();
    hypervisor.removesInTasks = true;
    await pass(service, 60 * SECOND);
    hypervisor.tasks.set(task, { status: 'failed', reason: 'The disk is full.' });
    await pass(service, SECOND);
    // The removal is a task, too. Until it ends, nothing is free.
    expect(await dataOf(service, 'getVmInstallation', identifier)).toMatchObject({ status: 'pending' });
    hypervisor.tasks.delete(task);
    await pass(service, SECOND);
    hypervisor.tasks.set(`remove/${identifier}`, { status: 'succeeded' });
    await pass(service, SECOND);
    expect(await dataOf(service, 'getVmStatus', identifier)).toBe(404);
    const after = await currentInvoice(service);
    expect([after.creditLimitRemaining, after.currentInvoiceTotal, hypervisor.vms.size]).toEqual([before, 0, 0]);
  });

  test('an installation goes on while its state is unknown, and after the process has ended', async () => {
    const { service, hypervisor, identifier, task } = await startInstallation();
    hypervisor.failingToSay = new Error('The hypervisor does not answer.');
    await pass(service, 3_600 * SECOND);
    expect(await dataOf(service, 'getVmInstallation', identifier)).toMatchObject({ status: 'pending' });
    const { apiKey, directory } = service;
    await service.end();

    const next = await startService({ engine, place: directory, hypervisor });
    next.clock.advance(7_200 * SECOND);
    await next.runScheduledJobs();
    expect(await dataOf(next, 'getVmStatus', identifier, apiKey)).toMatchObject({ task: 'BOOTING', usage: null });
    hypervisor.failingToSay = undefined;
    hypervisor.tasks.set(task, { status: 'running', percentage: 99.9 });
    await next.runScheduledJobs();
    expect(await dataOf(next, 'getVmInstallation', identifier, apiKey)).toEqual({ status: 'pending', progress: { percentage: 99 } });
    hypervisor.tasks.set(task, { status: 'succeeded' });
    await next.runScheduledJobs();
    expect(await dataOf(next, 'getVmStatus', identifier, apiKey)).toMatchObject({ status: 'running', task: null, usage: null });
    expect(hypervisor.vms.size).toBe(1);
    await expectInvariants(next.store);
  });

  test('an installation that a month end interrupts holds its credit, and is billed in the next month', async () => {
    const { service, hypervisor, identifier, task } = await startInstallation();
    await pass(service, 45 * 86_400 * SECOND);
    expect((await currentInvoice(service)).positions.vms).toEqual({});
    hypervisor.tasks.set(task, { status: 'succeeded' });
    await pass(service, SECOND);
    expect((await currentInvoice(service)).positions.vms[identifier]).toMatchObject([{ type: 'CREATE', totalRuntime: 0 }]);
  });

  test('a call that starts a task too late is undone with a higher token', async () => {
    const hypervisor = new StartingHypervisor();
    const service = await startService({ engine, hypervisor, portTimeout: 100 });
    let end = () => {};
    const create = hypervisor.create.bind(hypervisor);
    hypervisor.create = async (order, token) => {
      await new Promise<void>((resolve) => (end = resolve));
      return create(order, token);
    };
    expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(503);
    end();
    await service.runScheduledJobs();
    expect([hypervisor.vms.size, hypervisor.tasks.size]).toEqual([0, 0]);
    await expectInvariants(service.store);
  });
});
