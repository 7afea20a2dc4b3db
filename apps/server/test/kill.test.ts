/** The process is killed while it buys. FAULT_ROUNDS sets how often; each round is another moment. */
import { randomUUID } from 'node:crypto';

import { expect, test } from 'vitest';

import { startServer, temporaryDirectory } from './process.ts';
import type { Server } from './process.ts';

const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 3);
const BUYERS = 8;
const FORM = new URLSearchParams({ cores: '1', mem: '1024', disk: '10', os: 'debian_12', hostsystem: 'de_xeon' });

/** The `data` of an answer; undefined where it was a refusal. */
async function dataOf({ baseUrl, apiKey }: Server, path: string, init: RequestInit = {}) {
  const response = await fetch(baseUrl + path, { ...init, headers: { ...init.headers, 'x-service-apikey': apiKey } });
  const { data } = JSON.parse(await response.text());
  return response.ok ? data : undefined;
}

/** The identifier of the VM that a key buys, or has bought. */
async function buy(server: Server, key: string): Promise<number | undefined> {
  const data = await dataOf(server, '/vm/create', { method: 'PUT', body: FORM, headers: { 'idempotency-key': key } });
  return data?.identifier;
}

test(`killed in the midst of purchases ${ROUNDS} times: what was answered is there, and what was not is bought once when it is asked for again`, async () => {
  const directory = temporaryDirectory();
  /** The VM of each key that was answered. */
  const answered = new Map<string, number>();
  const keys: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer({ RESELLER_DATA_DIR: directory });
    // The answers of the round before, asked for again.
    for (const key of keys) {
      const identifier = await buy(server, key);
      expect(identifier).toBe(answered.get(key) ?? identifier);
      if (identifier !== undefined) answered.set(key, identifier);
    }
    await expectExactly(server, answered);
    const answersWanted = BUYERS + round;
    let answers = 0;
    await new Promise<void>((resolve) => {
      const buyers = Array.from({ length: BUYERS }, async () => {
        for (;;) {
          const key = randomUUID();
          keys.push(key);
          const identifier = await buy(server, key);
          if (identifier !== undefined) answered.set(key, identifier);
          answers++;
          if (answers === answersWanted) void server.end('SIGKILL').then(() => resolve());
        }
      });
      // Each buyer ends with a connection that breaks.
      void Promise.allSettled(buyers);
    });
  }
  const server = await startServer({ RESELLER_DATA_DIR: directory });
  for (const key of keys) {
    const identifier = await buy(server, key);
    expect(identifier).toBeDefined();
    if (identifier !== undefined) answered.set(key, identifier);
  }
  expect(answered.size).toBe(keys.length);
  await expectExactly(server, answered);
});

/** The running invoice has the VMs that were answered and no other, and the log each purchase that was answered. */
async function expectExactly(server: Server, answered: ReadonlyMap<string, number>): Promise<void> {
  const { positions } = await dataOf(server, '/accounting/invoices/current');
  const billed = Object.keys(positions.vms).map(Number);
  expect(billed.toSorted()).toEqual([...new Set(answered.values())].toSorted());
  const logged = new Set<number>();
  for (let offset = 1; ; offset += 50) {
    const page = await dataOf(server, '/account/requests', { method: 'POST', body: new URLSearchParams({ offset: String(offset) }) });
    for (const { endpoint, success, response_body } of page) {
      if (endpoint === '/vm/create' && success === 1) logged.add(JSON.parse(response_body).data.identifier);
    }
    if (page.length < 50) break;
    // This look at the log is itself in it.
    offset++;
  }
  for (const identifier of answered.values()) expect(logged).toContain(identifier);
}
