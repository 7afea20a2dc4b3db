import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { SMALL_VM } from '../../test/harness.ts';
import { expectInvariants } from '../../test/invariants.ts';
import { refusalOf, startOperator } from '../../test/operator.ts';

/** A service whose account has an open invoice of 7.11 EUR. */
async function withInvoice() {
  const service = await startOperator();
  const { client, clock } = service;
  await service.call('createVm', { form: SMALL_VM });
  clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const { items } = await operator.listInvoices({ client, query: { status: 'OPEN' } });
  const invoice = items.find(({ total }) => total === '7.11');
  if (!invoice) throw new Error(`There is no invoice of 7.11 EUR among ${JSON.stringify(items)}.`);
  const unpaid = async () => (await operator.getAccount({ client, path: { account_id: invoice.account_id } })).unpaid;
  return { client, service, path: { invoice_id: invoice.id }, unpaid };
}

test('finds an invoice by its number too, with the lines of its document', async () => {
  const { client, path } = await withInvoice();
  const byId = await operator.getInvoice({ client, path });
  expect(byId.groups).toMatchObject([
    { title: 'Virtual servers', total: '7.11', lines: [{ title: 'KVM', amount: '7.11', vat_basis_points: 1900 }] },
  ]);
  const number = byId.number ?? '';
  const { document: _document, xml: _xml, ...shown } = byId;
  expect(await operator.getInvoice({ client, path: { invoice_id: number } })).toMatchObject(shown);
  expect(await operator.markInvoicePaid({ client, path: { invoice_id: number } })).toMatchObject({ id: byId.id, status: 'PAID' });
  expect(await refusalOf(operator.getInvoice({ client, path: { invoice_id: `${number}0` } }))).toMatchObject({ status: 404 });
});

test('removes a cancelled invoice from the debt, and shows it as cancelled to its reseller', async () => {
  const { client, service, path, unpaid } = await withInvoice();
  expect(await unpaid()).toBe('7.11');
  for (let n = 0; n < 2; n++) expect(await operator.cancelInvoice({ client, path })).toMatchObject({ status: 'CANCELED', total: '7.11' });
  expect(await unpaid()).toBe('0.00');
  expect((await service.call('listInvoices')).body.data[path.invoice_id]).toMatchObject({ status: 'CANCELED', total: 7.11 });
  expect(await refusalOf(operator.markInvoicePaid({ client, path }))).toMatchObject({
    status: 409,
    type: expect.stringMatching(/wrong-state$/),
  });
});

test('removes a paid invoice from the debt, and refuses to cancel it', async () => {
  const { client, path, unpaid } = await withInvoice();
  for (let n = 0; n < 2; n++) expect(await operator.markInvoicePaid({ client, path })).toMatchObject({ status: 'PAID' });
  expect(await unpaid()).toBe('0.00');
  expect(await refusalOf(operator.cancelInvoice({ client, path }))).toMatchObject({ status: 409 });
});

const json = (body: object) => ({ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

test('reduces the debt by each credit note, and cancels the invoice with exactly its VAT by the last one', async () => {
  const { service, path, unpaid } = await withInvoice();
  const credit = (name: string, amount: string, reason = 'Outage') =>
    service.operate(`/invoices/${path.invoice_id}/credit-notes/${name}`, json({ amount, reason }));
  expect((await credit('first', '3.33')).body).toMatchObject({ number: 'CN-00001', amount: '3.33', vat: '0.63', gross: '3.96' });
  expect(await unpaid()).toBe('3.78');
  // A repeated request changes nothing; another amount or reason under the same name is refused.
  expect((await credit('first', '3.33')).body).toMatchObject({ number: 'CN-00001' });
  expect((await credit('first', '3.34')).status).toBe(409);
  expect((await credit('first', '3.33', 'Goodwill')).status).toBe(409);
  expect((await credit('second', '3.79')).body).toMatchObject({ status: 409, detail: expect.stringContaining('only 3.78 EUR are left') });
  expect((await credit('cancellation', '1.00')).status).toBe(409);
  for (const amount of ['0', '0.00', '0.001']) expect((await credit('second', amount)).status).toBe(422);
  expect(await unpaid()).toBe('3.78');
  expect((await credit('second', '3.78')).body).toMatchObject({ number: 'CN-00002', vat: '0.72' });
  expect(await unpaid()).toBe('0.00');
  // The links to the documents need no key, so no record of the change has one.
  expect(JSON.stringify((await service.operate('/audit')).body)).not.toContain('signature=');
  const { body } = await service.operate(`/invoices/${path.invoice_id}`);
  // 7.11 EUR have 1.35 EUR of VAT.
  expect(body).toMatchObject({ status: 'CANCELED', number: expect.stringMatching(/^INV-/), vat: '1.35', gross: '8.46' });
  expect(body.credit_notes.map(({ name }: { name: string }) => name)).toEqual(['first', 'second']);
  expect((await credit('third', '0.01')).status).toBe(409);
  await expectInvariants(service.store);
});

test('corrects a paid invoice without changing the debt', async () => {
  const { service, path, unpaid } = await withInvoice();
  await service.operate(`/invoices/${path.invoice_id}/mark-paid`, { method: 'POST' });
  expect(
    (await service.operate(`/invoices/${path.invoice_id}/credit-notes/refund`, json({ amount: '7.11', reason: 'Refund' }))).status,
  ).toBe(200);
  expect(await unpaid()).toBe('0.00');
  expect((await service.operate(`/invoices/${path.invoice_id}`)).body).toMatchObject({ status: 'PAID' });
  await expectInvariants(service.store);
});

test('credits the rest of the invoice on a cancellation, and settles it on a payment', async () => {
  const first = await withInvoice();
  const partly = (service: typeof first.service, invoiceId: string) =>
    service.operate(`/invoices/${invoiceId}/credit-notes/part`, json({ amount: '2.11', reason: 'Outage' }));
  await partly(first.service, first.path.invoice_id);
  await first.service.operate(`/invoices/${first.path.invoice_id}/cancel`, { method: 'POST' });
  const { body } = await first.service.operate(`/invoices/${first.path.invoice_id}`);
  expect(body.credit_notes.map(({ name, amount }: { name: string; amount: string }) => [name, amount])).toEqual([
    ['part', '2.11'],
    ['cancellation', '5.00'],
  ]);
  expect(await first.unpaid()).toBe('0.00');
  await expectInvariants(first.service.store);
  const second = await withInvoice();
  await partly(second.service, second.path.invoice_id);
  expect(await second.unpaid()).toBe('5.00');
  await second.service.operate(`/invoices/${second.path.invoice_id}/mark-paid`, { method: 'POST' });
  expect(await second.unpaid()).toBe('0.00');
  await expectInvariants(second.service.store);
});

test('never exceeds the total of an invoice with concurrent credit notes', async () => {
  const { service, path } = await withInvoice();
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      service.operate(`/invoices/${path.invoice_id}/credit-notes/note-${n}`, json({ amount: '2.00', reason: 'Outage' })),
    ),
  );
  expect(results.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 409, 409, 409, 409, 409]);
  await expectInvariants(service.store);
});

test('begins a new series with its first number, and never issues a number twice', async () => {
  const { service, path } = await withInvoice();
  const series = (invoices: object, credit_notes: object = { prefix: 'CN-', next_number: 1, digits: 5 }) =>
    service.operate('/invoicing/series', json({ invoices, credit_notes }));
  await service.operate(`/invoices/${path.invoice_id}/credit-notes/one`, json({ amount: '1.00', reason: 'Outage' }));
  const taken = (await service.operate('/invoicing/series')).body;
  expect(taken.credit_notes).toEqual({ prefix: 'CN-', next_number: 2, digits: 5 });
  expect((await series(taken.invoices)).status).toBe(409);
  expect((await series(taken.invoices, { prefix: 'G/2027_', next_number: 1, digits: 1 })).status).toBe(200);
  expect(
    (await service.operate(`/invoices/${path.invoice_id}/credit-notes/two`, json({ amount: '1.00', reason: 'Outage' }))).body,
  ).toMatchObject({
    number: 'G/2027_1',
  });
  expect((await series(taken.invoices, { prefix: 'G/2027_', next_number: 1, digits: 1 })).status).toBe(409);
  expect((await series(taken.invoices, { prefix: 'G/2027_', next_number: 2, digits: 1 })).status).toBe(200);
});
