import { setImmediate as nextTurn } from 'node:timers/promises';

import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import { PortCalls } from '../../../test/ports/port-calls.ts';
import type { HangingCall } from '../../../test/ports/port-calls.ts';

const HOUR = 3_600;

test('completes a set-up after a quarter of an hour, and closes invoices at the end of a month', async () => {
  const service = await startOperator();
  const { client } = service;
  const { id, apiKey } = await service.account();
  const [offer] = (await operator.listMarketItems({ client })).items;
  await operator.orderDedicatedServer({ client, body: { account_id: id, market_id: offer?.id ?? '' } });
  const before = await operator.getClock({ client });
  const advanced = await operator.advanceClock({ client, body: { by_seconds: 900 } });
  expect(advanced.advance_seconds).toBe(900);
  expect(Date.parse(advanced.now) - Date.parse(before.now)).toBe(900_000);
  expect((await service.call('listDedicatedServers', { apiKey })).body.data.list).toMatchObject([{ deployed: true }]);
  await operator.advanceClock({ client, body: { to: '2026-12-01T00:00:00Z' } });
  const { items } = await operator.listInvoices({ client, query: { account_id: id, status: 'OPEN' } });
  expect(items).toMatchObject([{ period_end: '2026-12-01T00:00:00.000Z', total: offer?.price }]);
  const path = { invoice_id: items[0]?.id ?? '' };
  for (let n = 0; n < 2; n++) expect(await operator.markInvoicePaid({ client, path })).toMatchObject({ status: 'PAID' });
  expect(await refusalOf(operator.cancelInvoice({ client, path }))).toMatchObject({ status: 409 });
  const back = operator.advanceClock({ client, body: { to: '2026-11-30T00:00:00Z' } });
  expect(await refusalOf(back)).toMatchObject({ status: 422, fields: [{ field: '#/to' }] });
});

test('adds up advances by seconds at the same time, and ends those to an instant there', async () => {
  const { client } = await startOperator();
  const { now } = await operator.getClock({ client });
  await Promise.all([3_600, 1, 86_400, 3_600].map((by_seconds) => operator.advanceClock({ client, body: { by_seconds } })));
  expect(await operator.getClock({ client })).toMatchObject({ advance_seconds: 93_601 });
  const to = new Date(Date.parse(now) + 40 * 86_400_000).toISOString();
  await Promise.all([{ to }, { to }].map((body) => operator.advanceClock({ client, body })));
  expect(await operator.getClock({ client })).toMatchObject({ advance_seconds: 40 * 86_400 });
});

test('counts the jobs of an advance, although rounds of jobs run meanwhile', async () => {
  const service = await startOperator();
  const { client } = service;
  const { id } = await service.account();
  const [offer] = (await operator.listMarketItems({ client })).items;
  await operator.orderDedicatedServer({ client, body: { account_id: id, market_id: offer?.id ?? '' } });
  const state = { isOver: false };
  const advancing = operator.advanceClock({ client, body: { by_seconds: 900 } }).finally(() => (state.isOver = true));
  // Each round is asked for in a turn of its own, as by the timer of a server.
  while (!state.isOver) await Promise.all([service.runRound(), nextTurn()]);
  expect(await advancing).toMatchObject({ work_done: 1 });
});

test('the audit of an advance that stops on its way names only what the clock has reached', async () => {
  const service = await startOperator();
  const { client } = service;
  await service.call('createVm', { form: SMALL_VM });
  const { now } = await operator.getClock({ client });
  await operator.advanceClock({ client, body: { to: '2027-01-15T00:00:00Z' } });
  const records = (await operator.listAuditRecords({ client, query: { operation: 'advanceClock' } })).items;
  expect(records.map(({ before, after }) => ({ before, after }))).toMatchObject([
    { before: { now }, after: { now: '2026-12-01T00:00:00.000Z', advances_to: '2027-01-15T00:00:00.000Z' } },
  ]);
});

test('injects an error the given number of times, for the given key and operation', async () => {
  const service = await startOperator();
  const { client } = service;
  const isolated = await operator.createIsolatedAccount({ client, body: { name: 'run' } });
  const { key: apiKey, id } = isolated.api_key;
  const fault = (body: operator.CreateFaultRequest) => operator.createFault({ client, body: { api_key_ids: [id.toUpperCase()], ...body } });
  await fault({ operations: ['listDomains'], effect: { kind: 'error', status: 503 }, times: 2 });
  const ask = (key = apiKey) => service.call('listDomains', { apiKey: key });
  expect((await ask(service.apiKey)).status).toBe(200);
  expect((await service.call('listSales', { apiKey })).status).toBe(200);
  expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([503, 503, 200]);
  await fault({ effect: { kind: 'rate_limit', retry_after_seconds: 7 } });
  const limited = await ask();
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
  await fault({ effect: { kind: 'delay', milliseconds: 300 } });
  const begun = performance.now();
  expect((await ask()).status).toBe(200);
  expect(performance.now() - begun).toBeGreaterThan(290);
  const waiting = await fault({ effect: { kind: 'error', status: 422 } });
  expect((await operator.listFaults({ client })).items).toMatchObject([{ id: waiting.id, remaining: 1 }]);
  expect(await operator.removeFault({ client, path: { fault_id: waiting.id } }).withMeta()).toMatchObject({ status: 204 });
  expect(await refusalOf(operator.removeFault({ client, path: { fault_id: waiting.id } }))).toMatchObject({ status: 404 });
  expect(
    await refusalOf(operator.createFault({ client, body: { operations: ['flyAway'], effect: { kind: 'cut_before_commit' } } })),
  ).toMatchObject({ status: 422 });
});

test('carries out no purchase if the connection is cut before the commit, and carries it out if it is cut afterwards', async () => {
  const service = await startOperator();
  const { client } = service;
  const vms = async () => (await operator.listVms({ client })).items.length;
  await operator.createFault({ client, body: { operations: ['createVm'], effect: { kind: 'cut_before_commit' } } });
  await expect(service.call('createVm', { form: SMALL_VM })).rejects.toThrow('fetch failed');
  expect(await vms()).toBe(0);
  await operator.createFault({ client, body: { operations: ['createVm'], effect: { kind: 'cut_after_commit' } } });
  const idempotencyKey = 'once';
  await expect(service.call('createVm', { form: SMALL_VM, idempotencyKey })).rejects.toThrow('fetch failed');
  expect(await vms()).toBe(1);
  expect((await service.call('createVm', { form: SMALL_VM, idempotencyKey })).status).toBe(200);
  expect(await vms()).toBe(1);
});

test('restores invoices, the log and the clock exactly from a snapshot, and keeps other snapshots', async () => {
  const service = await startOperator();
  const { client } = service;
  await service.call('createVm', { form: SMALL_VM });
  await operator.advanceClock({ client, body: { to: '2026-12-01T00:00:00Z' } });
  const path = { snapshot: 'december' };
  const state = async () => ({
    invoices: (await operator.listInvoices({ client })).items,
    vms: (await operator.listVms({ client })).items,
    accounts: (await operator.listAccounts({ client })).items,
    clock: await operator.getClock({ client }),
  });
  const before = await state();
  await operator.createSnapshot({ client, path });
  for (let n = 0; n < 3; n++) await service.call('listDomains');
  await operator.advanceClock({ client, body: { by_seconds: 40 * 24 * HOUR } });
  await service.call('createVm', { form: SMALL_VM });
  expect(await operator.restoreSnapshot({ client, path })).toEqual(before.clock);
  expect(await state()).toEqual(before);
  const log = (await service.call('listRequests')).body.data;
  expect(log.map(({ endpoint }: { endpoint: string }) => endpoint)).toEqual(['/vm/create']);
  expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(200);
  expect((await operator.listSnapshots({ client })).items).toMatchObject([{ name: 'december' }]);
  expect(await operator.deleteSnapshot({ client, path }).withMeta()).toMatchObject({ status: 204 });
  expect(await refusalOf(operator.restoreSnapshot({ client, path }))).toMatchObject({ status: 404 });
});

test('resets to a seeded sandbox at the time of the machine', async () => {
  const service = await startOperator();
  const { client } = service;
  await service.call('createVm', { form: SMALL_VM });
  await operator.advanceClock({ client, body: { by_seconds: HOUR } });
  expect(await operator.resetSandbox({ client })).toMatchObject({ advance_seconds: 0 });
  expect((await operator.listVms({ client })).items).toMatchObject([{ id: '48213' }]);
  expect((await operator.listAccounts({ client })).items).toMatchObject([{ name: 'Demo reseller' }]);
  expect((await operator.listHostSystems({ client })).items).toHaveLength(3);
  expect((await operator.listDedicatedServers({ client })).items).toHaveLength(3);
  expect((await service.call('listDomains')).status).toBe(401);
});

test('deletes an isolated account completely, and refuses to delete any other account', async () => {
  const service = await startOperator();
  const { client } = service;
  const { account, api_key } = await operator.createIsolatedAccount({ client, body: { name: 'run', credit_limit: '50' } });
  expect(account).toMatchObject({ isolated: true, credit_limit: '50.00' });
  await service.call('createVm', { form: SMALL_VM, apiKey: api_key.key });
  await service.call('generateOtp', { apiKey: api_key.key });
  await operator.advanceClock({ client, body: { by_seconds: 31 * 24 * HOUR } });
  const path = { account_id: account.id };
  expect(await operator.deleteIsolatedAccount({ client, path }).withMeta()).toMatchObject({ status: 204 });
  expect(await refusalOf(operator.deleteIsolatedAccount({ client, path }))).toMatchObject({ status: 404 });
  expect((await service.call('listDomains', { apiKey: api_key.key })).status).toBe(401);
  expect((await operator.listVms({ client })).items).toEqual([]);
  const host = (await operator.listHostSystems({ client })).items.find(({ name }) => name === 'nl_ryzen');
  expect(host?.nodes.every(({ used_cores }) => used_cores === 0)).toBe(true);
  const { id } = await service.account();
  expect(await refusalOf(operator.deleteIsolatedAccount({ client, path: { account_id: id } }))).toMatchObject({ status: 409 });
});

test.each(engines)(
  'on %s, a reset and the deletion of an account remove their machines, also that of a purchase in progress',
  async (engine) => {
    const calls = new PortCalls();
    const hypervisor = new TestHypervisor(calls);
    const service = await startOperator({ engine, hypervisor });
    const { client } = service;
    const isolated = await operator.createIsolatedAccount({ client, body: { name: 'run' } });
    await service.call('createVm', { form: SMALL_VM });
    await service.call('createVm', { form: SMALL_VM, apiKey: isolated.api_key.key });
    expect(hypervisor.vms.size).toBe(2);
    await operator.deleteIsolatedAccount({ client, path: { account_id: isolated.account.id } });
    expect(hypervisor.vms.size).toBe(1);
    const hanging = Promise.withResolvers<HangingCall>();
    calls.onHang = hanging.resolve;
    calls.plan = ['hangs before'];
    const purchase = service.call('createVm', { form: SMALL_VM });
    const call = await hanging.promise;
    await operator.resetSandbox({ client });
    expect(hypervisor.vms.size).toBe(0);
    call.end('continues');
    expect((await purchase).status).toBe(503);
    expect(hypervisor.vms.size).toBe(0);
  },
);

test('a reset whose hypervisor fails says so, and leaves the machines to a comparison', async () => {
  const service = await startOperator();
  const { client, hypervisor } = service;
  await service.call('createVm', { form: SMALL_VM });
  hypervisor.failingToRemove = new Error('The hypervisor is down.');
  const refusal = await refusalOf(operator.resetSandbox({ client }));
  expect([refusal.status, refusal.message]).toEqual([503, expect.stringContaining('The sandbox was reset, but')]);
  const { findings } = await operator.getReconciliation({ client });
  expect(findings.map(({ kind }) => kind)).toContain('vm_unknown');
});

test.each(engines)('an advance leaves each event and each scheduled backup at its own time, on %s', async (engine) => {
  const service = await startOperator({ engine });
  const { client } = service;
  const { body } = await service.call('createVm', { form: { ...SMALL_VM, backup_slots: 3 } });
  const path = { vmid: String(body.data.identifier) };
  const begun = service.clock.now();
  expect((await service.call('setVmBackupSchedule', { path, form: { interval: 'daily' } })).status).toBe(200);
  await operator.advanceClock({ client, body: { to: '2027-01-03T00:00:00Z' } });
  const times: string[] = [];
  for (let cursor: string | undefined = undefined; ;) {
    const page: { data: { events: { type: string; timestamp: string }[]; next_cursor: string; has_more: boolean } } = (
      await service.call('listEvents', { form: { limit: 100, ...(cursor !== undefined && { cursor }) } })
    ).body;
    times.push(...page.data.events.map(({ type, timestamp }) => `${type} ${timestamp.slice(0, 16)}`));
    cursor = page.data.next_cursor;
    if (!page.data.has_more) break;
  }
  expect(times.filter((time) => time.startsWith('invoice.issued'))).toEqual(['invoice.issued 2027-01-01T00:00']);
  const made = times.filter((time) => time.startsWith('vm.backup.created'));
  const days = Array.from({ length: 30 }, (_, day) => new Date(begun + (24 + day) * 86_400_000).toISOString().slice(0, 16));
  expect(made).toEqual(days.filter((day) => made.some((time) => time.endsWith(day))).map((day) => `vm.backup.created ${day}`));
  expect(made).toHaveLength(30);
});
