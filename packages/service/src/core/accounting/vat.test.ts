/** Each supply is taxed at the rate of its time, through both APIs and on both engines. */
import type { AccountingDocument } from '@reseller/client/extension';
import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { completeSetUp, orderServer, RYZEN } from '../../../test/dedicated.ts';
import { register } from '../../../test/domains.ts';
import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';

const OLD = { basis_points: 1900, valid_from: '2007-01-01' };

describe.each(engines)('on %s', (engine) => {
  /** A service with the rate of 16 percent from a day on, in addition to 19 percent before. */
  async function start(...changes: readonly (readonly [day: string, basisPoints: number])[]): Promise<TestOperator> {
    const service = await startOperator({ engine });
    const vat_rates = [OLD, ...changes.map(([valid_from, basis_points]) => ({ basis_points, valid_from }))];
    await operator.setVatRates({ client: service.client, body: { vat_rates } });
    return service;
  }

  test('a change in the middle of a month splits a running VM at midnight in Berlin', async () => {
    const service = await start(['2026-11-16', 1600]);
    await service.call('createVm', { form: SMALL_VM });
    // 471,403 s of 10.40 EUR for 30 days are 1.891432 EUR, and 15 d 1 h are 5.214444 EUR.
    const [invoice] = await documentsIn(service, '2026-12-01T00:00:00Z');
    expect(invoice).toMatchObject({
      net: 7.11,
      vat: [
        { rate: 19, net: 1.89, amount: 0.36 },
        { rate: 16, net: 5.22, amount: 0.84 },
      ],
      gross: 8.31,
    });
    const { items } = await operator.listInvoices({ client: service.client });
    expect(await operator.getInvoice({ client: service.client, path: { invoice_id: items[0]?.id ?? '' } })).toMatchObject({
      vat: '1.20',
      vat_by_rate: [
        { basis_points: 1900, net: '1.89', vat: '0.36' },
        { basis_points: 1600, net: '5.22', vat: '0.84' },
      ],
      gross: '8.31',
    });
    await expectInvariants(service.store);
  });

  test('an account without a credit limit never spends more than it paid in a month in which the rate rises', async () => {
    const service = await startOperator({ engine });
    const { client } = service;
    const vat_rates = [OLD, { basis_points: 700, valid_from: '2026-11-10' }, { basis_points: 1900, valid_from: '2026-12-10' }];
    await operator.setVatRates({ client, body: { vat_rates } });
    const { id: account_id, apiKey } = await service.account('0.00');
    service.clock.advanceTo('2026-12-12T00:00:00Z');
    const body = { amount: '119.00', date: '2026-12-12', method: 'bank_transfer', reference: 'In advance' };
    await operator.recordPayment({ client, path: { account_id, payment: 'in-advance' }, body });
    expect((await service.call('getCredit', { apiKey })).body.data).toMatchObject({ balance: 100, remaining: 100 });
    let bought = 0;
    while ((await service.call('createVm', { form: SMALL_VM, apiKey })).status === 200) bought++;
    // Each costs 6.93 EUR until the end of the month.
    expect(bought).toBe(14);
    service.clock.advanceTo('2027-01-01T00:00:00Z');
    await service.runScheduledJobs();
    const { items } = await operator.listInvoices({ client, query: { account_id } });
    expect(items).toMatchObject([{ total: '97.07', gross: '115.51', unpaid: '0.00', status: 'PAID' }]);
    await expectInvariants(service.store);
  });

  test.each([
    ['rises', 700, 1900],
    ['falls', 1900, 700],
  ])('a balance counts at the highest rate of a month in which the rate %s, from its first day on', async (_, first, second) => {
    const service = await startOperator({ engine });
    const { client } = service;
    const { id: account_id, apiKey } = await service.account('0.00');
    const rated = (...rates: readonly (readonly [day: string, basisPoints: number])[]) =>
      operator.setVatRates({
        client,
        body: { vat_rates: [OLD, ...rates.map(([valid_from, basis_points]) => ({ basis_points, valid_from }))] },
      });
    const balance = async () => (await service.call('getCredit', { apiKey })).body.data.balance;
    await rated(['2026-11-10', first]);
    const body = { amount: '119.00', date: '2026-11-10', method: 'bank_transfer', reference: 'In advance' };
    await operator.recordPayment({ client, path: { account_id, payment: 'in-advance' }, body });
    const before = await balance();
    await rated(['2026-11-10', first], ['2026-12-10', second]);
    expect(await balance()).toBe(before);
    for (const instant of ['2026-12-01T00:00:00Z', '2026-12-31T23:59:59Z']) {
      service.clock.advanceTo(instant);
      await service.runScheduledJobs();
      expect(await balance()).toBe(100);
    }
    service.clock.advanceTo('2027-01-01T00:00:00Z');
    await service.runScheduledJobs();
    expect(await balance()).toBe(second === 700 ? 111.21 : 100);
  });

  test('a change at midnight in Berlin on the first day of a month taxes the last hour of the month before, and no more of it', async () => {
    const service = await start(['2026-12-01', 1600]);
    await service.call('createVm', { form: SMALL_VM });
    const [november] = await documentsIn(service, '2026-12-01T00:00:00Z');
    expect(november?.vat.map(({ rate, net }) => [rate, net])).toEqual([
      [19, 7.09],
      [16, 0.02],
    ]);
    const [december] = await documentsIn(service, '2027-01-01T00:00:00Z');
    expect(december?.vat).toEqual([{ rate: 16, net: 10.75, amount: 1.72 }]);
  });

  test('a change at the exact begin of a period is in no other period', async () => {
    const service = await startOperator({ engine });
    const body = { vat_rates: [OLD, { basis_points: 1600, valid_from: '2026-12-01' }], time_zone: 'UTC' };
    await operator.setVatRates({ client: service.client, body });
    await service.call('createVm', { form: SMALL_VM });
    const rates = async (end: string) => (await documentsIn(service, end))[0]?.vat.map(({ rate }) => rate);
    expect(await rates('2026-12-01T00:00:00Z')).toEqual([19]);
    expect(await rates('2027-01-01T00:00:00Z')).toEqual([16]);
  });

  test('two changes in a month make three parts, and equal rates share a sum', async () => {
    const service = await start(['2026-11-15', 1600], ['2026-11-20', 1900]);
    await service.call('createVm', { form: SMALL_VM });
    const [invoice] = await documentsIn(service, '2026-12-01T00:00:00Z');
    // 5 days at 16 percent are 1.733333 EUR. The rest is 5.372543 EUR. The sum is 7.11, and its last cent goes to the larger remainder.
    expect(invoice?.vat).toEqual([
      { rate: 19, net: 5.37, amount: 1.02 },
      { rate: 16, net: 1.74, amount: 0.28 },
    ]);
    const content = await service.store.read((db) => db.selectFrom('issued_documents').select('content').executeTakeFirstOrThrow());
    expect(JSON.parse(content.content).groups[0].lines.map(({ basisPoints }: { basisPoints: number }) => basisPoints)).toEqual([
      1900, 1600, 1900,
    ]);
    await expectInvariants(service.store);
  });

  test('a domain has the gross price that was shown, in the second before a change and in the second of the change', async () => {
    const service = await start(['2026-11-16', 1600]);
    const shown = async () => (await service.call('getDomainPricings')).body.data.net.price_gross.create;
    service.clock.advanceTo('2026-11-15T22:59:59Z');
    const before = await shown();
    await register(service, 'before.net');
    service.clock.advance(1_000);
    const after = await shown();
    expect(after).toBeLessThan(before);
    await register(service, 'after.net');
    const [invoice] = await documentsIn(service, '2026-12-01T00:00:00Z');
    expect(invoice?.vat.map(({ net, amount }) => Math.round((net + amount) * 100) / 100)).toEqual([before, after]);
  });

  test('charges in advance have the rate of the start of what they pay for, however late they are made', async () => {
    const service = await start(['2027-11-10', 1600], ['2027-11-11', 700]);
    const { id, apiKey } = await service.account();
    await register(service, 'renewed.net', apiKey);
    await orderServer(service, RYZEN, id);
    await completeSetUp(service, RYZEN);
    // The domain is renewed on 10 November after noon, and the server on 5 November. The jobs run in December.
    service.clock.advanceTo('2027-11-01T00:00:00Z');
    await service.runScheduledJobs();
    const [invoice] = await documentsIn(service, '2027-12-01T00:00:00Z', apiKey);
    expect(invoice?.vat).toEqual([
      { rate: 19, net: 89, amount: 16.91 },
      { rate: 16, net: 12, amount: 1.92 },
    ]);
  });

  test('an account with reverse charge has one rate of 0 and no parts', async () => {
    const service = await start(['2026-11-16', 1600]);
    const { id, apiKey } = await service.account();
    const party = { company: 'A', street: 'B 1', postal_code: '1010', city: 'C', country: 'AT', vat_id: 'ATU12345678' };
    await operator.setBillingProfile({ client: service.client, path: { account_id: id }, body: { ...party, reverse_charge: true } });
    await service.call('createVm', { form: SMALL_VM, apiKey });
    const [invoice] = await documentsIn(service, '2026-12-01T00:00:00Z', apiKey);
    expect(invoice?.vat).toEqual([{ rate: 0, net: 7.11, amount: 0 }]);
    const content = await service.store.read((db) => db.selectFrom('issued_documents').select('content').executeTakeFirstOrThrow());
    expect(JSON.parse(content.content).groups[0].lines).toHaveLength(1);
  });

  test('credit notes correct each rate in proportion, and a cancellation corrects exactly the rest of each rate', async () => {
    const service = await start(['2026-11-16', 1600]);
    const { client } = service;
    await service.call('createVm', { form: SMALL_VM });
    await documentsIn(service, '2026-12-01T00:00:00Z');
    const { items } = await operator.listInvoices({ client });
    const path = { invoice_id: items[0]?.id ?? '', credit_note: 'one' };
    const note = await operator.createCreditNote({ client, path, body: { amount: '1.00', reason: 'Outage' } });
    expect(note.vat_by_rate).toEqual([
      { basis_points: 1900, net: '0.27', vat: '0.05' },
      { basis_points: 1600, net: '0.73', vat: '0.12' },
    ]);
    await operator.cancelInvoice({ client, path });
    const [cancelled] = await documentsIn(service, '2026-12-01T00:00:00Z');
    expect(cancelled).toMatchObject({
      kind: 'credit_note',
      vat: [
        { rate: 19, net: 1.62, amount: 0.31 },
        { rate: 16, net: 4.49, amount: 0.72 },
      ],
    });
    await expectInvariants(service.store);
  });
});

/** The documents of an account at an instant, newest first. */
async function documentsIn(service: TestOperator, instant: string, apiKey = service.apiKey): Promise<AccountingDocument[]> {
  service.clock.advanceTo(instant);
  await service.runScheduledJobs();
  return (await service.call('listDocuments', { apiKey })).body.data.list;
}
