/** The reader of the log stops reading. */
import { once } from 'node:events';

import { expect, test, vi } from 'vitest';

import { startServer, temporaryDirectory } from '../process.ts';
import type { Server } from '../process.ts';
import { tell } from './figures.ts';
import { clientOf } from './keep-alive.ts';
import { sqlitePlace } from './place.ts';
import { OPERATOR_TOKEN } from './provider.ts';

/** Enough lines to fill the buffers of the operating system and of the process. */
const REQUESTS = 6_000;
const CLIENTS = 16;

async function start(): Promise<Server> {
  const server = await startServer({ ...sqlitePlace(temporaryDirectory()).environment(), RESELLER_LOG_LEVEL: 'info' });
  server.process.stderr?.pause();
  return server;
}

/** Each request is one line of the log. */
async function sendAll({ baseUrl }: Server): Promise<void> {
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const client = clientOf(baseUrl);
      for (let sent = 0; sent < REQUESTS / CLIENTS; sent++) expect((await client.get('/healthz')).status).toBe(200);
    }),
  );
}

async function lostLines({ operatorUrl }: Server): Promise<number> {
  const metrics = await fetch(`${operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
  return Number(/^reseller_log_lines_lost_total (\d+)$/m.exec(await metrics.text())?.[1]);
}

test(
  'nobody reads the log: requests get their responses, the lost lines are counted, and SIGTERM ends the process',
  { tags: 'deep' },
  async () => {
    const server = await start();
    const begun = performance.now();
    await sendAll(server);
    const took = Math.round(performance.now() - begun);
    const lost = await lostLines(server);
    expect(lost).toBeGreaterThan(0);
    expect(await server.end('SIGTERM')).toBe(0);
    tell(`blocked log: ${REQUESTS} requests within ${took} ms, ${lost} lines lost, exit code 0 after SIGTERM`);
  },
);

test(
  'the log is read again: a line tells how many were lost, all others are written, also those from before the exit',
  { tags: 'deep' },
  async () => {
    const server = await start();
    await sendAll(server);
    const lost = await lostLines(server);
    expect(lost).toBeGreaterThan(0);
    server.process.stderr?.resume();
    await vi.waitFor(() => expect(server.logged()).toContain('lines of the log were lost'), { timeout: 300_000 });
    const closed = once(server.process, 'close');
    expect(await server.end('SIGTERM')).toBe(0);
    await closed;
    const lines = server
      .logged()
      .trim()
      .split('\n')
      .map((line): { msg: string; operation?: string; lost?: number } => JSON.parse(line));
    const told = lines.filter(({ msg }) => msg.startsWith('lines of the log were lost'));
    const reported = told.reduce((sum, line) => sum + (line.lost ?? 0), 0);
    // The request for the metrics has a line, too.
    expect(reported).toBeGreaterThanOrEqual(lost);
    expect(lines.filter(({ msg }) => msg === 'request').length + reported).toBe(REQUESTS + 1);
    tell(`log read again: ${reported} lines reported as lost, ${lines.length} written`);
  },
);
