import { expect, onTestFinished, test, vi } from 'vitest';

import { newDatabase } from '../../../test/engines.ts';
import { holdFirst } from '../../../test/hold-first.ts';
import { StoreUnavailableError } from '../store.ts';
import { flushingConnectionsFor, serverOf } from './connections.ts';
import { flusher } from './flusher.ts';

/** A flusher whose first flush has reached the disk, and is reported after `release`. */
async function heldFlusher() {
  const real = flushingConnectionsFor(await newDatabase());
  const servers: string[] = [];
  const flush = holdFirst(async (send: () => Promise<unknown>) => send());
  const connections = {
    ...real,
    async connect() {
      const client = await real.connect();
      servers.push(serverOf(client));
      const query = client.query.bind(client);
      vi.spyOn(client, 'query').mockImplementation((text: string) =>
        text.includes('pg_logical_emit_message') ? flush.run(() => query(text)) : query(text),
      );
      return client;
    },
  };
  const onOtherServer = vi.fn<() => void>();
  const one = flusher(connections, onOtherServer);
  onTestFinished(() => one.close());
  const line = await one.open();
  return { one, line, flush, servers, server: servers[0] ?? '', onOtherServer };
}

test('a commit during a flush waits for the next flush, which later commits share', async () => {
  const { line, flush, server } = await heldFlusher();
  const first = line.flush(server);
  await flush.done;
  const later = [line.flush(server), line.flush(server)];
  expect(flush.calls()).toBe(1);
  flush.release();
  await Promise.all([first, ...later]);
  expect(flush.calls()).toBe(2);
});

test('a commit of another server is uncertain: all connections to it are lost, and the line is opened again', async () => {
  const { one, line, flush, servers, onOtherServer } = await heldFlusher();
  flush.release();
  await expect(line.flush('another server')).rejects.toThrow(StoreUnavailableError);
  expect([onOtherServer.mock.calls.length, flush.calls()]).toEqual([1, 0]);
  const next = await one.open();
  expect(servers).toHaveLength(2);
  await next.flush(servers[1] ?? '');
  expect([onOtherServer.mock.calls.length, flush.calls()]).toEqual([1, 1]);
});
