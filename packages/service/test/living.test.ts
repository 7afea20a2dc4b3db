/** A month of a reseller who uses only the reseller API. The test moves only the clock. */
import { expect, test } from 'vitest';

import { handleOf } from './domains.ts';
import { engines } from './engines.ts';
import { SMALL_VM, startService } from './harness.ts';
import { expectInvariants } from './invariants.ts';
import { invoicesOf } from './provider.ts';

const EVERYTHING =
  'looks prices up, buys, resizes, stops, starts, gets a certificate, explains the invoice to the cent, and leaves nothing billed';

test.each(engines)(`${EVERYTHING}, on %s`, async (engine) => {
  const service = await startService({ engine });
  const { clock, call } = service;

  // The price list gives the price of the VM: 2 cores, 4 GB of memory and 40 GB of NVMe storage.
  const { kvm, domains } = (await call('getPricings')).body.data;
  const { core, mem, nvme } = kvm[SMALL_VM.hostsystem];
  const monthly = 2 * Number(core.price_net) + 4 * Number(mem.price_net) + 40 * Number(nvme.price_net);
  expect(monthly).toBe(10.4);

  clock.advanceTo('2026-12-01T00:00:00Z');
  const bought = await call('createVm', { form: { ...SMALL_VM, hostname: 'shop', max_price: monthly.toFixed(2) } });
  expect(bought.body.data.pricings.monthly).toBe(monthly);
  const path = { vmid: String(bought.body.data.identifier) };
  const [listed] = (await call('listVms')).body.data.list;
  expect(listed).toMatchObject({ vmid: bought.body.data.identifier, hostname: 'shop', status: 'running' });

  // 10 days at 10.40, then 4 cores at 14.40 for 5 days, 5 days off, 3 days on.
  clock.advanceTo('2026-12-11T00:00:00Z');
  const resized = await call('changeVm', { path, form: { cores: 4, max_price: '14.40' } });
  expect(resized.body.data.pricings.monthly).toBe(14.4);
  clock.advanceTo('2026-12-16T00:00:00Z');
  await call('setVmPower', { path, form: { mode: 'stop' } });
  clock.advanceTo('2026-12-21T00:00:00Z');
  expect((await call('getVmStatus', { path })).body.data.status).toBe('stopped');
  await call('setVmPower', { path, form: { mode: 'start' } });

  // A certificate for the domain and its subdomains needs two TXT records of one name.
  const domain = { domain: 'shop-customer.net' };
  expect((await call('checkDomain', { path: domain })).body.data.available).toBe(true);
  const fee = domains.net.price_net.create;
  const registration = { ...domain, handle: await handleOf(service, { apiKey: service.apiKey }), max_price: String(fee) };
  expect((await call('registerDomain', { form: registration })).status).toBe(200);
  await call('addDomainDns', { path: domain, form: { type: 'A', data: bought.body.data.config.ipv4[0].address } });
  for (const data of ['token-of-the-domain', 'token-of-its-subdomains'])
    await call('editDomainDns', { path: domain, form: { type: 'TXT', sub: '_acme-challenge', data } });
  const records: { type: string; data: string; record_id: string }[] = (await call('listDomainDns', { path: domain })).body.data;
  const tokens = records.filter(({ type }) => type === 'TXT');
  expect(tokens.map(({ data }) => data).toSorted()).toEqual(['token-of-its-subdomains', 'token-of-the-domain']);
  for (const { record_id } of tokens) await call('removeDomainDns', { path: { ...domain, record_id } });
  expect((await call('listDomainDns', { path: domain })).body.data).toHaveLength(1);

  clock.advanceTo('2026-12-24T00:00:00Z');
  expect((await call('deleteVm', { path })).status).toBe(200);
  expect((await call('deleteDomain', { path: domain })).body.data.termination_date).toBe('2027-12-21T00:00:00.000Z');
  expect((await call('listVms')).body.data.total_vms).toBe(0);

  // The positions explain the invoice: 30 days cost the monthly price.
  clock.advanceTo('2027-01-01T00:00:00Z');
  const [invoice] = await invoicesOf(service);
  const { positions } = (await call('getInvoice', { path: { invoiceID: invoice?.id ?? '' } })).body.data;
  const parts: { type: string; start: string; stop: string; monthlyPrice: number }[] = positions.vms[path.vmid];
  expect(parts.map(({ type }) => type)).toEqual(['CREATE', 'UP-DOWNGRADE', 'BILLINGRESTART']);
  const days = parts.map(({ start, stop }) => (Date.parse(stop) - Date.parse(start)) / 86_400_000);
  expect(days).toEqual([10, 5, 3]);
  const net = parts.reduce((sum, { monthlyPrice }, index) => sum + (monthlyPrice * (days[index] ?? 0)) / 30, fee);
  expect(invoice?.total).toBe(Math.round(net * 100) / 100);

  // Nothing is billed afterwards.
  clock.advanceTo('2027-02-01T00:00:00Z');
  expect((await call('getCurrentInvoice')).body.data).toMatchObject({ currentInvoiceTotal: 0, estimatedInvoiceTotal: 0 });
  await expectInvariants(service.store);
});
