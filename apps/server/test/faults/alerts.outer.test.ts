/** The pages and tickets after each fault, from a real Prometheus with the alert rules of the installation. */
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { advanceClock, createAccount } from '@reseller/operator-client';
import { expect, onTestFinished, test } from 'vitest';

import { freePort } from '../../../../.config/free-ports.ts';
import { leftOut, linkTestImages, processesOf } from '../../../../packages/adapters/test/qemu.ts';
import { awaySystem } from '../away-system.ts';
import { newDatabase, query } from '../database.ts';
import { startServer, temporaryDirectory } from '../process.ts';
import type { Server } from '../process.ts';
import { mounted } from './disk.ts';
import { tell } from './figures.ts';
import { prometheusMissing, watch } from './prometheus.ts';
import type { Alert } from './prometheus.ts';
import { newAccount, OPERATOR_TOKEN, operatorOf, SECRET } from './provider.ts';
import { proxyTo } from './proxy.ts';
import { fetchOf, vmPurchase } from './request.ts';
import type { Request } from './request.ts';
import { wrongClock } from './wrong-clock.ts';

/** The slowest alert needs about a quarter of an hour. */
const TIMEOUT_MS = 2_700_000;
const HOUR_MS = 3_600_000;
const DISK_BYTES = 160 * 1024 ** 2;
const COMMON = { RESELLER_SECRET: SECRET, RESELLER_OPERATOR_TOKEN: OPERATOR_TOKEN };
const INVOICES: Request = { method: 'GET', path: '/accounting/invoices' };

interface Fault {
  readonly name: string;
  /** The alerts that must come, and no other ones. */
  readonly alerts: readonly string[];
  /** Why it cannot happen on this machine. */
  readonly missing?: string | undefined;
  /** Starts a service that is well. */
  prepare(): Promise<{ readonly server: Server; begin(): unknown }>;
}

/** Sends requests at a steady rate until the test ends, whatever their responses are. */
function requestEach(seconds: number, server: Server, request: (count: number) => Request, apiKey = server.apiKey): void {
  let count = 0;
  const timer = setInterval(() => void fetchOf(server.baseUrl, apiKey, request(++count)).catch(() => {}), seconds * 1_000);
  onTestFinished(() => clearInterval(timer));
}

const faults: readonly Fault[] = [
  {
    name: 'the database is away, five requests a minute',
    alerts: [
      'page ResellerNotReady',
      'page ResellerUnavailable store',
      'ticket ResellerInstanceNotReady',
      'ticket ResellerJobsFail',
      'ticket ResellerLeaseLost',
    ],
    async prepare() {
      const proxy = await proxyTo(await newDatabase());
      const server = await startServer({ ...COMMON, DATABASE_URL: proxy.url });
      requestEach(12, server, () => INVOICES);
      return { server, begin: () => proxy.cut() };
    },
  },
  {
    name: 'the period end of one account fails',
    alerts: ['ticket ResellerJobsFail', 'ticket ResellerQueueHeldUp period_ends'],
    async prepare() {
      const url = await newDatabase();
      const server = await startServer({ ...COMMON, DATABASE_URL: url });
      const { id, apiKey } = await newAccount(server);
      await fetchOf(server.baseUrl, apiKey, vmPurchase('billed'));
      return {
        server,
        async begin() {
          await query(url, `create function refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end'`);
          const when = `when (new.account_id = '${id}')`;
          await query(url, `create trigger refuse before insert on invoices for each row ${when} execute function refuse()`);
          const now = new Date();
          const monthEnd = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 0, 1));
          await advanceClock({ client: operatorOf(server), body: { to: monthEnd.toISOString() } });
        },
      };
    },
  },
  {
    name: 'the name server is away',
    alerts: ['ticket ResellerJobsFail', 'ticket ResellerQueueHeldUp zones'],
    async prepare() {
      const server = await startServer({
        ...COMMON,
        RESELLER_DATA_DIR: temporaryDirectory(),
        RESELLER_DNS: 'powerdns',
        RESELLER_POWERDNS_URL: `http://127.0.0.1:${await freePort()}`,
        RESELLER_POWERDNS_API_KEY: 'key-of-the-name-server',
      });
      const { apiKey, handle } = await newAccount(server);
      const form = { domain: 'reseller-customer.com', handle };
      return { server, begin: () => fetchOf(server.baseUrl, apiKey, { method: 'POST', path: '/domain/register', form }) };
    },
  },
  {
    name: 'the hypervisor is away',
    alerts: ['page ResellerUnavailable infrastructure hypervisor'],
    async prepare() {
      const { adapters, goAway } = await awaySystem('hypervisor');
      const server = await startServer({ ...COMMON, RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_ADAPTERS: adapters });
      requestEach(12, server, (count) => vmPurchase(`vm-${count}`));
      return { server, begin: goAway };
    },
  },
  {
    name: 'a receiver of webhooks is away',
    alerts: [],
    async prepare() {
      const receiver = createServer((_request, response) => void response.writeHead(204).end()).listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      const address = receiver.address();
      const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hooks`;
      const server = await startServer({ ...COMMON, RESELLER_DATA_DIR: temporaryDirectory() });
      const added = await fetchOf(server.baseUrl, server.apiKey, { method: 'PUT', path: '/account/webhooks/add', form: { url } });
      expect(added.status).toBe(200);
      requestEach(12, server, (count) => vmPurchase(`vm-${count}`));
      return {
        server,
        begin() {
          receiver.closeAllConnections();
          receiver.close();
        },
      };
    },
  },
  {
    name: 'the disk is 95 % full',
    alerts: ['ticket ResellerDiskFills'],
    missing: mounted.missing,
    async prepare() {
      const disk = mounted.create();
      const server = await startServer({ ...COMMON, RESELLER_DATA_DIR: disk.directory });
      return { server, begin: () => disk.leave(DISK_BYTES * 0.05) };
    },
  },
  {
    name: 'the clock is 45 days ahead',
    alerts: [
      'page ResellerJobsLate period_ends',
      'page ResellerJobsLate server_jobs',
      'page ResellerNotReady',
      'page ResellerUnavailable clock',
      'ticket ResellerInstanceNotReady',
      'ticket ResellerJobsFail',
      'ticket ResellerQueueHeldUp period_ends',
      'ticket ResellerQueueHeldUp server_jobs',
    ],
    async prepare() {
      const clock = wrongClock(0);
      const server = await startServer({
        ...COMMON,
        ...clock.environment,
        RESELLER_DATA_DIR: temporaryDirectory(),
        RESELLER_MAX_CLOCK_JUMP_HOURS: '48',
      });
      requestEach(12, server, () => INVOICES);
      return { server, begin: () => clock.set(server, 45 * 24 * HOUR_MS) };
    },
  },
  {
    name: 'there is no backup of the store for 26 hours',
    alerts: ['ticket ResellerQueueHeldUp store_backups'],
    async prepare() {
      const directory = temporaryDirectory();
      const live = { RESELLER_MODE: 'live', RESELLER_INFRASTRUCTURE: 'simulated', RESELLER_EXTENSION: 'on' };
      const server = await startServer({
        ...COMMON,
        ...live,
        RESELLER_DATA_DIR: directory,
        RESELLER_PUBLIC_URL: 'https://api.example.com',
      });
      const note = () => ({ time: Date.now() - 26 * HOUR_MS, file: 'x', bytes: 1 });
      return { server, begin: () => writeFileSync(join(directory, 'last-backup.json'), JSON.stringify(note())) };
    },
  },
  {
    name: 'a machine of QEMU ended, and does not start again',
    alerts: ['ticket ResellerJobsFail', 'ticket ResellerMachinesEnded', 'ticket ResellerQueueHeldUp machine_starts'],
    missing: leftOut,
    async prepare() {
      const [data, images] = [temporaryDirectory(), join(temporaryDirectory(), 'images')];
      await linkTestImages(images, 'debian_12');
      const server = await startServer({
        ...COMMON,
        RESELLER_DATA_DIR: data,
        RESELLER_HYPERVISOR: 'qemu',
        RESELLER_QEMU_IMAGES: images,
      });
      expect((await fetchOf(server.baseUrl, server.apiKey, vmPurchase('real-machine'))).status).toBe(200);
      const folder = join(data, 'adapters/qemu');
      const machine = readdirSync(folder).find((name) => name.startsWith('vm-')) ?? '';
      const { service } = JSON.parse(readFileSync(join(folder, machine, 'vm.json'), 'utf8'));
      const endMachine = () => {
        for (const pid of processesOf(service)) process.kill(pid, 'SIGKILL');
      };
      onTestFinished(endMachine);
      return {
        server,
        begin() {
          rmSync(join(folder, machine, 'disk.qcow2'));
          endMachine();
        },
      };
    },
  },
  {
    name: 'the export of the audit fails',
    alerts: ['ticket ResellerQueueHeldUp audit_export'],
    async prepare() {
      const directory = temporaryDirectory();
      const logs = join(directory, 'logs');
      mkdirSync(logs);
      const server = await startServer({
        ...COMMON,
        RESELLER_DATA_DIR: join(directory, 'data'),
        RESELLER_AUDIT_FILE: join(logs, 'audit.jsonl'),
      });
      return {
        server,
        begin() {
          renameSync(logs, `${logs}-moved`);
          return createAccount({ client: operatorOf(server), body: { name: 'one', credit_limit: '1.00' } });
        },
      };
    },
  },
];

test('each fault brings its pages and tickets, which stay, and no other ones', { tags: 'deep' }, async ({ skip }) => {
  if (prometheusMissing !== undefined) return skip(prometheusMissing);
  const possible = faults.filter(({ missing }) => missing === undefined);
  const running = await Promise.all(
    possible.map(async (fault) => {
      const { server, begin } = await fault.prepare();
      const alertsNow = await watch(server);
      expect(await alertsNow()).toEqual([]);
      await begin();
      return { ...fault, alertsNow, begun: performance.now(), seen: new Map<string, Alert & { readonly seconds: number }>() };
    }),
  );
  const state = () =>
    Promise.all(
      running.map(async ({ name, alertsNow, begun, seen }) => {
        const alerts = await alertsNow();
        for (const alert of alerts) {
          if (seen.has(alert.name)) continue;
          seen.set(alert.name, { ...alert, seconds: (performance.now() - begun) / 1_000 });
          tell(
            `${name}: ${alert.name} after ${((performance.now() - begun) / 1_000).toFixed(0)} s: ${alert.summary}. ${alert.description}`,
          );
        }
        return { name, alerts: alerts.map((alert) => alert.name).toSorted() };
      }),
    );
  await expect
    .poll(state, { timeout: TIMEOUT_MS, interval: 1_000 })
    .toEqual(running.map(({ name, alerts }) => ({ name, alerts: alerts.toSorted() })));
  expect(running.map(({ name, seen }) => ({ name, alerts: [...seen.keys()].toSorted() }))).toEqual(
    running.map(({ name, alerts }) => ({ name, alerts: alerts.toSorted() })),
  );
});
