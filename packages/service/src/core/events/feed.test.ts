import * as operator from '@reseller/operator-client';
import { Client } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';

import { completeSetUp, EPYC, orderServer } from '../../../test/dedicated.ts';
import { register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { startOperator } from '../../../test/operator.ts';
import { seededPlace } from '../../../test/prepared-store.ts';
import { deleteOldEvents } from './feed.ts';

interface Event {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}
interface Page {
  readonly events: readonly Event[];
  readonly next_cursor: string;
  readonly has_more: boolean;
}

const read = async (service: TestService, form: Readonly<Record<string, unknown>> = {}, apiKey = service.apiKey): Promise<Page> => {
  const { status, body } = await service.call('listEvents', { form, apiKey });
  expect({ status, message: body.message }).toMatchObject({ status: 200 });
  return body.data;
};
const typesOf = async (service: TestService, subject?: string) =>
  (await read(service, { limit: 100 })).events
    .filter((event) => subject === undefined || event.subject === subject)
    .map(({ type }) => type);
const buyVm = async (service: TestService) => String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
const power = (service: TestService, vmid: string, mode: string) => service.call('setVmPower', { path: { vmid }, form: { mode } });

describe.each(engines)('on %s', (engine) => {
  test('has the life of a VM and of its backups', async () => {
    const service = await startService({ engine });
    const vmid = await buyVm(service);
    const path = { vmid };
    await power(service, vmid, 'stop');
    await power(service, vmid, 'stop');
    await power(service, vmid, 'start');
    await service.call('changeVm', { path, form: { cores: 4, backup_slots: 3 } });
    await service.call('editVm', { path, form: { name: 'Shop' } });
    await service.call('editVm', { path, form: { name: 'Shop' } });
    const { backup_id } = (await service.call('createVmBackup', { path, form: {} })).body.data;
    await service.call('deleteVmBackup', { path: { vmid, backup_id } });
    service.hypervisor.failing = new Error('The node is down.');
    await service.call('createVmBackup', { path, form: {} });
    service.hypervisor.failing = undefined;
    await service.runScheduledJobs();
    await service.call('deleteVm', { path });
    expect(await typesOf(service, `vm/${vmid}`)).toEqual([
      'vm.created',
      'vm.stopped',
      'vm.started',
      'vm.changed',
      'vm.changed',
      'vm.backup.created',
      'vm.backup.deleted',
      'vm.backup.failed',
      'vm.deleted',
    ]);
    const { events } = await read(service, { type: 'vm.changed' });
    expect(events[0]?.data).toEqual({
      vmid: Number(vmid),
      status: 'running',
      hostname: 'KVM',
      name: 'KVM',
      hostsystem: 'nl_ryzen',
      os: 'debian_12',
      cores: 4,
      mem: 4096,
      disk: 40,
      network_speed: '1000',
      backup_slots: '3',
    });
    expect(events[1]?.data).toMatchObject({ name: 'Shop', hostname: 'KVM' });
  });

  test('has the life of a domain', async () => {
    const service = await startService({ engine });
    const domain = 'followed.net';
    const path = { domain };
    await register(service, domain);
    await service.call('setDomainNameservers', { path, form: { ns1: 'ns1.reseller-dns.example', ns2: 'ns2.reseller-dns.example' } });
    await service.call('deleteDomain', { path });
    await service.call('undeleteDomain', { path });
    expect(await typesOf(service, `domain/${domain}`)).toEqual(['domain.registered', 'domain.changed', 'domain.changed', 'domain.changed']);
    service.clock.advance(366 * 86_400_000);
    await service.runScheduledJobs();
    const renewed = (await read(service)).events.filter(({ subject }) => subject === `domain/${domain}`);
    expect(renewed).toMatchObject([
      { type: 'domain.renewed', data: { domain, handle: expect.any(String), terminated: false, expire: '2028-11-10 12:03:17' } },
    ]);
    await service.call('deleteDomain', { path });
    service.clock.advance(366 * 86_400_000);
    await service.runScheduledJobs();
    expect(await typesOf(service, `domain/${domain}`)).toEqual(['domain.changed', 'domain.deleted']);
  });

  test('has the life of a dedicated server, with its renewal date as the lists show it', async () => {
    const service = await startService({ engine });
    const account = await service.account();
    await orderServer(service, EPYC, account.id);
    await completeSetUp(service, EPYC);
    const path = { identifier: EPYC };
    const { accounting } = (await service.call('getDedicatedServer', { path, apiKey: account.apiKey })).body.data;
    await service.call('deleteDedicatedServer', { path, apiKey: account.apiKey });
    service.clock.advance(40 * 86_400_000);
    await service.runScheduledJobs();
    const { events } = await read(service, {}, account.apiKey);
    const ours = events.filter(({ subject }) => subject === `dedicated/${EPYC}`);
    expect(ours.map(({ type, data: { deployed, terminated, renew } }) => [type, deployed, terminated, renew])).toEqual([
      ['dedicated.purchased', false, false, null],
      ['dedicated.deployed', true, false, accounting.renew],
      ['dedicated.changed', true, true, accounting.renew],
      ['dedicated.ended', false, true, null],
    ]);
  });

  test('has invoices, payments and suspensions with amounts in EUR', async () => {
    const service = await startOperator({ engine });
    const { id, apiKey } = await service.account();
    await service.call('createVm', { form: SMALL_VM, apiKey });
    service.clock.advanceTo('2026-12-01T00:00:01Z');
    await service.runScheduledJobs();
    const [invoice] = (await operator.listInvoices({ client: service.client, query: { account_id: id } })).items;
    await operator.markInvoicePaid({ client: service.client, path: { invoice_id: invoice?.id ?? '' } });
    await operator.suspendAccount({ client: service.client, path: { account_id: id }, body: { reason: 'Unpaid' } });
    // A suspended account learns from the feed that it is.
    expect((await read(service, { type: 'account.suspended' }, apiKey)).events).toHaveLength(1);
    await operator.unsuspendAccount({ client: service.client, path: { account_id: id } });
    const { events } = await read(service, {}, apiKey);
    const total = Number(invoice?.total);
    expect(events.slice(1).map(({ type, data }) => [type, data])).toEqual([
      ['invoice.issued', { invoiceID: invoice?.id, number: invoice?.number, status: 'OPEN', total, credited: 0 }],
      ['payment.recorded', { kind: 'payment', date: '2026-12-01', amount: expect.closeTo(total * 1.19, 1) }],
      ['invoice.paid', { invoiceID: invoice?.id, number: invoice?.number, status: 'PAID', total, credited: 0 }],
      ['account.suspended', { suspended: true }],
      ['account.resumed', { suspended: false }],
    ]);
  });

  test('an invoice of 0.00 EUR is issued, and then paid', async () => {
    const service = await startOperator({ engine });
    const { apiKey } = await service.account();
    await operator.setTldPrice({ client: service.client, path: { tld: 'net' }, body: { create: '0.001', renew: '1', transfer: '1' } });
    await register(service, 'nearly-free.net', apiKey);
    service.clock.advanceTo('2026-12-01T00:00:01Z');
    await service.runScheduledJobs();
    const { events } = await read(service, {}, apiKey);
    const ofInvoice = events.filter(({ type }) => type.startsWith('invoice.'));
    expect(ofInvoice.map(({ type, data }) => [type, data])).toEqual([
      ['invoice.issued', expect.objectContaining({ total: 0, status: 'OPEN' })],
      ['invoice.paid', expect.objectContaining({ total: 0, status: 'PAID' })],
    ]);
    expect(Object.values((await service.call('listInvoices', { apiKey })).body.data)).toMatchObject([{ status: 'PAID', total: 0 }]);
  });

  test('a type that no event has is refused', async () => {
    const service = await startOperator({ engine });
    expect((await service.call('listEvents', { form: { type: 'nope' } })).body.data).toMatchObject({ fields: [{ field: 'type' }] });
  });

  test('a reader that polls during concurrent changes sees each event once, and those of a VM in order', async () => {
    const service = await startService({ engine });
    const vmids = [await buyVm(service), await buyVm(service), await buyVm(service)];
    let isChanging = true;
    const changes = Promise.all(
      vmids.map(async (vmid) => {
        for (let round = 0; round < 6; round++) for (const mode of ['stop', 'start']) await power(service, vmid, mode);
      }),
    ).finally(() => (isChanging = false));
    const seen: Event[] = [];
    let cursor = '0';
    for (let isLast = false; !isLast;) {
      isLast = !isChanging;
      const page = await read(service, { cursor, limit: 2 });
      seen.push(...page.events);
      cursor = page.next_cursor;
      isLast &&= !page.has_more;
    }
    await changes;
    seen.push(...(await read(service, { cursor })).events);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    const toggles = Array.from({ length: 6 }, () => ['vm.stopped', 'vm.started']).flat();
    for (const vmid of vmids)
      expect(seen.filter(({ subject }) => subject === `vm/${vmid}`).map(({ type }) => type)).toEqual(['vm.created', ...toggles]);
  });

  test.each([1, 2, 3])(
    'events are deleted after 30 days, %i at once, and an older cursor is refused with what to do',
    async (cleanUpBatch) => {
      const service = await startService({ engine, tuning: { cleanUpBatch } });
      const vmid = await buyVm(service);
      for (const mode of ['stop', 'start']) await power(service, vmid, mode);
      const first = await read(service, { limit: 1 });
      const begun = service.clock.now();
      service.clock.advance(1);
      await power(service, vmid, 'stop');
      const { next_cursor: newest } = await read(service);
      await deleteOldEvents(service.store, begun + 30 * 86_400_000);
      expect((await read(service)).events).toHaveLength(4);
      await deleteOldEvents(service.store, begun + 30 * 86_400_000 + 1);
      const { status, body } = await service.call('listEvents', { form: { cursor: first.next_cursor } });
      expect([status, body.type, body.message]).toEqual([
        400,
        'cursor_expired',
        'Events after this cursor were deleted, because they are kept for 30 days. Compare your data with the lists of the API, then call without cursor, which begins with the oldest event.',
      ]);
      for (const form of [{}, { cursor: '3' }]) expect((await read(service, form)).events.map(({ type }) => type)).toEqual(['vm.stopped']);
      await deleteOldEvents(service.store, begun + 31 * 86_400_000);
      expect(await read(service, { cursor: newest })).toEqual({ events: [], next_cursor: newest, has_more: false });
      expect(await read(service)).toEqual({ events: [], next_cursor: newest, has_more: false });
    },
  );

  test('pages have 1 to 100 events, and a type skips the others without an end', async () => {
    const service = await startService({ engine, tuning: { jobBatch: 1 } });
    const vmid = await buyVm(service);
    await power(service, vmid, 'stop');
    const one = await read(service, { limit: 1 });
    expect([one.events.length, one.next_cursor, one.has_more]).toEqual([1, '1', true]);
    const two = await read(service, { limit: 1, cursor: one.next_cursor });
    expect([two.events.length, two.next_cursor, two.has_more]).toEqual([1, '2', false]);
    expect(await read(service, { type: 'vm.created', cursor: '1' })).toEqual({ events: [], next_cursor: '2', has_more: false });
    expect((await service.call('listEvents', { form: { cursor: '3' } })).body).toMatchObject({ type: 'malformed_request' });
    for (const limit of [0, 101]) expect((await service.call('listEvents', { form: { limit } })).status).toBe(422);
  });

  test('a restored snapshot has the feed of its moment, and a restoration adds no event', async () => {
    const service = await startOperator({ engine, tuning: { jobBatch: 1 } });
    const vmid = await buyVm(service);
    await power(service, vmid, 'stop');
    const path = { snapshot: 'before' };
    await operator.createSnapshot({ client: service.client, path });
    const before = await read(service);
    expect(before.events).toHaveLength(2);
    await power(service, vmid, 'start');
    expect((await read(service)).events).toHaveLength(3);
    await operator.restoreSnapshot({ client: service.client, path });
    // A snapshot does not have the machines. Otherwise the service would find that this one does not run, and start it.
    service.hypervisor.stopped.clear();
    expect(await read(service)).toEqual(before);
    await service.runScheduledJobs();
    expect(await read(service)).toEqual(before);
  });
});

test('an event whose transaction commits after that of a later one is not missed', { tags: 'outer' }, async () => {
  const databaseUrl = await seededPlace('postgres');
  const service = await startService({ databaseUrl });
  const [slow, quick] = [await buyVm(service), await buyVm(service)];
  const { next_cursor: cursor } = await read(service);
  const other = new Client({ connectionString: databaseUrl });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('begin');
  // The trigger notes the event first, and its transaction commits last.
  await other.query(`update vms set state = 'stopped' where id = $1`, [slow]);
  await power(service, quick, 'stop');
  const during = await read(service, { cursor });
  expect(during.events.map(({ subject }) => subject)).toEqual([`vm/${quick}`]);
  await other.query('commit');
  const after = await read(service, { cursor: during.next_cursor });
  expect(after.events.map(({ subject }) => subject)).toEqual([`vm/${slow}`]);
});

test('two readers at once enter each event once', { tags: 'outer' }, async () => {
  const service = await startService({ engine: 'postgres' });
  const vmid = await buyVm(service);
  for (const mode of ['stop', 'start']) await power(service, vmid, mode);
  const pages = await Promise.all(Array.from({ length: 8 }, () => read(service)));
  for (const page of pages) expect(page).toEqual(pages[0]);
  expect(pages[0]?.events).toHaveLength(3);
});

test('the feed has no password, key, auth code or code of the account', async () => {
  const service = await startService();
  const { config } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  await register(service, 'secret.net');
  const { authcode } = (await service.call('requestDomainAuthcode', { path: { domain: 'secret.net' } })).body.data;
  const { otp_code } = (await service.call('generateOtp')).body.data;
  const feed = JSON.stringify(await read(service));
  for (const secret of [config.password, authcode, otp_code, service.apiKey]) expect(feed).not.toContain(secret);
});
