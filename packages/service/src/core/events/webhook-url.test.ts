import type { LookupAddress } from 'node:dns';

import { expect, test } from 'vitest';

import { allowsLoopback, brokenRuleOfUrl, guardedLookup, isAllowedAddress } from './webhook-url.ts';

test.each([
  ['93.184.215.14', true],
  ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', true],
  ['10.1.2.3', false],
  ['172.16.0.1', false],
  ['172.32.0.1', true],
  ['192.168.1.1', false],
  ['100.64.0.1', false],
  ['127.0.0.1', false],
  ['0.0.0.0', false],
  ['169.254.169.254', false],
  ['168.63.129.16', false],
  ['192.0.0.192', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:10.0.0.1', false],
  ['::ffff:93.184.215.14', true],
  ['64:ff9b::a00:1', false],
  ['2002:a00:1::', false],
  ['fc00::1', false],
  ['fd00:ec2::254', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['ff02::1', false],
  ['not an address', false],
])('%s may be called: %s', (address, allowed) => {
  expect(isAllowedAddress(address, false)).toBe(allowed);
});

test.each(['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1'])('%s may be called where loopback addresses may', (address) => {
  expect(isAllowedAddress(address, true)).toBe(true);
});

/** Resolves every name to the next of some answers, as a name server that changes its mind does. */
function resolveTo(...answers: readonly string[][]) {
  let next = 0;
  return (_name: string, _options: unknown, callback: (error: null, found: LookupAddress[]) => void) => {
    const addresses = answers[next++] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
}

const MIXED = ['10.0.0.1', '93.184.215.14'];

test('the connection uses only addresses that were checked', () => {
  const seen: unknown[] = [];
  const lookup = guardedLookup(false, Object(resolveTo(MIXED, ['127.0.0.1', '10.0.0.1'], MIXED)));
  const found = (error: Error | null, address: unknown) => void seen.push(error?.message ?? address);
  lookup('panel.example', { all: false }, found);
  lookup('panel.example', { all: true }, found);
  lookup('panel.example', { all: true }, found);
  expect(seen).toEqual(['93.184.215.14', 'panel.example has no public address', [{ address: '93.184.215.14', family: 4 }]]);
});

test.each([
  ['sandbox', ['127.0.0.1'], true],
  ['sandbox', ['::1', '127.0.0.1'], true],
  ['sandbox', ['0.0.0.0'], false],
  ['sandbox', ['::'], false],
  ['sandbox', ['127.0.0.1', '192.0.2.2'], false],
  ['live', ['127.0.0.1'], false],
] as const)('a %s that listens on %s sends to its own machine: %s', (mode, addresses, allowed) => {
  const reach = { mode, publicUrl: () => 'http://127.0.0.1:8080', listeningAddresses: () => addresses };
  expect(allowsLoopback(reach)).toBe(allowed);
  expect(brokenRuleOfUrl(reach, 'http://127.0.0.1:5432/') === undefined).toBe(allowed);
});
