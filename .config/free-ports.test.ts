import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

import { expect, test } from 'vitest';

import { freePorts } from './free-ports.ts';

test('returns different ports that can be listened on', async () => {
  const ports = await freePorts(20);
  expect(new Set(ports).size).toBe(20);
  for (const port of ports) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
  }
});

test('returns no port that the system gives to another process', async ({ skip }) => {
  skip(process.platform !== 'linux', 'only Linux says which ports it gives to processes');
  const [first = NaN] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/).map(Number);
  expect(Math.max(...(await freePorts(200)))).toBeLessThan(first);
});
