import { expect, test } from 'vitest';

import { NOT_A_DOMAIN } from './domain-name.ts';
import { listOfNameservers, readNameservers, STANDARD_NAMESERVERS } from './nameserver.ts';

const STANDARD = ['ns1.provider.example', 'ns2.provider.example', 'ns3.provider.example'];

test('replaces default by the standard nameserver of the same number', () => {
  const { nameservers, broken } = readNameservers({ ns1: 'NS1.Reseller-DNS.example', ns2: 'default', ns3: 'default' }, STANDARD);
  expect(broken).toEqual([]);
  expect(nameservers).toEqual({
    ns1: 'ns1.reseller-dns.example',
    ns2: 'ns2.provider.example',
    ns3: 'ns3.provider.example',
    ns4: null,
    ns5: null,
  });
  expect(listOfNameservers(nameservers)).toEqual(['ns1.reseller-dns.example', 'ns2.provider.example', 'ns3.provider.example']);
});

test('names every invalid nameserver', () => {
  const { broken } = readNameservers({ ns1: 'default', ns2: 'ns1.provider.example', ns3: 'a_b.example', ns4: 'default' }, STANDARD);
  expect(broken.map(({ field, rule }) => [field, rule])).toEqual([
    ['ns2', 'distinct'],
    ['ns3', 'domain'],
    ['ns4', 'exists'],
  ]);
});

test('names the number of an invalid nameserver, or the one that it repeats', () => {
  const { nameservers, broken } = readNameservers(
    { ns1: 'default', ns2: 'NS1.provider.example', ns4: 'default', ns5: 'ns_5.example' },
    STANDARD,
  );
  expect(broken).toEqual([
    { field: 'ns2', rule: 'distinct', message: 'must not name the same nameserver as ns1' },
    { field: 'ns4', rule: 'exists', message: 'must be the domain of a nameserver: there is no standard nameserver number 4' },
    { field: 'ns5', rule: 'domain', message: NOT_A_DOMAIN },
  ]);
  expect(nameservers).toEqual({ ns1: 'ns1.provider.example', ns2: null, ns3: null, ns4: null, ns5: null });
});

test('gives a new domain the first two nameservers of the provider', () => {
  expect(readNameservers(STANDARD_NAMESERVERS, STANDARD)).toEqual({
    nameservers: { ns1: 'ns1.provider.example', ns2: 'ns2.provider.example', ns3: null, ns4: null, ns5: null },
    broken: [],
  });
});
