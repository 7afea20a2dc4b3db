import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { invoicesOf, providerOf } from '../../../test/provider.ts';

async function buy(service: TestService, form: Readonly<Record<string, unknown>> = SMALL_VM): Promise<number> {
  const { status, body } = await service.call('createVm', { form });
  expect(status, `${body.message}`).toBe(200);
  return body.data.identifier;
}

const current = async (service: TestService) => (await service.call('getCurrentInvoice')).body.data;
const positions = async (service: TestService, vmId: number): Promise<unknown[]> =>
  ((await current(service)).positions.vms[vmId] ?? []).map((position: Record<string, unknown>) =>
    ['type', 'start', 'stop', 'monthlyPrice'].map((name) => position[name]),
  );
const heldAmount = async ({ store }: TestService): Promise<number> =>
  (await store.read((db) => db.selectFrom('accounts').select('held').where('name', '=', 'test').executeTakeFirstOrThrow())).held / 1e8;

test('ends the position on a resize and begins one of the type UP-DOWNGRADE at the new price', async () => {
  const service = await startService();
  const vm = await buy(service);
  service.clock.advanceTo('2026-11-20T12:00:00Z');
  // 4 x 2.00 + 8 x 1.20 + 40 x 0.04
  expect(await providerOf(service).resize(vm, { cores: 4, mem: 8192 })).toBe(1_920_000_000n);
  expect(await positions(service, vm)).toEqual([
    ['CREATE', '2026-11-10T12:03:17.000Z', '2026-11-20T12:00:00.000Z', 10.4],
    ['UP-DOWNGRADE', '2026-11-20T12:00:00.000Z', null, 19.2],
  ]);
  // 863,803 s at 10.40 and 10.5 d at 19.20: 3.465876234... + 6.72. A hold is rounded up.
  expect((await current(service)).estimatedInvoiceTotal).toBe(10.19);
  expect(await heldAmount(service)).toBe(10.18587624);
  await expectInvariants(service.store);
});

test('assigns further addresses, and returns them when there are fewer', async () => {
  const service = await startService();
  const { resize } = providerOf(service);
  const vm = await buy(service);
  const addresses = () =>
    service.store.read(async (db) =>
      (await db.selectFrom('ip_addresses').select('address').where('vm_id', '=', vm).orderBy('address').execute()).map(
        ({ address }) => address,
      ),
    );
  expect(await resize(vm, { ips: 3 })).toBe(1_340_000_000n);
  expect(await addresses()).toEqual(['100.64.0.2', '100.64.0.3', '100.64.0.4', '2001:db8:4100:1::/64']);
  expect(await resize(vm, { ips: 1 })).toBe(1_040_000_000n);
  expect(await addresses()).toEqual(['100.64.0.2', '2001:db8:4100:1::/64']);
  await expectInvariants(service.store);
});

test('changes nothing on a resize to the current resources', async () => {
  const service = await startService();
  const vm = await buy(service);
  service.clock.advance(60_000);
  expect(await providerOf(service).resize(vm, { cores: 2, disk: 40 })).toBe(1_040_000_000n);
  expect(await positions(service, vm)).toEqual([['CREATE', '2026-11-10T12:03:17.000Z', null, 10.4]]);
});

test('refuses a resize beyond the limits of the host system, the node, the addresses or the credit, and changes nothing', async () => {
  // The VM holds 7.11 EUR until the month ends.
  const service = await startService({ creditLimit: '8.00' });
  const { resize } = providerOf(service);
  const vm = await buy(service);
  const state = () =>
    service.store.read(async (db) => ({
      vms: await db.selectFrom('vms').selectAll().execute(),
      positions: await db.selectFrom('positions').selectAll().execute(),
      nodes: await db.selectFrom('host_nodes').selectAll().execute(),
      taken: await db.selectFrom('ip_addresses').selectAll().where('vm_id', 'is not', null).execute(),
      accounts: await db.selectFrom('accounts').selectAll().execute(),
    }));
  await service.store.commit(({ db }) => db.updateTable('host_nodes').set({ disk: 41 }).where('name', '=', 'nl-ryzen-01').execute());
  const before = await state();
  await expect(resize(vm, { cores: 17, mem: 1, storage: 100 })).rejects.toMatchObject({
    status: 422,
    fields: [{ field: 'cores' }, { field: 'mem' }, { field: 'storage', rule: 'unavailable' }],
  });
  await expect(resize(vm, { disk: 45 })).rejects.toMatchObject({ status: 409, type: 'out_of_capacity' });
  await expect(resize(vm, { cores: 3 })).rejects.toMatchObject({ status: 402, type: 'credit_limit_exceeded' });
  await service.store.commit(async ({ db }) => {
    await db.deleteFrom('ip_addresses').where('pool_id', '=', 'ams1-v4').where('vm_id', 'is', null).execute();
  });
  await expect(resize(vm, { ips: 2, cores: 1 })).rejects.toMatchObject({ status: 409, type: 'out_of_capacity' });
  expect(await state()).toEqual(before);
});

test('allows a resize that lowers the price, even if the debt exceeds the credit limit', async () => {
  const service = await startService({ creditLimit: '10.00' });
  const { resize } = providerOf(service);
  const vm = await buy(service);
  // November's 7.11 EUR are owed, and December may cost 10.75 EUR.
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  expect(await resize(vm, { cores: 1 })).toBe(840_000_000n);
  await expect(resize(vm, { cores: 2 })).rejects.toMatchObject({ status: 402 });
  await expectInvariants(service.store);
});

test('accepts as many concurrent resizes as the credit limit allows', async () => {
  // Five VMs hold 35.53 EUR; a further core holds 1.37 EUR, and there is room for two.
  const service = await startService({ creditLimit: '39.00' });
  const { resize } = providerOf(service);
  const vms = [];
  for (let count = 0; count < 5; count++) vms.push(await buy(service));
  const results = await Promise.allSettled(vms.map((vm) => resize(vm, { cores: 3 })));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  await expectInvariants(service.store);
});

test('keeps the prices of an upgradable sale after upgrades and downgrades, even after the end of the sale', async () => {
  const service = await startService();
  const provider = providerOf(service);
  const sale = await provider.createSale({ upgradable: true });
  const vm = await buy(service);
  await provider.endSale(sale);
  service.clock.advance(3_600_000);
  // 4 x 1.00 + 8 x 0.40 + 40 x 0.02 + 1.50 for an address, then 1 x 1.00 + 1 x 0.40 + 40 x 0.02.
  expect(await provider.resize(vm, { cores: 4, mem: 8192, ips: 2 })).toBe(950_000_000n);
  expect(await provider.resize(vm, { cores: 1, mem: 1024, ips: 1 })).toBe(220_000_000n);
});

test('keeps the prices of any other sale until the first upgrade or downgrade', async () => {
  const service = await startService();
  const provider = providerOf(service);
  await provider.createSale({ upgradable: false });
  const vm = await buy(service);
  service.clock.advanceTo('2026-12-10T00:00:00Z');
  await provider.stop(vm);
  await provider.start(vm);
  expect(await positions(service, vm)).toEqual([
    ['BILLINGRESTART', '2026-12-01T00:00:00.000Z', '2026-12-10T00:00:00.000Z', 4.4],
    ['BILLINGRESTART', '2026-12-10T00:00:00.000Z', null, 4.4],
  ]);
  const basis = () => service.store.read((db) => db.selectFrom('vms').select('price_basis').where('id', '=', vm).executeTakeFirst());
  expect(await basis()).toEqual({ price_basis: 'SALE' });
  // One core costs 2.00 + 4.80 + 1.60 from then on, and the upgrade back to two costs 10.40.
  expect(await provider.resize(vm, { cores: 1 })).toBe(840_000_000n);
  expect(await provider.resize(vm, { cores: 2 })).toBe(1_040_000_000n);
  expect(await basis()).toEqual({ price_basis: 'STANDARD' });
});

test('bills nothing for a stopped VM, keeps its capacity reserved, and reduces its hold to the cost so far', async () => {
  const service = await startService();
  const { stop, start } = providerOf(service);
  const vm = await buy(service);
  service.clock.advanceTo('2026-11-16T12:00:00Z');
  await stop(vm);
  // 518,203 s at 10.40: 2.079209568..., rounded up.
  expect(await heldAmount(service)).toBe(2.07920957);
  await expectInvariants(service.store);
  service.clock.advanceTo('2026-11-27T00:00:00Z');
  expect((await current(service)).estimatedInvoiceTotal).toBe(2.08);
  await start(vm);
  expect(await positions(service, vm)).toEqual([
    ['CREATE', '2026-11-10T12:03:17.000Z', '2026-11-16T12:00:00.000Z', 10.4],
    ['BILLINGRESTART', '2026-11-27T00:00:00.000Z', null, 10.4],
  ]);
  // 2.07920957 + 10.40 x 4 / 30
  expect((await current(service)).estimatedInvoiceTotal).toBe(3.47);
  await expectInvariants(service.store);
});

test('resizes a stopped VM without a position, and starts it at its new price if there is enough credit', async () => {
  const service = await startService({ creditLimit: '10.00' });
  const { stop, start, resize } = providerOf(service);
  const vm = await buy(service);
  service.clock.advance(1000);
  await stop(vm);
  await resize(vm, { cores: 6 });
  expect(await positions(service, vm)).toHaveLength(1);
  // For about 20.5 days, 18.40 is more than 10.00; 12.40 is less.
  await expect(start(vm)).rejects.toMatchObject({ status: 402 });
  await resize(vm, { cores: 3 });
  await start(vm);
  expect((await positions(service, vm))[1]).toEqual(['BILLINGRESTART', '2026-11-10T12:03:18.000Z', null, 12.4]);
  await expectInvariants(service.store);
});

test('refuses to reinstall a stopped VM with 409', async () => {
  const service = await startService();
  const vm = await buy(service);
  await providerOf(service).stop(vm);
  const { status, body } = await service.call('reinstallVm', { path: { vmid: String(vm) }, form: {} });
  expect([status, body.type]).toEqual([409, 'wrong_state']);
});

test('bills a removed VM until its end, frees its capacity and addresses, and does not reuse its identifier', async () => {
  const service = await startService();
  const { remove } = providerOf(service);
  const vm = await buy(service);
  service.clock.advance(3_600_000);
  await remove(vm);
  expect(await positions(service, vm)).toEqual([['CREATE', '2026-11-10T12:03:17.000Z', '2026-11-10T13:03:17.000Z', 10.4]]);
  await expectInvariants(service.store);
  const vms = await service.store.read((db) => db.selectFrom('vms').select(['id', 'state']).execute());
  expect(vms).toEqual([{ id: vm, state: 'removed' }]);
  expect((await service.call('reinstallVm', { path: { vmid: String(vm) }, form: {} })).status).toBe(404);
  await expect(remove(vm)).rejects.toMatchObject({ status: 409, type: 'wrong_state' });
  expect(await service.store.read((db) => db.selectFrom('ip_addresses').select('address').where('vm_id', '=', vm).execute())).toEqual([]);
  const next = await service.call('createVm', { form: SMALL_VM });
  expect(next.body.data.identifier).not.toBe(vm);
});

test('refuses a change in the wrong state, and applies one of several concurrent changes', async () => {
  const service = await startService();
  const { start, stop } = providerOf(service);
  const vm = await buy(service);
  await expect(start(vm)).rejects.toMatchObject({ status: 409, type: 'wrong_state' });
  service.clock.advance(60_000);
  const stops = await Promise.allSettled(Array.from({ length: 5 }, () => stop(vm)));
  expect(stops.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(stop(12_345)).rejects.toMatchObject({ status: 404, type: 'not_found' });
  await expectInvariants(service.store);
});

test('bills nothing for a VM that is bought, resized, stopped, started and removed within a second', async () => {
  const service = await startService();
  const { start, stop, resize, remove } = providerOf(service);
  const vm = await buy(service);
  service.clock.advance(300);
  await resize(vm, { cores: 4 });
  await stop(vm);
  service.clock.advance(300);
  await start(vm);
  await remove(vm);
  const at = '2026-11-10T12:03:17.000Z';
  // A restart that lasted less than a second has no position.
  expect(await positions(service, vm)).toEqual([
    ['CREATE', at, at, 10.4],
    ['UP-DOWNGRADE', at, at, 14.4],
  ]);
  expect(await heldAmount(service)).toBe(0);
  await expectInvariants(service.store);
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  expect(await invoicesOf(service)).toMatchObject([{ total: 0, status: 'PAID' }]);
});

test('shows a restart after a gap even if it lasted less than a second', async () => {
  const service = await startService();
  const { start, stop, resize } = providerOf(service);
  const vm = await buy(service);
  await stop(vm);
  service.clock.advance(1000);
  await start(vm);
  await resize(vm, { cores: 4 });
  expect(await positions(service, vm)).toEqual([
    ['CREATE', '2026-11-10T12:03:17.000Z', '2026-11-10T12:03:17.000Z', 10.4],
    ['BILLINGRESTART', '2026-11-10T12:03:18.000Z', '2026-11-10T12:03:18.000Z', 10.4],
    ['UP-DOWNGRADE', '2026-11-10T12:03:18.000Z', null, 14.4],
  ]);
  await expectInvariants(service.store);
});

test('bills a change at the end of a period in the next one', async () => {
  const service = await startService();
  const { stop, resize } = providerOf(service);
  const stopped = await buy(service);
  const resized = await buy(service);
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await stop(stopped);
  await resize(resized, { cores: 3 });
  expect(await positions(service, stopped)).toEqual([]);
  expect(await positions(service, resized)).toEqual([['UP-DOWNGRADE', '2026-12-01T00:00:00.000Z', null, 12.4]]);
  const [november] = await invoicesOf(service);
  // Twice 7.10587623.
  expect(november?.total).toBe(14.21);
  await expectInvariants(service.store);
  service.clock.advanceTo('2027-01-01T00:00:00Z');
  // 12.40 x 31 / 30
  expect((await invoicesOf(service))[0]?.total).toBe(12.81);
});

test('keeps every amount exact during concurrent changes, purchases and the end of a period', async () => {
  const service = await startService();
  const { stop, resize, remove } = providerOf(service);
  const vms = await Promise.all(Array.from({ length: 6 }, () => buy(service)));
  const [one = 0, two = 0, three = 0, four = 0] = vms;
  service.clock.advanceTo('2026-12-01T00:00:05Z');
  await Promise.all([
    stop(one),
    resize(two, { cores: 3 }),
    service.runScheduledJobs(),
    current(service),
    remove(three),
    buy(service),
    resize(four, { cores: 1 }),
    current(service),
    service.runScheduledJobs(),
  ]);
  await expectInvariants(service.store);
  // 6 x 7.10587623
  expect(await invoicesOf(service)).toMatchObject([{ total: 42.64 }]);
  // 3 x 10.40 + 12.40 + 8.40, for 31 of 30 days. The difference in the first 5 s is far below a cent.
  expect((await current(service)).estimatedInvoiceTotal).toBe(53.73);
});

test('does not change an issued invoice for a late change, and ends no position before its start', async () => {
  const service = await startService();
  const vm = await buy(service);
  const late = service.clock.now() + 1000;
  service.clock.advanceTo('2026-12-05T00:00:00Z');
  await service.call('getCurrentInvoice');
  // Like a change on another instance whose clock is behind.
  service.clock.advanceTo(new Date(late).toISOString());
  await providerOf(service).stop(vm);
  service.clock.advanceTo('2026-12-05T00:00:00Z');
  expect(await positions(service, vm)).toEqual([]);
  expect(await invoicesOf(service)).toMatchObject([{ total: 7.11 }]);
  await expectInvariants(service.store);
});

test('refuses to shrink a disk, even for the provider', async () => {
  const service = await startService();
  const vm = await buy(service, { ...SMALL_VM, hostsystem: 'de_epyc', storage: 200 });
  await expect(providerOf(service).resize(vm, { disk: 35, storage: 100 })).rejects.toMatchObject({
    status: 422,
    fields: [
      { field: 'disk', rule: 'minimum', message: 'must be at least its current size, 40: a disk cannot shrink' },
      { field: 'storage', rule: 'minimum', message: 'must be at least its current size, 200: a disk cannot shrink' },
    ],
  });
  expect(await providerOf(service).resize(vm, { disk: 40, storage: 200 })).toBeGreaterThan(0n);
});
