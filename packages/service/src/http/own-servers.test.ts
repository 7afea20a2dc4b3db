import { fastify } from 'fastify';
import { expect, test } from 'vitest';

import { serveOwnServers } from './own-servers.ts';

const scriptOf = async (mode: 'sandbox' | 'live', hasExtension = true) => {
  const app = fastify();
  serveOwnServers(app, { mode, publicUrl: () => 'https://api.example.com', operatorUrl: () => 'http://127.0.0.1:4011', hasExtension });
  return (await app.inject('/docs/own-servers.js')).body;
};

test('the reference of a sandbox is told both addresses', async () => {
  expect(await scriptOf('sandbox')).toBe(
    'globalThis.ownServers = {"reseller":{"url":"https://api.example.com","description":"Sandbox"},"operator":{"url":"http://127.0.0.1:4011","description":"Sandbox"}};\n',
  );
});

test('the reference of a live service is not told where its operator API is', async () => {
  expect(await scriptOf('live')).toBe('globalThis.ownServers = {"reseller":{"url":"https://api.example.com","description":"Live"}};\n');
});

test('the documentation of a service without the extension hides the links to it', async () => {
  expect(await scriptOf('live', false)).toContain("classList.add('without-extension')");
});
