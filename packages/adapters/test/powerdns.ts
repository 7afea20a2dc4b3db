/** A PowerDNS server on this machine, with an embedded database, for tests. */
import { execFileSync, spawn } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { freePorts } from '../../../.config/free-ports.ts';
import type { Dns } from '../src/dns.ts';
import type { Fence } from '../src/fencing.ts';
import { powerDns } from '../src/powerdns/dns.ts';
import { dig, noDig } from './dig.ts';

const PROGRAM = '/usr/sbin/pdns_server';
/** The types that the resolver of Node.js does not read, or not whole. */
const FURTHER_TYPES = new Set(['CAA', 'DNAME', 'HTTPS', 'NAPTR', 'SSHFP', 'SVCB', 'TLSA']);
const SCHEMA = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql';

/** Why the tests with PowerDNS cannot run. Undefined if they can. */
export const noPowerDns = existsSync(PROGRAM) && existsSync(SCHEMA) ? noDig : 'PowerDNS is not installed';

export interface PowerDnsServer {
  readonly url: string;
  readonly apiKey: string;
  readonly dnsPort: number;
  open(fence: Fence): Dns;
  /** Sends a request to its API. */
  api(method: string, path: string, body?: unknown): Promise<Response>;
  /** The data of a name and type as a resolver gets them. Undefined if the server has no zone for the name. */
  resolve(name: string, type: string): Promise<string[] | undefined>;
  stop(): Promise<void>;
}

export const SERVICE_ID = '0123456789abcdef';

export async function startPowerDns(): Promise<PowerDnsServer> {
  const directory = mkdtempSync(join(tmpdir(), 'powerdns-'));
  const database = join(directory, 'pdns.sqlite');
  execFileSync('sqlite3', [database], { input: `.read ${SCHEMA}\n` });
  const [dnsPort = 0, apiPort = 0] = await freePorts(2);
  const apiKey = 'powerdns-test-key';
  writeFileSync(
    join(directory, 'pdns.conf'),
    [
      'launch=gsqlite3',
      `gsqlite3-database=${database}`,
      'gsqlite3-dnssec=yes',
      'local-address=127.0.0.1',
      `local-port=${dnsPort}`,
      'api=yes',
      `api-key=${apiKey}`,
      'webserver=yes',
      'webserver-address=127.0.0.1',
      `webserver-port=${apiPort}`,
      `socket-dir=${directory}`,
      'expand-alias=no',
      'dname-processing=yes',
      'enable-lua-records=no',
      // A test changes zones faster than the caches forget them.
      'cache-ttl=0',
      'query-cache-ttl=0',
      'negquery-cache-ttl=0',
      'zone-cache-refresh-interval=0',
      'allow-axfr-ips=127.0.0.1',
    ].join('\n'),
  );
  const server = spawn(PROGRAM, [`--config-dir=${directory}`, '--daemon=no', '--guardian=no', '--disable-syslog'], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${apiPort}`;
  async function api(method: string, path: string, body?: unknown): Promise<Response> {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    return fetch(`${url}/api/v1/servers/localhost${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
  await untilReady(() => api('GET', ''));
  const resolver = new Resolver({ timeout: 5_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${dnsPort}`]);
  return {
    url,
    apiKey,
    dnsPort,
    api,
    open: (fence) => powerDns({ url, apiKey, serviceId: SERVICE_ID, fence }),
    resolve: (name, type) => (FURTHER_TYPES.has(type) ? dig(dnsPort, name, type) : dataOf(resolver, name, type)),
    async stop() {
      server.kill();
      await once(server, 'exit');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function untilReady(ask: () => Promise<Response>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const response = await ask().catch(() => undefined);
    if (response?.ok) return;
    if (attempt > 200) throw new Error('PowerDNS does not start.');
    await wait(50);
  }
}

async function dataOf(resolver: Resolver, name: string, type: string): Promise<string[] | undefined> {
  try {
    switch (type) {
      case 'MX':
        return (await resolver.resolveMx(name)).map(({ priority, exchange }) => `${priority} ${exchange}`);
      case 'SRV':
        return (await resolver.resolveSrv(name)).map((srv) => `${srv.priority} ${srv.weight} ${srv.port} ${srv.name}`);
      case 'TXT':
        // The resolver reads each byte as a character.
        return (await resolver.resolveTxt(name)).map((parts) => Buffer.from(parts.join(''), 'latin1').toString());
      default: {
        const found: unknown = await resolver.resolve(name, type);
        return Array.isArray(found) ? found.map(String) : [];
      }
    }
  } catch (error) {
    const { code } = Object(error);
    if (code === 'ENODATA' || code === 'ENOTFOUND') return [];
    if (code === 'EREFUSED') return undefined;
    throw error;
  }
}
