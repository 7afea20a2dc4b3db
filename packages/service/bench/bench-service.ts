/** The service that a benchmark measures, with a new sandbox and the process that sends the requests of its customer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';

import { pino } from 'pino';

import { createAccount, euros, issueApiKey, openPostgresStore, openSqliteStore, seedSandbox, simulatedPorts } from '../src/index.ts';
import { createServiceOnRuntime } from '../src/service.ts';

const OPERATOR_TOKEN = 'operator-token-of-the-benchmark-0123456789';

/** The headers of the operator. */
export const OPERATOR_CREDENTIALS = { authorization: `Bearer ${OPERATOR_TOKEN}` } as const;

export interface BenchAccount {
  readonly id: string;
  readonly apiKey: string;
}

/**
 * Starts the service on two free ports.
 *
 * @param databaseUrl An empty PostgreSQL database. Without it, the store is embedded.
 */
export async function startBenchService(databaseUrl?: string) {
  const directory = mkdtempSync(join(tmpdir(), 'bench-'));
  let offset = 0;
  const ports = simulatedPorts({ clock: { now: () => Date.now() + offset } });
  const store = databaseUrl === undefined ? await openSqliteStore(directory) : await openPostgresStore(databaseUrl);
  await seedSandbox(store, ports);
  const { service, runtime } = await createServiceOnRuntime({
    store,
    ports,
    secret: 'bench'.repeat(8),
    operatorToken: OPERATOR_TOKEN,
    logger: pino({ level: 'silent' }),
  });
  return {
    engine: databaseUrl === undefined ? 'Embedded' : 'PostgreSQL',
    ports,
    store,
    service,
    runtime,
    reseller: await service.app.listen({ host: '127.0.0.1', port: 0 }),
    operator: await service.operator.listen({ host: '127.0.0.1', port: 0 }),
    /** Sets the clock to the first second of the next month. */
    enterNextMonth() {
      const now = new Date(ports.clock.now());
      offset += Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) + 1000 - now.getTime();
    },
    newAccount(name: string): Promise<BenchAccount> {
      return store.commit(async ({ db }) => {
        const id = await createAccount(db, ports, { name, creditLimit: euros('50000000') });
        return { id, apiKey: await issueApiKey(db, ports, id, { label: 'bench', mode: 'sandbox' }) };
      });
    },
    async close() {
      await service.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  /** A form. */
  readonly body?: string;
  /** Statuses that are not an error. Default: 200. */
  readonly expected?: readonly number[];
}

interface BenchResponse {
  readonly status: number;
  readonly bytes: number;
  readonly text: string;
}

/**
 * A process that sends the requests of an account, so that its work and its memory are not measured. It gives way to the service, because a customer
 * has a machine of their own.
 */
export function startBenchClient({ apiKey }: BenchAccount) {
  const client = spawn(
    process.execPath,
    [
      '-e',
      `process.on('message', async ({ url, init }) => {
        const response = await fetch(url, init);
        let [bytes, text] = [0, ''];
        for await (const chunk of response.body) {
          bytes += chunk.byteLength;
          if (text.length < 2_000) text += Buffer.from(chunk).toString();
        }
        process.send({ status: response.status, bytes, text });
      });`,
    ],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  if (client.pid !== undefined) setPriority(client.pid, constants.priority.PRIORITY_LOW);
  return {
    /** @returns The status and the length of the response, and its beginning. */
    async send({ method, url, body, expected = [200] }: BenchRequest): Promise<BenchResponse> {
      const headers = { 'x-service-apikey': apiKey, ...OPERATOR_CREDENTIALS };
      const form = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
      client.send({ url, init: { method, headers: { ...headers, ...form }, ...(body !== undefined && { body }) } });
      const [{ status, bytes, text }] = await once(client, 'message');
      if (!expected.includes(Number(status))) throw new Error(`${method} ${url} returned ${status}: ${text}`);
      return { status: Number(status), bytes: Number(bytes), text: String(text) };
    },
    end: () => void client.kill(),
  };
}
