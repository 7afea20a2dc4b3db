import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';

test('returns an empty invoice before the first purchase', async () => {
  const service = await startService();
  const { body } = await service.call('getCurrentInvoice');
  expect(body.data).toEqual({
    currentInvoiceTotal: 0,
    nextInvoiceDate: '2026-12-01T00:00:00.000Z',
    estimatedInvoiceTotal: 0,
    creditLimit: 1000,
    creditLimitRemaining: 1000,
    positions: { vms: {} },
  });
});

test('bills a VM by the second from its creation', async () => {
  const service = await startService();
  const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  service.clock.advance(10 * 86_400_000 + 3_600_000 + 1000);
  const { data } = (await service.call('getCurrentInvoice')).body;
  // 867,601 s of 2,592,000 at 10.40 EUR.
  expect(data.positions.vms[identifier]).toEqual([
    { type: 'CREATE', start: '2026-11-10T12:03:17.000Z', stop: null, totalRuntime: 867_601, monthlyPrice: 10.4, totalPrice: 3.48111512 },
  ]);
  expect(data.currentInvoiceTotal).toBe(3.48);
  // 20 d 11 h 56 min 43 s until the month ends: 10.40 x 1,771,003 / 2,592,000.
  expect(data.estimatedInvoiceTotal).toBe(7.11);
  expect(data.creditLimitRemaining).toBe(992.89);
});

test('closes the invoice at the end of the month and restarts billing', async () => {
  const service = await startService();
  const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
  service.clock.advanceTo('2026-12-02T00:00:00Z');
  const { data } = (await service.call('getCurrentInvoice')).body;
  expect(data.positions.vms[identifier]).toEqual([
    {
      type: 'BILLINGRESTART',
      start: '2026-12-01T00:00:00.000Z',
      stop: null,
      totalRuntime: 86_400,
      monthlyPrice: 10.4,
      totalPrice: 0.34666667,
    },
  ]);
  expect(data.nextInvoiceDate).toBe('2027-01-01T00:00:00.000Z');
  // 31 days at the price of 30.
  expect(data.estimatedInvoiceTotal).toBe(10.75);
  // The November invoice of 7.11 EUR is open, and December will cost 10.75 EUR.
  expect(data.creditLimitRemaining).toBe(982.14);
});

test('closes several ended months one by one, without requests in between', async () => {
  const service = await startService();
  await service.call('createVm', { form: SMALL_VM });
  service.clock.advanceTo('2027-03-01T00:00:00Z');
  await service.call('getCurrentInvoice');
  const invoices = await service.store.read((db) =>
    db.selectFrom('invoices').select(['period_start', 'total', 'status']).orderBy('period_start').execute(),
  );
  expect(invoices.map(({ period_start, total }) => [new Date(period_start * 1000).toISOString().slice(0, 7), total / 1e8])).toEqual([
    ['2026-11', 7.11],
    ['2026-12', 10.75],
    ['2027-01', 10.75],
    ['2027-02', 9.71],
  ]);
});

test('shows nothing of it to another account', async () => {
  const service = await startService();
  await service.call('createVm', { form: SMALL_VM });
  const { apiKey } = await service.account();
  expect((await service.call('getCurrentInvoice', { apiKey })).body.data.positions.vms).toEqual({});
});
