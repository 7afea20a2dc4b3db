/** The PowerDNS adapter on a real server. */
import { createHash } from 'node:crypto';

import { describe, expect, onTestFinished, test } from 'vitest';

import { amountOf } from '../../../../.config/depth.ts';
import { dig } from '../../test/dig.ts';
import { noPowerDns, SERVICE_ID, startPowerDns } from '../../test/powerdns.ts';
import type { PowerDnsServer } from '../../test/powerdns.ts';
import { dnsConformance } from '../conformance/dns.ts';
import type { DnsStranger, DnsSystem } from '../conformance/dns.ts';
import type { DsRecord } from '../dns.ts';
import { memoryFence } from '../fencing.ts';
import { contentOf } from './content.ts';
import { powerDns, PowerDnsError } from './dns.ts';

const NAME = 'reseller-customer.net';
const zone = { name: NAME, nameservers: ['ns1.provider.example'], records: [{ name: NAME, type: 'A', ttl: 60, data: ['198.51.100.1'] }] };

/** Another program, which creates zones without an account. */
function strangerOn({ api }: PowerDnsServer): DnsStranger {
  async function own(): Promise<readonly { readonly name: string; readonly account: string }[]> {
    const zones: unknown = await (await api('GET', '/zones')).json();
    if (!Array.isArray(zones)) throw new TypeError('PowerDNS returned no list.');
    return zones.filter(({ account }) => account !== SERVICE_ID).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }
  return {
    async create(name) {
      const rrsets = [{ name: `${name}.`, type: 'TXT', ttl: 60, records: [{ content: '"of a stranger"', disabled: false }] }];
      await api('POST', '/zones', { name: `${name}.`, kind: 'Native', nameservers: ['ns1.stranger.example.'], rrsets });
    },
    async remove(name) {
      if ((await own()).some((zoneOfStranger) => zoneOfStranger.name === `${name}.`)) await api('DELETE', `/zones/${name}.`);
    },
    async state() {
      return JSON.stringify(await Promise.all((await own()).map(async ({ name }) => (await api('GET', `/zones/${name}`)).json())));
    },
  };
}

/** The DS record with SHA-256 of a key in the form of zone files (RFC 4034, 5.1.4 and appendix B). */
function dsRecordOf(name: string, key: string): DsRecord {
  const [flags = 0, protocol = 0, algorithm = 0] = key.split(' ').map(Number);
  const data = Buffer.concat([
    Buffer.of(flags >> 8, flags & 0xff, protocol, algorithm),
    Buffer.from(key.split(' ').slice(3).join(''), 'base64'),
  ]);
  const owner = Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCodePoint(label.length)}${label}`)),
    Buffer.of(0),
  ]);
  const sum = data.reduce((total, byte, index) => total + (index % 2 === 0 ? byte << 8 : byte), 0);
  const digest = createHash('sha256').update(owner).update(data).digest('hex');
  return { keyTag: (sum + (sum >> 16)) & 0xffff, algorithm, digestType: 2, digest };
}

async function startSystem(): Promise<DnsSystem> {
  const server = await startPowerDns();
  return { open: async (fence) => server.open(fence), resolve: server.resolve, stranger: strangerOn(server), close: server.stop };
}

describe.skipIf(noPowerDns !== undefined)(`PowerDNS${noPowerDns === undefined ? '' : `: ${noPowerDns}`}`, () => {
  const cases = dnsConformance(startSystem, { strangerSteps: amountOf('DNS_STRANGER_STEPS', { usual: 100, deep: 10_000 }) });
  test.each(cases)('$name', ({ run }) => expect(run()).resolves.toBeUndefined());

  async function startServer(): Promise<PowerDnsServer> {
    const server = await startPowerDns();
    onTestFinished(() => server.stop());
    return server;
  }

  test('signs new zones, and keeps the keys when a zone changes', async () => {
    const server = await startServer();
    const dns = server.open(memoryFence());
    await dns.publish(zone, 1);
    const keys = async (): Promise<unknown> => (await server.api('GET', `/zones/${NAME}./cryptokeys`)).json();
    const before = await keys();
    expect(before).toMatchObject([{ active: true, ds: expect.any(Array) }]);
    await dns.publish({ ...zone, records: [] }, 2);
    expect(await keys()).toEqual(before);
  });

  test('reports the DS record of the key with which it signs, and none of a zone that it does not sign or have', async () => {
    const server = await startServer();
    const dns = server.open(memoryFence());
    expect(await dns.dsRecords?.(NAME)).toEqual([]);
    await dns.publish(zone, 1);
    const keys = await dig(server.dnsPort, NAME, 'DNSKEY');
    expect(keys).toHaveLength(1);
    expect(await dns.dsRecords?.(NAME)).toEqual(keys.map((key) => dsRecordOf(NAME, key)));
    await dns.remove(NAME, 2);
    const { url, apiKey } = server;
    const unsigned = powerDns({ url, apiKey, serviceId: SERVICE_ID, fence: memoryFence(), dnssec: false });
    await unsigned.publish(zone, 3);
    expect([await dns.dsRecords?.(NAME), unsigned.dsRecords]).toEqual([[], undefined]);
    await strangerOn(server).create('stranger.net');
    await expect(dns.dsRecords?.('stranger.net')).rejects.toBeInstanceOf(PowerDnsError);
  });

  test('refuses a zone of another program with its name, and says what to do', async () => {
    const server = await startServer();
    await strangerOn(server).create(NAME);
    const dns = server.open(memoryFence());
    await expect(dns.publish(zone, 1)).rejects.toThrow(
      `PowerDNS has a zone ${NAME} of no account, so this service (account ${SERVICE_ID}) does not change it. Remove that zone, or give it this account.`,
    );
    await expect(dns.remove(NAME, 2)).rejects.toBeInstanceOf(PowerDnsError);
  });

  test('names the reason of PowerDNS, without the API key', async () => {
    const server = await startServer();
    const dns = powerDns({ url: server.url, apiKey: 'wrong-key-1234', serviceId: SERVICE_ID, fence: memoryFence() });
    const error: unknown = await dns.publish(zone, 1).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PowerDnsError);
    expect(String(error)).toMatch(/status 401/);
    expect(String(error)).not.toContain('wrong-key-1234');
  });
});

test.each([
  ['ALIAS', 'web.example.net', 'web.example.net.'],
  ['DNAME', 'example.net', 'example.net.'],
  ['HTTPS', '1 . alpn=h3', '1 . alpn=h3'],
  ['SVCB', '1 . mandatory=alpn,dohpath alpn="h2" dohpath="/q{?dns}"', '1 . mandatory=alpn,key7 alpn=h2 key7="/q{?dns}"'],
  ['SVCB', '1 svc.example.net port=8443', '1 svc.example.net. port=8443'],
  ['NAPTR', '100 10 "S" "SIP+D2U" "" _sip._udp.example.net', '100 10 "S" "SIP+D2U" "" _sip._udp.example.net.'],
  ['NAPTR', '100 10 "u" "E2U+sip" "!^.* $!sip:a@b!" .', '100 10 "u" "E2U+sip" "!^.* $!sip:a@b!" .'],
  ['TLSA', '3 1 1 abcd', '3 1 1 abcd'],
  ['CAA', '0 issue "ca.example"', '0 issue "ca.example"'],
])('writes the data of a record of the type %s', (type, data, content) => {
  expect(contentOf(type, data)).toBe(content);
});
