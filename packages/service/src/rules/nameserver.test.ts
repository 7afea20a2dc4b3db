import { expect, test } from 'vitest';

import { listOfNameservers, readNameservers } from './nameserver.ts';

const STANDARD = ['ns1.provider.example', 'ns2.provider.example', 'ns3.provider.example'];

test('default is the standard nameserver of the same number', () => {
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

test('every wrong nameserver is named', () => {
  const { broken } = readNameservers({ ns1: 'default', ns2: 'ns1.provider.example', ns3: 'a_b.example', ns4: 'default' }, STANDARD);
  expect(broken.map(({ field, rule }) => [field, rule])).toEqual([
    ['ns2', 'distinct'],
    ['ns3', 'domain'],
    ['ns4', 'exists'],
  ]);
});
