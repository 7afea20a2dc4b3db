/**
 * An exact amount in units of 10^-8 of the currency of the API.
 */
export type Money = bigint;

const DECIMALS = 8;
const UNITS = 10n ** BigInt(DECIMALS);
const DECIMAL = /^(\d{1,15})(?:\.(\d{1,8}))?$/;

/**
 * Parses an amount from decimal notation or a JSON number. For a number, uses the shortest decimal with the same value, which is what the
 * service wrote.
 * @returns undefined when the value is not an amount of at least 0 with at most eight decimals
 */
export function moneyOf(value: unknown): Money | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const [, whole, fraction = ''] = DECIMAL.exec(typeof value === 'number' ? plainNumber(value) : value) ?? [];
  return whole === undefined ? undefined : BigInt(whole) * UNITS + BigInt(fraction.padEnd(DECIMALS, '0'));
}

/** A number without an exponent, such as `0.00000013` instead of `1.3e-7`. */
export function plainNumber(value: number): string {
  return String(value).includes('e') ? value.toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 20 }) : String(value);
}

/** Formats an amount with at least two decimals: `8.50`, `0.00385802`. */
export function showMoney(amount: Money): string {
  const fraction = (amount % UNITS)
    .toString()
    .padStart(DECIMALS, '0')
    .replace(/0{1,6}$/, '');
  return `${amount / UNITS}.${fraction}`;
}
