/** A month of an account can cost no more than the service can bill, however little of the month is left when something is ordered. */
import * as operator from '@reseller/operator-client';
import { describe, expect, test, vi } from 'vitest';

import { marketItem } from '../../../test/dedicated.ts';
import { handleOf } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { holdFirst } from '../../../test/hold-first.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

const LAST_MINUTE = '2026-11-30T23:59:00Z';

async function purchase(service: TestOperator, apiKey: string, price: string, days: number) {
  const { id: identifier } = await operator.addMarketItem({ client: service.client, body: marketItem(price, days) });
  return service.call('purchaseDedicatedServer', { path: { identifier }, form: {}, apiKey });
}

describe.each(engines)('on %s', (engine) => {
  test('a server whose month costs too much is refused, and the account goes on', async () => {
    const service = await startOperator({ engine });
    service.clock.advanceTo(LAST_MINUTE);
    const { apiKey } = await service.account('9999999.99');
    const refused = await purchase(service, apiKey, '9999999.00', 1);
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringContaining('a month of this account would cost 309999969.00 EUR, and the service bills at most 10000000.00 EUR'),
    ]);
    expect((await purchase(service, apiKey, '322580.64', 1)).status).toBe(200);
    // 9999999.84 of 10000000.00 EUR. A small order is never refused.
    expect((await purchase(service, apiKey, '1000.00', 40)).status).toBe(422);
    expect((await purchase(service, apiKey, '999.99', 40)).status).toBe(200);
    service.clock.advanceTo('2027-01-01T00:00:05Z');
    const { status, body } = await service.call('getCurrentInvoice', { apiKey });
    expect([status, body.data.estimatedInvoiceTotal]).toEqual([200, expect.any(Number)]);
  });

  test('so is a VM, also one that grows', async () => {
    const service = await startOperator({ engine });
    service.clock.advanceTo(LAST_MINUTE);
    const { apiKey } = await service.account('9999999.99');
    const prices = { core: '6000000.00', mem: '0', nvme: '0', hdd: '0', extra_ip: '0', extra_backup_slot: '0', extra_gbit: '0' };
    await operator.scheduleHostSystemPrices({
      client: service.client,
      path: { hostsystem: 'nl_ryzen' },
      body: { prices, applies_to: 'new_purchases' },
    });
    expect((await service.call('createVm', { form: { ...SMALL_VM, cores: 2 }, apiKey })).status).toBe(422);
    const { body } = await service.call('createVm', { form: { ...SMALL_VM, cores: 1 }, apiKey });
    const path = { vmid: String(body.data.identifier) };
    expect((await service.call('changeVm', { path, form: { cores: 2 }, apiKey })).status).toBe(422);
    expect((await service.call('changeVm', { path, form: { mem: 8192 }, apiKey })).status).toBe(200);
  });

  test('so is a domain whose renewals would cost too much in one month', async () => {
    const service = await startOperator({ engine });
    const { apiKey } = await service.account('9999999.99');
    const prices = { create: '1.00', renew: '4000000.00', transfer: '1.00' };
    await operator.setTldPrice({ client: service.client, path: { tld: 'com' }, body: prices });
    const handle = await handleOf(service, { apiKey });
    const register = async (domain: string) => (await service.call('registerDomain', { form: { domain, handle }, apiKey })).status;
    expect([await register('one.com'), await register('two.com'), await register('three.com')]).toEqual([200, 200, 422]);
    expect((await purchase(service, apiKey, '2000000.01', 31)).status).toBe(422);
    expect((await purchase(service, apiKey, '2000000.00', 31)).status).toBe(200);
  });

  test('prices for all VMs that make a month of an account too expensive are refused with its name', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { apiKey, id: accountId } = await service.account('9999999.99');
    const { body } = await service.call('createVm', { form: { ...SMALL_VM, cores: 2 }, apiKey });
    const path = { vmid: String(body.data.identifier) };
    const changed = async (cores: number) => (await service.call('changeVm', { path, form: { cores }, apiKey })).status;
    const free = { mem: '0', nvme: '0', hdd: '0', extra_ip: '0', extra_backup_slot: '0', extra_gbit: '0' };
    const schedule = (core: string, applies_to: 'all_vms' | 'new_purchases', valid_from: string) =>
      operator.scheduleHostSystemPrices({
        client,
        path: { hostsystem: SMALL_VM.hostsystem },
        body: { prices: { ...free, core }, applies_to, valid_from },
      });
    expect(await refusalOf(schedule('5000000.01', 'all_vms', '2026-12-01T00:00:00Z'))).toMatchObject({
      status: 422,
      fields: [
        {
          field: '#/prices',
          message: expect.stringContaining(
            `a month of the account ${accountId} would cost 10000000.02 EUR, and the service bills at most 10000000.00`,
          ),
        },
      ],
    });
    // Nobody pays these until an order.
    await schedule('5000000.01', 'new_purchases', '2027-06-01T00:00:00Z');
    await schedule('3000000.00', 'all_vms', '2026-12-01T00:00:00Z');
    // An order counts at the prices that are scheduled.
    expect((await service.call('createVm', { form: { ...SMALL_VM, cores: 2 }, apiKey })).status).toBe(422);
    expect([await changed(4), await changed(3)]).toEqual([422, 200]);
    service.clock.advanceTo('2027-01-01T00:00:05Z');
    await service.runScheduledJobs();
    expect((await service.call('getVmConfig', { path, apiKey })).body.data.pricings.monthly).toBe(9_000_000);
    expect((await service.call('getCurrentInvoice', { apiKey })).status).toBe(200);
    expect(await changed(2)).toBe(200);
  });

  test('so are prices of a TLD', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { apiKey } = await service.account('9999999.99');
    const handle = await handleOf(service, { apiKey });
    const register = async (domain: string) => (await service.call('registerDomain', { form: { domain, handle }, apiKey })).status;
    expect([await register('one.com'), await register('two.com')]).toEqual([200, 200]);
    const path = { tld: 'com' };
    const prices = (renew: string) => ({ create: '1.00', renew, transfer: '1.00' });
    const tooHigh = { status: 422, fields: [{ field: '#/renew', message: expect.stringContaining('would cost 10000000.02 EUR') }] };
    const valid_from = '2027-06-01T00:00:00Z';
    expect(await refusalOf(operator.setTldPrice({ client, path, body: prices('5000000.01') }))).toMatchObject(tooHigh);
    expect(await refusalOf(operator.scheduleTldPrices({ client, path, body: { ...prices('5000000.01'), valid_from } }))).toMatchObject(
      tooHigh,
    );
    await operator.scheduleTldPrices({ client, path, body: { ...prices('5000000.00'), valid_from } });
    expect(await register('three.com')).toBe(422);
    await operator.withdrawTldPrices({ client, path: { ...path, valid_from } });
    expect(await register('three.com')).toBe(200);
  });

  test('so is an address that moves to a VM whose other resources cost more now', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    service.clock.advanceTo(LAST_MINUTE);
    const { apiKey } = await service.account('9999999.99');
    const buy = async (ips: number) =>
      String((await service.call('createVm', { form: { ...SMALL_VM, ips }, apiKey })).body.data.identifier);
    await buy(2);
    const vmid = await buy(1);
    const prices = { core: '4000000.00', mem: '0', nvme: '0', hdd: '0', extra_ip: '0', extra_backup_slot: '0', extra_gbit: '0' };
    await operator.scheduleHostSystemPrices({ client, path: { hostsystem: SMALL_VM.hostsystem }, body: { prices } });
    const { list } = (await service.call('listIps', { apiKey })).body.data;
    const { ip_address } = list.find(({ first }: { first: boolean }) => !first);
    const moved = await service.call('assignIp', { path: { ip_address }, form: { vmid }, apiKey });
    expect([moved.status, moved.body.message]).toEqual([
      422,
      expect.stringContaining('a month of this account would cost 16000000.00 EUR'),
    ]);
  });

  describe('a change that is at the hypervisor', () => {
    const prices = (core: string) => ({ core, mem: '0', nvme: '0', hdd: '0', extra_ip: '0', extra_backup_slot: '0', extra_gbit: '0' });
    const path = { hostsystem: SMALL_VM.hostsystem };

    /** Two VMs of a core, of which the first one gets a second core at a slow hypervisor. */
    async function startGrowing() {
      const service = await startOperator({ engine });
      const resize = holdFirst(service.hypervisor.resize.bind(service.hypervisor));
      vi.spyOn(service.hypervisor, 'resize').mockImplementation(resize.run);
      const { client } = service;
      const { apiKey } = await service.account('9999999.99');
      await operator.scheduleHostSystemPrices({ client, path, body: { prices: prices('3000000.00'), applies_to: 'new_purchases' } });
      const vmids: string[] = [];
      for (const hostname of ['one', 'other'])
        vmids.push(String((await service.call('createVm', { form: { ...SMALL_VM, cores: 1, hostname }, apiKey })).body.data.identifier));
      service.clock.advanceTo(LAST_MINUTE);
      const change = (vmid: string | undefined) => service.call('changeVm', { path: { vmid: vmid ?? '' }, form: { cores: 2 }, apiKey });
      const growing = change(vmids[0]);
      await resize.done;
      return { client, growing, release: resize.release, changeOther: () => change(vmids[1]) };
    }

    test('counts for the change of another VM', async () => {
      const { growing, release, changeOther } = await startGrowing();
      const other = await changeOther();
      release();
      expect((await growing).status).toBe(200);
      expect([other.status, other.body.message]).toEqual([
        422,
        expect.stringContaining('a month of this account would cost 12000000.00 EUR'),
      ]);
    });

    test('counts for prices for all VMs', async () => {
      const { client, growing, release } = await startGrowing();
      const body = { prices: prices('3500000.00'), applies_to: 'all_vms', valid_from: '2026-12-01T00:00:00Z' } as const;
      const refused = await refusalOf(operator.scheduleHostSystemPrices({ client, path, body }));
      release();
      expect((await growing).status).toBe(200);
      expect(refused).toMatchObject({ status: 422, fields: [{ message: expect.stringContaining('would cost 10500000.00 EUR') }] });
    });
  });

  test('an account that pays nothing for a year can be ended', async () => {
    const service = await startOperator({ engine });
    service.clock.advanceTo(LAST_MINUTE);
    const { apiKey, id: accountId } = await service.account('9999999.99');
    expect((await purchase(service, apiKey, '322580.64', 1)).status).toBe(200);
    service.clock.advanceTo('2028-01-01T00:00:05Z');
    await service.runScheduledJobs();
    const { client } = service;
    const path = { account_id: accountId };
    expect((await service.call('getCredit', { apiKey })).body.data.unpaid).toBe(90_000_000);
    expect(await operator.getAccount({ client, path })).toMatchObject({ unpaid: '90000000.00' });
    const { items: servers } = await operator.listDedicatedServers({ client, query: path });
    for (const { id } of servers)
      expect((await service.call('deleteDedicatedServer', { path: { identifier: id }, apiKey })).status).toBe(200);
    service.clock.advanceTo('2028-02-01T00:00:05Z');
    await service.runScheduledJobs();
    await operator.suspendAccount({ client, path, body: { reason: 'Unpaid' } });
    const { items: invoices } = await operator.listInvoices({ client, query: path });
    for (const { id } of invoices) await operator.cancelInvoice({ client, path: { invoice_id: id } });
    expect(await operator.getAccount({ client, path })).toMatchObject({ unpaid: '0.00' });
    expect(await operator.eraseAccount({ client, path })).toMatchObject({ erased_at: expect.any(String) });
  });
});
