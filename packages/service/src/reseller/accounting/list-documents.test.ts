import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { SMALL_VM } from '../../../test/harness.ts';
import { startOperator } from '../../../test/operator.ts';

async function startWithInvoice() {
  const service = await startOperator();
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  await service.runScheduledJobs();
  const [[invoiceID = ''] = []] = Object.entries((await service.call('listInvoices')).body.data);
  const path = { invoice_id: invoiceID };
  return {
    service,
    invoiceID,
    pay: () => operator.markInvoicePaid({ client: service.client, path }),
    credit: (name: string, amount: string) =>
      operator.createCreditNote({ client: service.client, path: { ...path, credit_note: name }, body: { amount, reason: 'Outage' } }),
    documents: async (apiKey?: string) => (await service.call('listDocuments', apiKey === undefined ? {} : { apiKey })).body.data,
  };
}

test('lists no documents before the first invoice', async () => {
  const service = await startOperator();
  expect((await service.call('listDocuments')).body.data).toEqual({ unpaid: 0, list: [] });
});

test('shows the number, the due date, the VAT and the gross amount of an invoice, and opens its PDF', async () => {
  const { invoiceID, documents } = await startWithInvoice();
  const { unpaid, list } = await documents();
  expect(unpaid).toBe(8.46);
  expect(list).toEqual([
    {
      kind: 'invoice',
      number: 'INV-00001',
      invoiceID,
      date: expect.stringMatching(/^2026-12-01T00:/),
      dueDate: expect.stringMatching(/^2026-12-15T/),
      reason: null,
      net: 7.11,
      vat: [{ rate: 19, net: 7.11, amount: 1.35 }],
      gross: 8.46,
      unpaid: 8.46,
      document: expect.any(String),
      xml: expect.stringMatching(/\.xml\?/),
    },
  ]);
  const pdf = await fetch(list[0].document);
  expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
});

test('shows credit notes, newest first, and the amount left to pay', async () => {
  const { service, invoiceID, credit, documents } = await startWithInvoice();
  await credit('first', '3.33');
  service.clock.advance(60_000);
  await credit('second', '1.00');
  const { unpaid, list } = await documents();
  // 8.46 less 3.96 and 1.19.
  expect(unpaid).toBe(3.31);
  expect(list.map(({ number, gross, unpaid: left }: Record<string, unknown>) => [number, gross, left])).toEqual([
    ['CN-00002', 1.19, 0],
    ['CN-00001', 3.96, 0],
    ['INV-00001', 8.46, 3.31],
  ]);
  expect(list[1]).toMatchObject({
    kind: 'credit_note',
    invoiceID,
    dueDate: null,
    reason: 'Outage',
    net: 3.33,
    vat: [{ rate: 19, net: 3.33, amount: 0.63 }],
  });
  expect((await fetch(list[0].document)).headers.get('content-type')).toBe('application/pdf');
});

test('nothing is left to pay of an invoice that is paid or cancelled', async () => {
  const paid = await startWithInvoice();
  await paid.credit('first', '1.00');
  await paid.pay();
  expect(await paid.documents()).toMatchObject({ unpaid: 0, list: [{ unpaid: 0 }, { gross: 8.46, unpaid: 0 }] });
  const cancelled = await startWithInvoice();
  await cancelled.credit('whole', '7.11');
  expect(await cancelled.documents()).toMatchObject({ unpaid: 0, list: [{ gross: 8.46 }, { gross: 8.46, unpaid: 0 }] });
});

test('shows no document of another account', async () => {
  const { service, documents } = await startWithInvoice();
  const { apiKey } = await service.account();
  expect(await documents(apiKey)).toEqual({ unpaid: 0, list: [] });
});
