/** What exists on one side only is named, and becomes or stops being a VM by an operation alone. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { engines } from '../../test/engines.ts';
import { SECRET, SMALL_VM } from '../../test/harness.ts';
import { expectInvariants } from '../../test/invariants.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';
import type { TestOperator } from '../../test/operator.ts';
import { seedDemoAccount } from '../index.ts';
import { sampleIdentifiers } from '../sandbox/sample-identifiers.ts';

const MACHINE = 48_299;
const path = { vm_id: String(MACHINE) };

/** Puts a machine with the mark of the service into the hypervisor. */
function addMachine({ hypervisor }: TestOperator, changed = {}): void {
  const size = { vmId: MACHINE, node: 'nl-ryzen-01', cores: 2, mem: 4096, disk: 40, storage: null, networkSpeed: 1000, backupSlots: 2 };
  const guest = {
    os: 'debian_12',
    hostname: 'left-over',
    username: 'root',
    password: '',
    sshKey: null,
    userData: null,
    ipv4: [],
    ipv6: [],
  };
  hypervisor.vms.set(MACHINE, { ...size, ...guest, ...changed });
}

async function findings({ client }: TestOperator): Promise<string[]> {
  const { compared, findings: found } = await operator.getReconciliation({ client });
  expect(compared).toBe(true);
  return found.map(({ kind, subject, vm_id }) => `${kind} ${subject}${vm_id === null ? '' : ` (VM ${vm_id})`}`);
}

async function bodyFor({ store }: TestOperator) {
  const { id } = await store.read((db) => db.selectFrom('accounts').select('id').where('name', '=', 'test').executeTakeFirstOrThrow());
  return { account_id: id, hostsystem: 'nl_ryzen' };
}

describe.each(engines)('on %s', (engine) => {
  test('names nodes, room, images and machines that exist on one side only, and changes nothing', async () => {
    const service = await startOperator({ engine });
    const { store, hypervisor } = service;
    const buy = async () => (await service.call('createVm', { form: SMALL_VM })).body.data.identifier;
    const [kept, lost, other] = [await buy(), await buy(), await buy()];
    expect(await findings(service)).toEqual([]);

    hypervisor.nodes = [
      { name: 'nl-ryzen-01', cores: 4, mem: 1_000_000, disk: 100_000, storage: 0 },
      { name: 'new-node', cores: 64, mem: 1_000_000, disk: 100_000, storage: 0 },
    ];
    hypervisor.images = ['debian_12', 'our_own'];
    hypervisor.vms.delete(lost);
    hypervisor.stopped.add(other);
    addMachine(service);
    hypervisor.foreign.push('vm-of-the-team');
    const before = await store.read((db) => db.selectFrom('vms').selectAll().orderBy('id').execute());
    const found = await findings(service);
    expect(found.filter((one) => !/^(?:node|image)_missing/.test(one)).toSorted()).toEqual(
      [
        'node_smaller nl-ryzen-01',
        'node_unknown new-node',
        'image_unknown our_own',
        `vm_missing vm-${lost} (VM ${lost})`,
        `vm_differs vm-${other} (VM ${other})`,
        `vm_unknown vm-${MACHINE} (VM ${MACHINE})`,
        'vm_foreign vm-of-the-team',
      ].toSorted(),
    );
    expect(found).toContain('image_missing ubuntu_24_04');
    expect(found.some((one) => one.includes(String(kept)))).toBe(false);
    expect(await store.read((db) => db.selectFrom('vms').selectAll().orderBy('id').execute())).toEqual(before);
    expect([...hypervisor.vms.keys()].toSorted()).toEqual([kept, other, MACHINE].toSorted());
  });

  test('does not miss a machine of the sample VM of a sandbox, which no hypervisor has created, but compares one that exists', async () => {
    const service = await startOperator({ engine });
    const { store, ports, hypervisor } = service;
    await seedDemoAccount(store, { ports, secret: SECRET });
    expect(await findings(service)).toEqual([]);
    const vmId = sampleIdentifiers.vm;
    addMachine(service);
    hypervisor.vms.set(vmId, { ...(hypervisor.vms.get(MACHINE) ?? expect.fail('There is no machine.')), vmId });
    hypervisor.vms.delete(MACHINE);
    expect(await findings(service)).toEqual([`vm_differs vm-${vmId} (VM ${vmId})`]);
  });

  test('adopts no machine that makes a month of its account cost too much', async () => {
    const service = await startOperator({ engine, creditLimit: '9999999.99' });
    const { client, clock } = service;
    clock.advanceTo('2026-11-30T23:59:00Z');
    addMachine(service);
    const prices = { core: '6000000.00', mem: '0', nvme: '0', hdd: '0', extra_ip: '0', extra_backup_slot: '0', extra_gbit: '0' };
    await operator.scheduleHostSystemPrices({ client, path: { hostsystem: 'nl_ryzen' }, body: { prices } });
    expect(await refusalOf(operator.adoptVm({ client, path, body: await bodyFor(service) }))).toMatchObject({
      status: 422,
      message: expect.stringContaining('a month of this account would cost 12000000.00 EUR'),
    });
    await expectInvariants(service.store);
  });

  test('adopts a machine that a restored store has forgotten: it is billed and can be managed from then on', async () => {
    const service = await startOperator({ engine });
    const { client, clock, hypervisor, store } = service;
    addMachine(service);
    hypervisor.stopped.add(MACHINE);
    const vm = await operator.adoptVm({ client, path, body: await bodyFor(service) });
    expect(vm).toMatchObject({
      id: path.vm_id,
      state: 'running',
      cores: 2,
      node: 'nl-ryzen-01',
      hostname: 'left-over',
      monthly_price: '10.40',
    });
    expect([vm.ipv4.length, vm.ipv6.length, hypervisor.stopped.size]).toEqual([1, 1, 0]);
    clock.advance(60_000);
    const { positions } = (await service.call('getCurrentInvoice')).body.data;
    expect(positions.vms[MACHINE]).toMatchObject([{ type: 'CREATE', totalRuntime: 60 }]);
    await expectInvariants(store);
    expect(await findings(service)).toEqual([]);
    expect((await service.call('setVmPower', { path: { vmid: path.vm_id }, form: { mode: 'stop' } })).status).toBe(200);
    expect((await refusalOf(operator.adoptVm({ client, path, body: await bodyFor(service) }))).status).toBe(409);
    const records = await operator.listAuditRecords({ client, query: { operation: 'adoptVm' } });
    expect(records.items).toHaveLength(1);
  });

  test('an adoption that fails leaves the machine and the account as they were', async () => {
    const service = await startOperator({ engine, creditLimit: '100.00' });
    const { client, hypervisor, store } = service;
    const body = await bodyFor(service);
    const stateOf = () => store.read((db) => db.selectFrom('accounts').selectAll().execute());
    const before = await stateOf();
    expect((await refusalOf(operator.adoptVm({ client, path, body }))).status).toBe(404);
    addMachine(service, { node: 'de-xeon-01' });
    expect(await refusalOf(operator.adoptVm({ client, path, body }))).toMatchObject({
      status: 409,
      message: expect.stringContaining('de_xeon'),
    });
    addMachine(service, { cores: 4_000 });
    expect((await refusalOf(operator.adoptVm({ client, path, body }))).status).toBe(422);
    addMachine(service, { disk: 1_500 });
    expect((await refusalOf(operator.adoptVm({ client, path, body: { ...body, hostsystem: 'unknown' } }))).status).toBe(422);
    addMachine(service);
    const account = { account_id: body.account_id };
    await operator.setQuotas({ client, path: account, body: { vms: 0, handles: null } });
    expect(await refusalOf(operator.adoptVm({ client, path, body }))).toMatchObject({
      status: 409,
      type: expect.stringMatching(/quota-exceeded$/),
    });
    await operator.setQuotas({ client, path: account, body: { vms: null, handles: null } });
    hypervisor.failing = new Error('The disk is gone.');
    expect((await refusalOf(operator.adoptVm({ client, path, body }))).status).toBe(503);
    hypervisor.failing = undefined;
    await service.runScheduledJobs();
    expect([await stateOf(), hypervisor.vms.has(MACHINE)]).toEqual([before, true]);
    expect(await findings(service)).toEqual([`vm_unknown vm-${MACHINE} (VM ${MACHINE})`]);
    await expectInvariants(store);
  });

  test('releases a machine without a VM, and a VM with or without its machine', async () => {
    const service = await startOperator({ engine });
    const { client, hypervisor, store } = service;
    addMachine(service);
    expect(await operator.releaseVm({ client, path })).toEqual({ vm_id: path.vm_id, was_billed: false });
    expect(await findings(service)).toEqual([`vm_foreign released-${MACHINE}`]);
    const { items } = await operator.listAuditRecords({ client, query: { operation: 'releaseVm' } });
    expect(items).toMatchObject([{ target: path.vm_id, after: { vm_id: path.vm_id, was_billed: false } }]);
    expect((await refusalOf(operator.releaseVm({ client, path }))).status).toBe(404);

    const buy = async () => String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
    const [present, missing] = [await buy(), await buy()];
    hypervisor.vms.delete(Number(missing));
    for (const vm_id of [present, missing])
      expect(await operator.releaseVm({ client, path: { vm_id } })).toEqual({ vm_id, was_billed: true });
    expect((await service.call('getCurrentInvoice')).body.data.positions.vms[present]).toMatchObject([{ stop: expect.any(String) }]);
    expect((await service.call('listVms')).body.data.total_vms).toBe(0);
    expect(await findings(service)).toEqual([`vm_foreign released-${MACHINE}`, `vm_foreign released-${present}`].toSorted());
    await expectInvariants(store);
  });
});

test('a hypervisor that does not answer, or cannot say what it has, is named', async () => {
  const service = await startOperator();
  service.hypervisor.inventory = () => Promise.reject(new Error('The cluster is down.'));
  expect((await refusalOf(operator.getReconciliation({ client: service.client }))).status).toBe(503);
  Object.defineProperty(service.hypervisor, 'inventory', { value: undefined });
  expect(await operator.getReconciliation({ client: service.client })).toEqual({ compared: false, findings: [] });
  Object.defineProperty(service.hypervisor, 'release', { value: undefined });
  expect((await refusalOf(operator.releaseVm({ client: service.client, path }))).status).toBe(409);
});
