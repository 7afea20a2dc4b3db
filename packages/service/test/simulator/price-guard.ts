/** The price guard of purchases: the highest price that a reseller accepts. */
import { cents, less } from './fraction.ts';
import type { Fraction } from './fraction.ts';
import type { Dice } from './seeded-random.ts';

/** The field `max_price`, or no field. */
export interface PriceGuard {
  readonly [field: string]: string;
}

/** In 30 % of the cases a guard: a cent below the price, the price in cents, or a cent above it. */
export function randomGuard(dice: Dice, price: Fraction): PriceGuard {
  if (dice.chance(0.7)) return {};
  const most = cents(price) + BigInt(dice.pick([-1, 0, 1]));
  return most < 0n ? {} : { max_price: `${most / 100n}.${String(most % 100n).padStart(2, '0')}` };
}

export function isAbove(price: Fraction, { max_price }: Partial<PriceGuard>): boolean {
  if (max_price === undefined) return false;
  const [whole = '', fraction = ''] = max_price.split('.');
  return less({ n: BigInt(whole + fraction), d: 100n }, price);
}
