/** Exact amounts. The service sends them as decimal texts, and the console never turns them into floats, except to draw a chart. */

/** Seconds of the 30 days that a monthly price is for. */
const MONTH_SECONDS = 2_592_000n;
const SCALE = 12;

/** An amount in 10^-12 EUR. */
export function unitsOf(amount: string): bigint {
  const [, sign = '', whole = '0', part = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  const units = BigInt(whole) * 10n ** BigInt(SCALE) + BigInt(part.padEnd(SCALE, '0').slice(0, SCALE));
  return sign === '-' ? -units : units;
}

export function sumOf(amounts: readonly string[]): bigint {
  return amounts.reduce((total, amount) => total + unitsOf(amount), 0n);
}

/** The decimal text of an amount, with at least two decimals. */
export function decimalOf(units: bigint, decimals = SCALE): string {
  const text = (units < 0n ? -units : units).toString().padStart(SCALE + 1, '0');
  const part = text.slice(-SCALE).slice(0, decimals).replace(/0+$/, '').padEnd(2, '0');
  return `${units < 0n ? '-' : ''}${text.slice(0, -SCALE)}.${part}`;
}

/** The price of one second, to 10 decimals. */
export function perSecond(monthly: bigint): string {
  return decimalOf(monthly / MONTH_SECONDS, 10);
}

/** The amount with thousands separated by thin spaces: `12 345.60`. */
export function grouped(amount: string): string {
  const [whole = '', part] = amount.split('.');
  const spaced = whole.replaceAll(/\B(?=(\d{3})+$)/g, '\u202f');
  return part === undefined ? spaced : `${spaced}.${part}`;
}
