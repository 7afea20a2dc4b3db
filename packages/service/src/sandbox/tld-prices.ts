import type { TldPrice } from '../core/catalogue/tld-price.ts';
import { euros } from '../rules/money.ts';

/** TLD, and the net prices of registration, renewal and transfer. */
const prices: readonly (readonly [string, string, string, string])[] = [
  ['at', '11.50', '11.50', '11.50'],
  ['be', '7.00', '8.50', '7.00'],
  ['ch', '9.00', '9.00', '9.00'],
  ['co.uk', '6.50', '8.00', '6.50'],
  ['com', '10.50', '11.50', '10.50'],
  ['de', '4.20', '4.20', '4.20'],
  ['dev', '13.00', '13.00', '13.00'],
  ['eu', '6.00', '7.00', '6.00'],
  ['fr', '8.00', '9.50', '8.00'],
  ['info', '4.90', '19.90', '19.90'],
  ['io', '39.00', '44.00', '44.00'],
  ['net', '11.00', '12.00', '11.00'],
  ['nl', '6.50', '6.50', '6.50'],
  ['online', '2.90', '29.00', '29.00'],
  ['org', '9.90', '12.50', '12.50'],
  ['org.uk', '6.50', '8.00', '6.50'],
  ['xn--p1ai', '12.00', '14.00', '12.00'],
];

/** The price list of the sandbox. The specification shows no prices. These are plausible ones. */
export const sandboxTldPrices: readonly TldPrice[] = prices.map(([tld, create, renew, transfer]) => ({
  tld,
  create: euros(create),
  renew: euros(renew),
  transfer: euros(transfer),
}));
