import { expect, test } from 'vitest';

import {
  addressOf,
  assignableIn,
  assignedBelow,
  isReverseZone,
  assignedOf,
  firstAddressOf,
  reverseNameOf,
  reverseZonesAbove,
  reverseZonesOf,
} from './reverse-dns.ts';

test.each([
  ['198.51.100.23', '23.100.51.198.in-addr.arpa'],
  ['2001:db8::1', '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa'],
])('the name of %s is %s', (address, name) => {
  expect(reverseNameOf(address)).toBe(name);
});

test.each([
  ['198.51.100.23', '198.51.100.23'],
  ['2001:DB8:0:0:0::1', '2001:db8::1'],
  ['2001:db8::/64', undefined],
  ['198.51.100.0/24', undefined],
  ['198.51.100.256', undefined],
  ['', undefined],
  ['mail.reseller-customer.net', undefined],
])('reads the address %s as %s', (text, address) => {
  expect(addressOf(text)).toBe(address);
});

test.each([
  ['198.51.100.23', '198.51.100.23', '198.51.100.23'],
  ['2001:db8:4100:1::1', '2001:db8:4100:1::/64', '2001:db8:4100:1::1'],
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64', '2001:db8:0:1::1'],
  ['2001:db8::ffff', '2001:db8::/64', '2001:db8::1'],
])('%s is in %s, whose first address is %s', (address, assigned, first) => {
  expect([assignedOf(address), firstAddressOf(assigned)]).toEqual([assigned, first]);
});

test.each([
  ['100.64.1.7', ['100.64.0.0/20'], ['1.64.100.in-addr.arpa']],
  ['100.64.0.17', ['100.64.0.16/28'], ['0.64.100.in-addr.arpa']],
  // A released address of a pool that no longer exists.
  ['100.64.0.17', [], ['0.64.100.in-addr.arpa']],
  ['2001:db8:4100:1ff::/64', ['100.64.0.0/20', '2001:db8:4100::/52'], ['1.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa']],
  ['2001:db8:4100:ff::/64', ['2001:db8:4100:80::/57'], ['0.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa']],
  ['2001:db8:4100:ff::/64', ['2001:db8:4100:f0::/60'], ['f.0.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa']],
  ['2001:db8:4100:ff::/64', ['2001:db8:4100:fe::/63'], ['f.0.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa']],
])('the names of %s are in the zone of the pool among %j', (assigned, cidrs, zones) => {
  expect(reverseZonesOf(assigned, cidrs)).toEqual(zones);
});

test('a network of no pool may be in a zone of each length', () => {
  expect(reverseZonesOf('2001:db8:4100:1::/64', ['100.64.0.0/20']).map((zone) => zone.split('.').length)).toEqual([16, 17, 18]);
});

test.each([
  ['7.1.64.100.in-addr.arpa', ['1.64.100.in-addr.arpa']],
  ['1.64.100.in-addr.arpa', ['1.64.100.in-addr.arpa']],
  ['64.100.in-addr.arpa', []],
  ['7.1.64.300.in-addr.arpa', []],
  ['www.reseller-customer.net', []],
  ['1.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa', ['1.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa']],
])('%s may be in %j', (name, zones) => {
  expect(reverseZonesAbove(name)).toEqual(zones);
});

test.each([
  ['1.64.100.in-addr.arpa', ['100.64.0.0/20'], 256, '100.64.1.0', '100.64.1.255'],
  ['0.64.100.in-addr.arpa', ['100.64.0.16/28'], 256, '100.64.0.0', '100.64.0.255'],
  ['1.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa', ['2001:db8:4100::/52'], 256, '2001:db8:4100:100::/64', '2001:db8:4100:1ff::/64'],
  ['f.0.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa', ['2001:db8:4100:f0::/60'], 16, '2001:db8:4100:f0::/64', '2001:db8:4100:ff::/64'],
])('the zone %s of the pools %j has %i networks, from %s to %s', (zone, cidrs, count, first, last) => {
  expect(isReverseZone(zone, cidrs)).toBe(true);
  const assignable = assignableIn(zone);
  expect([assignable.length, assignable[0], assignable.at(-1)]).toEqual([count, first, last]);
  for (const one of assignable) expect(reverseZonesOf(one, cidrs)).toEqual([zone]);
});

test.each(['1.64.100.in-addr.arpa', '2.0.0.0.1.4.8.b.d.0.1.0.0.2.ip6.arpa', 'reseller-customer.net', '64.100.in-addr.arpa'])(
  'there is no zone %s without a pool in it',
  (zone) => {
    expect(isReverseZone(zone, ['100.65.0.0/20', '2001:db8:4100:100::/56', '2001:db8:4200::/60'])).toBe(false);
  },
);

test.each([
  ['7.1.64.100.in-addr.arpa', ['100.64.1.7']],
  ['256.1.64.100.in-addr.arpa', []],
  ['x.7.1.64.100.in-addr.arpa', []],
  ['1.64.100.in-addr.arpa', []],
  [reverseNameOf('2001:db8:4100:1f::5'), ['2001:db8:4100:1f::/64']],
  [reverseNameOf('2001:db8:4100:1f::5').slice(2 * 16), ['2001:db8:4100:1f::/64']],
  [reverseNameOf('2001:db8:4100:1f::5').slice(2 * 17), Array.from({ length: 16 }, (_, low) => `2001:db8:4100:1${low.toString(16)}::/64`)],
  [reverseNameOf('2001:db8:4100:1f::5').slice(2 * 18), []],
])('%s is of, or above, the addresses and networks %j', (name, assigned) => expect(assignedBelow(name)).toEqual(assigned));
