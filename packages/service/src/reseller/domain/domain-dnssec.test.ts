/** DNSSEC of domains. The registry must never have a DS record that resolvers cannot match with a key. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { DS_RECORD, footprint, handleOf, PHONE, register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };
const OWN = { ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example' };
const STANDARD = { ns1: 'default', ns2: 'default' };
const OWN_RECORD = { key_tag: 60_485, algorithm: 13, digest_type: 2, digest: 'd4b7d520e7bb5f0f'.repeat(4) };
const OFF = { domain: DOMAIN, status: 'disabled', managed_by: null, ds_records: [], disabled_at: null };
/** The clock of a test service starts at 2026-11-10T12:03:17Z. */
const SETTLED = '2026-11-12T12:03:17.000Z';
const JUST_BEFORE = '2026-11-12T12:03:16.999Z';

async function startWithDomain(nameservers: object = {}, given: Parameters<typeof startOperator>[0] = {}) {
  const service = await startOperator(given);
  await register(service, DOMAIN, service.apiKey, nameservers);
  await service.runScheduledJobs();
  return {
    service,
    enable: (ds_records?: string, more: object = {}) =>
      service.call('enableDomainDnssec', { path, ...(ds_records !== undefined && { form: { ds_records } }), ...more }),
    disable: () => service.call('disableDomainDnssec', { path }),
    shown: async (apiKey = service.apiKey) => (await service.call('getDomainDnssec', { path, apiKey })).body.data,
    setNameservers: (form: object) => service.call('setDomainNameservers', { path, form: { ...form } }),
    atRegistry: () => service.registrar.domains.get(DOMAIN)?.dsRecords,
    eventTypes: async () => {
      await service.runScheduledJobs();
      return (await service.call('listEvents', { form: {} })).body.data.events.map(({ type }: { type: string }) => type);
    },
  };
}

describe.each(engines)('on %s', (engine) => {
  test('gives the registry the DS records of the zone that the DNS server signs, and removes them', async () => {
    const { service, enable, disable, shown, atRegistry, eventTypes } = await startWithDomain({}, { engine });
    const state = async () => (await operator.getDomain({ client: service.client, path })).dnssec;
    const signed = await service.dns.dsRecords(DOMAIN);
    expect(signed).toHaveLength(1);
    expect([await shown(), await state()]).toEqual([OFF, 'disabled']);
    const before = (await eventTypes()).length;
    const { status, body } = await enable();
    expect([status, body.message]).toEqual([200, 'DNSSEC was turned on.']);
    expect(body.data).toMatchObject({ status: 'enabled', managed_by: 'service', disabled_at: null });
    expect(body.data.ds_records).toEqual(
      signed.map(({ keyTag, algorithm, digestType, digest }) => ({ key_tag: keyTag, algorithm, digest_type: digestType, digest })),
    );
    expect(atRegistry()).toEqual(signed);
    expect([await shown(), await state()]).toEqual([body.data, 'enabled']);
    expect((await eventTypes()).slice(before)).toEqual(['domain.changed']);
    const off = (await disable()).body;
    expect(off.data).toEqual({ ...OFF, status: 'disabling', disabled_at: SETTLED });
    expect(atRegistry()).toEqual([]);
    expect([await shown(), await state()]).toEqual([off.data, 'disabling']);
    service.clock.advanceTo(JUST_BEFORE);
    expect((await shown()).status).toBe('disabling');
    service.clock.advanceTo(SETTLED);
    expect([await shown(), await state()]).toEqual([OFF, 'disabled']);
    await expectInvariants(service.store);
  });

  test('moves to another account with the same nameservers, and is refused with others', async () => {
    const { service, enable, shown, atRegistry } = await startWithDomain({}, { engine });
    await enable();
    const before = await shown();
    const { authcode } = (await service.call('requestDomainAuthcode', { path })).body.data;
    // An auth code, with which the domain can leave, changes nothing.
    expect(await shown()).toEqual(before);
    const { apiKey } = await service.account();
    const form = { domain: DOMAIN, handle: await handleOf(service, { apiKey, phone: PHONE }), authcode };
    const unchanged = await footprint(service);
    const refused = await service.call('registerDomain', { form: { ...form, ...OWN }, apiKey });
    expect(refused).toMatchObject({ status: 409, body: { type: 'wrong_state', message: expect.stringContaining('DNSSEC of') } });
    expect(await footprint(service)).toEqual(unchanged);
    expect((await service.call('registerDomain', { form, apiKey })).status).toBe(200);
    expect(await shown(apiKey)).toEqual(before);
    expect(atRegistry()).toEqual(await service.dns.dsRecords(DOMAIN));
    await expectInvariants(service.store);
  });
});

test('takes the DS records of nameservers of the account, and replaces them', async () => {
  const { enable, shown, atRegistry } = await startWithDomain(OWN);
  const { status, body } = await enable(DS_RECORD.toUpperCase());
  expect([status, body.data]).toEqual([
    200,
    { domain: DOMAIN, status: 'enabled', managed_by: 'account', ds_records: [OWN_RECORD], disabled_at: null },
  ]);
  const longest = `65535 8 4 ${'0123456789abcdef'.repeat(6)}`;
  expect((await enable(`${longest}, ${DS_RECORD}`)).body.data.ds_records).toMatchObject([{ key_tag: 65_535, digest_type: 4 }, OWN_RECORD]);
  expect(atRegistry()).toMatchObject([{ keyTag: 65_535, digest: '0123456789abcdef'.repeat(6) }, { keyTag: 60_485 }]);
  const eight = Array.from({ length: 8 }, (_, index) => `${index} 13 2 ${'0'.repeat(64)}`);
  expect((await enable(eight.join(','))).status).toBe(200);
  expect((await shown()).ds_records).toHaveLength(8);
});

const DIGEST = '0'.repeat(64);
const [HALF, OTHER] = ['0A'.repeat(16), 'bf'.repeat(16)];
test.each([
  ['the line of dnssec-dsfromkey', `reseller-own.net. IN DS 60485 13 2 ${HALF}${OTHER}`],
  ['the line of dig', `reseller-own.net.\t3600\tIN\tDS\t60485 13 2 ${HALF} ${OTHER}`],
  ['the line of pdnsutil', `reseller-own.net. IN DS 60485 13 2 ${HALF}${OTHER} ; ( SHA256 digest )`],
  ['a digest in two words', `60485 13 2 ${HALF} ${OTHER}`],
  ['a name that is ds', `ds IN DS 60485 13 2 ${HALF}${OTHER}`],
  ['blanks', `  60485  13 2 ${HALF}${OTHER} `],
  ['a line break at the end', `60485 13 2 ${HALF}${OTHER}\r\n`],
])('takes %s', async (_, text) => {
  const { enable } = await startWithDomain(OWN);
  const { status, body } = await enable(text);
  expect([status, body.data.ds_records]).toMatchObject([
    200,
    [{ key_tag: 60_485, algorithm: 13, digest_type: 2, digest: `${HALF}${OTHER}`.toLowerCase() }],
  ]);
});

test('takes records in lines, as dnssec-dsfromkey prints those of two keys', async () => {
  const { enable } = await startWithDomain(OWN);
  const lines = [1, 2].map((tag) => `reseller-own.net. IN DS ${tag} 13 2 ${DIGEST}`);
  expect((await enable(`${lines.join('\n')}\n`)).body.data.ds_records).toMatchObject([{ key_tag: 1 }, { key_tag: 2 }]);
});

test.each([
  ['an empty text', '', 'pattern'],
  ['a key tag that is too high', `65536 13 2 ${DIGEST}`, 'pattern'],
  ['a digest with a digit less', `1 13 2 ${DIGEST.slice(1)}`, 'pattern'],
  ['a digest with a digit more', `1 13 2 ${DIGEST}0`, 'pattern'],
  ['a digest of the other type', `1 13 4 ${DIGEST}`, 'pattern'],
  ['a digest with SHA-1', `1 13 1 ${'0'.repeat(40)}`, 'pattern'],
  ['an algorithm with SHA-1', `1 5 2 ${DIGEST}`, 'pattern'],
  ['an unknown algorithm', `1 17 2 ${DIGEST}`, 'pattern'],
  ['the same record twice', `1 13 2 ${'a'.repeat(64)}, 1 13 2 ${'A'.repeat(64)}`, 'distinct'],
  ['nine records', Array.from({ length: 9 }, (_, index) => `${index} 13 2 ${DIGEST}`).join(','), 'pattern'],
])('%s for nameservers of the account: responds with 422, and changes nothing', async (_, text, rule) => {
  const { service, enable } = await startWithDomain(OWN);
  const before = await footprint(service);
  const { status, body } = await enable(text);
  expect(status).toBe(422);
  expect(body.data.fields).toContainEqual({ field: 'ds_records', rule, message: expect.stringMatching(/\w/) });
  expect(await footprint(service)).toEqual(before);
});

test('refuses DS records for the nameservers of the provider, and needs them if one is another', async () => {
  const { enable, setNameservers } = await startWithDomain();
  expect(await enable(DS_RECORD)).toMatchObject({ status: 409, body: { message: expect.stringContaining('without ds_records') } });
  await setNameservers({ ns1: 'default', ns2: 'default', ns3: 'ns3.reseller-dns.example' });
  expect(await enable()).toMatchObject({ status: 409, body: { message: expect.stringContaining('send its DS records') } });
});

test('refuses nameservers with other keys while resolvers have DS records, and allows those with the same keys', async () => {
  const { service, enable, disable, setNameservers, shown } = await startWithDomain();
  await enable();
  expect((await setNameservers({ ...STANDARD, ns3: 'default' })).status).toBe(200);
  const before = await footprint(service);
  for (const form of [OWN, { ...STANDARD, ns3: 'ns3.reseller-dns.example' }]) {
    const message = expect.stringMatching(
      /^DNSSEC of reseller-customer\.net is on, .*POST \/domain\/reseller-customer\.net\/dnssec\/disable/,
    );
    expect(await setNameservers(form)).toMatchObject({ status: 409, body: { type: 'wrong_state', message } });
  }
  expect(await footprint(service)).toEqual(before);
  await disable();
  service.clock.advanceTo(JUST_BEFORE);
  expect(await setNameservers(OWN)).toMatchObject({ status: 409, body: { message: expect.stringContaining(SETTLED) } });
  service.clock.advanceTo(SETTLED);
  expect((await setNameservers(OWN)).status).toBe(200);
  expect(await shown()).toEqual(OFF);
});

test('allows nameservers of the account in another order, and no others', async () => {
  const { enable, setNameservers } = await startWithDomain(OWN);
  await enable(DS_RECORD);
  expect((await setNameservers({ ns1: OWN.ns2, ns2: OWN.ns1 })).status).toBe(200);
  expect((await setNameservers({ ...OWN, ns3: 'ns3.reseller-dns.example' })).status).toBe(409);
  expect((await setNameservers(STANDARD)).status).toBe(409);
});

test('cannot be turned on until resolvers have the new nameservers', async () => {
  const { service, enable, setNameservers, shown, atRegistry } = await startWithDomain();
  await setNameservers(OWN);
  service.clock.advanceTo(JUST_BEFORE);
  expect(await enable(DS_RECORD)).toMatchObject({ status: 409, body: { message: expect.stringContaining(SETTLED) } });
  expect([atRegistry(), await shown()]).toEqual([[], OFF]);
  service.clock.advanceTo(SETTLED);
  expect((await enable(DS_RECORD)).status).toBe(200);
});

test('can be turned on again while it is being turned off', async () => {
  const { enable, disable, shown } = await startWithDomain();
  const on = (await enable()).body.data;
  await disable();
  expect((await enable()).body.data).toEqual(on);
  expect(await shown()).toEqual(on);
});

test('a domain without DNSSEC is left as it is when it is turned off', async () => {
  const { service, disable } = await startWithDomain();
  const before = await footprint(service);
  expect((await disable()).body.data).toEqual(OFF);
  expect(await footprint(service)).toEqual(before);
});

test('a new domain can have DNSSEC as soon as the DNS server has its zone', async () => {
  const service = await startOperator();
  await register(service, DOMAIN);
  const before = await footprint(service);
  expect(await service.call('enableDomainDnssec', { path })).toMatchObject({ status: 409, body: { type: 'wrong_state' } });
  expect(await footprint(service)).toEqual(before);
  await service.runScheduledJobs();
  expect((await service.call('enableDomainDnssec', { path })).status).toBe(200);
});

test('responds with 503 if the DNS server fails, and changes nothing; a repeated request gets its stored response', async () => {
  const { service, enable } = await startWithDomain();
  const first = await enable(undefined, { idempotencyKey: 'one' });
  Object.assign(service.dns, { dsRecords: () => Promise.reject(new Error('no')) });
  const before = await footprint(service);
  expect((await enable()).status).toBe(503);
  expect(await footprint(service)).toEqual(before);
  expect((await enable(undefined, { idempotencyKey: 'one' })).body).toEqual(first.body);
});

test('a failure of the registrar leaves no DS record there, and counts as one that resolvers may have got', async () => {
  const { service, enable, setNameservers, shown, atRegistry } = await startWithDomain();
  service.registrar.failing = new Error('no');
  expect((await enable()).status).toBe(500);
  expect(atRegistry()).toEqual([]);
  expect(await shown()).toMatchObject({ status: 'disabling', disabled_at: SETTLED });
  expect((await setNameservers(OWN)).status).toBe(409);
  expect((await enable()).status).toBe(200);
});

test('a failure of the registrar leaves the DS records that were to be removed', async () => {
  const { service, enable, disable, shown, atRegistry } = await startWithDomain();
  const on = (await enable()).body.data;
  service.registrar.failing = new Error('no');
  expect((await disable()).status).toBe(500);
  expect(await shown()).toEqual(on);
  expect(atRegistry()).toHaveLength(1);
});

test('a domain with DNSSEC at its present provider is not transferred, and one without it waits for its nameservers', async () => {
  const service = await startOperator();
  const form = { domain: 'signed-elsewhere.net', handle: await handleOf(service), authcode: 'example-authcode-1' };
  const before = await footprint(service);
  const message = expect.stringContaining('Have it turned off there, wait 2 days');
  expect(await service.call('registerDomain', { form })).toMatchObject({ status: 409, body: { type: 'wrong_state', message } });
  expect(await footprint(service)).toEqual(before);
  expect((await service.call('registerDomain', { form: { ...form, domain: DOMAIN } })).status).toBe(200);
  await service.runScheduledJobs();
  service.clock.advanceTo(JUST_BEFORE);
  expect((await service.call('enableDomainDnssec', { path })).status).toBe(409);
  service.clock.advanceTo(SETTLED);
  expect((await service.call('enableDomainDnssec', { path })).status).toBe(200);
});

test('a cancelled domain keeps its DS records until it ends, and has none when another account registers it', async () => {
  const { service, enable, shown, atRegistry } = await startWithDomain();
  const on = (await enable()).body.data;
  await service.call('deleteDomain', { path });
  expect([await shown(), atRegistry()]).toEqual([on, await service.dns.dsRecords(DOMAIN)]);
  service.clock.advanceTo('2027-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const { apiKey } = await service.account();
  await register(service, DOMAIN, apiKey);
  expect([await shown(apiKey), atRegistry()]).toEqual([OFF, []]);
});

test('responds with 501 that names what the infrastructure lacks', async () => {
  const { service, enable, setNameservers } = await startWithDomain();
  Object.assign(service.dns, { dsRecords: undefined });
  const lacking = (what: string) => ({ status: 501, body: { type: 'not_implemented', message: expect.stringContaining(what) } });
  expect(await enable()).toMatchObject(lacking('The DNS server of this service'));
  await setNameservers(OWN);
  service.clock.advanceTo(SETTLED);
  expect((await enable(DS_RECORD)).status).toBe(200);
  Object.assign(service.registrar, { setDsRecords: undefined });
  expect(await enable(DS_RECORD)).toMatchObject(lacking('The registrar of this service'));
  expect(await service.call('disableDomainDnssec', { path })).toMatchObject(lacking('The registrar of this service'));
});
