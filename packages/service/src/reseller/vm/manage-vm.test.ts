/** The VM group of the extension. */
import { getVm, startVm, stopVm } from '@reseller/operator-client';
import { expect, test, vi } from 'vitest';

import { untilReserved } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { goodCall } from '../../../test/good-calls.ts';
import { SMALL_VM, sharedService, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';
import { START } from '../../../test/ports/clock.ts';
import { providerOf } from '../../../test/provider.ts';
import { apiOperations, specifiedOperations } from '../../http/reseller/api.ts';
import { euros } from '../../rules/money.ts';

const customer = sharedService();

async function buy(service: TestService, form: Readonly<Record<string, unknown>> = SMALL_VM): Promise<{ readonly vmid: string }> {
  const { status, body } = await service.call('createVm', { form });
  expect(status, `${body.message}`).toBe(200);
  return { vmid: String(body.data.identifier) };
}

test('a VM changes back to the least that it could be bought with', async () => {
  const service = await customer();
  const least = { cores: 1, mem: 1024, ips: 1, backup_slots: 0, network_speed: 100 };
  const path = await buy(service, { ...SMALL_VM, ...least });
  const more = { cores: 2, mem: 1536, ips: 2, backup_slots: 1, network_speed: 200 };
  for (const form of [more, least])
    for (const id of ['quoteChangeVm', 'changeVm'] as const) expect(await service.call(id, { path, form })).toMatchObject({ status: 200 });
  const { backup_slots, network_speed } = (await service.call('getVmConfig', { path })).body.data.config;
  expect({ backup_slots, network_speed }).toEqual({ backup_slots: '0', network_speed: '100' });
  for (const form of [{ backup_slots: -1 }, { network_speed: 0 }, { cores: 0 }, { mem: 512 }])
    expect((await service.call('changeVm', { path, form })).status).toBe(422);
});

const statusOf = async (service: TestService, path: { vmid: string }) => (await service.call('getVmStatus', { path })).body.data;
const power = (service: TestService, path: { vmid: string }, mode: string) => service.call('setVmPower', { path, form: { mode } });
const positions = async (service: TestService, { vmid }: { vmid: string }): Promise<unknown[]> =>
  ((await service.call('getCurrentInvoice')).body.data.positions.vms[vmid] ?? []).map((position: Record<string, unknown>) =>
    ['type', 'start', 'stop', 'monthlyPrice'].map((name) => position[name]),
  );

test('lists VMs with the sums of their resources, in the order of purchase, without deleted ones', async () => {
  const service = await customer();
  const first = await buy(service, { ...SMALL_VM, hostname: 'web1' });
  service.clock.advance(1_000);
  const second = await buy(service, { ...SMALL_VM, cores: 4, hostname: 'db1' });
  const gone = await buy(service);
  expect((await service.call('deleteVm', { path: gone })).status).toBe(200);
  await power(service, second, 'stop');
  const { message, data } = (await service.call('listVms')).body;
  expect(message).toBe('2 VMs.');
  expect(data).toMatchObject({
    total_vms: 2,
    total_stats: { cores: 6, mem: 8192, disk: 80 },
    list: [
      { vmid: Number(first.vmid), createDate: new Date(START).toISOString(), hostname: 'web1', status: 'running', config: { cores: 2 } },
      {
        vmid: Number(second.vmid),
        hostname: 'db1',
        status: 'stopped',
        hostsystem: { name: 'nl_ryzen', datacenter: { city: 'Amsterdam' } },
      },
    ],
  });
  expect(data.list[0].hostsystem.node).toBe(data.list[0].node);
  const { config, pricings } = (await service.call('getVmConfig', { path: first })).body.data;
  expect(data.list[0]).toMatchObject({ address: config.ipv4[0].ip_address, pricings });
});

test('returns the configuration of the purchase, and the new one after a change', async () => {
  const service = await customer();
  const { body } = await service.call('createVm', { form: { ...SMALL_VM, ips: 2 } });
  const path = { vmid: String(body.data.identifier) };
  const { config, pricings, hostsystem } = body.data;
  const { data } = (await service.call('getVmConfig', { path })).body;
  expect(data.hostsystem).toEqual({ ...hostsystem, name: 'nl_ryzen' });
  expect(data.pricings).toEqual(pricings);
  const { password: _password, ipv4, ...others } = config;
  expect(data.config).toMatchObject({ ...others, ips: 2, storage: null });
  expect(data.config.ipv4).toEqual(
    ipv4.map(({ address, gateway, ddos_protection }: Record<string, string>) => ({
      ip_address: address,
      ip_gateway: gateway,
      ddos_protection,
      requires_restart: false,
    })),
  );
  expect(data.max_config).toMatchObject({ cores: 16, mem: 65_536, disk: 500, storage: null, network_speed: '5000', backup_slots: '10' });
  const changed = await service.call('changeVm', { path, form: { cores: 4, backup_slots: 3 } });
  const after = (await service.call('getVmConfig', { path })).body.data;
  expect(after.config).toMatchObject(changed.body.data.newConfig);
  expect(after.config).toMatchObject({ cores: 4, backup_slots: '3', mem: 4096 });
  expect(after.pricings).toEqual(changed.body.data.pricings);
});

test.each(engines)('shows the addresses of a resize only after its confirmation, on %s', async (engine) => {
  const service = await startOperator({ engine });
  const { hypervisor } = service;
  const gone = await buy(service);
  const path = await buy(service);
  // A resize takes the address of the deleted VM, which precedes the others.
  expect((await service.call('deleteVm', { path: gone })).status).toBe(200);
  const shownAddresses = async (): Promise<unknown[]> => {
    const ofAccount: readonly { ip_address: string }[] = (await service.call('getVmConfig', { path })).body.data.config.ipv4;
    const { ipv4 } = await getVm({ client: service.client, path: { vm_id: path.vmid } });
    expect(ofAccount.map(({ ip_address: address }) => address)).toEqual(ipv4);
    return ipv4;
  };
  const first = await shownAddresses();
  const resize = hypervisor.resize.bind(hypervisor);
  const resizeVm = async (outcome: () => void) => {
    const go = Promise.withResolvers<void>();
    vi.spyOn(hypervisor, 'resize').mockImplementationOnce(async (...order) => {
      await go.promise;
      await resize(...order);
      outcome();
    });
    const pending = service.call('changeVm', { path, form: { ips: 2 } });
    await untilReserved(service);
    expect(await shownAddresses()).toEqual(first);
    go.resolve();
    return (await pending).status;
  };
  expect(
    await resizeVm(() => {
      throw new Error('no route to the node');
    }),
  ).toBe(503);
  expect(await shownAddresses()).toEqual(first);
  expect(await resizeVm(() => {})).toBe(200);
  expect(await shownAddresses()).toEqual([...first, expect.any(String)]);
  expect(hypervisor.vms.get(Number(path.vmid))?.ipv4).toEqual(await shownAddresses());
  await expectInvariants(service.store);
});

test('counts uptime from the last start, restart or reinstallation, and returns 0 while the VM is stopped', async () => {
  const service = await customer();
  const vm = await buy(service);
  service.clock.advance(90_500);
  expect(await statusOf(service, vm)).toEqual({ status: 'running', uptime: 90, task: null, usage: null });
  await power(service, vm, 'restart');
  service.clock.advance(5_000);
  expect(await statusOf(service, vm)).toMatchObject({ uptime: 5 });
  await service.call('reinstallVm', { path: vm });
  service.clock.advance(3_000);
  expect(await statusOf(service, vm)).toMatchObject({ uptime: 3 });
  await power(service, vm, 'stop');
  service.clock.advance(60_000);
  expect(await statusOf(service, vm)).toEqual({ status: 'stopped', uptime: 0, task: null, usage: null });
  await power(service, vm, 'start');
  service.clock.advance(2_000);
  expect(await statusOf(service, vm)).toMatchObject({ status: 'running', uptime: 2 });
});

test('does not bill a stopped VM, does not change billing on a restart, and ends it at the second of a deletion', async () => {
  const service = await startService();
  const vm = await buy(service);
  service.clock.advanceTo('2026-11-11T12:00:00Z');
  await power(service, vm, 'restart');
  await power(service, vm, 'stop');
  service.clock.advanceTo('2026-11-12T12:00:00Z');
  await power(service, vm, 'start');
  service.clock.advanceTo('2026-11-13T12:00:07Z');
  expect((await service.call('deleteVm', { path: vm })).body.data).toBeNull();
  service.clock.advanceTo('2026-11-20T00:00:00Z');
  expect(await positions(service, vm)).toEqual([
    ['CREATE', '2026-11-10T12:03:17.000Z', '2026-11-11T12:00:00.000Z', 10.4],
    ['BILLINGRESTART', '2026-11-12T12:00:00.000Z', '2026-11-13T12:00:07.000Z', 10.4],
  ]);
  expect((await service.call('getVmStatus', { path: vm })).status).toBe(404);
  await expectInvariants(service.store);
});

test('changes nothing if the VM is already started or stopped, and refuses to restart a stopped VM', async () => {
  const service = await customer();
  const vm = await buy(service);
  expect((await power(service, vm, 'start')).status).toBe(200);
  expect((await power(service, vm, 'stop')).status).toBe(200);
  expect((await power(service, vm, 'stop')).status).toBe(200);
  expect(await positions(service, vm)).toHaveLength(1);
  expect(await power(service, vm, 'restart')).toMatchObject({ status: 409, body: { type: 'wrong_state' } });
});

test('keeps a VM stopped for its owner after the provider stops it too', async () => {
  const service = await startOperator();
  const vm = await buy(service);
  await power(service, vm, 'stop');
  const path = { vm_id: vm.vmid };
  expect(await stopVm({ client: service.client, path })).toMatchObject({ state: 'stopped' });
  expect(await power(service, vm, 'start')).toMatchObject({ status: 409, body: { message: expect.stringContaining('provider') } });
  await startVm({ client: service.client, path });
  await power(service, vm, 'stop');
  expect((await power(service, vm, 'start')).status).toBe(200);
});

test('lets only the provider start a VM that the provider has stopped', async () => {
  const service = await customer();
  const vm = await buy(service);
  const provider = providerOf(service);
  await provider.stop(Number(vm.vmid));
  expect(await power(service, vm, 'start')).toMatchObject({ status: 409, body: { message: expect.stringContaining('provider') } });
  expect((await power(service, vm, 'stop')).status).toBe(200);
  expect((await power(service, vm, 'start')).status).toBe(409);
  await provider.start(Number(vm.vmid));
  // The reseller may stop and start it again.
  await power(service, vm, 'stop');
  expect((await power(service, vm, 'start')).status).toBe(200);
});

test('sets a new password at the hypervisor, returns it once and does not log it', async () => {
  const service = await customer();
  const vm = await buy(service);
  const { password } = (await service.call('resetVmPassword', { path: vm })).body.data;
  expect(password).toMatch(/^\S{12,}$/);
  expect(service.hypervisor.vms.get(Number(vm.vmid))?.password).toBe(password);
  const { data } = (await service.call('listRequests')).body;
  expect(JSON.stringify(data)).not.toContain(password);
  expect(data[0].response_body).toContain('"password":"***"');
});

test('ends the position on a change, and keeps sale prices only if the sale is upgradable', async () => {
  const service = await customer();
  const provider = providerOf(service);
  for (const upgradable of [true, false]) {
    const sale = await provider.createSale({ upgradable });
    const vm = await buy(service);
    await provider.endSale(sale);
    service.clock.advance(3_600_000);
    const { data } = (await service.call('changeVm', { path: vm, form: { cores: 4 } })).body;
    // 4 x 1.00 + 4 x 0.40 + 40 x 0.02, or 4 x 2.00 + 4 x 1.20 + 40 x 0.04.
    expect(data.pricings.monthly).toBe(upgradable ? 6.4 : 14.4);
    expect((await positions(service, vm)).map((position) => Object(position)[0])).toEqual(['CREATE', 'UP-DOWNGRADE']);
  }
  await expectInvariants(service.store);
});

test('refuses a purchase above max_price after the sale has sold out', async () => {
  const service = await customer();
  await providerOf(service).createSale({ maxVolume: 1 });
  const form = { ...SMALL_VM, max_price: '4.40' };
  expect((await service.call('createVm', { form })).status).toBe(200);
  const refused = await service.call('createVm', { form });
  expect(refused).toMatchObject({
    status: 412,
    body: { type: 'precondition_failed', data: { net: expect.any(Number), max_price: expect.any(Number) } },
  });
  expect(refused.body.message).toContain('The net price is 10.40 EUR, which is more than the max_price 4.40 EUR');
  expect((await service.call('listVms')).body.data.total_vms).toBe(1);
  await expectInvariants(service.store);
});

test.each([
  ['the exact price', '10.40', 200],
  ['more', '10.40000001', 200],
  ['the smallest amount less', '10.39999999', 412],
  ['nothing', '0', 412],
])('compares a purchase and a change exactly with %s', async (_what, price, status) => {
  const service = await customer();
  expect((await service.call('createVm', { form: { ...SMALL_VM, max_price: price } })).status).toBe(status);
  const vm = await buy(service, { ...SMALL_VM, cores: 1 });
  const before = await positions(service, vm);
  expect((await service.call('changeVm', { path: vm, form: { cores: 2, max_price: price } })).status).toBe(status);
  if (status === 412) expect(await positions(service, vm)).toEqual(before);
  await expectInvariants(service.store);
});

test('returns an exact price, which is enough as max_price of the next purchase', async () => {
  const service = await customer();
  await providerOf(service).createSale({ pricings: { nl_ryzen: { mem: euros('0.4567') } } });
  const { pricings } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  // 2 x 2.00 + 4 x 0.4567 + 40 x 0.04
  expect(pricings).toEqual({ monthly: 7.4268, monthly_gross: 8.84 });
  const max_price = String(pricings.monthly);
  expect((await service.call('createVm', { form: { ...SMALL_VM, max_price } })).status).toBe(200);
  const path = await buy(service, { ...SMALL_VM, cores: 1 });
  const changed = await service.call('changeVm', { path, form: { cores: 2, max_price } });
  expect(changed).toMatchObject({ status: 200, body: { data: { pricings } } });
});

test('stops billing for a deletion even if the hypervisor fails, and completes it later', async () => {
  const service = await startService();
  const vm = await buy(service);
  service.clock.advance(60_000);
  service.hypervisor.failingToRemove = new Error('out of order');
  const failed = await service.call('deleteVm', { path: vm });
  expect(failed).toMatchObject({ status: 503, body: { type: 'unavailable' } });
  expect(failed.body.message).toContain('no longer billed');
  service.clock.advance(3_600_000);
  expect(await positions(service, vm)).toEqual([['CREATE', '2026-11-10T12:03:17.000Z', '2026-11-10T12:04:17.000Z', 10.4]]);
  expect((await service.call('getVmConfig', { path: vm })).status).toBe(404);
  expect(service.hypervisor.vms.has(Number(vm.vmid))).toBe(true);
  service.hypervisor.failingToRemove = undefined;
  await service.runScheduledJobs();
  expect(service.hypervisor.vms.has(Number(vm.vmid))).toBe(false);
  await expectInvariants(service.store);
});

test('allows the next change of a VM after a failed password reset', async () => {
  const service = await customer();
  const vm = await buy(service);
  service.hypervisor.failing = new Error('out of order');
  expect((await service.call('resetVmPassword', { path: vm })).status).toBe(500);
  service.hypervisor.failing = undefined;
  await service.runScheduledJobs();
  expect((await service.call('resetVmPassword', { path: vm })).status).toBe(200);
});

const specified = new Set((await specifiedOperations()).map(({ id }) => id));
const ofExtension = apiOperations.filter(({ id }) => !specified.has(id));

test.each(ofExtension.map(({ id, operation }) => [id, operation] as const))(
  '%s: responds as to an unknown path without the extension',
  async (_id, { method, path }) => {
    const service = await startService({ extension: false });
    const sendTo = async (url: string) => {
      const { status, body } = await service.send(url, { method, headers: { 'x-service-apikey': service.apiKey } });
      return { status, body: { ...body, requestID: 'of this request' } };
    };
    const response = await sendTo(path.replaceAll(/\{\w+\}/g, '48213'));
    expect(response).toMatchObject({ status: 404, body: { type: 'not_found' } });
    expect(response).toEqual(await sendTo('/no/such/path'));
  },
);

test('refuses the price guard as an unknown field without the extension, which a live service lacks by default', async () => {
  const service = await startService({ extension: false });
  expect((await service.call('createVm', { form: { ...SMALL_VM, max_price: '1000' } })).body).toMatchObject({
    type: 'validation_failed',
    data: { fields: [{ field: 'max_price', rule: 'unknown' }] },
  });
  const live = await startService({ mode: 'live' });
  expect((await live.send('/vm/list', { headers: { 'x-service-apikey': live.apiKey } })).status).toBe(404);
});

test('serves every operation of the specification without the extension', async () => {
  const service = await startService({ extension: false });
  const owner = await service.account();
  for (const id of specified) {
    const sent = await goodCall(service, id, owner);
    const { max_price: _maxPrice, name: _name, labels: _labels, user_data: _userData, ...form } = { ...sent.form };
    const { status } = await service.call(id, { ...sent, ...(sent.form && { form }) });
    expect([id, status]).toEqual([id, 200]);
  }
});
