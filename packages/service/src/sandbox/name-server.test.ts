/** The name server of a sandbox, asked by the resolver of Node.js over UDP and TCP. */
import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect } from 'node:net';

import packet from 'dns-packet';
import type { KyselyPlugin } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';

import { dig, noDig } from '../../../adapters/test/dig.ts';
import { register } from '../../test/domains.ts';
import { SMALL_VM, startService } from '../../test/harness.ts';
import { insertMany } from '../../test/insert-many.ts';
import { answerFrom } from '../core/domain/answers.ts';
import { reverseNameOf } from '../rules/reverse-dns.ts';
import { startNameServer } from './name-server.ts';

const path = { domain: 'reseller-customer.net' };

async function startWithZone() {
  const service = await startService();
  await register(service, path.domain);
  const server = await startNameServer(service, { host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.close());
  const resolver = new Resolver({ timeout: 5_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${server.port}`]);
  const add = async (type: string, sub: string, data: string) =>
    expect(await service.call('addDomainDns', { path, form: { type, sub, data } })).toMatchObject({ status: 200 });
  return { service, resolver, add, port: server.port };
}

const code = (error: unknown): unknown => Object(error).code;

test('answers for records of each type as soon as they are added, and with the new data as soon as they are changed', async () => {
  const { service, resolver, add } = await startWithZone();
  await add('A', '', '198.51.100.23');
  await add('AAAA', '', '2001:db8::23');
  await add('MX', '', '10 mail.reseller-customer.net');
  await add('SRV', '_sip._tcp', '10 5 5060 sip.example.net');
  await add('CAA', '', '0 issue "ca.example; account=1"');
  await add('CAA', 'mail', '128 issuemail ";"');
  await add('TXT', 'long', `v=DKIM1; "${'k'.repeat(600)}" \\ end`);
  expect(await resolver.resolve4(path.domain)).toEqual(['198.51.100.23']);
  expect(await resolver.resolve6(path.domain)).toEqual(['2001:db8::23']);
  expect(await resolver.resolveMx(path.domain)).toMatchObject([{ priority: 10, exchange: 'mail.reseller-customer.net' }]);
  expect(await resolver.resolveSrv(`_sip._tcp.${path.domain}`)).toMatchObject([
    { priority: 10, weight: 5, port: 5060, name: 'sip.example.net' },
  ]);
  expect(await resolver.resolveCaa(path.domain)).toMatchObject([{ critical: 0, issue: 'ca.example; account=1' }]);
  expect(await resolver.resolveCaa(`mail.${path.domain}`)).toMatchObject([{ critical: 128, issuemail: ';' }]);
  expect(await resolver.resolveNs(path.domain)).toEqual(['ns1.provider.example', 'ns2.provider.example']);
  expect(await resolver.resolveSoa(path.domain)).toMatchObject({ nsname: 'ns1.provider.example' });
  // Longer than a response over UDP, so the resolver asks again over TCP.
  expect((await resolver.resolveTxt(`LONG.${path.domain}`)).map((parts) => parts.join(''))).toEqual([
    `v=DKIM1; "${'k'.repeat(600)}" \\ end`,
  ]);
  const record = (await service.call('listDomainDns', { path })).body.data.find(({ type }: { type: string }) => type === 'A');
  await service.call('editDomainDnsRecord', { path: { ...path, record_id: record.record_id }, form: { data: '198.51.100.99' } });
  expect(await resolver.resolve4(path.domain)).toEqual(['198.51.100.99']);
});

test.each([
  ['the name of the record itself', '1 . port=8443', '0001 00 0003 0002 20fb'],
  ['another name', '0 w.example.net', '0000 01 77 07 6578616d706c65 03 6e6574 00'],
])('sends the data of an HTTPS record whose target is %s byte for byte', async (_, data, bytes) => {
  const { add, port } = await startWithZone();
  await add('HTTPS', '', data);
  const client = createSocket('udp4');
  onTestFinished(() => void client.close());
  const question = Object.assign({ name: path.domain, type: 'NULL' } as const, { type: 'UNKNOWN_65' });
  client.send(packet.encode({ type: 'query', id: 7, questions: [question] }), port, '127.0.0.1');
  const [message] = await once(client, 'message');
  expect(packet.decode(message).answers).toMatchObject([{ type: 'UNKNOWN_65', data: Buffer.from(bytes.replaceAll(' ', ''), 'hex') }]);
});

test('follows aliases, answers for wildcards, and leaves delegated names to other servers', async () => {
  const { resolver, add } = await startWithZone();
  await add('A', 'web', '198.51.100.1');
  await add('CNAME', 'www', 'web.reseller-customer.net');
  await add('CNAME', 'shop', 'shops.example.net');
  await add('A', '*', '198.51.100.2');
  await add('A', 'a.b', '198.51.100.3');
  await add('NS', 'branch', 'ns.branch.example.net');
  const at = (name: string) => resolver.resolve4(`${name}.${path.domain}`);
  expect([await at('www'), await at('any.thing'), await at('a.b')]).toEqual([['198.51.100.1'], ['198.51.100.2'], ['198.51.100.3']]);
  expect(await resolver.resolveCname(`shop.${path.domain}`)).toEqual(['shops.example.net']);
  // The name exists, because one below it has a record. So the wildcard is not responsible for it.
  await expect(at('b')).rejects.toSatisfy((error) => code(error) === 'ENODATA');
  await expect(resolver.resolveMx(`web.${path.domain}`)).rejects.toSatisfy((error) => code(error) === 'ENODATA');
  await expect(at('host.branch')).rejects.toSatisfy((error) => code(error) === 'ENODATA');
});

test('answers dig -x for the addresses of VMs, and leaves out addresses without a name', async () => {
  const { service, resolver } = await startWithZone();
  const { body } = await service.call('createVm', { form: { ...SMALL_VM, default_ptr: 'web1.example.org' } });
  const at = { vmid: String(body.data.identifier) };
  const { list } = (await service.call('listVmRdns', { path: at })).body.data;
  const [ipv4, ipv6]: string[] = list.map(({ ip_address }: { ip_address: string }) => ip_address);
  expect(await resolver.reverse(ipv4 ?? '')).toEqual(['web1.example.org']);
  expect(await resolver.reverse(ipv6 ?? '')).toEqual(['web1.example.org']);
  await service.call('setVmRdns', { path: at, form: { domain: 'mail.example.org', ip_address: ipv4 } });
  expect(await resolver.reverse(ipv4 ?? '')).toEqual(['mail.example.org']);
  await service.call('removeVmRdns', { path: { ...at, ip_address: ipv4 ?? '' } });
  await expect(resolver.reverse(ipv4 ?? '')).rejects.toSatisfy((error) => code(error) === 'ENOTFOUND');
  await expect(resolver.reverse('100.64.0.255')).rejects.toSatisfy((error) => code(error) === 'ENOTFOUND');
  for (const address of ['198.51.100.1', '2001:db8:ffff::1'])
    await expect(resolver.resolvePtr(reverseNameOf(address))).rejects.toSatisfy((error) => code(error) === 'EREFUSED');
});

test('says that a name does not exist, and refuses names of no zone', async () => {
  const { resolver, add } = await startWithZone();
  await add('A', 'www', '198.51.100.1');
  await expect(resolver.resolve4(`none.${path.domain}`)).rejects.toSatisfy((error) => code(error) === 'ENOTFOUND');
  for (const name of ['other.net', 'net', `x${path.domain}`])
    await expect(resolver.resolve4(name)).rejects.toSatisfy((error) => code(error) === 'EREFUSED');
});

test('reads few rows for a question, however large the zone is', async () => {
  const { service, add } = await startWithZone();
  await add('A', '*.wild.deep', '198.51.100.2');
  const changed = service.clock.now();
  const records = Array.from({ length: 5_000 }, (_, index) => ({
    id: `record-${index}`,
    domain: path.domain,
    sub: `host${index}.deep`,
    type: 'A',
    data: '198.51.100.1',
    ttl: 60,
    changed,
  }));
  await service.store.commit(({ db }) => insertMany(service.store, db, 'dns_records', records));
  let rows = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      rows += result.rows.length;
      return result;
    },
  };
  const outcomes = [];
  for (const sub of ['host17.deep', 'none.deep', 'x.wild.deep', 'deep', 'none', `${'a.'.repeat(100)}deep`]) {
    const question = { name: `${sub}.${path.domain}`, type: 'A', nameservers: [] };
    const { outcome, answers } = await service.store.read((db) => answerFrom(db.withPlugin(counting), question));
    outcomes.push([outcome, answers.length]);
  }
  expect(outcomes).toEqual([
    ['NOERROR', 1],
    ['NXDOMAIN', 0],
    ['NOERROR', 1],
    ['NOERROR', 0],
    ['NXDOMAIN', 0],
    ['NXDOMAIN', 0],
  ]);
  expect(rows).toBeLessThan(40);
});

test('ignores what is not a query, over UDP and TCP, and goes on', async () => {
  const { resolver, add, port } = await startWithZone();
  await add('A', '', '198.51.100.1');
  const socket = createSocket('udp4');
  onTestFinished(() => void socket.close());
  const query = packet.encode({ type: 'query', id: 1, questions: [{ type: 'A', name: path.domain }] });
  const response = packet.encode({ type: 'response', id: 1, questions: [{ type: 'A', name: path.domain }] });
  for (const message of [Buffer.alloc(1), Buffer.alloc(600, 0xff), query.subarray(0, 20), response])
    socket.send(message, port, '127.0.0.1');
  for (const message of [Buffer.from([0xff, 0xff]), Buffer.concat([Buffer.from([0, 3]), Buffer.alloc(3, 0xff)])]) {
    const connection = connect(port, '127.0.0.1');
    connection.write(message);
    await once(connection, 'close');
  }
  expect(await resolver.resolve4(path.domain)).toEqual(['198.51.100.1']);
});

test('shows dig the further types and quoted text as they were written', { tags: 'outer' }, async ({ skip }) => {
  if (noDig !== undefined) skip(noDig);
  const { service, add, port } = await startWithZone();
  const digest = '0123456789abcdef'.repeat(4);
  const written = [
    ['TLSA', '_443._tcp', `3 1 1 ${digest}`],
    ['HTTPS', '', '1 . alpn="h2,h3" port=8443 ipv4hint=198.51.100.23 ech=AEX+DQ== ipv6hint=2001:db8::23 key65000="a"'],
    ['SVCB', '_dns', '1 dns.example.net mandatory=alpn alpn="dot" no-default-alpn'],
    ['SSHFP', 'host', `4 2 ${digest}`],
    ['NAPTR', '', String.raw`100 10 "u" "E2U+sip" "!^\\+49 (.*)$!sip:\\1@example.net!" .`],
    ['NAPTR', 'sip', '100 10 "S" "SIP+D2U" "" _sip._udp.example.net'],
    ['DNAME', 'old', 'example.org'],
    ['CAA', '', String.raw`0 issue "ca.example; a=\"b\\"`],
  ] as const;
  for (const [type, sub, data] of written) {
    await add(type, sub, data);
    expect(await dig(port, sub === '' ? path.domain : `${sub}.${path.domain}`, type)).toEqual([data]);
  }
  await add('TXT', 'text', String.raw`"v=DKIM1\; say \"hello\" \\ end"`);
  const texts = (await service.call('listDomainDns', { path })).body.data.filter(({ type }: { type: string }) => type === 'TXT');
  expect(texts).toMatchObject([{ data: String.raw`v=DKIM1; say "hello" \ end` }]);
  expect(await dig(port, `text.${path.domain}`, 'TXT')).toEqual([String.raw`"v=DKIM1; say \"hello\" \\ end"`]);
});

test('gives the name of an ALIAS the addresses of another name, also of another zone, and fails for names that it does not know', async () => {
  const { service, resolver, add } = await startWithZone();
  await register(service, 'second.net');
  const addToSecond = (type: string, sub: string, data: string) =>
    service.call('addDomainDns', { path: { domain: 'second.net' }, form: { type, sub, data, ttl: 60 } });
  await add('ALIAS', '', 'web.second.net');
  await add('MX', '', '10 mail.example.net');
  await addToSecond('ALIAS', 'web', 'host.second.net');
  await addToSecond('A', 'host', '198.51.100.7');
  expect(await resolver.resolve4(path.domain, { ttl: true })).toEqual([{ address: '198.51.100.7', ttl: 60 }]);
  await expect(resolver.resolve6(path.domain)).rejects.toSatisfy((error) => code(error) === 'ENODATA');
  expect(await resolver.resolveMx(path.domain)).toHaveLength(1);
  await add('ALIAS', 'far', 'host.elsewhere.example');
  await expect(resolver.resolve4(`far.${path.domain}`)).rejects.toSatisfy((error) => code(error) === 'ESERVFAIL');
  await add('ALIAS', 'one', `two.${path.domain}`);
  await add('ALIAS', 'two', `one.${path.domain}`);
  await expect(resolver.resolve4(`one.${path.domain}`)).rejects.toSatisfy((error) => code(error) === 'ESERVFAIL');
});

test('answers for a name below a DNAME with the name that takes its place', async () => {
  const { resolver, add } = await startWithZone();
  await add('A', 'www.new', '198.51.100.8');
  await add('DNAME', 'old', `new.${path.domain}`);
  expect(await resolver.resolve4(`www.old.${path.domain}`)).toEqual(['198.51.100.8']);
  expect(await resolver.resolveCname(`www.old.${path.domain}`)).toEqual([`www.new.${path.domain}`]);
  await expect(resolver.resolve4(`old.${path.domain}`)).rejects.toSatisfy((error) => code(error) === 'ENODATA');
});

test.each([
  ['IQUERY', 1],
  ['STATUS', 2],
  ['NOTIFY', 4],
  ['UPDATE', 5],
])('a message of the kind %s is not implemented, and changes nothing', async (_, opcode) => {
  const { port } = await startWithZone();
  const client = createSocket('udp4');
  onTestFinished(() => void client.close());
  const question = { type: 'SOA', name: path.domain } as const;
  client.send(packet.encode({ type: 'query', id: 7, flags: opcode << 11, questions: [question] }), port, '127.0.0.1');
  const [message] = await once(client, 'message');
  expect(packet.decode(message)).toMatchObject({ id: 7, type: 'response', rcode: 'NOTIMP', answers: [], authorities: [] });
});
