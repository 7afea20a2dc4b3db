import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { providerOf } from '../../../test/provider.ts';

/** A service whose account owes 7.11 EUR for November and 10.75 EUR for December, with a limit of 30 EUR. */
async function inJanuary(): Promise<{ service: TestService; november: string; december: string }> {
  const service = await startService({ creditLimit: '30.00' });
  const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  service.clock.advanceTo('2027-01-01T00:00:00Z');
  await providerOf(service).remove(identifier);
  const [december = '', november = ''] = Object.keys((await service.call('listInvoices')).body.data);
  return { service, november, december };
}

const remaining = async (service: TestService): Promise<number> => (await service.call('getCurrentInvoice')).body.data.creditLimitRemaining;
const statusOf = async (service: TestService, invoiceID: string): Promise<string> =>
  (await service.call('getInvoice', { path: { invoiceID } })).body.data.status;

test('does not count a paid or cancelled invoice against the credit limit', async () => {
  const { service, november, december } = await inJanuary();
  const provider = providerOf(service);
  expect(await remaining(service)).toBe(12.14);
  await provider.markPaid(november);
  expect([await remaining(service), await statusOf(service, november)]).toEqual([19.25, 'PAID']);
  await provider.cancel(december);
  expect([await remaining(service), await statusOf(service, december)]).toEqual([30, 'CANCELED']);
  await expectInvariants(service.store);
});

test('pays or cancels an invoice only once for concurrent changes', async () => {
  const { service, november } = await inJanuary();
  const { markPaid, cancel } = providerOf(service);
  const results = await Promise.allSettled([
    markPaid(november),
    cancel(november),
    markPaid(november),
    markPaid(november),
    cancel(november),
  ]);
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await remaining(service)).toBe(19.25);
  await expect(markPaid(november)).rejects.toMatchObject({ status: 409, type: 'wrong_state' });
  await expect(cancel(november)).rejects.toMatchObject({ status: 409, type: 'wrong_state' });
  expect(await remaining(service)).toBe(19.25);
});

test('responds with 404 to an unknown invoice', async () => {
  const { service } = await inJanuary();
  await expect(providerOf(service).markPaid('b7d7f0f4-5a6e-5b0f-9d0c-0f8c1a1d7f5e')).rejects.toMatchObject({
    status: 404,
    type: 'not_found',
  });
});

test('allows further purchases after a payment', async () => {
  const { service, november, december } = await inJanuary();
  // January has 31 days, so a VM holds 10.75 EUR. 12.14 EUR are free, which is enough for one VM.
  expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(200);
  expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(402);
  await providerOf(service).markPaid(december);
  expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(200);
  expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(402);
  expect(await statusOf(service, november)).toBe('OPEN');
});
