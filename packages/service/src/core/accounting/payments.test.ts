/** Payments, the balance, refunds and reversals, through both APIs. */
import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';

/** An account with an invoice of 7.11 EUR, which is 8.46 EUR with VAT. */
async function startWithInvoice() {
  const service = await startOperator({ creditLimit: '100.00' });
  const { client } = service;
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const { items } = await operator.listInvoices({ client });
  const [{ id: invoiceId, account_id }] = items as [operator.Invoice];
  const body = { amount: '8.46', date: '2026-12-01', method: 'bank_transfer', reference: 'INV-00001' };
  return {
    service,
    client,
    invoiceId,
    account_id,
    body,
    pay: (payment: string, change: Partial<operator.RecordPaymentRequest> = {}) =>
      operator.recordPayment({ client, path: { account_id, payment }, body: { ...body, ...change } }),
    refund: (payment: string, amount: string) =>
      operator.recordRefund({ client, path: { account_id, payment }, body: { ...body, amount } }),
    reverse: (payment: string) =>
      operator.reversePayment({ client, path: { account_id, payment }, body: { reason: 'Direct debit returned' } }),
    credit: (name: string, amount: string) =>
      operator.createCreditNote({ client, path: { invoice_id: invoiceId, credit_note: name }, body: { amount, reason: 'Outage' } }),
    invoice: () => operator.getInvoice({ client, path: { invoice_id: invoiceId } }),
    account: () => operator.getAccount({ client, path: { account_id } }),
    explained: async () => (await service.call('getCredit')).body.data,
    payments: async () => (await service.call('listPayments')).body.data,
    nextMonth: async () => {
      service.clock.advanceTo('2027-01-01T00:00:00Z');
      await service.runScheduledJobs();
    },
  };
}

test('a payment of the whole amount pays the invoice, and both sides see it', async () => {
  const { service, pay, invoice, invoiceId, payments, explained, account } = await startWithInvoice();
  expect(await explained()).toMatchObject({ limit: 100, unpaid: 7.11 });
  const payment = await pay('one');
  expect(payment).toMatchObject({ kind: 'payment', amount: '8.46', unused: '0.00', pays: [{ invoice_id: invoiceId, amount: '8.46' }] });
  expect(await invoice()).toMatchObject({ status: 'PAID', gross: '8.46', unpaid: '0.00' });
  expect(await account()).toMatchObject({ unpaid: '0.00', balance: '0.00' });
  expect(await explained()).toMatchObject({ unpaid: 0, balance: 0 });
  expect(await payments()).toEqual({
    balance: 0,
    list: [
      {
        kind: 'payment',
        amount: 8.46,
        date: '2026-12-01',
        method: 'bank_transfer',
        reference: 'INV-00001',
        pays: [{ invoiceID: invoiceId, number: 'INV-00001', amount: 8.46 }],
        unused: 0,
        reversed: null,
      },
    ],
  });
  await expectInvariants(service.store);
});

test('an invoice shows the number that a payment of it refers to', async () => {
  const { service, invoiceId, invoice } = await startWithInvoice();
  const { number } = await invoice();
  expect(number).toBe('INV-00001');
  expect((await service.call('getInvoice', { path: { invoiceID: invoiceId } })).body.data).toMatchObject({ number });
  expect((await service.call('listInvoices')).body.data[invoiceId]).toMatchObject({ number });
});

test('a payment of a part leaves the invoice open with the rest', async () => {
  const { service, pay, invoice, explained } = await startWithInvoice();
  await pay('one', { amount: '4.23' });
  expect(await invoice()).toMatchObject({ status: 'OPEN', unpaid: '4.23' });
  // Half of 7.11, rounded up.
  expect((await explained()).unpaid).toBe(3.56);
  const { body } = await service.call('listDocuments');
  expect(body.data.unpaid).toBe(4.23);
  await pay('two', { amount: '4.22' });
  expect(await invoice()).toMatchObject({ status: 'OPEN', unpaid: '0.01' });
  await pay('three', { amount: '0.01' });
  expect(await invoice()).toMatchObject({ status: 'PAID', unpaid: '0.00' });
  await expectInvariants(service.store);
});

test('what exceeds the invoices is the balance, counts as credit without its VAT, and pays the next invoice', async () => {
  const { service, pay, account, explained, nextMonth, client } = await startWithInvoice();
  const { unused } = await pay('one', { amount: '20.36' });
  expect(unused).toBe('11.90');
  expect(await account()).toMatchObject({ balance: '11.90' });
  expect(await explained()).toMatchObject({ balance: 10, unpaid: 0 });
  await nextMonth();
  // December is 10.75 EUR, which is 12.79 EUR with VAT.
  const { items } = await operator.listInvoices({ client });
  expect(items.map(({ status, gross, unpaid }) => ({ status, gross, unpaid }))).toEqual([
    { status: 'OPEN', gross: '12.79', unpaid: '0.89' },
    { status: 'PAID', gross: '8.46', unpaid: '0.00' },
  ]);
  expect(await account()).toMatchObject({ balance: '0.00', unpaid: '0.75' });
  await expectInvariants(service.store);
});

test('an account without a credit limit buys with what it paid in advance, VAT included', async () => {
  const service = await startOperator();
  const { client } = service;
  const { id: account_id, apiKey } = await service.account('0.00');
  const buy = async () => (await service.call('createVm', { form: SMALL_VM, apiKey })).status;
  const pay = (payment: string, amount: string) =>
    operator.recordPayment({
      client,
      path: { account_id, payment },
      body: { amount, date: '2026-11-10', method: 'cash', reference: 'Counter' },
    });
  expect(await buy()).toBe(402);
  // The VM costs 7.11 EUR until the end of the month, which is 8.4609 EUR with VAT.
  await pay('one', '8.46');
  expect(await buy()).toBe(402);
  await pay('two', '0.01');
  expect(await buy()).toBe(200);
  expect(await buy()).toBe(402);
  await expectInvariants(service.store);
});

test.each(engines)('just after the end of a month, a payment pays its invoice and a refund leaves what it needs, on %s', async (engine) => {
  const service = await startOperator({ engine });
  const { client, clock } = service;
  const [early, late] = [await service.account('100.00'), await service.account('100.00')];
  for (const { apiKey } of [early, late]) await service.call('createVm', { form: SMALL_VM, apiKey });
  const body = { amount: '8.46', date: '2026-11-10', method: 'cash', reference: 'Counter' };
  const pay = ({ id: account_id }: { id: string }) => operator.recordPayment({ client, path: { account_id, payment: 'one' }, body });
  expect(await pay(early)).toMatchObject({ unused: '8.46', pays: [] });
  // No scheduled job runs before the requests.
  clock.advanceTo('2026-12-01T00:00:00.001Z');
  expect(await pay(late)).toMatchObject({ unused: '0.00', pays: [{ amount: '8.46' }] });
  const back = { client, path: { account_id: early.id, payment: 'back' }, body: { ...body, amount: '0.01' } };
  expect(await refusalOf(operator.recordRefund(back))).toMatchObject({ status: 409, message: expect.stringContaining('is 0.00 EUR') });
  await expectInvariants(service.store);
});

test('a credit note on a paid invoice becomes a balance, which can be refunded once', async () => {
  const { service, pay, credit, account, refund, invoice, payments } = await startWithInvoice();
  await pay('one');
  await credit('outage', '1.00');
  expect(await account()).toMatchObject({ balance: '1.19' });
  expect(await invoice()).toMatchObject({ status: 'PAID', unpaid: '0.00' });
  expect(await refusalOf(refund('back', '1.20'))).toMatchObject({
    status: 409,
    message: expect.stringContaining('The amount is 1.20 EUR, but the balance of the account is 1.19 EUR. Refund at most the balance.'),
  });
  service.clock.advance(1);
  expect(await refund('back', '1.19')).toMatchObject({ kind: 'refund', amount: '1.19', unused: '0.00', pays: [] });
  expect(await refund('back', '1.19')).toMatchObject({ kind: 'refund', amount: '1.19' });
  expect(await account()).toMatchObject({ balance: '0.00' });
  expect((await payments()).list.map(({ kind }: { kind: string }) => kind)).toEqual(['refund', 'payment']);
  await expectInvariants(service.store);
});

test('a cancelled invoice gives back what was paid of it', async () => {
  const { service, client, invoiceId, pay, account } = await startWithInvoice();
  await pay('one', { amount: '5.00' });
  await operator.cancelInvoice({ client, path: { invoice_id: invoiceId } });
  expect(await account()).toMatchObject({ balance: '5.00', unpaid: '0.00' });
  await expectInvariants(service.store);
});

test('a credit note for the rest of a partly paid invoice pays it', async () => {
  const { service, pay, credit, invoice, account } = await startWithInvoice();
  await pay('one', { amount: '7.27' });
  await credit('outage', '1.00');
  expect(await invoice()).toMatchObject({ status: 'PAID', unpaid: '0.00' });
  expect(await account()).toMatchObject({ unpaid: '0.00', balance: '0.00' });
  await expectInvariants(service.store);
});

test('a reversed payment opens its invoice again, and stays in the list', async () => {
  const { service, pay, reverse, invoice, account, payments } = await startWithInvoice();
  await pay('one', { amount: '10.00' });
  expect(await reverse('one')).toMatchObject({ unused: '0.00', pays: [], reversal_reason: 'Direct debit returned' });
  expect(await reverse('one')).toMatchObject({ reversal_reason: 'Direct debit returned' });
  expect(await invoice()).toMatchObject({ status: 'OPEN', unpaid: '8.46' });
  expect(await account()).toMatchObject({ unpaid: '7.11', balance: '0.00' });
  expect((await payments()).list[0].reversed).toMatch(/^2026-12-01T/);
  await expectInvariants(service.store);
});

test.each(engines)('a reversed payment opens its invoices again in the order of their months, on %s', async (engine) => {
  const service = await startOperator({ engine, creditLimit: '100.00' });
  const { client } = service;
  await service.call('createVm', { form: SMALL_VM });
  for (const month of ['2026-12', '2027-01', '2027-02', '2027-03', '2027-04', '2027-05']) {
    service.clock.advanceTo(`${month}-01T00:00:00Z`);
    await service.runScheduledJobs();
  }
  const [{ account_id = '' } = {}] = (await operator.listInvoices({ client })).items;
  const path = { account_id, payment: 'one' };
  const transfer = { date: '2027-05-01', method: 'bank_transfer', reference: 'all' };
  await operator.recordPayment({ client, path, body: { ...transfer, amount: '90.00' } });
  await operator.reversePayment({ client, path, body: { reason: 'Direct debit returned' } });
  const { events } = (await service.call('listEvents', { form: { type: 'invoice.reopened' } })).body.data;
  expect(events.map(({ data }: { data: { number: string } }) => data.number)).toEqual(
    [1, 2, 3, 4, 5, 6].map((number) => `INV-0000${number}`),
  );
});

test('another payment pays an invoice whose payment was reversed', async () => {
  const { service, pay, reverse, invoice, account } = await startWithInvoice();
  await pay('one');
  await pay('two', { amount: '9.00' });
  await reverse('one');
  expect(await invoice()).toMatchObject({ status: 'PAID' });
  expect(await account()).toMatchObject({ balance: '0.54' });
  await expectInvariants(service.store);
});

test('refuses to reverse a payment of which a part was refunded, and a refund', async () => {
  const { pay, refund, reverse } = await startWithInvoice();
  await pay('one', { amount: '10.00' });
  await refund('back', '0.01');
  for (const name of ['one', 'back'])
    expect(await refusalOf(reverse(name))).toMatchObject({
      status: 409,
      message: expect.stringContaining('Only a payment can be reversed'),
    });
});

test('marking an invoice paid records a payment of what is left of it', async () => {
  const { service, client, invoiceId, pay } = await startWithInvoice();
  await pay('one', { amount: '8.00' });
  service.clock.advance(1);
  await operator.markInvoicePaid({ client, path: { invoice_id: invoiceId } });
  const { items } = await operator.listPayments({ client });
  expect(items.map(({ amount, method, reference }) => [amount, method, reference])).toEqual([
    ['0.46', 'unspecified', 'INV-00001'],
    ['8.00', 'bank_transfer', 'INV-00001'],
  ]);
  await expectInvariants(service.store);
});

test('pays the invoice that the operator names before one that is due earlier', async () => {
  const { service, client, pay, nextMonth } = await startWithInvoice();
  await nextMonth();
  const { items } = await operator.listInvoices({ client });
  await pay('one', { amount: '12.79', invoice_id: items[0]?.id ?? '' });
  expect((await operator.listInvoices({ client })).items.map(({ status }) => status)).toEqual(['PAID', 'OPEN']);
  await pay('two', { amount: '0.46' });
  expect((await operator.listInvoices({ client })).items.map(({ unpaid }) => unpaid)).toEqual(['0.00', '8.00']);
  await expectInvariants(service.store);
});

test.each([
  ['an amount of 0', { amount: '0.00' }, 422],
  ['a part of a cent', { amount: '1.005' }, 422],
  ['a day that does not exist', { date: '2026-02-30' }, 422],
  ['a day that no time zone has reached', { date: '2026-12-02' }, 422],
  ['an invoice that does not exist', { invoice_id: 'none' }, 404],
])('refuses %s, and records nothing', async (_, change, status) => {
  const { service, client, pay } = await startWithInvoice();
  // Noon, so that the next day has begun in no time zone whose clock is 11 hours ahead.
  service.clock.advance(9 * 3_600_000);
  expect(await refusalOf(pay('one', change))).toMatchObject({ status });
  expect((await operator.listPayments({ client })).items).toEqual([]);
});

test.each(['PAID', 'CANCELED'])('refuses to pay an invoice that is %s, and says how to record the payment', async (status) => {
  const { client, pay, invoiceId, account } = await startWithInvoice();
  if (status === 'PAID') await pay('one');
  else await operator.cancelInvoice({ client, path: { invoice_id: invoiceId } });
  expect(await refusalOf(pay('two', { invoice_id: invoiceId }))).toMatchObject({
    status: 409,
    message: expect.stringContaining(
      `${invoiceId} is ${status}. Only an open invoice can be paid. Send the payment again without the invoice: it pays the other open invoices, and the rest is added to the balance`,
    ),
  });
  expect(await pay('two')).toMatchObject({ amount: '8.46', unused: '8.46' });
  expect(await account()).toMatchObject({ balance: '8.46' });
});

test.each([
  ['Europe/Berlin', '2026-12-15T22:59:59.999Z'],
  ['America/New_York', '2026-12-16T04:59:59.999Z'],
  ['Pacific/Kiritimati', '2026-12-15T09:59:59.999Z'],
])('an operator in %s finds invoices by number, and those that are overdue', async (time_zone, lastInstant) => {
  const { service, client, invoiceId, pay } = await startWithInvoice();
  await operator.setVatRates({ client, body: { vat_rates: [{ basis_points: 1_900, valid_from: '1970-01-01' }], time_zone } });
  const found = async (query: NonNullable<operator.ListInvoicesData['query']>) =>
    (await operator.listInvoices({ client, query })).items.map(({ id }) => id);
  expect(await found({ number: 'INV-00001' })).toEqual([invoiceId]);
  expect(await found({ number: 'INV-00002' })).toEqual([]);
  // Due on 15 December, which is the last day to pay.
  service.clock.advanceTo(lastInstant);
  expect(await found({ overdue: 'true' })).toEqual([]);
  service.clock.advance(1);
  expect(await found({ overdue: 'true' })).toEqual([invoiceId]);
  await pay('one');
  expect(await found({ overdue: 'true' })).toEqual([]);
});

test('an operator finds invoices that are due before a day', async () => {
  const { service, client, invoiceId, nextMonth, pay } = await startWithInvoice();
  await nextMonth();
  const found = async (query: NonNullable<operator.ListInvoicesData['query']>) =>
    (await operator.listInvoices({ client, query })).items.map(({ due }) => due?.slice(0, 10));
  expect(await found({ due_before: '2026-12-15' })).toEqual([]);
  expect(await found({ due_before: '2026-12-16' })).toEqual(['2026-12-15']);
  expect(await found({ due_before: '2027-01-15' })).toEqual(['2026-12-15']);
  expect(await found({ due_before: '2027-01-16' })).toEqual(['2027-01-15', '2026-12-15']);
  await pay('one', { invoice_id: invoiceId });
  expect(await found({ due_before: '2027-01-16', status: 'OPEN' })).toEqual(['2027-01-15']);
  expect(await refusalOf(found({ due_before: '2027-02-30' }))).toMatchObject({
    status: 400,
    message: expect.stringContaining('due_before'),
  });
  // Without a seller, an invoice has no document, so it is never due.
  await service.store.commit(({ db }) => db.deleteFrom('settings').where('name', '=', 'seller').execute());
  service.clock.advanceTo('2027-02-01T00:00:00Z');
  await service.runScheduledJobs();
  expect(await found({ due_before: '2030-01-01' })).toEqual(['2027-01-15', '2026-12-15']);
});

test.each(['DE12345678', 'ATU1234567', 'GR123456789', 'XX123456'])(
  'refuses the VAT identifier %s of a buyer and of the seller',
  async (vat_id) => {
    const { client, account_id } = await startWithInvoice();
    const party = { company: 'A', street: 'B 1', postal_code: '1010', city: 'C', country: 'AT', vat_id };
    const { seller } = await operator.getSeller({ client });
    if (!seller) throw new Error('No seller is set.');
    const refused = [
      () => operator.setBillingProfile({ client, path: { account_id }, body: { ...party, reverse_charge: true } }),
      () => operator.setSeller({ client, body: { ...seller, vat_id } }),
    ];
    for (const call of refused) expect(await refusalOf(call())).toMatchObject({ status: 422, fields: [{ field: '#/vat_id' }] });
  },
);

test.each([
  ['another country than the buyer', { country: 'AT', vat_id: 'DE123456789' }, '#/vat_id', 'must be of the country AT and begin with AT'],
  [
    'Ireland for a buyer in Great Britain',
    { country: 'GB', vat_id: 'IE1234567WA' },
    '#/vat_id',
    'must be of the country GB and begin with GB or XI',
  ],
  ['no country, with reverse charge', { country: 'AT', vat_id: null }, '#/vat_id', 'must be set if reverse_charge is true'],
  [
    'the country of the seller, with reverse charge',
    { country: 'DE', vat_id: 'DE123456789' },
    '#/reverse_charge',
    'must be false for a buyer in DE',
  ],
])('refuses a buyer with a VAT identifier of %s', async (_, party, field, message) => {
  const { client, account_id } = await startWithInvoice();
  const body = { company: 'A', street: 'B 1', postal_code: '1010', city: 'C', reverse_charge: true, ...party };
  const refusal = await refusalOf(operator.setBillingProfile({ client, path: { account_id }, body }));
  expect(refusal).toMatchObject({ status: 422, fields: [{ field, message: expect.stringContaining(message) }] });
});

test.each([
  ['GR', 'EL123456789'],
  ['GB', 'XI123456789'],
  ['GB', 'GB123456789'],
  ['CH', 'CHE123456789'],
])('accepts a buyer in %s with the VAT identifier %s', async (country, vat_id) => {
  const { client, account_id } = await startWithInvoice();
  const body = { company: 'A', street: 'B 1', postal_code: '1010', city: 'C', country, vat_id, reverse_charge: true };
  expect(await operator.setBillingProfile({ client, path: { account_id }, body })).toMatchObject({ billing_profile: body });
});

test('refuses to move the seller to the country of a buyer with reverse charge', async () => {
  const { client, account_id } = await startWithInvoice();
  const body = { company: 'A', street: 'B 1', postal_code: '1010', city: 'C', country: 'AT', vat_id: 'ATU12345678', reverse_charge: true };
  await operator.setBillingProfile({ client, path: { account_id }, body });
  const { seller } = await operator.getSeller({ client });
  if (!seller) throw new Error('No seller is set.');
  const moved = () => operator.setSeller({ client, body: { ...seller, country: 'AT', vat_id: 'ATU87654321' } });
  expect(await refusalOf(moved())).toMatchObject({
    status: 422,
    fields: [{ field: '#/country', message: expect.stringContaining(account_id) }],
  });
  await operator.setBillingProfile({ client, path: { account_id }, body: { ...body, reverse_charge: false } });
  expect((await moved()).seller).toMatchObject({ country: 'AT' });
});

test('the balance counts at the highest VAT rate of the month, and at those of a new tax status from its month on', async () => {
  const { service, client, account_id, pay, explained, nextMonth, credit } = await startWithInvoice();
  await pay('one', { amount: '20.36' });
  expect((await explained()).balance).toBe(10);
  const vat_rates = [
    { basis_points: 1_900, valid_from: '1970-01-01' },
    { basis_points: 700, valid_from: '2026-12-16' },
  ];
  await operator.setVatRates({ client, body: { vat_rates } });
  service.clock.advanceTo('2026-12-20T00:00:00Z');
  expect((await explained()).balance).toBe(10);
  await credit('late', '1.00');
  // 13.09 EUR with VAT.
  expect((await explained()).balance).toBe(11);
  await nextMonth();
  // December is 5.19 EUR at 19 percent and 5.56 EUR at 7 percent, with VAT 12.13 EUR. That leaves 0.96 EUR.
  expect((await explained()).balance).toBe(0.89);
  const party = { company: 'A', street: 'B 1', postal_code: '1010', city: 'C', country: 'AT', vat_id: 'ATU12345678' };
  await operator.setBillingProfile({ client, path: { account_id }, body: { ...party, reverse_charge: true } });
  // On 1 January until midnight in Berlin, the account still pays VAT.
  expect((await explained()).balance).toBe(0.89);
  await expectInvariants(service.store);
});

test('payments up to a balance of 90,000,000.00 EUR are recorded, and a larger one is refused with what still fits', async () => {
  const { service, pay, account, reverse, refund } = await startWithInvoice();
  for (let number = 1; number <= 9; number++) await pay(`large-${number}`, { amount: '9999999.99' });
  expect(await account()).toMatchObject({ balance: '89999991.45' });
  const refusal = await refusalOf(pay('large-10', { amount: '9999999.99' }));
  expect(refusal).toMatchObject({ status: 422, message: expect.stringContaining('must be at most 8.55,') });
  expect(await refusalOf(pay('a-cent-too-much', { amount: '8.56' }))).toMatchObject({ status: 422 });
  await pay('what-fits', { amount: '8.55' });
  expect(await account()).toMatchObject({ balance: '90000000.00' });
  // A repetition records nothing, so it is not refused.
  await pay('what-fits', { amount: '8.55' });
  await reverse('large-9');
  await refund('back', '9999999.99');
  expect(await account()).toMatchObject({ balance: '70000000.02' });
  await expectInvariants(service.store);
});

test('a repeated payment that names another invoice is refused, because it would pay nothing', async () => {
  const { pay, invoiceId } = await startWithInvoice();
  await pay('one', { amount: '1.00' });
  expect(await refusalOf(pay('one', { amount: '1.00', invoice_id: invoiceId }))).toMatchObject({ status: 409 });
});

test.each([true, false])(
  'on PostgreSQL, refunds at the same time never exceed the balance (seller set: %s)',
  { tags: 'outer' },
  async (hasSeller) => {
    const service = await startOperator({ engine: 'postgres', creditLimit: '100.00' });
    const { client } = service;
    // With a seller, the numbers of invoices are locked too.
    if (!hasSeller) await service.store.commit(({ db }) => db.deleteFrom('settings').where('name', '=', 'seller').execute());
    for (let round = 0; round < 3; round++) {
      const { id: account_id } = await service.account();
      const body = { amount: '9.99', date: '2026-11-09', method: 'bank_transfer', reference: 'In advance' };
      await operator.recordPayment({ client, path: { account_id, payment: 'in' }, body });
      const refunds = Array.from({ length: 4 }, (_, number) =>
        operator.recordRefund({ client, path: { account_id, payment: `back-${number}` }, body }),
      );
      const outcomes = await Promise.allSettled(refunds);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    }
  },
);
