/**
 * Money as responses and arguments have it: exact, in units of 10^-8 of whatever currency the API counts in. Never a float.
 */
export type Money = bigint;

const DECIMALS = 8;
const UNITS = 10n ** BigInt(DECIMALS);
const DECIMAL = /^(\d{1,15})(?:\.(\d{1,8}))?$/;

/**
 * An amount from its decimal notation, or from a JSON number: of that, the shortest decimal that reads as the same number, which is what
 * the service wrote.
 * @returns undefined where it is not an amount from 0 on with up to eight decimals
 */
export function moneyOf(value: unknown): Money | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const [, whole, fraction = ''] = DECIMAL.exec(String(value)) ?? [];
  return whole === undefined ? undefined : BigInt(whole) * UNITS + BigInt(fraction.padEnd(DECIMALS, '0'));
}

/** An amount in decimal notation, with two decimals at least: `8.50`, `0.00385802`. */
export function showMoney(amount: Money): string {
  const fraction = (amount % UNITS)
    .toString()
    .padStart(DECIMALS, '0')
    .replace(/0{1,6}$/, '');
  return `${amount / UNITS}.${fraction}`;
}
