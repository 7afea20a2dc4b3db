/** The rules for each DNS adapter, as cases for any test runner. */
import assert from 'node:assert/strict';

import type { Dns, RecordSet, Zone } from '../dns.ts';
import type { Fence } from '../fencing.ts';
import { conformanceCases, generator, isStale } from './case.ts';
import type { ConformanceCase } from './case.ts';

export type { ConformanceCase } from './case.ts';

/** The system under an adapter, as the cases see and disturb it. */
export interface DnsSystem {
  /** Creates a new adapter with this fence, as a process does when it starts. */
  open(fence: Fence): Promise<Dns>;
  /**
   * The data of a name and a type as a resolver gets them, in the form of `RecordSet` and in any order. Undefined if the system has no zone for
   * the name. Omit it for a simulation without zones; the cases then only check the tokens.
   */
  resolve?(name: string, type: string): Promise<readonly string[] | undefined>;
  /** Another program in the same system. Omit it if no other program can use the system. */
  readonly stranger?: DnsStranger;
  close(): Promise<void>;
}

/** Another program, whose zones an adapter must leave alone. */
export interface DnsStranger {
  /** Creates a zone, or does nothing if there is one of this name. */
  create(name: string): Promise<void>;
  /** Removes a zone of the stranger. Does nothing if it has none of this name. */
  remove(name: string): Promise<void>;
  /** All zones of the stranger with their contents. Two texts are equal exactly if nothing was changed. */
  state(): Promise<string>;
}

export interface DnsConformanceOptions {
  /** Steps of the case with a second program. Default: 1,000. */
  readonly strangerSteps?: number;
}

const NAME = 'conformance-customer.net';
const NAMESERVERS = ['ns1.provider.example', 'ns2.provider.example'];
const DEFAULT_STRANGER_STEPS = 1_000;
const CONTESTED_ZONES = 4;
const ZONES_TOGETHER = 8;

const RECORDS: readonly RecordSet[] = [
  { name: NAME, type: 'A', ttl: 300, data: ['198.51.100.23', '198.51.100.24'] },
  { name: NAME, type: 'MX', ttl: 300, data: ['10 mail.conformance-customer.net'] },
  { name: `www.${NAME}`, type: 'CNAME', ttl: 60, data: [`web.${NAME}`] },
  { name: `_sip._tcp.${NAME}`, type: 'SRV', ttl: 60, data: ['10 5 5060 sip.example.net'] },
];

const DIGEST = '0123456789abcdef'.repeat(4);

/** The types of which not every program that a provider uses has heard. */
const FURTHER_RECORDS: readonly RecordSet[] = [
  { name: `_443._tcp.${NAME}`, type: 'TLSA', ttl: 60, data: [`3 1 1 ${DIGEST}`] },
  { name: NAME, type: 'HTTPS', ttl: 60, data: ['1 . alpn="h2,h3" port=8443 ipv4hint=198.51.100.23 ipv6hint=2001:db8::23'] },
  { name: `_dns.${NAME}`, type: 'SVCB', ttl: 60, data: ['1 dns.example.net alpn="dot" key65000="a"', '2 dns2.example.net ech=AEX+DQ=='] },
  { name: `doh.${NAME}`, type: 'SVCB', ttl: 60, data: ['1 dns.example.net mandatory=alpn,dohpath alpn="h2" dohpath="/q{?dns}"'] },
  { name: `host.${NAME}`, type: 'SSHFP', ttl: 60, data: [`4 2 ${DIGEST}`, `1 1 ${DIGEST.slice(0, 40)}`] },
  { name: NAME, type: 'NAPTR', ttl: 60, data: [String.raw`100 10 "u" "E2U+sip" "!^\\+49 (.*)$!sip:\\1@example.net!" .`] },
  { name: `sip.${NAME}`, type: 'NAPTR', ttl: 60, data: ['100 10 "S" "SIP+D2U" "" _sip._udp.example.net'] },
  { name: `old.${NAME}`, type: 'DNAME', ttl: 60, data: ['example.org'] },
  { name: NAME, type: 'CAA', ttl: 60, data: [String.raw`0 issue "ca.example; a=\"b\\"`] },
];

const TEXTS = ['plain', 'say "hello"; v=1', 'back\\slash', 'Łódź', 'k'.repeat(600), ''];

interface Bench {
  readonly system: DnsSystem;
  readonly fence: Fence;
  readonly dns: Dns;
}

/** @param start Starts the system, empty, for one case. */
export function dnsConformance(
  start: () => Promise<DnsSystem>,
  { strangerSteps = DEFAULT_STRANGER_STEPS }: DnsConformanceOptions = {},
): ConformanceCase[] {
  const cases: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
    'answers for each record of a zone that was published': publishes,
    'answers for records of each further type': publishesFurtherTypes,
    'answers for the names of addresses in reverse zones': publishesReverseZones,
    'publishes several zones at the same time, and changes them': publishesTogether,
    'publishes the same zone again without a change': repeats,
    'replaces records, and removes those that are missing': replaces,
    'answers for a text as it was written': writesTexts,
    'removes a zone, and does nothing if there is none': removes,
    'reports the same DS records of a zone as long as it exists': reportsDsRecords,
    'rejects a stale call, and does nothing': rejectsStale,
    'goes on after a restart': restarts,
    'changes no zone of another program': (bench) => leavesAlone(bench, strangerSteps),
  };
  return conformanceCases(cases, start, async (system, fence) => ({ system, fence, dns: await system.open(fence) }));
}

/** Only of an adapter that signs zones. */
async function reportsDsRecords({ system, fence, dns }: Bench): Promise<void> {
  if (dns.dsRecords === undefined) return;
  if (system.resolve) assert.deepEqual(await dns.dsRecords(NAME), []);
  await dns.publish(zoneWith(RECORDS), 1);
  const records = await dns.dsRecords(NAME);
  assert.notDeepEqual(records, [], 'A zone that was published is signed.');
  const digits: Readonly<Record<number, number>> = { 2: 64, 4: 96 };
  for (const { keyTag, algorithm, digestType, digest } of records) {
    assert.ok(Number.isInteger(keyTag) && keyTag >= 0 && keyTag <= 65_535, `${keyTag} is not a key tag.`);
    assert.ok(Number.isInteger(algorithm), `${algorithm} is not an algorithm.`);
    assert.match(digest, new RegExp(`^[0-9a-f]{${digits[digestType] ?? 0}}$`), `The digest of the type ${digestType} has another length.`);
  }
  await dns.publish(zoneWith([]), 2);
  assert.deepEqual(await (await system.open(fence)).dsRecords?.(NAME), records);
  await dns.remove(NAME, 3);
  if (system.resolve) assert.deepEqual(await dns.dsRecords(NAME), []);
}

function zoneWith(records: readonly RecordSet[], name = NAME): Zone {
  return { name, nameservers: NAMESERVERS, records };
}

async function expectRecords({ resolve }: DnsSystem, records: readonly RecordSet[]): Promise<void> {
  if (!resolve) return;
  for (const { name, type, data } of records)
    assert.deepEqual((await resolve(name, type))?.toSorted(), data.toSorted(), `${type} of ${name}`);
}

async function publishes({ system, dns }: Bench): Promise<void> {
  await dns.publish(zoneWith(RECORDS), 1);
  await expectRecords(system, [...RECORDS, { name: NAME, type: 'NS', ttl: 0, data: NAMESERVERS }]);
}

async function publishesFurtherTypes({ system, dns }: Bench): Promise<void> {
  await dns.publish(zoneWith(FURTHER_RECORDS), 1);
  await expectRecords(system, FURTHER_RECORDS);
}

async function publishesReverseZones({ system, dns }: Bench): Promise<void> {
  const ipv4 = { name: '23.100.51.198.in-addr.arpa', type: 'PTR', ttl: 60, data: ['mail.conformance-customer.net'] };
  const ipv6 = { name: `1.${'0.'.repeat(15)}${'1.0.0.0.0.0.0.0'}.8.b.d.0.1.0.0.2.ip6.arpa`, type: 'PTR', ttl: 60, data: [NAME] };
  const ofIpv6 = ipv6.name.slice('1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.'.length);
  await dns.publish(zoneWith([ipv4], '100.51.198.in-addr.arpa'), 1);
  await dns.publish(zoneWith([ipv6], ofIpv6), 1);
  await expectRecords(system, [ipv4, ipv6]);
  await dns.publish(zoneWith([], '100.51.198.in-addr.arpa'), 2);
  if (system.resolve) assert.deepEqual(await system.resolve(ipv4.name, 'PTR'), []);
  await dns.remove(ofIpv6, 2);
  if (system.resolve) assert.equal(await system.resolve(ipv6.name, 'PTR'), undefined);
}

async function publishesTogether({ system, dns }: Bench): Promise<void> {
  const names = Array.from({ length: ZONES_TOGETHER }, (_, index) => `together-${index}.net`);
  for (const [token, address] of ['198.51.100.1', '198.51.100.2'].entries()) {
    const records = names.map((name): RecordSet => ({ name, type: 'A', ttl: 60, data: [address] }));
    await Promise.all(records.map((record) => dns.publish(zoneWith([record], record.name), token + 1)));
    await expectRecords(system, records);
  }
}

async function repeats({ system, dns }: Bench): Promise<void> {
  for (const token of [1, 1, 2]) await dns.publish(zoneWith(RECORDS), token);
  await expectRecords(system, RECORDS);
}

async function replaces({ system, dns }: Bench): Promise<void> {
  await dns.publish(zoneWith(RECORDS), 1);
  // The alias becomes an address, and the address of another name becomes an alias.
  const next: readonly RecordSet[] = [
    { name: NAME, type: 'A', ttl: 60, data: ['198.51.100.99'] },
    { name: `www.${NAME}`, type: 'A', ttl: 60, data: ['198.51.100.1'] },
    { name: `_sip._tcp.${NAME}`, type: 'CNAME', ttl: 60, data: ['sip.example.net'] },
  ];
  await dns.publish(zoneWith(next), 2);
  await expectRecords(system, next);
  if (system.resolve) assert.deepEqual(await system.resolve(NAME, 'MX'), []);
  await dns.publish(zoneWith([]), 3);
  if (system.resolve) assert.deepEqual(await system.resolve(NAME, 'A'), []);
}

async function writesTexts({ system, dns }: Bench): Promise<void> {
  const records = TEXTS.map((text, index) => ({ name: `t${index}.${NAME}`, type: 'TXT', ttl: 60, data: [text] }));
  await dns.publish(zoneWith(records), 1);
  await expectRecords(system, records);
}

async function removes({ system, dns }: Bench): Promise<void> {
  await dns.remove(NAME, 1);
  await dns.publish(zoneWith(RECORDS), 2);
  await dns.remove(NAME, 3);
  await dns.remove(NAME, 3);
  if (system.resolve) assert.equal(await system.resolve(NAME, 'A'), undefined);
}

async function rejectsStale({ system, dns }: Bench): Promise<void> {
  await dns.publish(zoneWith(RECORDS), 7);
  await assert.rejects(dns.publish(zoneWith([]), 6), isStale);
  await assert.rejects(dns.remove(NAME, 6), isStale);
  await expectRecords(system, RECORDS);
}

async function restarts({ system, fence, dns }: Bench): Promise<void> {
  await dns.publish(zoneWith(RECORDS), 1);
  const again = await system.open(fence);
  await again.publish(zoneWith(RECORDS.slice(0, 1)), 2);
  await expectRecords(system, RECORDS.slice(0, 1));
  await again.remove(NAME, 3);
  if (system.resolve) assert.equal(await system.resolve(NAME, 'A'), undefined);
}

/** The adapter and the stranger create and remove zones of the same few names. The adapter may fail, but it never touches a zone of the stranger. */
async function leavesAlone({ system: { stranger }, dns }: Bench, steps: number): Promise<void> {
  if (!stranger) return;
  const random = generator(steps);
  for (let token = 1; token <= steps; token++) {
    const name = `contested-${random(CONTESTED_ZONES)}.net`;
    if (random(2) === 0) await (random(2) === 0 ? stranger.create(name) : stranger.remove(name));
    const before: string = await stranger.state();
    const zone = zoneWith([{ name, type: 'A', ttl: 300, data: ['198.51.100.23'] }], name);
    // A zone of the stranger is refused.
    await (random(2) === 0 ? dns.publish(zone, token) : dns.remove(name, token)).catch(() => {});
    assert.equal(await stranger.state(), before, `step ${token} about ${name} changed a zone of another program`);
  }
}
