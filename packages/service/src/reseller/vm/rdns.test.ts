/** Names of the addresses of VMs, from the purchase to the reverse zones that the DNS port gets. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { endQuarantine } from '../../../test/addresses.ts';
import { register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { TestDns } from '../../../test/ports/dns.ts';
import { PortCalls } from '../../../test/ports/port-calls.ts';
import { reverseNameOf } from '../../rules/reverse-dns.ts';

interface Named {
  readonly ip_address: string;
  readonly domain: string | null;
  readonly forward_confirmed: boolean | null;
}

async function buy(service: TestOperator, more: object = {}, apiKey = service.apiKey) {
  const { body } = await service.call('createVm', { form: { ...SMALL_VM, default_ptr: 'Web1.Example.org.', ...more }, apiKey });
  const vmid = String(body.data.identifier);
  const path = { vmid };
  const list = async (): Promise<Named[]> => (await service.call('listVmRdns', { path, apiKey })).body.data.list;
  const set = (form: object) => service.call('setVmRdns', { path, form: { ...form }, apiKey });
  const remove = (ip_address: string) => service.call('removeVmRdns', { path: { ...path, ip_address }, apiKey });
  const [ipv4 = '', ipv6 = ''] = (await list()).map(({ ip_address }) => ip_address);
  return { vmid, path, list, set, remove, ipv4, ipv6 };
}

/** The name that the DNS has for an address. */
function published({ dns }: TestOperator, address: string): string | undefined {
  const sets = [...dns.zones.values()].flatMap(({ records }) => records);
  return sets.find(({ name, type }) => type === 'PTR' && name === reverseNameOf(address))?.data[0];
}

describe.each(engines)('on %s', (engine) => {
  test('names each IPv4 address and the first of the IPv6 network by default_ptr, in lower case and in reverse zones', async () => {
    const service = await startOperator({ engine });
    const { list, ipv4, ipv6 } = await buy(service, { ips: 2 });
    const { ip_address: second = '' } = (await list())[1] ?? {};
    const entry = { domain: 'web1.example.org', forward_confirmed: null };
    expect(await list()).toEqual([
      { ip_address: ipv4, ...entry },
      { ip_address: second, ...entry },
      { ip_address: expect.stringMatching(/^2001:db8:4100:[0-9a-f]+::1$/), ...entry },
    ]);
    expect(ipv6).toBe(second);
    await service.runScheduledJobs();
    for (const { ip_address } of await list()) expect(published(service, ip_address)).toBe('web1.example.org');
    expect([...service.dns.zones.keys()].toSorted()).toEqual(['0.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa', '0.64.100.in-addr.arpa']);
    expect(service.dns.zones.get('0.64.100.in-addr.arpa')?.nameservers).toEqual(service.registrar.standardNameservers);
  });

  test('names a VM without default_ptr after a domain of the provider', async () => {
    const service = await startOperator({ engine });
    const { list, vmid } = await buy(service, { default_ptr: undefined });
    expect(await list()).toMatchObject([{ domain: `vm${vmid}.reseller-vm.invalid` }, { domain: `vm${vmid}.reseller-vm.invalid` }]);
  });

  test('sets the name of one address, of others in the IPv6 network, and of all, and removes names', async () => {
    const service = await startOperator({ engine });
    const { list, set, remove, ipv4, ipv6 } = await buy(service);
    const another = ipv6.replace('::1', ':0:a:B:00c');
    const normalised = ipv6.replace('::1', ':0:a:b:c');
    const names = async () => Object.fromEntries((await list()).map(({ ip_address, domain }) => [ip_address, domain]));
    expect((await set({ domain: 'Mail.Example.org.', ip_address: ipv4 })).body.data.list).toEqual(await list());
    await set({ domain: 'six.example.org', ip_address: another });
    expect(await names()).toEqual({ [ipv4]: 'mail.example.org', [ipv6]: 'web1.example.org', [normalised]: 'six.example.org' });
    await service.runScheduledJobs();
    expect([ipv4, ipv6, normalised].map((address) => published(service, address))).toEqual([
      'mail.example.org',
      'web1.example.org',
      'six.example.org',
    ]);
    for (const address of [ipv4, another, another]) expect((await remove(address)).status).toBe(200);
    expect(await names()).toEqual({ [ipv4]: null, [ipv6]: 'web1.example.org' });
    await service.runScheduledJobs();
    expect([ipv4, ipv6, normalised].map((address) => published(service, address))).toEqual([undefined, 'web1.example.org', undefined]);
    await set({ domain: 'all.example.org' });
    expect(await names()).toEqual({ [ipv4]: 'all.example.org', [ipv6]: 'all.example.org' });
  });

  test('refuses an address of another VM, a network, and a name that is not fully qualified, and changes nothing', async () => {
    const service = await startOperator({ engine });
    const { list, set, remove, ipv4, ipv6 } = await buy(service);
    const other = await buy(service);
    const before = await list();
    for (const ip_address of [other.ipv4, other.ipv6, ipv6.replace('::1', '::/64'), '198.51.100.1', 'mail.example.org', '0.0.0.0/0'])
      expect(await set({ domain: 'mail.example.org', ip_address })).toMatchObject({
        status: 422,
        body: { data: { fields: [{ field: 'ip_address', rule: 'exists' }] } },
      });
    for (const domain of ['mail', '198.51.100.1', 'a_b.example.org'])
      expect(await set({ domain, ip_address: ipv4 })).toMatchObject({ status: 422, body: { data: { fields: [{ field: 'domain' }] } } });
    expect(await remove(other.ipv4)).toMatchObject({ status: 404, body: { message: expect.stringContaining('No such address') } });
    expect(await list()).toEqual(before);
  });

  test('accepts 100 names in an IPv6 network besides the first, replaces them, and refuses one more', async () => {
    const service = await startOperator({ engine });
    const { set, remove, ipv6, vmid } = await buy(service);
    const address = (number: number) => ipv6.replace('::1', `::${number.toString(16)}`);
    const assigned = ipv6.replace('::1', '::/64');
    const entries = Array.from({ length: 99 }, (_, number) => address(number + 2));
    await service.store.commit(({ db }) =>
      db
        .insertInto('rdns_entries')
        .values(entries.map((one) => ({ address: one, assigned, vm_id: Number(vmid), domain: 'a.example.org', changed: 0 })))
        .execute(),
    );
    const setAt = async (number: number) => (await set({ domain: 'b.example.org', ip_address: address(number) })).status;
    expect([await setAt(101), await setAt(102), await setAt(101), await setAt(1)]).toEqual([200, 409, 200, 200]);
    const refused = operator.setVmRdns({
      client: service.client,
      path: { vm_id: vmid, ip_address: address(102) },
      body: { domain: 'b.example.org' },
    });
    expect(await refusalOf(refused)).toMatchObject({ status: 409 });
    await remove(address(2));
    expect([await setAt(102), await setAt(103)]).toEqual([200, 409]);
  });

  test('withdraws the names of a removed VM at once, and gives its address to the next VM without them', async () => {
    const service = await startOperator({ engine });
    const { set, ipv4, ipv6, vmid } = await buy(service);
    const other = await service.account();
    await set({ domain: 'old.example.org' });
    await set({ domain: 'old.example.org', ip_address: ipv6.replace('::1', '::2') });
    await service.runScheduledJobs();
    expect(published(service, ipv4)).toBe('old.example.org');
    // The hypervisor does not answer, so the addresses are not free yet.
    service.hypervisor.failingToRemove = new Error('The node is down.');
    await operator.removeVm({ client: service.client, path: { vm_id: vmid } }).catch(() => {});
    await service.runScheduledJobs();
    expect([published(service, ipv4), published(service, ipv6)]).toEqual([undefined, undefined]);
    service.hypervisor.failingToRemove = undefined;
    await service.runScheduledJobs();
    await endQuarantine(service);
    const next = await buy(service, { default_ptr: 'new.example.org' }, other.apiKey);
    expect([next.ipv4, next.ipv6]).toEqual([ipv4, ipv6]);
    expect(await next.list()).toMatchObject([{ domain: 'new.example.org' }, { domain: 'new.example.org' }]);
    await service.runScheduledJobs();
    expect([ipv4, ipv6, ipv6.replace('::1', '::2')].map((address) => published(service, address))).toEqual([
      'new.example.org',
      'new.example.org',
      undefined,
    ]);
  });

  test('names an address that a resize adds by default_ptr, and forgets the name of one that it releases', async () => {
    const service = await startOperator({ engine });
    const { list, set, path } = await buy(service, { ips: 1 });
    const change = async (ips: number) => service.call('changeVm', { path, form: { ips } });
    await change(2);
    const { ip_address: second = '' } = (await list())[1] ?? {};
    expect(await list()).toMatchObject([{}, { domain: 'web1.example.org' }, {}]);
    await set({ domain: 'second.example.org', ip_address: second });
    await service.runScheduledJobs();
    expect(published(service, second)).toBe('second.example.org');
    await change(1);
    await service.runScheduledJobs();
    expect([(await list()).length, published(service, second)]).toEqual([2, undefined]);
    await endQuarantine(service);
    await change(2);
    expect(await list()).toMatchObject([{}, { ip_address: second, domain: 'web1.example.org' }, {}]);
  });

  test('shows no name of a purchase that failed, and publishes none', async () => {
    const service = await startOperator({ engine });
    service.hypervisor.failing = new Error('The node is down.');
    expect((await service.call('createVm', { form: { ...SMALL_VM, default_ptr: 'failed.example.org' } })).status).toBe(503);
    await service.runScheduledJobs();
    expect(JSON.stringify([...service.dns.zones.values()])).not.toContain('failed.example.org');
  });

  test('confirms a name whose A record in a zone of the service has the address, also of another account', async () => {
    const service = await startOperator({ engine });
    const { list, set, ipv4, ipv6 } = await buy(service);
    const other = await service.account();
    await register(service, 'example-shop.net', other.apiKey);
    const add = (type: string, sub: string, data: string) =>
      service.call('addDomainDns', { path: { domain: 'example-shop.net' }, form: { type, sub, data }, apiKey: other.apiKey });
    const confirmed = async () => (await list()).map(({ forward_confirmed }) => forward_confirmed);
    await set({ domain: 'mail.example-shop.net' });
    expect(await confirmed()).toEqual([false, false]);
    await add('A', 'mail', '198.51.100.1');
    expect(await confirmed()).toEqual([false, false]);
    await add('A', 'mail', ipv4);
    expect(await confirmed()).toEqual([true, false]);
    await add('AAAA', 'mail', ipv6.toUpperCase());
    expect(await confirmed()).toEqual([true, true]);
    await set({ domain: 'alias.example-shop.net' });
    await add('CNAME', 'alias', 'mail.example-shop.net');
    expect(await confirmed()).toEqual([true, true]);
    await set({ domain: 'elsewhere.example-shop.net' });
    await add('CNAME', 'elsewhere', 'mail.example.org');
    expect(await confirmed()).toEqual([null, null]);
    await set({ domain: 'x.delegated.example-shop.net' });
    await add('NS', 'delegated', 'ns.example.org');
    expect(await confirmed()).toEqual([null, null]);
  });

  test('cannot tell whether a name is confirmed in a domain of the service that has other nameservers', async () => {
    const service = await startOperator({ engine });
    const { list, set, ipv4 } = await buy(service);
    await register(service, 'example-shop.net');
    const path = { domain: 'example-shop.net' };
    await service.call('addDomainDns', { path, form: { type: 'A', sub: '', data: ipv4 } });
    await set({ domain: 'example-shop.net', ip_address: ipv4 });
    expect((await list())[0]).toMatchObject({ forward_confirmed: true });
    await service.call('setDomainNameservers', { path, form: { ns1: 'ns1.elsewhere.example', ns2: 'ns2.elsewhere.example' } });
    expect((await list())[0]).toMatchObject({ forward_confirmed: null });
  });

  test('publishes a reverse zone again after a failure, and shows the operator why it is not published', async () => {
    const calls = new PortCalls();
    const service = await startOperator({ engine, dns: new TestDns(calls) });
    const { vmid, ipv4, set } = await buy(service);
    const { client } = service;
    const path = { vm_id: vmid };
    expect(await operator.getVmRdns({ client, path })).toMatchObject({ zone_published: false, zone_error: null });
    calls.plan = ['fails before', 'fails before'];
    await service.runScheduledJobs();
    expect(await operator.getVmRdns({ client, path })).toMatchObject({
      names: [{ ip_address: ipv4, domain: 'web1.example.org', forward_confirmed: null }, {}],
      zone_published: false,
      zone_error: expect.stringContaining('The port failed'),
    });
    service.clock.advance(60_000);
    await service.runScheduledJobs();
    expect(published(service, ipv4)).toBe('web1.example.org');
    expect(await operator.getVmRdns({ client, path })).toMatchObject({ zone_published: true, zone_error: null });
    await set({ domain: 'mail.example.org', ip_address: ipv4 });
    expect(await operator.getVmRdns({ client, path })).toMatchObject({ zone_published: false });
  });

  test('lets the operator set and remove a name, and records it in the audit', async () => {
    const service = await startOperator({ engine });
    const { vmid, ipv4, list } = await buy(service);
    const { client } = service;
    const path = { vm_id: vmid, ip_address: ipv4 };
    expect(await operator.setVmRdns({ client, path, body: { domain: 'mail.example.org' } })).toMatchObject({
      names: [{ ip_address: ipv4, domain: 'mail.example.org' }, {}],
    });
    await operator.setVmRdns({ client, path, body: { domain: null } });
    expect(await list()).toMatchObject([{ domain: null }, {}]);
    const { items } = await operator.listAuditRecords({ client });
    expect(items.slice(0, 2).map(({ operation, before, after }) => [operation, nameIn(before), nameIn(after)])).toEqual(
      expect.arrayContaining([
        ['setVmRdns', 'mail.example.org', null],
        ['setVmRdns', 'web1.example.org', 'mail.example.org'],
      ]),
    );
    const unknown = { vm_id: vmid, ip_address: '198.51.100.1' };
    expect(await refusalOf(operator.setVmRdns({ client, path: unknown, body: { domain: null } }))).toMatchObject({ status: 404 });
    await operator.removeVm({ client, path: { vm_id: vmid } });
    expect(await operator.getVmRdns({ client, path: { vm_id: vmid } })).toMatchObject({ names: [] });
    expect(await refusalOf(operator.setVmRdns({ client, path, body: { domain: 'mail.example.org' } }))).toMatchObject({ status: 404 });
  });
});

function nameIn(state: unknown): unknown {
  return Object(state).names?.[0]?.domain;
}
