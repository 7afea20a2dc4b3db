import { expect, test } from 'vitest';

import { completeSetUp, deployedServer, EPYC, orderServer, RYZEN, XEON } from '../../../test/dedicated.ts';
import { SECRET, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { sandboxMarket } from '../../sandbox/market.ts';
import { sampleIdentifiers } from '../../sandbox/sample-identifiers.ts';
import { seedDemoAccount } from '../../sandbox/seed-demo-account.ts';
import { DEMO_ACCOUNT } from '../../sandbox/seed-sandbox.ts';
import { issueApiKey } from '../account/account.ts';
import { addMarketServer } from './order.ts';

const accountOf = ({ store }: TestService, id: string) =>
  store.read((db) => db.selectFrom('accounts').select(['unpaid', 'held']).where('id', '=', id).executeTakeFirstOrThrow());

test('holds the price of an order, and charges it when the set-up is completed', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account('100.00');
  await orderServer(service, RYZEN, id);
  expect(await accountOf(service, id)).toEqual({ unpaid: 0, held: 8_900_000_000 });
  expect((await service.call('getCurrentInvoice', { apiKey })).body.data).toMatchObject({ currentInvoiceTotal: 0, positions: { vms: {} } });
  await completeSetUp(service, RYZEN);
  expect(await accountOf(service, id)).toEqual({ unpaid: 0, held: 8_900_000_000 });
  expect((await service.call('getCurrentInvoice', { apiKey })).body.data).toMatchObject({
    currentInvoiceTotal: 89,
    creditLimitRemaining: 11,
  });
});

test('keeps a hold beyond the end of a period', async () => {
  const service = await startService();
  service.fleet.automaticSetUp = null;
  const { id } = await service.account('100.00');
  await orderServer(service, RYZEN, id);
  service.clock.advanceTo('2026-12-02T00:00:00Z');
  await service.runScheduledJobs();
  // December has 31 days, so a set-up on its first second would be renewed in it.
  expect(await accountOf(service, id)).toEqual({ unpaid: 0, held: 2 * 8_900_000_000 });
  await completeSetUp(service, RYZEN);
  expect(await accountOf(service, id)).toEqual({ unpaid: 0, held: 8_900_000_000 });
  service.clock.advanceTo('2027-01-01T00:00:00Z');
  await service.runScheduledJobs();
  // The renewals of 1 and 31 January 00:00 are in the new period.
  expect(await accountOf(service, id)).toEqual({ unpaid: 8_900_000_000, held: 2 * 8_900_000_000 });
});

test('refuses an order beyond the credit limit with 402, and leaves the server on the market', async () => {
  const service = await startService();
  const { id } = await service.account('88.99');
  await expect(orderServer(service, RYZEN, id)).rejects.toMatchObject({ status: 402, type: 'credit_limit_exceeded' });
  expect(await accountOf(service, id)).toEqual({ unpaid: 0, held: 0 });
  expect((await service.call('listDedicatedMarket')).body.data.list).toHaveLength(4);
});

test('sells a server once to concurrent orders, and accepts only as many orders as the credit limit allows', async () => {
  const service = await startService();
  const accounts = await Promise.all(Array.from({ length: 5 }, () => service.account()));
  const orders = await Promise.allSettled(accounts.map(({ id }) => orderServer(service, RYZEN, id)));
  expect(orders.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const order of orders) if (order.status === 'rejected') expect(order.reason).toMatchObject({ status: 409, type: 'wrong_state' });
  // 149 + 59 = 208.
  const { id } = await service.account('207.99');
  const both = await Promise.allSettled([EPYC, XEON].map((identifier) => orderServer(service, identifier, id)));
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('refuses an unknown server or account, and the set-up of a server that was not ordered or is already set up', async () => {
  const service = await startService();
  const { id } = await service.account();
  const unknown = '00000000-0000-4000-8000-000000000000';
  await expect(orderServer(service, unknown, id)).rejects.toMatchObject({ status: 422, fields: [{ field: 'market_id' }] });
  await expect(orderServer(service, RYZEN, unknown)).rejects.toMatchObject({ status: 422, fields: [{ field: 'account_id' }] });
  await expect(completeSetUp(service, unknown)).rejects.toMatchObject({ status: 404 });
  await expect(completeSetUp(service, RYZEN)).rejects.toMatchObject({ status: 404 });
  await orderServer(service, RYZEN, id);
  await completeSetUp(service, RYZEN);
  await expect(completeSetUp(service, RYZEN)).rejects.toMatchObject({ status: 409, type: 'wrong_state' });
});

test('never assigns an address to two servers or to a server and a pool, and frees the addresses of an ended server', async () => {
  const service = await startService();
  const { apiKey } = await deployedServer(service, XEON);
  const [machine] = sandboxMarket;
  if (!machine) throw new Error('The sandbox offers nothing.');
  const offer = (address: string) => {
    const ipv4 = [{ address, gateway: '100.80.0.1' }];
    return service.store.commit(({ db }) =>
      addMarketServer(db, service.ports, { ...machine, identifier: '11111111-2222-4333-8444-555555555555', ipv4, ipv6: [] }),
    );
  };
  await expect(offer('100.80.0.10')).rejects.toMatchObject({ status: 409 });
  await expect(offer('100.64.0.7')).rejects.toMatchObject({ status: 409 });
  await service.call('deleteDedicatedServer', { path: { identifier: XEON }, apiKey });
  service.clock.advanceTo('2026-12-15T00:00:00Z');
  await service.runScheduledJobs();
  await offer('100.80.0.10');
  expect((await service.call('listDedicatedMarket')).body.data.list).toHaveLength(4);
});

test('seeds the demo account once with dedicated servers, a VM and an open invoice of the previous month', async () => {
  const service = await startService();
  const { store, ports } = service;
  const parts = { ports, secret: SECRET };
  await seedDemoAccount(store, parts);
  await seedDemoAccount(store, parts);
  const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'test', mode: 'sandbox' }));
  const { list } = (await service.call('listDedicatedServers', { apiKey })).body.data;
  // Deployed ten days before 10 November.
  const renew = '2026-11-30T12:03:17.000Z';
  expect(list).toMatchObject([
    { deployed: true, accounting: { renew, terminated: true }, datacenter: { name: 'FRA1' } },
    {
      deployed: true,
      accounting: { renew, terminated: false },
      datacenter: { name: 'FRA1' },
      management: { password: expect.any(String) },
    },
    { deployed: false, accounting: { renew: null }, datacenter: { name: 'AMS1' }, management: null },
  ]);
  // Ten days of 10.40 a month in October, and the whole of November at that price.
  const invoices = (await service.call('listInvoices', { apiKey })).body.data;
  expect(invoices).toMatchObject({ [sampleIdentifiers.invoice]: { created: '2026-11-01T00:00:00.000Z', total: 3.47, status: 'OPEN' } });
  const before = (await service.call('getCurrentInvoice', { apiKey })).body.data;
  expect(before).toMatchObject({
    // The VM for 30 days, and the renewal of the deployed server in this month.
    estimatedInvoiceTotal: 10.4 + 89,
    positions: { vms: { [sampleIdentifiers.vm]: [{ type: 'BILLINGRESTART', start: '2026-11-01T00:00:00.000Z', monthlyPrice: 10.4 }] } },
  });
  service.clock.advanceTo('2026-11-30T12:03:17Z');
  await service.runScheduledJobs();
  const { data } = (await service.call('getCurrentInvoice', { apiKey })).body;
  // The renewal, 89, the other server's first runtime, 59, and 10.40 for 2,548,997 s of the 30 days.
  expect(data.currentInvoiceTotal).toBe(158.23);
});
