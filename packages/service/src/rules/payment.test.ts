import fc from 'fast-check';
import { expect, test } from 'vitest';

import { euros, UNITS_PER_CENT } from './money.ts';
import { netOf, owedOf } from './payment.ts';
import { grossOfUnit } from './vat.ts';

test.each([
  ['nothing', '0.00', '30.59'],
  ['one cent', '0.01', '30.59'],
  ['two cents', '0.02', '30.58'],
  ['half', '18.20', '15.30'],
  ['all but one cent', '36.39', '0.01'],
  ['all', '36.40', '0.00'],
])('after %s of 36.40 was paid, an invoice of 30.59 net takes %s of the credit', (_, paid, owed) => {
  expect(owedOf({ net: euros('30.59'), gross: euros('36.40'), paid: euros(paid) })).toBe(euros(owed));
});

test('an invoice without a document takes its net amount of the credit', () => {
  expect(owedOf({ net: euros('30.59'), gross: undefined, paid: 0n })).toBe(euros('30.59'));
});

test.each([
  ['119.00', 1900, '100.00'],
  ['118.99', 1900, '99.99'],
  ['0.01', 1900, '0.00'],
  ['0.02', 1900, '0.01'],
  ['50.00', 0, '50.00'],
])('%s EUR with VAT pay, at %i hundredths of a percent, %s EUR without', (gross, rate, net) => {
  expect(netOf(euros(gross), rate)).toBe(euros(net));
});

test('a balance always suffices for the VAT on what it adds to the credit', () => {
  const cents = fc.bigInt({ min: 0n, max: 10_000_000n });
  fc.assert(
    fc.property(cents, fc.integer({ min: 0, max: 10_000 }), (balance, rate) => {
      const gross = balance * UNITS_PER_CENT;
      const net = netOf(gross, rate);
      expect(grossOfUnit(net, rate) <= gross).toBe(true);
      expect(grossOfUnit(net + UNITS_PER_CENT, rate) > gross).toBe(true);
    }),
  );
});
