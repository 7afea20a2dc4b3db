import fc from 'fast-check';
import { expect, test } from 'vitest';

import { invoiceAfter, statusOfNewInvoice } from './invoice.ts';

test('allows an open invoice to be paid or cancelled', () => {
  expect(invoiceAfter('OPEN', 'pay')).toBe('PAID');
  expect(invoiceAfter('OPEN', 'cancel')).toBe('CANCELED');
});

test('lets at most one event take effect', () => {
  const events = fc.array(fc.constantFrom('pay' as const, 'cancel' as const), { minLength: 1 });
  fc.assert(
    fc.property(events, (all) => {
      let status = 'OPEN';
      const effects = all.filter((event) => {
        const next = invoiceAfter(status, event);
        status = next ?? status;
        return next !== undefined;
      });
      expect(effects).toEqual([all[0]]);
    }),
  );
});

test('requires no payment for an invoice of 0.00 EUR', () => {
  expect([0n, 1n].map(statusOfNewInvoice)).toEqual(['PAID', 'OPEN']);
});
