/** Everything that waits in the service is in /metrics, /due-work and /readyz, under one name. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import * as operator from '@reseller/operator-client';
import type { WorkQueue } from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { deployedServer, EPYC } from '../../test/dedicated.ts';
import { register } from '../../test/domains.ts';
import { engines } from '../../test/engines.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { startOperator } from '../../test/operator.ts';
import type { TestOperator } from '../../test/operator.ts';
import { TestDns } from '../../test/ports/dns.ts';
import { TestHypervisor } from '../../test/ports/hypervisor.ts';
import { PortCalls } from '../../test/ports/port-calls.ts';
import { addConfirmed, fail, startReceiver } from '../../test/webhook-receiver.ts';

const SOURCES = join(import.meta.dirname, '..');
const DOMAIN = 'reseller-customer.net';

/** The queue of each kind of work, or why it has none. */
const QUEUE_OF: Readonly<Record<string, WorkQueue['queue'] | { readonly none: string }>> = {
  backupWork: 'backups',
  createWebhookSender: 'webhooks',
  dedicatedServerJobs: 'server_jobs',
  domainExpiryJobs: 'domain_expiries',
  eventSteps: { none: 'Its steps have no time. The deliveries that they add wait in webhooks.' },
  feedWork: { none: 'Noted events have no time. A failure is logged with its account, and counted as that of a job.' },
  periodEndJobs: 'period_ends',
  portCheckWork: { none: 'A check that is late is made once, and the next one is due a minute later.' },
  recoveryWork: 'deliveries',
  restartWork: 'machine_starts',
  zoneWork: 'zones',
};

test('each kind of background work and of scheduled job in the sources has a queue, or a reason for none', () => {
  const found = globSync('**/*.ts', { cwd: SOURCES, exclude: ['**/*.test.ts', 'delivery/background-work.ts'] }).flatMap((file) => {
    const source = readFileSync(join(SOURCES, file), 'utf8');
    const kinds = [...source.matchAll(/^export function (\w+)\([^]*?\): (\w+)/gm)].filter(([, , type]) => type === 'WorkKind');
    const jobs = [...source.matchAll(/^export const (\w+): JobKind = /gm)];
    const inline = source.includes('backgroundWork<') ? [...source.matchAll(/^export function (\w+)\(/gm)].slice(0, 1) : [];
    return [...kinds, ...jobs, ...inline].map(([, name]) => name);
  });
  expect(found.toSorted()).toEqual(Object.keys(QUEUE_OF).toSorted());
});

async function queueOf(service: TestOperator, name: WorkQueue['queue']): Promise<Omit<WorkQueue, 'queue'> | undefined> {
  const { queues } = await operator.getDueWork({ client: service.client });
  const { queue, ...state } = queues.find((one) => one.queue === name) ?? {};
  await expectSame(service, queues);
  return queue === undefined ? undefined : Object(state);
}

/** `/metrics` and `/readyz` say the same as `/due-work`. */
async function expectSame(service: TestOperator, queues: readonly WorkQueue[]): Promise<void> {
  const { text } = await service.operate('/metrics');
  const values = (metric: string) =>
    Object.fromEntries(
      [...text.matchAll(new RegExp(`^${metric}\\{queue="(\\w+)"\\} (\\S+)$`, 'gm'))].map(([, name, value]) => [name, Number(value)]),
    );
  const shown = (value: (queue: WorkQueue) => number) => Object.fromEntries(queues.map((queue) => [queue.queue, value(queue)]));
  expect(values('reseller_queue_waiting')).toEqual(shown(({ waiting }) => waiting));
  expect(values('reseller_queue_failed')).toEqual(shown(({ failed }) => failed));
  expect(values('reseller_queue_held_up')).toEqual(shown((queue) => Number(queue.is_held_up)));
  const ages = values('reseller_queue_oldest_age_seconds');
  expect(Object.fromEntries(Object.entries(ages).map(([name, age]) => [name, Math.floor(Number(age))]))).toEqual(
    shown(({ oldest_seconds }) => oldest_seconds ?? 0),
  );
  const heldUp = queues.filter((queue) => queue.is_held_up).map(({ queue }) => queue);
  const ready = await fetch(`${service.baseUrl}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    heldUp.length === 0 ? { status: 'ready' } : { status: 'degraded', reason: 'held_up', queues: heldUp },
  ]);
}

/** The account of the key that the service calls with. */
async function owner(service: TestOperator): Promise<string> {
  await service.call('listVms');
  const [request] = (await operator.listRequests({ client: service.client, query: { endpoint: '/vm/list' } })).items;
  return String(request?.account_id);
}

const QUIET = { waiting: 0, failed: 0, oldest_seconds: null, oldest: null, is_held_up: false };
const tuning = { queueFiguresMs: 0 };

describe.each(engines)('on %s', (engine) => {
  test('every queue of the store is shown, and a quiet service has nothing in them', async () => {
    const service = await startOperator({ engine, tuning });
    await service.runScheduledJobs();
    const { queues } = await operator.getDueWork({ client: service.client });
    const inStore = Object.values(QUEUE_OF).filter((queue) => typeof queue === 'string');
    expect(queues.map(({ queue }) => queue).toSorted()).toEqual([...inStore, 'invoice_documents', 'tasks'].toSorted());
    for (const { queue, ...state } of queues) expect({ queue, state }).toEqual({ queue, state: QUIET });
    await expectSame(service, queues);
  });

  test('jobs that are due wait, and hold up their queue after five minutes', async () => {
    const service = await startOperator({ engine, tuning });
    await deployedServer(service, EPYC);
    await register(service, DOMAIN);
    await service.runScheduledJobs();
    const periodEnd = Date.parse('2026-12-01T00:00:00Z');
    const states = async (name: WorkQueue['queue']) => {
      const { waiting, oldest_seconds, is_held_up } = (await queueOf(service, name)) ?? {};
      return [waiting, oldest_seconds, is_held_up];
    };
    for (const [second, heldUp] of [
      [0, false],
      [1, false],
      [300, false],
      [301, true],
    ] as const) {
      service.clock.advanceTo(new Date(periodEnd + second * 1000).toISOString());
      expect(await states('period_ends')).toEqual([3, second, heldUp]);
    }
    const [server] = (await operator.listDedicatedServers({ client: service.client })).items;
    const ofServer = { subject: `server/${server?.id}`, account_id: server?.account_id };
    const ofDomain = { subject: `domain/${DOMAIN}`, account_id: await owner(service) };
    service.clock.advanceTo('2027-12-01T00:00:00Z');
    expect(await queueOf(service, 'server_jobs')).toMatchObject({ waiting: 1, oldest: ofServer });
    expect(await queueOf(service, 'domain_expiries')).toMatchObject({ waiting: 1, oldest: ofDomain });
    expect((await queueOf(service, 'period_ends'))?.oldest?.subject).toMatch(/^account\/[0-9a-f-]{36}$/);
    await service.runScheduledJobs();
    expect([await queueOf(service, 'period_ends'), await queueOf(service, 'domain_expiries')]).toEqual([QUIET, QUIET]);
  });

  test('a zone waits while it is not published, and fails while the name server is away', async () => {
    const calls = new PortCalls();
    const service = await startOperator({ engine, tuning, dns: new TestDns(calls) });
    await register(service, DOMAIN);
    const oldest = { subject: `domain/${DOMAIN}`, account_id: await owner(service) };
    expect(await queueOf(service, 'zones')).toEqual({ ...QUIET, oldest, waiting: 1 });
    calls.defaultFault = (purpose) => (purpose === 'tell' ? 'fails before' : 'none');
    await service.runScheduledJobs();
    expect(await queueOf(service, 'zones')).toEqual({ ...QUIET, oldest, failed: 1, is_held_up: true });
    calls.defaultFault = () => 'none';
    // Its next attempt is due, and was not made yet.
    service.clock.advance(61_000);
    expect(await queueOf(service, 'zones')).toEqual({ ...QUIET, oldest, failed: 1, is_held_up: true });
    await service.runScheduledJobs();
    expect(await queueOf(service, 'zones')).toEqual(QUIET);
  });

  test('a reverse zone belongs to no domain', async () => {
    const calls = new PortCalls();
    const service = await startOperator({ engine, tuning, dns: new TestDns(calls) });
    calls.defaultFault = (purpose) => (purpose === 'tell' ? 'fails before' : 'none');
    await service.call('createVm', { form: SMALL_VM });
    await service.runScheduledJobs();
    const oldest = { subject: expect.stringMatching(/^zone\/[0-9a-f.]+\.(in-addr|ip6)\.arpa$/), account_id: null };
    expect(await queueOf(service, 'zones')).toMatchObject({ oldest, is_held_up: true });
  });

  test('a receiver that fails is shown, and does not degrade the service', async () => {
    const service = await startOperator({ engine, tuning });
    const receiver = await startReceiver(fail);
    const { webhook_id: id } = await addConfirmed(service, { url: receiver.url });
    await service.call('createVm', { form: SMALL_VM });
    await service.runScheduledJobs();
    await expect.poll(async () => (await queueOf(service, 'webhooks'))?.failed).toBe(1);
    const oldest = { subject: `webhook/${id}`, account_id: await owner(service) };
    expect(await queueOf(service, 'webhooks')).toMatchObject({ failed: 1, oldest, is_held_up: false });
  });

  test('a scheduled backup waits until it is made, and fails while the hypervisor does', async () => {
    const calls = new PortCalls();
    const service = await startOperator({ engine, tuning, hypervisor: new TestHypervisor(calls) });
    const { body } = await service.call('createVm', { form: { ...SMALL_VM, backup_slots: 2 } });
    const path = { vmid: String(body.data.identifier) };
    expect((await service.call('setVmBackupSchedule', { path, form: { interval: 'daily' } })).status).toBe(200);
    service.clock.advance(86_400_000);
    const oldest = { subject: `vm/${path.vmid}`, account_id: await owner(service) };
    expect(await queueOf(service, 'backups')).toMatchObject({ waiting: 1, failed: 0, oldest, is_held_up: false });
    calls.plan = ['fails before'];
    await service.runScheduledJobs();
    expect(await queueOf(service, 'backups')).toMatchObject({ waiting: 0, failed: 1, oldest, is_held_up: true });
  });

  test('a task holds up nothing for six hours', async () => {
    const service = await startOperator({ engine, tuning, delays: { install: 40_000_000 } });
    const { body } = await service.call('createVm', { form: SMALL_VM });
    service.clock.advance(6 * 3_600_000);
    const oldest = { subject: `vm/${body.data.identifier}`, account_id: await owner(service) };
    expect(await queueOf(service, 'tasks')).toEqual({ waiting: 1, failed: 0, oldest_seconds: 21_600, oldest, is_held_up: false });
    service.clock.advance(1_000);
    expect(await queueOf(service, 'tasks')).toMatchObject({ is_held_up: true });
  });

  test('changes that cannot be undone hold up their queue, which names the VM of the oldest', async () => {
    const service = await startOperator({ engine, tuning });
    service.hypervisor.failing = new Error('away');
    service.hypervisor.failingToRemove = new Error('away');
    expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(503);
    const [first] = service.hypervisor.orders.keys();
    const oldest = { subject: `vm/${first}`, account_id: await owner(service) };
    expect(await queueOf(service, 'deliveries')).toMatchObject({ waiting: 1, oldest, is_held_up: false });
    service.clock.advance(301_000);
    expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(503);
    expect(await queueOf(service, 'deliveries')).toMatchObject({ waiting: 2, oldest, is_held_up: true });
  });

  test('the oldest item is one that failed, even if another has waited longer', async () => {
    const calls = new PortCalls();
    const service = await startOperator({ engine, tuning, dns: new TestDns(calls) });
    calls.defaultFault = (purpose) => (purpose === 'tell' ? 'fails before' : 'none');
    await register(service, 'failing.net');
    await service.runScheduledJobs();
    await register(service, 'waiting.net');
    const account_id = await owner(service);
    expect(await queueOf(service, 'zones')).toMatchObject({ waiting: 1, failed: 1, oldest: { subject: 'domain/failing.net', account_id } });
  });
});
