import { expect, test } from 'vitest';

import { footprint, handleOf, pauseRegistrar, PHONE, register, untilReserved } from '../../../test/domains.ts';
import { startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { euros } from '../../rules/money.ts';
import { setTldPrices } from '../catalogue/tld-price.ts';

const DOMAIN = 'reseller-customer.net';
const path = { domain: DOMAIN };

/** Invoices by their date: the total, and the positions of the domain. */
async function invoices(service: TestService): Promise<unknown[]> {
  const { data } = (await service.call('listInvoices')).body;
  const details = await Promise.all(
    Object.keys(data).map(async (invoiceID) => (await service.call('getInvoice', { path: { invoiceID } })).body.data),
  );
  return details
    .toSorted((one, other) => (one.created < other.created ? -1 : 1))
    .map(({ created, total, positions }) => [
      created.slice(0, 10),
      total,
      positions.domains?.[DOMAIN]?.map(
        (position: { type: string; start: string; stop: string }) =>
          `${position.type} ${position.start.slice(0, 10)} ${position.stop.slice(0, 10)}`,
      ),
    ]);
}

test('renews a domain each year at the price of that day, with each renewal on one invoice', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  service.clock.advanceTo('2027-11-10T12:03:16.999Z');
  await service.runScheduledJobs();
  expect((await service.call('getDomain', { path })).body.data.timings.expire).toBe('2027-11-10 12:03:17');
  service.clock.advanceTo('2027-11-10T12:03:17Z');
  await service.runScheduledJobs();
  expect((await service.call('getDomain', { path })).body.data.timings).toEqual({
    create: '2026-11-10 12:03:17',
    expire: '2028-11-10 12:03:17',
  });
  expect((await service.call('getCurrentInvoice')).body.data).toMatchObject({ currentInvoiceTotal: 12, creditLimitRemaining: 977 });
  await service.store.commit(({ db }) =>
    setTldPrices(db, [{ tld: 'net', create: euros('20.00'), renew: euros('13.50'), transfer: euros('20.00') }], service.clock.now()),
  );
  service.clock.advanceTo('2028-12-24T00:00:00Z');
  await service.runScheduledJobs();
  expect(await invoices(service)).toEqual([
    ['2026-12-01', 11, ['CREATE 2026-11-10 2027-11-10']],
    ['2027-12-01', 12, ['RENEW 2027-11-10 2028-11-10']],
    ['2028-12-01', 13.5, ['RENEW 2028-11-10 2029-11-10']],
  ]);
  // 1,000.00 - 11.00 - 12.00 - 13.50
  expect((await service.call('getCurrentInvoice')).body.data.creditLimitRemaining).toBe(963.5);
  expect(await service.runScheduledJobs()).toBe(0);
});

test('charges a renewal at the end of a period in the next one', async () => {
  const service = await startService();
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await register(service, DOMAIN);
  service.clock.advanceTo('2028-01-01T00:00:00Z');
  await service.runScheduledJobs();
  expect(await invoices(service)).toEqual([
    ['2027-01-01', 11, ['CREATE 2026-12-01 2027-12-01']],
    ['2028-01-01', 12, ['RENEW 2027-12-01 2028-12-01']],
  ]);
});

test('the invoice of a month has each renewal that was due in it, even if a request closes that month first', async () => {
  const service = await startService();
  service.clock.advanceTo('2026-11-30T23:59:59Z');
  await register(service, DOMAIN);
  service.clock.advanceTo('2027-12-01T00:00:00Z');
  expect(await invoices(service)).toEqual([
    ['2026-12-01', 11, ['CREATE 2026-11-30 2027-11-30']],
    ['2027-12-01', 12, ['RENEW 2027-11-30 2028-11-30']],
  ]);
});

test('charges a renewal even beyond the credit limit', async () => {
  const service = await startService({ creditLimit: '11.00' });
  await register(service, DOMAIN);
  service.clock.advanceTo('2027-11-10T12:03:17Z');
  await service.runScheduledJobs();
  expect((await service.call('getCurrentInvoice')).body.data).toMatchObject({ currentInvoiceTotal: 12, creditLimitRemaining: -12 });
});

test('shows a renewal that is due to the first request, and charges it once', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  service.clock.advanceTo('2028-11-10T12:03:17Z');
  const responses = await Promise.all([
    service.call('getDomain', { path }),
    service.call('listDomains'),
    service.runScheduledJobs(),
    service.call('getDomain', { path }),
  ]);
  expect(responses[0].body.data.timings.expire).toBe('2029-11-10 12:03:17');
  const charges = await service.store.read((db) => db.selectFrom('charges').select(['type', 'amount']).orderBy('start').execute());
  expect(charges).toEqual([
    { type: 'CREATE', amount: 1_100_000_000 },
    { type: 'RENEW', amount: 1_200_000_000 },
    { type: 'RENEW', amount: 1_200_000_000 },
  ]);
});

test('keeps a cancelled domain until it expires without further charges, and then frees it', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  await service.call('editDomainDns', { path, form: { type: 'A', sub: 'www', data: '198.51.100.23' } });
  await service.domains.terminate(DOMAIN);
  expect(service.registrar.domains.get(DOMAIN)?.renewed).toBe(false);
  service.clock.advanceTo('2027-11-10T12:03:16.999Z');
  await service.runScheduledJobs();
  expect((await service.call('getDomain', { path })).body.data.domain.terminated).toBe(true);
  expect((await service.call('setDomainNameservers', { path, form: { ns1: 'default', ns2: 'default' } })).status).toBe(200);
  service.clock.advanceTo('2027-11-10T12:03:17Z');
  await service.runScheduledJobs();
  expect((await service.call('getDomain', { path })).status).toBe(404);
  expect((await service.call('undeleteDomain', { path })).status).toBe(404);
  expect((await service.call('listDomains')).body.data.list).toEqual([]);
  expect((await service.call('getCurrentInvoice')).body.data.creditLimitRemaining).toBe(989);
  const { apiKey } = await service.account();
  await register(service, DOMAIN, apiKey);
  expect((await service.call('getDomain', { path, apiKey })).body.data.timings.create).toBe('2027-11-10 12:03:17');
  expect(await service.store.read((db) => db.selectFrom('dns_records').selectAll().execute())).toEqual([]);
});

test('frees an expired domain before the scheduled job runs', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  await service.domains.terminate(DOMAIN);
  service.clock.advanceTo('2027-11-10T12:03:17Z');
  const { apiKey } = await service.account();
  await register(service, DOMAIN, apiKey);
  expect((await service.call('getDomain', { path })).status).toBe(404);
});

test('does not free an expired domain that will be renewed', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  service.clock.advanceTo('2027-11-10T12:03:17Z');
  const { apiKey } = await service.account();
  const handle = await handleOf(service, { apiKey, phone: PHONE });
  expect((await service.call('registerDomain', { form: { domain: DOMAIN, handle }, apiKey })).status).toBe(409);
});

test('renews a domain that is being changed at its expiry after the change, as of the expiry', async () => {
  const service = await startService();
  await register(service, DOMAIN);
  const resume = pauseRegistrar(service);
  const pending = service.call('requestDomainAuthcode', { path });
  await untilReserved(service);
  service.clock.advanceTo('2027-11-10T12:03:24Z');
  await service.runScheduledJobs();
  expect((await service.call('getDomain', { path })).body.data.timings.expire).toBe('2027-11-10 12:03:17');
  resume();
  expect((await pending).status).toBe(200);
  await service.runScheduledJobs();
  expect((await service.call('getDomain', { path })).body.data.timings.expire).toBe('2028-11-10 12:03:17');
});

test('refuses to cancel an unknown domain, and accepts a repeated cancellation', async () => {
  const service = await startService();
  await expect(service.domains.terminate(DOMAIN)).rejects.toMatchObject({ status: 404 });
  await register(service, DOMAIN);
  await service.domains.terminate(DOMAIN);
  const before = await footprint(service);
  await service.domains.terminate(DOMAIN);
  expect(await footprint(service)).toEqual(before);
  expect(service.registrar.domains.get(DOMAIN)?.renewed).toBe(false);
});
