import { once } from 'node:events';
import { createServer } from 'node:net';

import { expect, test } from 'vitest';

import { memoryFence } from '../fencing.ts';
import { powerDns, PowerDnsError } from './dns.ts';

test('the error of a PowerDNS that does not run says so to the operator', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = Object(server.address()).port;
  await new Promise((resolve) => server.close(resolve));
  const dns = powerDns({ url: `http://127.0.0.1:${port}`, apiKey: 'key', serviceId: 'service', fence: memoryFence() });
  const zone = { name: 'reseller-customer.net', nameservers: ['ns1.provider.example'], records: [] };
  const expected = `PowerDNS cannot be reached at http://127.0.0.1:${port}: ECONNREFUSED. Check that its web server runs there.`;
  await expect(dns.publish(zone, 1)).rejects.toThrow(new PowerDnsError(expected));
});
