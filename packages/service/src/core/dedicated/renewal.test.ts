import { expect, test } from 'vitest';

import { deployedServer, orderServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { euros } from '../../rules/money.ts';
import { sandboxMarket } from '../../sandbox/market.ts';
import { addMarketServer } from './order.ts';

const path = { identifier: RYZEN };

/** The charges of an account: type, runtime, EUR, and month of the invoice or null. */
async function chargesOf({ store }: TestService, accountId: string): Promise<unknown[]> {
  const rows = await store.read((db) =>
    db
      .selectFrom('charges')
      .leftJoin('invoices', 'invoices.id', 'charges.invoice_id')
      .select(['charges.type', 'charges.start', 'charges.stop', 'charges.amount', 'invoices.period_start'])
      .where('charges.account_id', '=', accountId)
      .orderBy('charges.start')
      .execute(),
  );
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString();
  return rows.map(({ type, start, stop, amount, period_start }) => [
    type,
    iso(start),
    iso(stop),
    amount / 1e8,
    period_start && iso(period_start).slice(0, 7),
  ]);
}

const invoices = ({ store }: TestService, accountId: string) =>
  store.read((db) =>
    db
      .selectFrom('invoices')
      .select(['period_start', 'total', 'status'])
      .where('account_id', '=', accountId)
      .orderBy('period_start')
      .execute(),
  );

/** An account with a server of 10.00 EUR for each runtime, deployed at an instant. */
async function serverOf(
  service: TestService,
  runtimeDays: number,
  deployed: string,
): Promise<{ id: string; apiKey: string; identifier: string }> {
  const [machine] = sandboxMarket;
  if (!machine) throw new Error('The sandbox offers nothing.');
  const ipv4 = [{ address: '100.112.0.99', gateway: '100.112.0.1' }];
  const offer = { ...machine, identifier: '11111111-2222-4333-8444-555555555555', ipv4, ipv6: [], price: euros('10.00'), runtimeDays };
  const identifier = await service.store.commit(({ db }) => addMarketServer(db, service.ports, offer));
  const account = await service.account();
  // The set-up takes a quarter of an hour.
  service.clock.advance(Date.parse(deployed) - 900_000 - service.clock.now());
  await orderServer(service, identifier, account.id);
  service.clock.advanceTo(deployed);
  await service.runScheduledJobs();
  return { ...account, identifier };
}

test('charges each runtime in advance, in the period in which it begins', async () => {
  const service = await startService();
  const { id, apiKey } = await deployedServer(service);
  service.clock.advanceTo('2027-03-15T00:00:00Z');
  await service.runScheduledJobs();
  expect(await chargesOf(service, id)).toEqual([
    ['CREATE', '2026-11-10T12:03:17.000Z', '2026-12-10T12:03:17.000Z', 89, '2026-11'],
    ['RENEW', '2026-12-10T12:03:17.000Z', '2027-01-09T12:03:17.000Z', 89, '2026-12'],
    ['RENEW', '2027-01-09T12:03:17.000Z', '2027-02-08T12:03:17.000Z', 89, '2027-01'],
    ['RENEW', '2027-02-08T12:03:17.000Z', '2027-03-10T12:03:17.000Z', 89, '2027-02'],
    ['RENEW', '2027-03-10T12:03:17.000Z', '2027-04-09T12:03:17.000Z', 89, null],
  ]);
  expect((await invoices(service, id)).map(({ total }) => total / 1e8)).toEqual([89, 89, 89, 89]);
  const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
  // 1,000 - four open invoices - this period's renewal: 1,000 - 5 x 89.
  expect(data).toMatchObject({ currentInvoiceTotal: 89, estimatedInvoiceTotal: 89, creditLimitRemaining: 555 });
  expect(data.positions.dedicated).toEqual({
    [RYZEN]: [{ type: 'RENEW', start: '2027-03-10T12:03:17.000Z', stop: '2027-04-09T12:03:17.000Z', totalPrice: 89 }],
  });
  const server = await service.call('getDedicatedServer', { path, apiKey });
  expect(server.body.data.accounting.renew).toBe('2027-04-09T12:03:17.000Z');
});

test('charges a runtime shorter than a month several times in a period', async () => {
  const service = await startService();
  // 1 + 10 days: 11, 21 and 31 January, 10 and 20 February, 2 March.
  const { id } = await serverOf(service, 10, '2027-01-01T00:00:00Z');
  service.clock.advanceTo('2027-03-05T00:00:00Z');
  await service.runScheduledJobs();
  expect(
    (await chargesOf(service, id)).map((charge) => Array.isArray(charge) && [charge[0], String(charge[1]).slice(0, 10), charge[4]]),
  ).toEqual([
    ['CREATE', '2027-01-01', '2027-01'],
    ['RENEW', '2027-01-11', '2027-01'],
    ['RENEW', '2027-01-21', '2027-01'],
    ['RENEW', '2027-01-31', '2027-01'],
    ['RENEW', '2027-02-10', '2027-02'],
    ['RENEW', '2027-02-20', '2027-02'],
    ['RENEW', '2027-03-02', null],
  ]);
  expect((await invoices(service, id)).map(({ total }) => total / 1e8)).toEqual([40, 20]);
});

test('charges a renewal at the end of a period in the next one, and a second earlier in the old one', async () => {
  const service = await startService();
  const at = await serverOf(service, 15, '2026-11-16T00:00:00Z');
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  expect((await invoices(service, at.id)).map(({ total }) => total / 1e8)).toEqual([10]);
  expect((await chargesOf(service, at.id)).at(-1)).toEqual(['RENEW', '2026-12-01T00:00:00.000Z', '2026-12-16T00:00:00.000Z', 10, null]);

  const other = await startService();
  const before = await serverOf(other, 15, '2026-11-15T23:59:59Z');
  other.clock.advanceTo('2026-12-01T00:00:00Z');
  await other.runScheduledJobs();
  expect((await invoices(other, before.id)).map(({ total }) => total / 1e8)).toEqual([20]);
});

test('runs the jobs of a year in order, each as of the instant at which it was due', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account('10000.00');
  await orderServer(service, RYZEN, id);
  service.clock.advanceTo('2027-11-10T12:18:16.999Z');
  await service.runScheduledJobs();
  const charges = await chargesOf(service, id);
  // 365 days less a millisecond: the set-up and twelve renewals, the last on 5 November.
  expect(charges).toHaveLength(13);
  expect(charges[0]).toEqual(['CREATE', '2026-11-10T12:18:17.000Z', '2026-12-10T12:18:17.000Z', 89, '2026-11']);
  expect(charges.at(-1)).toEqual(['RENEW', '2027-11-05T12:18:17.000Z', '2027-12-05T12:18:17.000Z', 89, null]);
  expect((await invoices(service, id)).reduce((sum, { total }) => sum + total / 1e8, 0)).toBe(12 * 89);
  expect((await service.call('getDedicatedServer', { path, apiKey })).body.data.accounting.renew).toBe('2027-12-05T12:18:17.000Z');
  expect(await service.runScheduledJobs()).toBe(0);
});

test('charges a renewal even beyond the credit limit', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account('100.00');
  await orderServer(service, RYZEN, id);
  service.clock.advanceTo('2026-12-31T00:00:00Z');
  await service.runScheduledJobs();
  const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
  expect(data).toMatchObject({ currentInvoiceTotal: 89, creditLimitRemaining: 100 - 2 * 89 });
});

test('charges every runtime once after a cancellation and its withdrawal', async () => {
  const service = await startService();
  const { id, apiKey } = await deployedServer(service);
  for (const day of ['2026-11-12', '2026-11-20', '2026-12-05']) {
    service.clock.advanceTo(`${day}T00:00:00Z`);
    expect((await service.call('deleteDedicatedServer', { path, apiKey })).body.data.termination_date).toBe('2026-12-10T12:03:17.000Z');
    expect((await service.call('undeleteDedicatedServer', { path, apiKey })).body.data.renew_date).toBe('2026-12-10T12:03:17.000Z');
  }
  service.clock.advanceTo('2026-12-11T00:00:00Z');
  await service.runScheduledJobs();
  expect(await chargesOf(service, id)).toEqual([
    ['CREATE', '2026-11-10T12:03:17.000Z', '2026-12-10T12:03:17.000Z', 89, '2026-11'],
    ['RENEW', '2026-12-10T12:03:17.000Z', '2027-01-09T12:03:17.000Z', 89, null],
  ]);
  expect((await service.call('deleteDedicatedServer', { path, apiKey })).body.data.termination_date).toBe('2027-01-09T12:03:17.000Z');
});

test('ends a cancelled server at its renewal date: it is not listed, not found, not charged, and retired', async () => {
  const service = await startService();
  const { id, apiKey } = await deployedServer(service);
  await service.runScheduledJobs();
  expect(service.fleet.servers.get(RYZEN)).toMatchObject({ accountId: id, addresses: ['100.112.0.11', '2001:db8:69d0:11::/64'] });
  await service.call('deleteDedicatedServer', { path, apiKey });
  service.clock.advanceTo('2026-12-10T12:03:17Z');
  for (const timedWorkFirst of [false, true]) {
    if (timedWorkFirst) await service.runScheduledJobs();
    expect((await service.call('listDedicatedServers', { apiKey })).body.data.list).toEqual([]);
    for (const operation of ['getDedicatedServer', 'deleteDedicatedServer', 'undeleteDedicatedServer'] as const) {
      expect(await service.call(operation, { path, apiKey })).toMatchObject({ status: 404, body: { type: 'not_found' } });
    }
  }
  expect(service.fleet.servers.size).toBe(0);
  expect(service.fleet.retired).toEqual([RYZEN]);
  service.clock.advanceTo('2027-02-01T00:00:00Z');
  await service.runScheduledJobs();
  expect(await chargesOf(service, id)).toHaveLength(1);
  expect(
    (await service.call('listDedicatedMarket')).body.data.list.map(({ identifier }: { identifier: string }) => identifier),
  ).not.toContain(RYZEN);
  const [row] = await service.store.read((db) => db.selectFrom('dedicated_servers').selectAll().where('id', '=', RYZEN).execute());
  expect(row).toMatchObject({ state: 'ended', sealed_password: null, due: null });
});

test('renews each server of an account at its own date', async () => {
  const service = await startService();
  const { id } = await deployedServer(service, RYZEN);
  service.clock.advance(86_400_000);
  await orderServer(service, XEON, id);
  service.clock.advanceTo('2026-12-31T00:00:00Z');
  await service.runScheduledJobs();
  expect((await chargesOf(service, id)).map((charge) => Array.isArray(charge) && [charge[0], charge[1], charge[3]])).toEqual([
    ['CREATE', '2026-11-10T12:03:17.000Z', 89],
    ['CREATE', '2026-11-11T12:18:17.000Z', 59],
    ['RENEW', '2026-12-10T12:03:17.000Z', 89],
    ['RENEW', '2026-12-11T12:18:17.000Z', 59],
  ]);
});
