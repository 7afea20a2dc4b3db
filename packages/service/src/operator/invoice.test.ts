import { expect, test } from 'vitest';

import * as operator from '@reseller/operator-client';

import { SMALL_VM } from '../../test/harness.ts';
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

test('a cancelled invoice is owed no more, and its reseller sees it cancelled', async () => {
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

test('a paid invoice is owed no more, and is not cancelled', async () => {
  const { client, path, unpaid } = await withInvoice();
  for (let n = 0; n < 2; n++) expect(await operator.markInvoicePaid({ client, path })).toMatchObject({ status: 'PAID' });
  expect(await unpaid()).toBe('0.00');
  expect(await refusalOf(operator.cancelInvoice({ client, path }))).toMatchObject({ status: 409 });
});
