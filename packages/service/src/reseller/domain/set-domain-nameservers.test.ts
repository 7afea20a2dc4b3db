import { expect, test } from 'vitest';

import { footprint, pauseRegistrar, register, untilReserved } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };
const ns = (number: number) => `ns${number}.reseller-dns.example`;
const FIVE = { ns1: ns(1), ns2: ns(2), ns3: ns(3), ns4: ns(4), ns5: ns(5) };

test('replaces the nameservers by two to five others', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const five = await service.call('setDomainNameservers', { path, form: FIVE });
  expect(five.body).toMatchObject({ message: expect.stringContaining('applies within seconds'), data: FIVE });
  expect(service.registrar.domains.get(DOMAIN)?.nameservers).toEqual(Object.values(FIVE));
  const two = await service.call('setDomainNameservers', { path, form: { ns1: ns(2), ns2: 'ns.bücher.example' } });
  expect(two.body.data).toEqual({ ns1: ns(2), ns2: 'ns.xn--bcher-kva.example', ns3: null, ns4: null, ns5: null });
  expect((await service.call('getDomain', { path })).body.data.nameserver).toEqual(two.body.data);
  expect((await service.call('setDomainNameservers', { path, form: { ns1: ns(2), ns2: 'ns.bücher.example' } })).body.data).toEqual(
    two.body.data,
  );
});

test('replaces the word default by the standard nameserver of the same number', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  await service.call('setDomainNameservers', { path, form: FIVE });
  const { body } = await service.call('setDomainNameservers', { path, form: { ns1: 'default', ns2: 'default', ns3: ns(3) } });
  expect(body.data).toEqual({ ns1: 'ns1.provider.example', ns2: 'ns2.provider.example', ns3: ns(3), ns4: null, ns5: null });
});

test.each([
  ['no nameserver', { ns1: undefined }, 'ns1', 'required'],
  ['one alone', { ns2: undefined }, 'ns2', 'required'],
  ['the fourth without the third', { ns4: ns(4) }, 'ns3', 'dependentRequired'],
  ['the fifth without the fourth', { ns3: ns(3), ns5: ns(5) }, 'ns4', 'dependentRequired'],
  ['a sixth', { ns6: ns(6) }, 'ns6', 'unknown'],
  ['the same twice', { ns2: ns(1).toUpperCase() }, 'ns2', 'distinct'],
  ['a standard one by its name and its word', { ns1: 'default', ns2: 'ns1.provider.example' }, 'ns2', 'distinct'],
  ['an address', { ns2: '198.51.100.23' }, 'ns2', 'pattern'],
  ['a URL', { ns2: 'https://ns2.reseller-dns.example' }, 'ns2', 'pattern'],
  ['a word that is not default', { ns2: 'standard' }, 'ns2', 'pattern'],
  ['an empty one', { ns2: '' }, 'ns2', 'pattern'],
  ['an encoded name that does not decode', { ns2: 'ns2.xn--a.example' }, 'ns2', 'domain'],
  ['a line break', { ns2: 'ns2.reseller-dns.example\r\nx: y' }, 'ns2', 'pattern'],
])('%s: responds with 422 that names the field and the rule, and changes nothing', async (_, wrong, field, rule) => {
  const service = await startService();
  await register(service, DOMAIN);
  const before = await footprint(service);
  const { status, body } = await service.call('setDomainNameservers', { path, form: { ns1: ns(1), ns2: ns(2), ...wrong } });
  expect(status).toBe(422);
  expect(body.data.fields).toContainEqual({ field, rule, message: expect.stringMatching(/\w/) });
  expect(await footprint(service)).toEqual(before);
});

test('responds with 409 during another change, which takes effect', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const resume = pauseRegistrar(service);
  const first = service.call('setDomainNameservers', { path, form: FIVE });
  await untilReserved(service);
  for (const second of [
    await service.call('setDomainNameservers', { path, form: { ns1: 'default', ns2: 'default' } }),
    await service.call('requestDomainAuthcode', { path }),
  ]) {
    expect(second).toMatchObject({ status: 409, body: { type: 'wrong_state' } });
  }
  resume();
  expect((await first).status).toBe(200);
  expect((await service.call('getDomain', { path })).body.data.nameserver).toEqual(FIVE);
  expect(service.registrar.domains.get(DOMAIN)?.nameservers).toEqual(Object.values(FIVE));
});

test('registrar and store have the same nameservers after many concurrent changes', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const responses = await Promise.all(
    Array.from({ length: 10 }, (_, index) => service.call('setDomainNameservers', { path, form: { ns1: ns(index), ns2: ns(index + 1) } })),
  );
  for (const { status } of responses) expect([200, 409]).toContain(status);
  const { ns1, ns2 } = (await service.call('getDomain', { path })).body.data.nameserver;
  expect(service.registrar.domains.get(DOMAIN)?.nameservers).toEqual([ns1, ns2]);
});

test('responds with 500 if the registrar fails, and keeps the previous nameservers on both sides', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const shown = async () => (await service.call('getDomain', { path })).body.data;
  const before = [await shown(), service.registrar.domains.get(DOMAIN)];
  service.registrar.failing = new Error('no');
  expect((await service.call('setDomainNameservers', { path, form: FIVE })).status).toBe(500);
  expect([await shown(), service.registrar.domains.get(DOMAIN)]).toEqual(before);
  expect((await service.call('setDomainNameservers', { path, form: FIVE })).status).toBe(200);
});
