import { fastify } from 'fastify';
import { expect, test } from 'vitest';

import type { HiddenDocument } from './docs.ts';
import { serveOwnServers } from './own-servers.ts';

const scriptOf = async (mode: 'sandbox' | 'live', hidden: readonly HiddenDocument[] = []) => {
  const app = fastify();
  serveOwnServers(app, { mode, publicUrl: () => 'https://api.example.com', operatorUrl: () => 'http://127.0.0.1:4011', hidden });
  return (await app.inject('/docs/own-servers.js')).body;
};

test('gives both addresses to the reference of a sandbox', async () => {
  expect(await scriptOf('sandbox')).toBe(
    'globalThis.ownServers = {"reseller":{"url":"https://api.example.com","description":"Sandbox"},"operator":{"url":"http://127.0.0.1:4011","description":"Sandbox"}};\n',
  );
});

test('does not give the address of the operator API to the reference of a live service', async () => {
  expect(await scriptOf('live', ['operator'])).toContain(
    'globalThis.ownServers = {"reseller":{"url":"https://api.example.com","description":"Live"}};\n',
  );
});

test('hides the links to the extension in the documentation of a service without it', async () => {
  expect(await scriptOf('live', ['extension'])).toContain("classList.add('without-extension')");
});

test('hides the links to the operator API in the documentation that a live service shows to resellers', async () => {
  expect(await scriptOf('live', ['operator'])).toContain("classList.add('without-operator')");
});
