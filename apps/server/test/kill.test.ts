/** The process is killed while it buys. FAULT_ROUNDS sets how often; each round is another moment. */
import { randomUUID } from 'node:crypto';

import { createClient, createVm, getCurrentInvoice, listRequests } from '@reseller/client';
import type { Client } from '@reseller/client';
import { expect, test } from 'vitest';

import { startServer, temporaryDirectory } from './process.ts';

const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? 3);
const BUYERS = 8;
const FORM = { cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'de_xeon' };

const buy = (client: Client, key: string) => createVm({ client, body: FORM, headers: { 'Idempotency-Key': key } });

test(`killed in the midst of purchases ${ROUNDS} times: what was answered is there, and what was not is bought once when it is asked for again`, async () => {
  const directory = temporaryDirectory();
  /** The VM of each key that was answered. */
  const answered = new Map<string, number>();
  const keys: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer({ RESELLER_DATA_DIR: directory });
    const client = createClient({ baseUrl: server.baseUrl, apiKey: server.apiKey });
    // The answers of the round before, asked for again.
    for (const key of keys) {
      const { data } = await buy(client, key);
      const identifier = data?.data.identifier;
      expect(identifier).toBe(answered.get(key) ?? identifier);
      if (identifier !== undefined) answered.set(key, identifier);
    }
    await expectExactly(client, answered);
    const answersWanted = BUYERS + round;
    let answers = 0;
    await new Promise<void>((resolve) => {
      const buyers = Array.from({ length: BUYERS }, async () => {
        for (;;) {
          const key = randomUUID();
          keys.push(key);
          const { data } = await buy(client, key);
          if (data) answered.set(key, data.data.identifier);
          answers++;
          if (answers === answersWanted) void server.end('SIGKILL').then(() => resolve());
        }
      });
      // Each buyer ends with a connection that breaks.
      void Promise.allSettled(buyers);
    });
  }
  const server = await startServer({ RESELLER_DATA_DIR: directory });
  const client = createClient({ baseUrl: server.baseUrl, apiKey: server.apiKey });
  for (const key of keys) {
    const { data } = await buy(client, key);
    expect(data).toBeDefined();
    if (data) answered.set(key, data.data.identifier);
  }
  expect(answered.size).toBe(keys.length);
  await expectExactly(client, answered);
});

/** The running invoice has the VMs that were answered and no other, and the log each purchase that was answered. */
async function expectExactly(client: Client, answered: ReadonlyMap<string, number>): Promise<void> {
  const invoice = await getCurrentInvoice({ client });
  const billed = Object.keys(invoice.data?.data.positions.vms ?? {}).map(Number);
  expect(billed.toSorted()).toEqual([...new Set(answered.values())].toSorted());
  const logged = new Set<number>();
  for (let offset = 1; ; offset += 50) {
    const page = (await listRequests({ client, body: { offset } })).data?.data ?? [];
    for (const { endpoint, success, response_body } of page) {
      if (endpoint === '/vm/create' && success === 1) logged.add(JSON.parse(response_body).data.identifier);
    }
    if (page.length < 50) break;
    // This look at the log is itself in it.
    offset++;
  }
  for (const identifier of answered.values()) expect(logged).toContain(identifier);
}
