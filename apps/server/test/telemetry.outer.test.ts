import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { startServer, temporaryDirectory } from './process.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('every line of the log about a request has the trace and the span of its traceparent, if it is valid', async () => {
  const server = await startServer({ RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_LOG_LEVEL: 'info' });
  const call = (path: string, traceparent: string) => fetch(server.baseUrl + path, { headers: { traceparent } });
  await call('/traced', `00-${TRACE}-${SPAN}-01`);
  await call('/later-version', `cc-${TRACE}-${SPAN}-01-more`);
  for (const [path, invalid] of Object.entries({
    '/no-trace': `00-${'0'.repeat(32)}-${SPAN}-01`,
    '/no-span': `00-${TRACE}-${'0'.repeat(16)}-01`,
    '/version-ff': `ff-${TRACE}-${SPAN}-01`,
    '/upper-case': `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    '/not-one': 'x'.repeat(5_000),
  }))
    await call(path, invalid);
  const lines = () =>
    server
      .logged()
      .split('\n')
      .filter((line) => line.includes('"path"'))
      .map((line) => JSON.parse(line));
  await expect.poll(() => lines().length).toBeGreaterThanOrEqual(7);
  const traced = lines().filter(({ trace_id }) => trace_id !== undefined);
  expect(traced.map(({ path, trace_id, parent_span_id }) => [path, trace_id, parent_span_id])).toEqual([
    ['/traced', TRACE, SPAN],
    ['/later-version', TRACE, SPAN],
  ]);
});

/** A module that is loaded before the service, as OPERATIONS.md describes it, with the channel that @fastify/otel uses. */
const HOOK = `
import { subscribe } from 'node:diagnostics_channel';
subscribe('fastify.initialization', ({ fastify }) => {
  fastify.addHook('onResponse', async (request, reply) => {
    process.stdout.write(\`span \${request.headers.traceparent} \${request.routeOptions.url} \${reply.statusCode}\\n\`);
  });
});
`;

test('a module that is loaded first can instrument every request, in the bundle of an installation too', async () => {
  const directory = temporaryDirectory();
  const hook = join(directory, 'hook.mjs');
  writeFileSync(hook, HOOK);
  const server = await startServer({ RESELLER_DATA_DIR: directory, NODE_OPTIONS: `--import=${pathToFileURL(hook).href}` });
  let printed = '';
  server.process.stdout?.on('data', (chunk) => (printed += String(chunk)));
  await fetch(`${server.baseUrl}/domain/list`, { headers: { traceparent: `00-${TRACE}-${SPAN}-01`, 'x-service-apikey': server.apiKey } });
  await expect.poll(() => printed).toContain(`span 00-${TRACE}-${SPAN}-01 /domain/list 200`);
});
