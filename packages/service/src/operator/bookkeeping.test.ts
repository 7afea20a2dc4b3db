import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { register } from '../../test/domains.ts';
import { engines } from '../../test/engines.ts';
import { SMALL_VM } from '../../test/harness.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';
import type { TestOperator } from '../../test/operator.ts';

/** An account named like a formula, with an invoice of two VAT rates, a credit note and two payments. */
async function startWithDocuments(engine: 'sqlite' | 'postgres') {
  const service = await startOperator({ engine });
  const { client } = service;
  const vat_rates = [
    { basis_points: 1900, valid_from: '2007-01-01' },
    { basis_points: 1600, valid_from: '2026-11-16' },
  ];
  await operator.setVatRates({ client, body: { vat_rates } });
  const { id, apiKey } = await service.account();
  const party = { company: '=cmd|calc, "A"', street: 'B 1', postal_code: '1010', city: 'C', country: 'AT', vat_id: null };
  await operator.setBillingProfile({ client, path: { account_id: id }, body: { ...party, reverse_charge: false } });
  await service.call('createVm', { form: SMALL_VM, apiKey });
  await register(service, 'booked.net', apiKey);
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const { items } = await operator.listInvoices({ client });
  const invoiceId = items[0]?.id ?? '';
  service.clock.advanceTo('2026-12-02T12:00:00Z');
  await operator.createCreditNote({
    client,
    path: { invoice_id: invoiceId, credit_note: 'one' },
    body: { amount: '1.00', reason: '@Outage' },
  });
  const payment = (amount: string, reference: string) => ({ amount, date: '2026-12-02', method: 'bank_transfer', reference });
  await operator.recordPayment({ client, path: { account_id: id, payment: 'a' }, body: payment('5.00', '+49 69') });
  await operator.recordPayment({ client, path: { account_id: id, payment: 'b' }, body: payment('100.00', 'INV-00001') });
  await operator.reversePayment({ client, path: { account_id: id, payment: 'a' }, body: { reason: 'Returned' } });
  return { service, id };
}

async function tableOf(
  service: TestOperator,
  table: 'invoices' | 'credit_notes' | 'lines' | 'payments',
  from = '2026-12-01',
  to = '2026-12-31',
) {
  const text = await operator.exportBookkeeping({ client: service.client, path: { table }, query: { from, to } });
  expect(text).toMatch(/\r\n$/);
  return text.slice(0, -2).split('\r\n');
}

describe.each(engines)('on %s', (engine) => {
  test('exports invoices and credit notes by VAT rate, lines and payments, with names of columns and without formulas', async () => {
    const { service, id } = await startWithDocuments(engine);
    const buyer = `${id},"'=cmd|calc, ""A""",AT,,no`;
    expect(await tableOf(service, 'invoices')).toEqual([
      'number,date,due,account_id,buyer,buyer_country,buyer_vat_id,reverse_charge,status,vat_percent,net,vat,gross,document_gross,paid',
      `INV-00001,2026-12-01,2026-12-15,${buyer},PAID,19,12.89,2.45,15.34,21.40,20.22`,
      `INV-00001,2026-12-01,2026-12-15,${buyer},PAID,16,5.22,0.84,6.06,21.40,`,
    ]);
    expect(await tableOf(service, 'credit_notes')).toEqual([
      'number,date,corrects,reason,account_id,buyer,buyer_country,buyer_vat_id,reverse_charge,vat_percent,net,vat,gross,document_gross',
      `CN-00001,2026-12-02,INV-00001,'@Outage,${buyer},19,0.71,0.13,0.84,1.18`,
      `CN-00001,2026-12-02,INV-00001,'@Outage,${buyer},16,0.29,0.05,0.34,1.18`,
    ]);
    expect(await tableOf(service, 'lines')).toEqual([
      'number,date,line,group,title,details,first_day,last_day,quantity,unit,price,price_quantity,vat_percent,net',
      expect.stringMatching(/^INV-00001,2026-12-01,1,Virtual servers,.*,2026-11-10,2026-11-15,471403,second,10.40,2592000,19,1.89$/),
      expect.stringMatching(/^INV-00001,2026-12-01,2,Virtual servers,.*,2026-11-16,2026-11-30,1299600,second,10.40,2592000,16,5.22$/),
      'INV-00001,2026-12-01,3,Domains,booked.net,"Registration, in advance",2026-11-10,2027-11-10,1,piece,11.00,1,19,11.00',
      "CN-00001,2026-12-02,1,Correction,'@Outage,Invoice INV-00001 of 2026-12-01,,,1,piece,0.71,1,19,0.71",
      "CN-00001,2026-12-02,2,Correction,'@Outage,Invoice INV-00001 of 2026-12-01,,,1,piece,0.29,1,16,0.29",
    ]);
    const payments = await tableOf(service, 'payments');
    expect(payments[0]).toBe('recorded,kind,account_id,name,date,method,reference,amount,unused,pays,reversed');
    expect(payments.slice(1).toSorted()).toEqual(
      [
        `2026-12-02,payment,${id},a,2026-12-02,bank_transfer,'+49 69,5.00,0.00,,2026-12-02`,
        `2026-12-02,payment,${id},b,2026-12-02,bank_transfer,INV-00001,100.00,79.78,INV-00001 20.22,`,
      ].toSorted(),
    );
  });

  test('has the payments of the days of the provider', async () => {
    const service = await startOperator({ engine });
    const { client, clock } = service;
    const vat_rates = [{ basis_points: 1900, valid_from: '2007-01-01' }];
    await operator.setVatRates({ client, body: { vat_rates, time_zone: 'America/New_York' } });
    const { id: account_id } = await service.account();
    clock.advanceTo('2026-12-02T04:59:59Z');
    const body = { amount: '1.00', date: '2026-12-01', method: 'bank_transfer', reference: 'R' };
    await operator.recordPayment({ client, path: { account_id, payment: 'late' }, body });
    const recorded = async (day: string) => (await tableOf(service, 'payments', day, day)).slice(1).map((row) => row.split(',')[0]);
    expect([await recorded('2026-12-01'), await recorded('2026-12-02')]).toEqual([['2026-12-01'], []]);
    clock.advance(1_000);
    await operator.recordPayment({ client, path: { account_id, payment: 'next' }, body });
    expect([await recorded('2026-12-01'), await recorded('2026-12-02')]).toEqual([['2026-12-01'], ['2026-12-02']]);
  });

  test('has the documents of the days, both included', async () => {
    const { service } = await startWithDocuments(engine);
    const rows = async (from: string, to: string) => (await tableOf(service, 'lines', from, to)).length - 1;
    expect([
      await rows('2026-12-01', '2026-12-01'),
      await rows('2026-12-02', '2026-12-02'),
      await rows('2026-11-01', '2026-11-30'),
    ]).toEqual([3, 2, 0]);
  });

  test.each([1, 2, 3, 100])('returns every document and payment of one instant once, read in pages of %d', async (bookkeepingPage) => {
    const service = await startOperator({ engine, tuning: { bookkeepingPage } });
    const { client, clock } = service;
    const { id: account_id, apiKey } = await service.account();
    await service.call('createVm', { form: SMALL_VM, apiKey });
    clock.advanceTo('2026-12-01T00:00:00Z');
    await service.runScheduledJobs();
    const [{ id: invoice_id } = { id: '' }] = (await operator.listInvoices({ client })).items;
    const names = Array.from({ length: 6 }, (_, index) => `row-${index}`);
    for (const [index, name] of names.entries()) {
      if (index === 5) clock.advance(1);
      const payment = { amount: '1.00', date: '2026-12-01', method: 'bank_transfer', reference: 'R' };
      await operator.recordPayment({ client, path: { account_id, payment: name }, body: payment });
      const note = { amount: '0.01', reason: name };
      await operator.createCreditNote({ client, path: { invoice_id, credit_note: name }, body: note });
    }
    const column = async (table: 'payments' | 'credit_notes', index: number) =>
      (await tableOf(service, table)).slice(1).map((row) => row.split(',')[index]);
    expect((await column('payments', 3)).toSorted()).toEqual(names);
    expect((await column('credit_notes', 3)).toSorted()).toEqual(names);
  });
});

test('the bookkeeping export is CSV of UTF-8, and leaves no record', async () => {
  const service = await startOperator();
  const { status, headers, text } = await service.operate('/bookkeeping/payments?from=2026-11-01&to=2026-11-30');
  expect([status, headers.get('content-type'), text.split('\r\n')]).toEqual([
    200,
    'text/csv; charset=utf-8',
    [expect.stringMatching(/^recorded,/), ''],
  ]);
});

test.each([
  ['2026-02-30', '2026-03-01', 'The query parameter from must be a date such as 2026-01-31'],
  ['2026-03-02', '2026-03-01', 'The query parameter to must not be before from.'],
  ['2025-01-01', '2026-01-02', 'The days from 2025-01-01 to 2026-01-02 are more than 366. Export a shorter range.'],
])('refuses the days from %s to %s', async (from, to, detail) => {
  const { client } = await startOperator();
  const refused = operator.exportBookkeeping({ client, path: { table: 'lines' }, query: { from, to } });
  expect(await refusalOf(refused)).toMatchObject({ status: 400, message: expect.stringContaining(detail) });
});
