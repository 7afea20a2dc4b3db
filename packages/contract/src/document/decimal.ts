/** A decimal number as digits and a power of ten: 12.50 is 125 and -1. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** Whether a number is a multiple of another in decimal arithmetic. In floating point, 19.99 is not a multiple of 0.01. */
export function isMultiple(value: number, factor: number): boolean {
  const [one, other] = [decimalOf(value), decimalOf(factor)];
  if (one === undefined || other === undefined || other.digits === 0n) return false;
  const exponent = Math.min(one.exponent, other.exponent);
  return scaled(one, exponent) % scaled(other, exponent) === 0n;
}

function decimalOf(value: number): Decimal | undefined {
  const [, sign, whole = '', fraction = '', power = '0'] = DECIMAL.exec(String(value)) ?? [];
  if (sign === undefined) return undefined;
  return { digits: BigInt(`${sign}${whole}${fraction}`), exponent: Number(power) - fraction.length };
}

function scaled({ digits, exponent }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(exponent - to);
}
