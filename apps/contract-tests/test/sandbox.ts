import { copyFileSync, existsSync, linkSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';

import {
  advanceClock,
  completeDedicatedSetup,
  ConflictError,
  createClient,
  listDedicatedServers,
  listMarketItems,
  orderDedicatedServer,
  terminateDomain,
} from '@reseller/operator-client';
import type { DedicatedServer } from '@reseller/operator-client';
import { createService, DEMO_ACCOUNT, issueApiKey, openSqliteStore, seedSandbox, simulatedPorts } from '@reseller/service';
import type { Store } from '@reseller/service';
import { pino } from 'pino';
import { inject } from 'vitest';

/** The services begin on the 20th of this month, so that a month ends before their feed loses its first events, after 30 days. */
const today = new Date();
const AHEAD_MS = Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 20) - today.getTime();
const NEXT_MONTH = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1)).toISOString();
const DOMAIN = 'contract-cancelled.net';

/** The service on two sockets of this machine, with its own store. */
export interface Sandbox {
  readonly url: URL;
  readonly operatorUrl: URL;
  readonly operatorToken: string;
  readonly apiKey: string;
  /** The server and the domain of the demo account after `fill`. */
  readonly things: { readonly server: string; readonly domain: string };
  close(): Promise<void>;
}

const portsOnThe20th = () => simulatedPorts({ clock: { now: () => Date.now() + AHEAD_MS } });

const STORE_FILE = 'store.sqlite';

/**
 * Starts the service with resources that only a provider can create, through the operator API: a deployed server, a cancelled domain,
 * and invoices of a past month. The first start of a test run creates them; later starts copy its store.
 */
export async function startSandbox({ extension = true }: { extension?: boolean } = {}): Promise<Sandbox> {
  const prepared = join(inject('runFolder'), `contract-${STORE_FILE}`);
  if (!existsSync(prepared)) await prepareFile(prepared);
  const directory = newDirectory();
  copyFileSync(prepared, join(directory, STORE_FILE));
  const service = await start(await openSqliteStore(directory), extension);
  return { ...service, things: { server: (await serverOf(service)).id, domain: DOMAIN } };
}

/** Creates the store file atomically, because several processes may do so at the same time. The first to finish provides it for all. */
async function prepareFile(prepared: string): Promise<void> {
  const directory = newDirectory();
  const store = await openSqliteStore(directory);
  await seedSandbox(store, portsOnThe20th());
  const service = await start(store, true);
  await fill(service);
  await service.close();
  try {
    linkSync(join(directory, STORE_FILE), prepared);
  } catch (error) {
    if (!existsSync(prepared)) throw error;
  }
}

/** It is removed with the folder of the run. */
function newDirectory(): string {
  return mkdtempSync(join(inject('runFolder'), 'contract-'));
}

async function start(store: Store, extension: boolean): Promise<Omit<Sandbox, 'things'>> {
  const ports = portsOnThe20th();
  const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'contract', mode: 'sandbox' }));
  const operatorToken = 'operator-token-of-the-contract-tests-0123456789';
  const service = await createService({
    store,
    ports,
    secret: 'x'.repeat(32),
    operatorToken,
    extension,
    logger: pino({ level: 'silent' }),
  });
  const url = new URL(await service.app.listen({ host: '127.0.0.1', port: 0 }));
  const operatorUrl = new URL(await service.operator.listen({ host: '127.0.0.1', port: 0 }));
  return {
    url,
    operatorUrl,
    operatorToken,
    apiKey,
    async close() {
      await service.close();
      await store.close();
    },
  };
}

type Access = Pick<Sandbox, 'url' | 'apiKey' | 'operatorUrl' | 'operatorToken'>;

async function fill(access: Access): Promise<void> {
  const client = createClient({ baseUrl: access.operatorUrl.href, token: access.operatorToken });
  const person = { firstname: 'Jonas', lastname: 'Weidenfels', street: 'Musterallee', number: '12a', zipcode: '60311' };
  const place = { city: 'Frankfurt am Main', region: 'Hessen', countrycode: 'DE', email: 'jonas@reseller-customer.example' };
  const { handle } = await buy(access, 'PUT /domain/handle/create', { gender: 'MALE', ...person, ...place });
  await buy(access, 'POST /domain/register', { domain: DOMAIN, handle: String(handle) });
  await buy(access, 'PUT /vm/create', { cores: '2', mem: '4096', disk: '40', os: 'debian_12', hostsystem: 'nl_ryzen' });
  const { items } = await listMarketItems({ client });
  const offer = items.find(({ account_id }) => account_id === null);
  if (offer === undefined) throw new Error('The market of the sandbox is empty.');
  await orderDedicatedServer({ client, body: { account_id: DEMO_ACCOUNT, market_id: offer.id } });
  const server = await serverOf(access);
  // The month ends with the server being set up, so that its runtime begins after it.
  await advanceClock({ client, body: { to: NEXT_MONTH } });
  if (!server.deployed) {
    const management = {
      dashboard: 'https://ipmi.example',
      username: 'admin',
      email: 'ops@reseller-customer.example',
      password: 'example-ipmi-password',
    };
    const ipv4 = [{ address: '203.0.113.80', gateway: '203.0.113.1' }];
    const path = { server_id: server.id };
    await completeDedicatedSetup({ client, path, body: { management, ipv4 } }).catch((error: unknown) => {
      if (!(error instanceof ConflictError)) throw error;
    });
  }
  await terminateDomain({ client, path: { domain: DOMAIN } });
}

async function serverOf({ operatorUrl, operatorToken }: Access): Promise<DedicatedServer> {
  const client = createClient({ baseUrl: operatorUrl.href, token: operatorToken });
  const [server] = (await listDedicatedServers({ client, query: { account_id: DEMO_ACCOUNT } })).items;
  if (server === undefined) throw new Error('The server was not ordered.');
  return server;
}

async function buy(
  { url, apiKey }: Access,
  what: string,
  form: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const [method = '', path = ''] = what.split(' ');
  const response = await fetch(new URL(path, url), {
    method,
    headers: { 'x-service-apikey': apiKey },
    body: new URLSearchParams(form),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${what} was refused: ${text}`);
  return JSON.parse(text).data;
}
