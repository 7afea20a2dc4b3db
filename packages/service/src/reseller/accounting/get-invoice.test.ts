import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { providerOf } from '../../../test/provider.ts';
import { chargeOwed } from '../../core/accounting/charge.ts';
import { euros } from '../../rules/money.ts';

const newest = async (service: TestService): Promise<string> => Object.keys((await service.call('listInvoices')).body.data)[0] ?? '';

test('positions of VMs have neither runtime nor price on a closed invoice', async () => {
  const service = await startService();
  const provider = providerOf(service);
  const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  service.clock.advanceTo('2026-11-20T00:00:00Z');
  await provider.resize(identifier, { cores: 4 });
  service.clock.advanceTo('2026-12-05T00:00:00Z');
  const { status, body } = await service.call('getInvoice', { path: { invoiceID: await newest(service) } });
  expect(status).toBe(200);
  expect(body.requestID).toMatch(/^[0-9a-f-]{36}$/);
  const closed = { totalRuntime: null, totalPrice: null };
  expect(body.data).toEqual({
    created: '2026-12-01T00:00:00.000Z',
    // 10.40 x 820,603 / 2,592,000 + 14.40 x 11 / 30 = 3.2925 + 5.28
    total: 8.57,
    status: 'OPEN',
    invoice: expect.stringMatching(/^http/),
    positions: {
      vms: {
        [identifier]: [
          { type: 'CREATE', start: '2026-11-10T12:03:17.000Z', stop: '2026-11-20T00:00:00.000Z', monthlyPrice: 10.4, ...closed },
          { type: 'UP-DOWNGRADE', start: '2026-11-20T00:00:00.000Z', stop: '2026-12-01T00:00:00.000Z', monthlyPrice: 14.4, ...closed },
        ],
      },
    },
  });
});

test('lists advance charges next to the VMs, on the invoice of the period in which they were made', async () => {
  const service = await startService();
  const { id, apiKey } = await service.account();
  const start = Math.floor(service.clock.now() / 1000);
  const charge = (kind: 'dedicated' | 'domain', subject: string, amount: string) =>
    service.store.commit(({ db }) =>
      chargeOwed(
        db,
        service.ports,
        { accountId: id, kind, subject, type: 'CREATE', start, stop: start + 86_400, amount: euros(amount) },
        service.clock.now(),
      ),
    );
  await charge('domain', 'reseller-customer.net', '9.50');
  await charge('dedicated', '6f1c2a54-8f0e-4d57-9b7a-2f9f6f0b3c11', '147.00');
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  const [invoiceID = ''] = Object.keys((await service.call('listInvoices', { apiKey })).body.data);
  await charge('domain', 'reseller-customer.org', '8.00');
  const { data } = (await service.call('getInvoice', { apiKey, path: { invoiceID } })).body;
  const period = { type: 'CREATE', start: '2026-11-10T12:03:17.000Z', stop: '2026-11-11T12:03:17.000Z' };
  expect(data.total).toBe(156.5);
  expect(data.positions).toEqual({
    vms: {},
    dedicated: { '6f1c2a54-8f0e-4d57-9b7a-2f9f6f0b3c11': [{ ...period, totalPrice: 147 }] },
    domains: { 'reseller-customer.net': [{ ...period, totalPrice: 9.5 }] },
  });
});

test('responds with the same 404 to an invoice of another account as to an unknown one', async () => {
  const service = await startService();
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  const invoiceID = await newest(service);
  const { apiKey } = await service.account();
  const foreign = await service.call('getInvoice', { apiKey, path: { invoiceID } });
  const unknown = await service.call('getInvoice', { apiKey, path: { invoiceID: 'b7d7f0f4-5a6e-5b0f-9d0c-0f8c1a1d7f5e' } });
  expect(foreign).toMatchObject({ status: 404, body: { type: 'not_found' } });
  expect({ ...foreign.body, requestID: null }).toEqual({ ...unknown.body, requestID: null });
  const log = await service.call('listRequests', { apiKey });
  expect(log.body.data[0]).toMatchObject({
    success: 0,
    error_type: 'not_found',
    endpoint: '/accounting/invoices/b7d7f0f4-5a6e-5b0f-9d0c-0f8c1a1d7f5e',
  });
});

test.each(['0', 'CURRENT', "1' or '1'='1", '../current', 'x'.repeat(900)])("refuses '%s' as an invoice ID", async (invoiceID) => {
  const service = await startService();
  expect(await service.call('getInvoice', { path: { invoiceID } })).toMatchObject({ status: 404, body: { type: 'not_found' } });
});
