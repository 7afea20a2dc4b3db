/** Addresses of VMs: listed, bought, moved to another VM and released. */
import { describe, expect, onTestFinished, test } from 'vitest';

import { raiseCorePrice } from '../../../test/core-price.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { addIpPool } from '../../core/catalogue/ip-pool.ts';
import { MS_PER_DAY } from '../../rules/day.ts';
import { reverseNameOf } from '../../rules/reverse-dns.ts';

interface Listed {
  readonly ip_address: string;
  readonly family: number;
  readonly vmid: number;
  readonly first: boolean;
  readonly domain: string | null;
  readonly price_net: string;
  readonly price_gross: number;
}

/** The price of SMALL_VM and of each further address, EUR for 30 days. */
const SMALL = 10.4;
const EXTRA = 1.5;
const SECOND = 1_000;

function start(given: Parameters<typeof startService>[0]) {
  return startService({ engine: 'sqlite', ...given });
}

async function buyVm(service: TestService, form: object = {}, apiKey = service.apiKey): Promise<number> {
  const { body } = await service.call('createVm', { form: { ...SMALL_VM, ...form }, apiKey });
  return body.data.identifier;
}

async function listOf(service: TestService, vmid?: number, apiKey = service.apiKey): Promise<Listed[]> {
  const list: Listed[] = (await service.call('listIps', { apiKey })).body.data.list;
  return list.filter((one) => vmid === undefined || one.vmid === vmid);
}

async function ipv4Of(service: TestService, vmid: number, apiKey = service.apiKey): Promise<string[]> {
  return (await listOf(service, vmid, apiKey)).filter(({ family }) => family === 4).map(({ ip_address }) => ip_address);
}

function buy(service: TestService, vmid: number, more: object = {}) {
  return service.call('buyIps', { form: { vmid: String(vmid), ...more } });
}

function release(service: TestService, ip_address: string, apiKey = service.apiKey) {
  return service.call('releaseIp', { path: { ip_address }, apiKey });
}

function assign(service: TestService, ip_address: string, vmid: number, more: object = {}) {
  return service.call('assignIp', { path: { ip_address }, form: { vmid: String(vmid), ...more } });
}

async function monthlyOf(service: TestService, vmid: number): Promise<number> {
  return (await service.call('getVmConfig', { path: { vmid: String(vmid) } })).body.data.pricings.monthly;
}

const remainingOf = async (service: TestService): Promise<number> =>
  (await service.call('getCurrentInvoice')).body.data.creditLimitRemaining;

function machine({ hypervisor }: TestService, vmid: number): readonly string[] {
  return hypervisor.vms.get(vmid)?.ipv4 ?? [];
}

function published({ dns }: TestService, address: string): string | undefined {
  const sets = [...dns.zones.values()].flatMap(({ records }) => records);
  return sets.find(({ type, name }) => type === 'PTR' && name === reverseNameOf(address))?.data[0];
}

/** Leaves this number of free IPv4 addresses in Amsterdam. */
async function leaveFree(service: TestService, count: number): Promise<void> {
  await service.store.commit(async ({ db }) => {
    const free = db.selectFrom('ip_addresses').select('address').where('pool_id', '=', 'ams1-v4').where('vm_id', 'is', null);
    const kept = (await free.orderBy('position').limit(count).execute()).map(({ address }) => address);
    let rest = db.deleteFrom('ip_addresses').where('pool_id', '=', 'ams1-v4').where('vm_id', 'is', null);
    if (kept.length > 0) rest = rest.where('address', 'not in', kept);
    await rest.execute();
  });
}

describe.each(engines)('on %s', (engine) => {
  test('lists each address with its VM, its name and its part of the price', async () => {
    const service = await start({ engine });
    expect(await listOf(service)).toEqual([]);
    const vmid = await buyVm(service, { ips: 2, default_ptr: 'web1.example.org' });
    const shared = { gateway: expect.any(String), ddos_protection: expect.any(String), vmid, domain: 'web1.example.org' };
    expect(await listOf(service)).toEqual([
      { ...shared, ip_address: '100.64.0.2', family: 4, first: true, price_net: '0.00', price_gross: 0 },
      { ...shared, ip_address: '100.64.0.3', family: 4, first: false, price_net: '1.50', price_gross: 1.785 },
      { ...shared, ip_address: expect.stringMatching(/^2001:db8:.*::\/64$/), family: 6, first: true, price_net: '0.00', price_gross: 0 },
    ]);
  });

  test('says how many addresses are free for each host system, and how many of the own subnets', async () => {
    const service = await start({ engine });
    await leaveFree(service, 3);
    // Free addresses are counted up to 1000.
    await service.store.commit(({ db }) =>
      addIpPool(db, { id: 'large', datacenter: 'FRA1', accountId: null, cidr: '100.70.0.0/21', ddosProtection: 'none' }),
    );
    const available = async () =>
      (await service.call('listAvailableIps')).body.data.list.map(
        ({
          hostsystem,
          available: free,
          own,
          price_net,
        }: {
          hostsystem: string;
          available: number;
          own: number | null;
          price_net: string;
        }) => [hostsystem, free, own, price_net],
      );
    expect(await available()).toEqual([
      ['de_epyc', 1000, null, '1.50'],
      ['de_xeon', 1000, null, '1.50'],
      ['nl_ryzen', 3, null, '1.50'],
    ]);
    await buyVm(service, { hostsystem: 'nl_ryzen' });
    const { id } = await service.store.read((db) =>
      db.selectFrom('accounts').select('id').where('name', '=', 'test').executeTakeFirstOrThrow(),
    );
    await service.store.commit(({ db }) =>
      addIpPool(db, { id: 'own', datacenter: 'AMS1', accountId: id, cidr: '100.61.0.0/29', ddosProtection: 'own' }),
    );
    expect((await available())[2]).toEqual(['nl_ryzen', 2, 5, '1.50']);
  });

  test('buys addresses at the price that was quoted, tells the machine, and bills them from then on', async () => {
    const service = await start({ engine });
    const vmid = await buyVm(service);
    const [first = ''] = await ipv4Of(service, vmid);
    const remaining = await remainingOf(service);
    const form = { vmid: String(vmid), count: 2 };
    const quoted = (await service.call('quoteBuyIps', { form })).body.data;
    expect(quoted.price.net).toBe(SMALL + 2 * EXTRA);
    expect(await remainingOf(service)).toBe(remaining);
    const { status, body } = await buy(service, vmid, { count: 2, max_price: '13.40' });
    expect([status, body.message, body.data.pricings.monthly]).toEqual([200, 'The VM has 2 further addresses.', SMALL + 2 * EXTRA]);
    const bought = body.data.list.map(({ ip_address }: Listed) => ip_address);
    expect(await ipv4Of(service, vmid)).toEqual([first, ...bought]);
    expect(machine(service, vmid)).toEqual([first, ...bought]);
    expect(Math.round((remaining - (await remainingOf(service))) * 100)).toBe(Math.round(quoted.neededCredit * 100));
    const { positions } = (await service.call('getCurrentInvoice')).body.data;
    expect(positions.vms[vmid].map(({ type }: { type: string }) => type)).toEqual(['CREATE', 'UP-DOWNGRADE']);
    expect((await buy(service, vmid)).body.message).toBe('The VM has 1 further address.');
    await expectInvariants(service.store);
  });

  test('keeps the first address the first one when a lower one is bought, also when the number of addresses falls', async () => {
    const service = await start({ engine });
    const early = await buyVm(service);
    const vmid = await buyVm(service);
    const [lower = ''] = await ipv4Of(service, early);
    const [first = ''] = await ipv4Of(service, vmid);
    await leaveFree(service, 0);
    await service.call('deleteVm', { path: { vmid: String(early) } });
    service.clock.advance(MS_PER_DAY);
    await buy(service, vmid);
    expect(await ipv4Of(service, vmid)).toEqual([first, lower]);
    await service.call('changeVm', { path: { vmid: String(vmid) }, form: { ips: 1 } });
    expect([await ipv4Of(service, vmid), machine(service, vmid)]).toEqual([[first], [first]]);
  });

  test('refuses more addresses than the host system allows, exactly from its limit on', async () => {
    const service = await start({ engine });
    const max = await maxIpsOf(service);
    const vmid = await buyVm(service);
    const message = `must be at most ${max - 1}, because a VM has at most ${max} addresses on the host system nl_ryzen and this one has 1`;
    for (const operation of ['buyIps', 'quoteBuyIps'] as const) {
      const { status, body } = await service.call(operation, { form: { vmid: String(vmid), count: max } });
      expect([status, body.data.fields]).toEqual([422, [{ field: 'count', rule: 'maximum', message }]]);
    }
    expect((await buy(service, vmid, { count: max - 1 })).status).toBe(200);
    expect((await buy(service, vmid)).body.data.fields).toMatchObject([{ message: expect.stringMatching(/^must be at most 0,/) }]);
    expect(await ipv4Of(service, vmid)).toHaveLength(max);
  });

  test('names the data centre that has no free address, and sells the last one', async () => {
    const service = await start({ engine });
    const vmid = await buyVm(service);
    await leaveFree(service, 1);
    const refused = await buy(service, vmid, { count: 2 });
    expect([refused.status, refused.body.type, refused.body.message]).toEqual([
      409,
      'out_of_capacity',
      expect.stringMatching(/^The data centre AMS1 has fewer than 2 free IPv4 addresses\./),
    ]);
    expect((await buy(service, vmid)).status).toBe(200);
    expect((await buy(service, vmid)).status).toBe(409);
    await expectInvariants(service.store);
  });

  test('takes own subnets first, and addresses of the provider only with allowFallbackIPs', async () => {
    const service = await start({ engine });
    const vmid = await buyVm(service);
    const { account_id: accountId } = await service.store.read((db) => db.selectFrom('vms').select('account_id').executeTakeFirstOrThrow());
    await service.store.commit(({ db }) =>
      addIpPool(db, { id: 'own', datacenter: 'AMS1', accountId, cidr: '100.61.0.0/30', ddosProtection: 'own' }),
    );
    expect((await buy(service, vmid, { count: 2 })).status).toBe(409);
    const { body } = await buy(service, vmid, { count: 2, allowFallbackIPs: true });
    expect(body.data.list).toMatchObject([{ ip_address: '100.61.0.2', ddos_protection: 'own' }, { ip_address: '100.64.0.3' }]);
    // The first address stays the first, although own ones come before it in a purchase.
    expect(await ipv4Of(service, vmid)).toEqual(['100.64.0.2', '100.61.0.2', '100.64.0.3']);
  });

  test('refuses a price above max_price and a purchase beyond the credit limit, and changes nothing', async () => {
    const service = await start({ engine, creditLimit: '8.00' });
    const vmid = await buyVm(service);
    const before = [await listOf(service), await remainingOf(service)];
    expect((await buy(service, vmid, { max_price: '11.89' })).status).toBe(412);
    expect((await buy(service, vmid)).status).toBe(402);
    expect([await listOf(service), await remainingOf(service)]).toEqual(before);
    await expectInvariants(service.store);
  });

  test('undoes a purchase that the hypervisor refuses', async () => {
    const service = await start({ engine });
    const vmid = await buyVm(service);
    const before = [await listOf(service), await remainingOf(service), machine(service, vmid)];
    service.hypervisor.failing = new Error('The node is down.');
    expect((await buy(service, vmid)).status).toBe(503);
    service.hypervisor.failing = undefined;
    await service.runScheduledJobs();
    expect([await listOf(service), await remainingOf(service), machine(service, vmid)]).toEqual(before);
  });

  test('releases an address of the middle, whose name ends and never shows for the next VM', async () => {
    const service = await start({ engine });
    const vmid = await buyVm(service, { ips: 3 });
    const [first = '', middle = '', last = ''] = await ipv4Of(service, vmid);
    const named = { path: { vmid: String(vmid) }, form: { domain: 'secret.example.org', ip_address: middle } };
    await service.call('setVmRdns', named);
    await service.runScheduledJobs();
    expect(published(service, middle)).toBe('secret.example.org');
    const { status, body } = await release(service, middle);
    expect([status, body.data]).toMatchObject([200, { ip_address: middle, vmid, pricings: { monthly: SMALL + EXTRA } }]);
    expect([await ipv4Of(service, vmid), machine(service, vmid)]).toEqual([
      [first, last],
      [first, last],
    ]);
    await service.runScheduledJobs();
    expect(published(service, middle)).toBeUndefined();
    await leaveFree(service, 1);
    service.clock.advance(MS_PER_DAY);
    const { apiKey } = await service.account();
    const next = await buyVm(service, { default_ptr: 'next.example.org' }, apiKey);
    expect(await listOf(service, next, apiKey)).toMatchObject([{ ip_address: middle, domain: 'next.example.org' }, {}]);
    await service.runScheduledJobs();
    expect(published(service, middle)).toBe('next.example.org');
    expect((await release(service, middle)).status).toBe(404);
    await expectInvariants(service.store);
  });

  test('keeps the first address and the IPv6 network of a VM, and knows no address of another account', async () => {
    const service = await start({ engine });
    const vmid = await buyVm(service, { ips: 2 });
    const other = await buyVm(service);
    const [first, extra, network] = (await listOf(service, vmid)).map(({ ip_address }) => ip_address);
    const message = (address: string, what: string) =>
      `The address ${address} is ${what} of the VM ${vmid}, which keeps it. Choose an additional address: GET /ip/list lists them.`;
    for (const attempt of [(address: string) => release(service, address), (address: string) => assign(service, address, other)]) {
      expect((await attempt(String(first))).body).toMatchObject({ type: 'wrong_state', message: message(String(first), 'the first one') });
      const inNetwork = String(network).replace('::/64', '::0:5');
      expect((await attempt(inNetwork)).body).toMatchObject({
        type: 'wrong_state',
        message: message(String(network), 'the IPv6 network'),
      });
      for (const unknown of ['198.51.100.1', '2001:db8::1', 'mail.example.org', '100.64.0.0/16'])
        expect([unknown, (await attempt(unknown)).status]).toEqual([unknown, 404]);
    }
    const { apiKey } = await service.account();
    expect((await release(service, String(extra), apiKey)).status).toBe(404);
    const foreign = await service.call('buyIps', { form: { vmid: String(vmid) }, apiKey });
    expect([foreign.status, foreign.body.data.fields]).toMatchObject([422, [{ field: 'vmid', rule: 'exists' }]]);
  });

  test('moves an address: one VM loses it first, the other one gets it, and each is billed for what it has', async () => {
    const service = await start({ engine });
    const from = await buyVm(service, { ips: 2, default_ptr: 'from.example.org' });
    const to = await buyVm(service, { default_ptr: 'to.example.org' });
    const [, extra = ''] = await ipv4Of(service, from);
    const [first = ''] = await ipv4Of(service, to);
    const path = { ip_address: extra };
    const quoted = await service.call('quoteAssignIp', { path, form: { vmid: String(to) } });
    expect(quoted.body.data).toMatchObject({
      price: { net: 2 * SMALL + EXTRA },
      neededCredit: 0,
      vms: [
        { vmid: from, net: SMALL, endedSale: null },
        { vmid: to, net: SMALL + EXTRA, endedSale: null },
      ],
    });
    const refused = await assign(service, extra, to, { max_price: '22.29' });
    expect([refused.status, refused.body.message]).toMatchObject([
      412,
      expect.stringContaining(`The net price of the VMs ${from} and ${to} together is 22.30 EUR`),
    ]);
    const { status, body } = await assign(service, extra, to, { max_price: '22.30' });
    expect([status, body.data]).toMatchObject([
      200,
      { ip_address: extra, vmid: to, pricings: { monthly: SMALL + EXTRA }, from_vmid: from, from_pricings: { monthly: SMALL } },
    ]);
    await expectInvariants(service.store);
    expect([machine(service, from), machine(service, to)]).toEqual([[await firstOf(service, from)], [first, extra]]);
    expect(await ipv4Of(service, to)).toEqual([first, extra]);
    expect((await listOf(service, to))[1]).toMatchObject({ first: false, domain: 'to.example.org', price_net: '1.50' });
    expect([await monthlyOf(service, from), await monthlyOf(service, to)]).toEqual([SMALL, SMALL + EXTRA]);
    await service.runScheduledJobs();
    expect(published(service, extra)).toBe('to.example.org');
    expect((await buy(service, to)).status).toBe(200);
    await expectInvariants(service.store);
  });

  test('moves an address between stopped VMs without billing them, and to a VM whose pool order would put it first', async () => {
    const service = await start({ engine });
    const from = await buyVm(service, { ips: 2 });
    const to = await buyVm(service);
    const [, extra = ''] = await ipv4Of(service, from);
    const [first = ''] = await ipv4Of(service, to);
    for (const vmid of [from, to]) await service.call('setVmPower', { path: { vmid: String(vmid) }, form: { mode: 'stop' } });
    const before = (await service.call('getCurrentInvoice')).body.data.positions;
    expect((await assign(service, extra, to)).status).toBe(200);
    await service.runScheduledJobs();
    expect(await ipv4Of(service, to)).toEqual([first, extra]);
    expect((await service.call('getCurrentInvoice')).body.data.positions).toEqual(before);
    expect((await release(service, first)).status).toBe(409);
  });

  test('refuses to move an address to its own VM, another data centre, a full VM and a VM of another account', async () => {
    const service = await start({ engine });
    const from = await buyVm(service, { ips: 2 });
    const [, extra = ''] = await ipv4Of(service, from);
    const elsewhere = await buyVm(service, { hostsystem: 'de_epyc' });
    const full = await buyVm(service, { ips: await maxIpsOf(service) });
    const { apiKey } = await service.account();
    const foreign = await buyVm(service, {}, apiKey);
    const cases = [
      [elsewhere, 'unavailable'],
      [full, 'maximum'],
      [foreign, 'exists'],
      [10_000, 'exists'],
    ] as const;
    for (const [vmid, rule] of cases) {
      for (const operation of ['assignIp', 'quoteAssignIp'] as const) {
        const { status, body } = await service.call(operation, { path: { ip_address: extra }, form: { vmid: String(vmid) } });
        expect([status, body.data?.fields]).toMatchObject([422, [{ field: 'vmid', rule }]]);
      }
    }
    expect((await assign(service, extra, from)).body).toMatchObject({
      type: 'wrong_state',
      message: expect.stringContaining('has the address already'),
    });
    expect(await ipv4Of(service, from)).toHaveLength(2);
    await expectInvariants(service.store);
  });

  test('needs credit for what both VMs cost more, names both, and needs the states of both', async () => {
    const service = await start({ engine, creditLimit: '40.00' });
    const from = await buyVm(service, { ips: 2 });
    const to = await buyVm(service);
    const [, extra = ''] = await ipv4Of(service, from);
    const spend = Math.floor((await remainingOf(service)) * 100) - 1;
    const setUnpaid = (unpaid: number) =>
      service.store.commit(({ db }) => db.updateTable('accounts').set({ unpaid }).where('name', '=', 'test').execute());
    await setUnpaid(spend * 1_000_000);
    // At unchanged prices, one VM frees what the other one needs.
    expect((await assign(service, extra, to)).status).toBe(200);
    await service.runScheduledJobs();
    await setUnpaid(0);
    expect((await assign(service, extra, from)).status).toBe(200);
    await service.runScheduledJobs();
    await setUnpaid(spend * 1_000_000);
    await raiseCorePrice(service, '5.00');
    const refused = await assign(service, extra, to);
    expect([refused.status, refused.body.message]).toEqual([
      402,
      expect.stringContaining(`for the new prices of the VMs ${from} and ${to} until the end of the month, and 0.01 EUR remain`),
    ]);
    await setUnpaid(0);
    await service.store.commit(({ db }) => db.updateTable('vms').set({ changing: 1 }).where('id', '=', to).execute());
    expect((await assign(service, extra, to)).status).toBe(409);
    await service.store.commit(({ db }) => db.updateTable('vms').set({ changing: 0 }).execute());
    expect((await assign(service, extra, to)).status).toBe(200);
    await service.runScheduledJobs();
    await expectInvariants(service.store);
  });

  test('takes for each move of an address what its quote named, also after prices rose again', async () => {
    const service = await start({ engine });
    const vms = [await buyVm(service, { ips: 2 }), await buyVm(service)] as const;
    const [, extra = ''] = await ipv4Of(service, vms[0]);
    for (const [price, to] of [
      ['5.00', vms[1]],
      ['6.50', vms[0]],
    ] as const) {
      await raiseCorePrice(service, price);
      const quote = await service.call('quoteAssignIp', { path: { ip_address: extra }, form: { vmid: String(to) } });
      const { neededCredit, price: quoted } = quote.body.data;
      expect(neededCredit).toBeGreaterThan(0);
      const before = await remainingOf(service);
      expect((await assign(service, extra, to, { max_price: String(quoted.net) })).status).toBe(200);
      expect((before - (await remainingOf(service))).toFixed(2)).toBe(neededCredit.toFixed(2));
      await service.runScheduledJobs();
    }
    await expectInvariants(service.store);
  });

  test('leaves a moved address where it is if the first machine fails, and goes on until the second one has it', async () => {
    const service = await start({ engine });
    const from = await buyVm(service, { ips: 2 });
    const to = await buyVm(service);
    const [, extra = ''] = await ipv4Of(service, from);
    const before = [await listOf(service), await remainingOf(service)];
    service.hypervisor.failing = new Error('The node is down.');
    expect((await assign(service, extra, to)).status).toBe(503);
    service.hypervisor.failing = undefined;
    await service.runScheduledJobs();
    expect([await listOf(service), await remainingOf(service)]).toEqual(before);
    const { resize } = service.hypervisor;
    service.hypervisor.resize = async (size, token) => {
      if (size.vmId === to) throw new Error('The node is down.');
      return resize.call(service.hypervisor, size, token);
    };
    expect((await assign(service, extra, to)).status).toBe(200);
    await service.runScheduledJobs();
    expect([machine(service, from), machine(service, to)].map(({ length }) => length)).toEqual([1, 1]);
    expect([await monthlyOf(service, from), await monthlyOf(service, to)]).toEqual([SMALL, SMALL + EXTRA]);
    expect((await buy(service, to)).status).toBe(409);
    service.hypervisor.resize = resize;
    await service.runScheduledJobs();
    expect(machine(service, to)).toHaveLength(2);
    expect(await ipv4Of(service, to)).toHaveLength(2);
    await expectInvariants(service.store);
  });

  test('waits for tasks of the hypervisor: a purchase, a move and a release', async () => {
    const service = await start({ engine, delays: { resize: 6 * SECOND } });
    const from = await buyVm(service);
    const to = await buyVm(service);
    const pass = async () => {
      service.clock.advance(6 * SECOND);
      await service.runScheduledJobs();
      await expectInvariants(service.store);
    };
    const bought = await buy(service, from);
    const [{ ip_address: extra = '' } = {}] = bought.body.data.list;
    expect(bought.body.message).toBe('The VM is getting 1 further address. GET /ip/list shows it when the VM has it.');
    expect(await ipv4Of(service, from)).toHaveLength(1);
    await pass();
    expect(await ipv4Of(service, from)).toHaveLength(2);
    expect((await assign(service, extra, to)).status).toBe(200);
    expect(await ipv4Of(service, from)).toContain(extra);
    await pass();
    expect(await listOf(service)).not.toMatchObject([{ ip_address: extra }]);
    await pass();
    expect(await ipv4Of(service, to)).toContain(extra);
    expect((await release(service, extra)).status).toBe(200);
    expect(await ipv4Of(service, to)).toContain(extra);
    await pass();
    expect(await ipv4Of(service, to)).not.toContain(extra);
    expect([await monthlyOf(service, from), await monthlyOf(service, to)]).toEqual([SMALL, SMALL]);
  });

  test('sells the last address once to two purchases at the same time', async () => {
    const service = await start({ engine });
    const [one, other] = [await buyVm(service), await buyVm(service)];
    await leaveFree(service, 1);
    const { promise: called, resolve } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    onTestFinished(() => end());
    const { resize } = service.hypervisor;
    service.hypervisor.resize = async (...call) => {
      resolve();
      await ended;
      return resize.apply(service.hypervisor, call);
    };
    const first = buy(service, one);
    await called;
    // The other purchase comes while the machine of the first one is being changed.
    const second = await buy(service, other);
    end();
    expect([(await first).status, second.status, second.body.type]).toEqual([200, 409, 'out_of_capacity']);
    expect([await ipv4Of(service, one), await ipv4Of(service, other)].map(({ length }) => length)).toEqual([2, 1]);
    await expectInvariants(service.store);
  });

  test('adds no address to a VM that is being deleted', async () => {
    const service = await start({ engine });
    const vmid = await buyVm(service, { ips: 2 });
    const [, extra = ''] = await ipv4Of(service, vmid);
    service.hypervisor.failingToRemove = new Error('The node is down.');
    await service.call('deleteVm', { path: { vmid: String(vmid) } });
    expect([(await buy(service, vmid)).status, (await release(service, extra)).status, await listOf(service)]).toEqual([422, 404, []]);
  });
});

async function maxIpsOf(service: TestService): Promise<number> {
  const hosts: { name: string; configuration: { ips: { max: number } } }[] = (await service.call('listVmHosts')).body.data;
  return hosts.find(({ name }) => name === 'nl_ryzen')?.configuration.ips.max ?? 0;
}

async function firstOf(service: TestService, vmid: number): Promise<string> {
  return (await ipv4Of(service, vmid))[0] ?? '';
}
