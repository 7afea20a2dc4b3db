import { decimalOf, numberOf } from '../rules/money.ts';
import type { Money } from '../rules/money.ts';
import { grossOfUnit } from '../rules/vat.ts';

/**
 * The price of a unit in responses.
 *
 * @param vat Hundredths of a percent.
 */
export function toUnitPrice(net: Money, vat: number): { price_net: string; price_gross: number } {
  return { price_net: decimalOf(net), price_gross: numberOf(grossOfUnit(net, vat)) };
}
