import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { startService } from '../../../test/harness.ts';
import { startOperator } from '../../../test/operator.ts';
import { clientAddressOf, clientNetworkOf } from './client-address.ts';

const clientAddress = (ip: string, remoteAddress = '192.0.2.1') => clientAddressOf(Object({ ip, socket: { remoteAddress } }));

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['2001:DB8:0:0::7', '2001:db8::7'],
  ['fe80::1%eth0', 'fe80::1'],
  ['unknown', '192.0.2.1'],
  ['192.0.2.7:8080', '192.0.2.1'],
  ['x'.repeat(5_000), '192.0.2.1'],
])('maps the address %s to the client address %s', (ip, expected) => expect(clientAddress(ip)).toBe(expected));

test('counts the addresses of an IPv6 /64 as one client, and each IPv4 address separately', () => {
  const part = fc.integer({ min: 0, max: 65_535 }).map((value) => value.toString(16));
  const half = fc.array(part, { minLength: 4, maxLength: 4 }).map((parts) => parts.join(':'));
  fc.assert(
    fc.property(half, half, half, half, (network, host, otherNetwork, otherHost) => {
      const of = (address: string) => clientNetworkOf(clientAddress(address));
      expect(of(`${network}:${host}`)).toBe(of(`${network}:${otherHost}`));
      const isSame = of(`${network}:${host}`) === of(`${otherNetwork}:${host}`);
      const isMapped = [network, otherNetwork].includes('0:0:0:0');
      if (!isMapped) expect(isSame).toBe(network === otherNetwork);
    }),
  );
  expect(clientNetworkOf(clientAddress('::ffff:192.0.2.7'))).not.toBe(clientNetworkOf(clientAddress('::ffff:192.0.2.8')));
});

const guess = (url: string, forwarded: string) =>
  fetch(url, { headers: { 'x-service-apikey': 'guess', authorization: 'Bearer guess', 'x-forwarded-for': forwarded } });

test('counts guesses behind a trusted proxy by the address that the proxy reports, and a whole /64 as one client', async () => {
  const service = await startService({ trustedProxies: ['127.0.0.0/8'] });
  const statuses = (forwarded: (n: number) => string, count = 101) =>
    Promise.all(Array.from({ length: count }, async (_, n) => (await guess(`${service.baseUrl}/domain/list`, forwarded(n))).status));
  // The client itself sends the first address, and the proxy appends the second.
  expect((await statuses((n) => `198.51.100.${n}, 2001:db8:1:2::${n.toString(16)}`)).filter((status) => status === 429)).toHaveLength(1);
  expect(await statuses(() => '2001:db8:1:2:ffff::1', 1)).toEqual([429]);
  expect(await statuses(() => '2001:db8:1:3::1', 1)).toEqual([401]);
  expect(await statuses((n) => `192.0.2.${n}`)).not.toContain(429);
});

test('ignores X-Forwarded-For without a trusted proxy', async () => {
  for (const trustedProxies of [[], ['192.0.2.1']]) {
    const { operatorUrl } = await startOperator({ trustedProxies });
    for (let n = 0; n < 20; n++) expect((await guess(`${operatorUrl}/accounts`, `192.0.2.${n}`)).status).toBe(401);
    expect((await guess(`${operatorUrl}/accounts`, '192.0.2.99')).status).toBe(429);
  }
});
