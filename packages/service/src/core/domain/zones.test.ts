/** Zones reach the DNS after each change, whatever makes it, and again after a failure. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { handleOf, PERSON, PHONE, register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { newInstances } from '../../../test/instances.ts';
import { startOperator } from '../../../test/operator.ts';
import { TestDns } from '../../../test/ports/dns.ts';
import { PortCalls } from '../../../test/ports/port-calls.ts';
import { GOOD_AUTHCODE, TestRegistrar } from '../../../test/ports/registrar.ts';

const path = { domain: 'reseller-customer.net' };

describe.each(engines)('on %s', (engine) => {
  async function startWithDomain(calls = new PortCalls()) {
    const service = await startOperator({ engine, dns: new TestDns(calls) });
    await register(service, path.domain);
    await service.runScheduledJobs();
    const add = (form: Readonly<Record<string, unknown>>) => service.call('addDomainDns', { path, form });
    const published = () => service.dns.zones.get(path.domain);
    return { service, add, published };
  }

  test('publishes a new domain with its nameservers, then each change of its records, a set for each name and type', async () => {
    const { service, add, published } = await startWithDomain();
    expect(published()).toEqual({
      name: path.domain,
      nameservers: ['ns1.provider.example', 'ns2.provider.example'],
      records: [],
    });
    const { record_id } = (await add({ type: 'A', data: '198.51.100.23' })).body.data;
    await add({ type: 'A', data: '198.51.100.24' });
    await add({ type: 'TXT', sub: 'www', data: 'say "hello"; \\ ok' });
    await service.runScheduledJobs();
    expect(published()?.records).toEqual([
      { name: path.domain, type: 'A', ttl: 3600, data: ['198.51.100.23', '198.51.100.24'] },
      { name: `www.${path.domain}`, type: 'TXT', ttl: 3600, data: ['say "hello"; \\ ok'] },
    ]);
    await service.call('removeDomainDns', { path: { ...path, record_id } });
    await service.call('setDomainNameservers', { path, form: { ns1: 'ns1.example.net', ns2: 'ns2.example.net' } });
    await service.runScheduledJobs();
    expect(published()).toMatchObject({ nameservers: ['ns1.example.net', 'ns2.example.net'], records: [{ data: ['198.51.100.24'] }, {}] });
  });

  test.each([
    ['a transfer that is pending has no zone', { isFree: true, form: { authcode: GOOD_AUTHCODE }, before: 0 }],
    ['a pending registration of a name that the registry calls taken has no zone', { isFree: false, form: {}, before: 0 }],
    ['a pending registration of a free name has a zone', { isFree: true, form: {}, before: 1 }],
  ])('%s, and gets one with its records when it has ended', async (_, { isFree, form, before }) => {
    const registrar = new TestRegistrar();
    registrar.isAvailable = async () => isFree;
    const service = await startOperator({ engine, registrar, delays: { domain: 60_000 } });
    const { status, body } = await service.call('registerDomain', {
      form: { domain: path.domain, handle: await handleOf(service), ...form },
    });
    expect([status, body.data.domain.status]).toEqual([200, 'PENDING']);
    await service.call('addDomainDns', { path, form: { type: 'A', data: '198.51.100.1' } });
    await service.runScheduledJobs();
    expect(service.dns.zones.size).toBe(before);
    service.clock.advance(60_000);
    await service.runScheduledJobs();
    expect(service.dns.zones.get(path.domain)?.records).toHaveLength(1);
  });

  test('removes the zone of a domain that has ended, and of an account that was deleted', async () => {
    const { service } = await startWithDomain();
    const { client, clock, dns } = service;
    await operator.terminateDomain({ client, path });
    clock.advanceTo('2027-12-01T00:00:00Z');
    await service.runScheduledJobs();
    expect(dns.zones.size).toBe(0);
    const { account, api_key: key } = await operator.createIsolatedAccount({ client, body: { name: 'Short', credit_limit: '100.00' } });
    await register(service, 'short.net', key.key);
    await service.runScheduledJobs();
    expect([...dns.zones.keys()]).toEqual(['short.net']);
    await operator.deleteIsolatedAccount({ client, path: { account_id: account.id } });
    await service.runScheduledJobs();
    expect(dns.zones.size).toBe(0);
  });

  test('tries a zone that failed again after a minute, then after twice the time, and at once after a change', async () => {
    const calls = new PortCalls();
    const { service, add, published } = await startWithDomain(calls);
    const { clock } = service;
    await add({ type: 'A', data: '198.51.100.1' });
    const zone = () => service.store.read((db) => db.selectFrom('zone_changes').selectAll().executeTakeFirst());
    calls.plan = ['fails before', 'fails after', 'fails before'];
    await service.runScheduledJobs();
    expect(await zone()).toMatchObject({ attempts: 1, claimed_until: 0, reason: expect.stringContaining('The port failed') });
    expect(published()?.records).toEqual([]);
    expect(await operator.getDomain({ client: service.client, path })).toMatchObject({
      zone_published: false,
      zone_error: expect.stringContaining('The port failed'),
    });
    for (const [wait, attempts] of [
      [59_999, 1],
      [1, 2],
      [119_999, 2],
      [1, 3],
    ] as const) {
      clock.advance(wait);
      await service.runScheduledJobs();
      expect((await zone())?.attempts).toBe(attempts);
    }
    await add({ type: 'A', data: '198.51.100.2' });
    await service.runScheduledJobs();
    expect([await zone(), published()?.records]).toEqual([
      undefined,
      [expect.objectContaining({ data: ['198.51.100.1', '198.51.100.2'] })],
    ]);
  });

  test('publishes once more if the zone changes while it is being published', async () => {
    const calls = new PortCalls();
    const { service, add, published } = await startWithDomain(calls);
    await add({ type: 'A', data: '198.51.100.1' });
    const hanging: { end(outcome: 'continues'): void }[] = [];
    calls.onHang = (call) => hanging.push(call);
    calls.plan = ['hangs before', 'hangs before'];
    const round = service.runScheduledJobs();
    await expect.poll(() => hanging.length).toBe(1);
    await add({ type: 'A', data: '198.51.100.2' });
    hanging[0]?.end('continues');
    await expect.poll(() => hanging.length).toBe(2);
    expect(published()?.records).toMatchObject([{ data: ['198.51.100.1'] }]);
    hanging[1]?.end('continues');
    await round;
    expect(published()?.records).toMatchObject([{ data: ['198.51.100.1', '198.51.100.2'] }]);
  });
});

test.each([30, 3_600])(
  'an instance waits for a call of another one as long as it may take, with a timeout of %d s',
  { tags: 'outer' },
  async (seconds) => {
    const calls = new PortCalls();
    const dns = new TestDns(calls);
    const instances = await newInstances({ dns });
    const portTimeout = seconds * 1_000;
    const [one, two] = [await instances.start({ portTimeout }), await instances.start({ portTimeout })];
    const { body } = await one.call('createHandle', { form: { ...PERSON, phone: PHONE } });
    await one.call('registerDomain', { form: { domain: path.domain, handle: body.data.handle } });
    const hanging = Promise.withResolvers<{ end(outcome: 'continues'): void }>();
    calls.onHang = hanging.resolve;
    calls.plan = ['hangs before'];
    const round = one.service.runScheduledJobs();
    const call = await hanging.promise;
    instances.clock.advance(portTimeout + 90_000 - 1);
    await two.service.runScheduledJobs();
    expect(dns.zones.size).toBe(0);
    instances.clock.advance(1);
    await two.service.runScheduledJobs();
    expect(dns.zones.size).toBe(1);
    // Its token is lower than that of the call that superseded it.
    call.end('continues');
    await round;
    expect(dns.rejected).toBe(1);
    expect(await one.store.read((db) => db.selectFrom('zone_changes').selectAll().execute())).toEqual([]);
  },
);
