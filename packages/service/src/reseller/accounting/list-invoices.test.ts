import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import { invoicesOf, providerOf } from '../../../test/provider.ts';

test('returns an empty list before the first period has ended', async () => {
  const service = await startService();
  await service.call('createVm', { form: SMALL_VM });
  const { status, body } = await service.call('listInvoices');
  expect(status).toBe(200);
  expect(body).toMatchObject({ requestID: null, data: {} });
});

test('returns an invoice for each ended period, newest first, without requests in between', async () => {
  const service = await startService();
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2027-02-01T00:00:00Z');
  const { data } = (await service.call('listInvoices')).body;
  const link = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/invoices\/[0-9a-f-]{36}\.pdf\?expires=1804032000&signature=[\w-]{43}$/);
  expect(Object.values(data)).toEqual([
    // 10.40 x 31 / 30, twice, then 10.40 x 1,771,003 / 2,592,000.
    { created: '2027-02-01T00:00:00.000Z', total: 10.75, status: 'OPEN', invoice: link },
    { created: '2027-01-01T00:00:00.000Z', total: 10.75, status: 'OPEN', invoice: link },
    { created: '2026-12-01T00:00:00.000Z', total: 7.11, status: 'OPEN', invoice: link },
  ]);
});

test('lists no invoice for a period without charges', async () => {
  const service = await startService();
  const provider = providerOf(service);
  const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  await provider.stop(identifier);
  service.clock.advanceTo('2027-01-10T00:00:00Z');
  await provider.start(identifier);
  service.clock.advanceTo('2027-03-01T00:00:00Z');
  // February: 10.40 x 28 / 30. January: 10.40 x 22 / 30. November: a VM that ran for less than a second.
  expect((await invoicesOf(service)).map(({ created, total, status }) => [created.slice(0, 10), total, status])).toEqual([
    ['2027-03-01', 9.71, 'OPEN'],
    ['2027-02-01', 7.63, 'OPEN'],
    ['2026-12-01', 0, 'PAID'],
  ]);
});

test('lists paid and cancelled invoices, and not those of other accounts', async () => {
  const service = await startService();
  const provider = providerOf(service);
  const { apiKey } = await service.account();
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2027-01-01T00:00:00Z');
  const [december, november] = Object.keys((await service.call('listInvoices')).body.data);
  await provider.markPaid(november ?? '');
  await provider.cancel(december ?? '');
  expect((await invoicesOf(service)).map(({ status }) => status)).toEqual(['CANCELED', 'PAID']);
  expect((await service.call('listInvoices', { apiKey })).body.data).toEqual({});
});

test('does not log the links', async () => {
  const service = await startService();
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2026-12-01T00:00:00Z');
  const [invoice] = await invoicesOf(service);
  const { body } = await service.call('listRequests');
  expect(JSON.parse(body.data[0].response_body).data[invoice?.id ?? '']).toMatchObject({ total: 7.11, invoice: '***' });
  expect(JSON.stringify(body)).not.toContain(new URL(invoice?.invoice ?? '').searchParams.get('signature'));
});
