/** The suite accepts a correct DNS, and names each mistake of a wrong one. */
import { describe, expect, test } from 'vitest';

import type { Dns, DsRecord, Zone } from '../dns.ts';
import type { Fence } from '../fencing.ts';
import { dnsConformance } from './dns.ts';
import type { DnsStranger, DnsSystem } from './dns.ts';

interface World {
  readonly zones: Map<string, Zone>;
  /** The names of the zones of the other program. */
  readonly strange: Set<string>;
}

const DS_RECORD: DsRecord = { keyTag: 20_326, algorithm: 13, digestType: 2, digest: '0123456789abcdef'.repeat(4) };

function correctDns({ zones, strange }: World, fence: Fence) {
  async function admit(name: string, token: number): Promise<void> {
    await fence.admit(`zone/${name}`, token);
    if (strange.has(name)) throw new Error(`${name} is a zone of another program.`);
  }
  return {
    async publish(zone, token) {
      await admit(zone.name, token);
      zones.set(zone.name, zone);
    },
    async remove(name, token) {
      await admit(name, token);
      zones.delete(name);
    },
    dsRecords: async (name) => (zones.has(name) ? [DS_RECORD] : []),
  } satisfies Dns;
}

/** As a name server responds: the zone with the longest name that contains the name. */
function resolve({ zones }: World, name: string, type: string): readonly string[] | undefined {
  const containing = [...zones.values()].filter((zone) => name === zone.name || name.endsWith(`.${zone.name}`));
  const zone = containing.toSorted((one, other) => other.name.length - one.name.length)[0];
  if (type === 'NS' && zone?.name === name) return zone.nameservers;
  return zone && zone.records.filter((record) => record.name === name && record.type === type).flatMap(({ data }) => data);
}

function strangerOf({ zones, strange }: World): DnsStranger {
  return {
    create: async (name) => void (zones.has(name) || strange.add(name)),
    remove: async (name) => void strange.delete(name),
    state: async () => [...strange].toSorted().join(),
  };
}

type Mistake = (correct: ReturnType<typeof correctDns>, world: World) => Partial<Dns>;

function casesOf(wrong: Mistake = () => ({}), { hasZones = true, signs = true } = {}) {
  return dnsConformance(
    async (): Promise<DnsSystem> => {
      const world: World = { zones: new Map(), strange: new Set() };
      return {
        async open(fence) {
          const correct = correctDns(world, fence);
          const { dsRecords, ...unsigned } = { ...correct, ...wrong(correct, world) };
          return signs ? { ...unsigned, dsRecords } : unsigned;
        },
        ...(hasZones && { resolve: async (name: string, type: string) => resolve(world, name, type), stranger: strangerOf(world) }),
        close: async () => {},
      };
    },
    { strangerSteps: 100 },
  );
}

describe('a correct DNS', () => {
  test.each(casesOf())('$name', ({ run }) => expect(run()).resolves.toBeUndefined());
  test.each(casesOf(undefined, { signs: false }))('without DNSSEC: $name', ({ run }) => expect(run()).resolves.toBeUndefined());
  test.each(casesOf(undefined, { hasZones: false }))('without zones: $name', ({ run }) => expect(run()).resolves.toBeUndefined());
});

/** The same zone with other records. */
function withRecords(zone: Zone, change: (record: Zone['records'][number]) => readonly Zone['records'][number][]): Zone {
  return { ...zone, records: zone.records.flatMap(change) };
}

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'publishes nothing': () => ({ publish: async () => {} }),
  'ignores tokens': (_correct, { zones }) => ({ publish: async (zone) => void zones.set(zone.name, zone) }),
  'ignores the tokens of removals': (_correct, { zones }) => ({ remove: async (name) => void zones.delete(name) }),
  'removes nothing': () => ({ remove: async () => {} }),
  'empties a zone instead of removing it': (correct) => ({
    remove: (name, token) => correct.publish({ name, nameservers: [], records: [] }, token),
  }),
  'refuses to remove what is not there': (correct, { zones }) => ({
    async remove(name, token) {
      if (!zones.has(name)) throw new Error(`There is no zone ${name}.`);
      await correct.remove(name, token);
    },
  }),
  'refuses to publish a zone twice': (correct, { zones }) => ({
    async publish(zone, token) {
      if (zones.has(zone.name)) throw new Error(`There is a zone ${zone.name}.`);
      await correct.publish(zone, token);
    },
  }),
  'keeps the records that a zone had': (correct, { zones }) => ({
    publish: (zone, token) => correct.publish({ ...zone, records: [...zone.records, ...(zones.get(zone.name)?.records ?? [])] }, token),
  }),
  'forgets the name servers': (correct) => ({ publish: (zone, token) => correct.publish({ ...zone, nameservers: [] }, token) }),
  'publishes one value of each record': (correct) => ({
    publish: (zone, token) =>
      correct.publish(
        withRecords(zone, (record) => [{ ...record, data: record.data.slice(0, 1) }]),
        token,
      ),
  }),
  'does not know SVCB records': (correct) => ({
    publish: (zone, token) =>
      correct.publish(
        withRecords(zone, (record) => (record.type === 'SVCB' ? [] : [record])),
        token,
      ),
  }),
  'takes the quotes out of texts': (correct) => ({
    publish: (zone, token) =>
      correct.publish(
        withRecords(zone, (record) =>
          record.type === 'TXT' ? [{ ...record, data: record.data.map((text) => text.replaceAll('"', '')) }] : [record],
        ),
        token,
      ),
  }),
  'publishes one zone at a time, and drops the others': (correct) => {
    let isBusy = false;
    return {
      async publish(zone, token) {
        if (isBusy) return;
        isBusy = true;
        await correct.publish(zone, token);
        isBusy = false;
      },
    };
  },
  'replaces zones of other programs': (correct, { zones, strange }) => ({
    async publish(zone, token) {
      if (strange.delete(zone.name)) zones.set(zone.name, zone);
      else await correct.publish(zone, token);
    },
  }),
  'removes zones of other programs': (correct, { strange }) => ({
    async remove(name, token) {
      if (!strange.delete(name)) await correct.remove(name, token);
    },
  }),
  'signs a zone before it is published': (correct) => {
    const removed = new Set<string>();
    return {
      async remove(name, token) {
        await correct.remove(name, token);
        removed.add(name);
      },
      dsRecords: async (name) => (removed.has(name) ? [] : [DS_RECORD]),
    };
  },
  'signs no zone': () => ({ dsRecords: async () => [] }),
  'signs anew with each change': (_correct, { zones }) => ({
    dsRecords: async (name) => {
      const zone = zones.get(name);
      return zone ? [{ ...DS_RECORD, keyTag: zone.records.length }] : [];
    },
  }),
  'reports a digest that is too short': (_correct, { zones }) => ({
    dsRecords: async (name) => (zones.has(name) ? [{ ...DS_RECORD, digest: 'ab' }] : []),
  }),
  'reports a key tag that is too large': (_correct, { zones }) => ({
    dsRecords: async (name) => (zones.has(name) ? [{ ...DS_RECORD, keyTag: 65_536 }] : []),
  }),
  'keeps the signature of a zone that was removed': (_correct, { zones }) => {
    const signed = new Set<string>();
    return {
      async dsRecords(name) {
        if (zones.has(name)) signed.add(name);
        return signed.has(name) ? [DS_RECORD] : [];
      },
    };
  },
};

test.each(Object.entries(MISTAKES))('a DNS that %s is found', async (_, wrong) => {
  const ends = await Promise.allSettled(casesOf(wrong).map(({ run }) => run()));
  expect(ends.filter(({ status }) => status === 'rejected')).not.toEqual([]);
});
