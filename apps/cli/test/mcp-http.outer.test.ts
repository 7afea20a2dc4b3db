/** The server of the Model Context Protocol over HTTP. */
import { readFileSync, statSync } from 'node:fs';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, test } from 'vitest';

import { person } from './cli.ts';
import { sandboxOfFile } from './sandbox.ts';

const startSandbox = sandboxOfFile();

async function serveOverHttp() {
  const someone = person({ RESELLER_DATA_DIR: (await startSandbox()).dataFolder });
  const server = await someone.start('mcp', '--http', '0');
  let said = '';
  server.stderr.on('data', (chunk) => (said += chunk));
  await expect.poll(() => said).toContain('The bearer token is in ');
  const [, address = '', file = ''] =
    /^Serving \d+ tools of .*, read-only, at (http:\S+)\. The bearer token is in (\S+)\.\n/m.exec(said) ?? [];
  return { server, address, file, authorization: `Bearer ${readFileSync(file, 'utf8').trim()}` };
}

test('over HTTP, a client that reconnects without an end takes the place of an idle session, and of none that is connected', async () => {
  const { server, address, authorization } = await serveOverHttp();
  const send = (body: object, session?: string) =>
    fetch(address, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      headers: {
        authorization,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
    });
  async function initialize(): Promise<string> {
    const clientInfo = { name: 'test', version: '1.0.0' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const response = await send({ id: 1, method: 'initialize', params });
    await response.text();
    return response.headers.get('mcp-session-id') ?? `refused with ${response.status}`;
  }
  async function ping(session: string): Promise<number> {
    const response = await send({ id: 2, method: 'ping' }, session);
    await response.text();
    return response.status;
  }
  // A response that nobody refers to is cancelled.
  const streams: Response[] = [];
  async function listen(session: string): Promise<number> {
    const stream = await fetch(address, { headers: { authorization, accept: 'text/event-stream', 'mcp-session-id': session } });
    streams.push(stream);
    return stream.status;
  }
  const connected = await initialize();
  expect(await listen(connected)).toBe(200);
  const idle: string[] = [];
  while (idle.length < 31) idle.push(await initialize());
  const [first = '', second = ''] = idle;
  expect(await ping(first)).toBe(200);
  const another = await initialize();
  expect([await ping(another), await ping(connected), await ping(first), await ping(second)]).toEqual([200, 200, 200, 404]);
  for (const session of [another, first, ...idle.slice(2)]) expect(await listen(session)).toBe(200);
  expect(await initialize()).toBe('refused with 503');
  await Promise.all(streams.map((stream) => stream.body?.cancel()));
  server.kill('SIGTERM');
  await expect.poll(() => server.exitCode ?? server.signalCode).not.toBeNull();
});

test('over HTTP, only a client with the token, and no page of a browser, is served', async () => {
  const { server, address, file, authorization } = await serveOverHttp();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // 256 bits.
  expect(authorization).toMatch(/^Bearer [\w-]{43}$/);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: { authorization } } }));
  expect(await client.callTool({ name: 'vm_hosts', arguments: {} })).toMatchObject({ structuredContent: { total: 3 } });
  await client.close();
  const statusOf = async (headers: Record<string, string>) => (await fetch(address, { method: 'POST', body: '{}', headers })).status;
  expect(await statusOf({})).toBe(401);
  expect(await statusOf({ authorization: `${authorization}x` })).toBe(401);
  expect(await statusOf({ authorization, origin: 'https://evil.example' })).toBe(403);
  server.kill('SIGTERM');
  await expect.poll(() => server.exitCode ?? server.signalCode).not.toBeNull();
});
