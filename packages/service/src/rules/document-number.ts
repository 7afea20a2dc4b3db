/** A series of consecutive document numbers. */
export interface NumberSeries {
  readonly prefix: string;
  /** The next number. */
  readonly next: number;
  /** Minimum length of the number. Shorter ones get leading zeros. */
  readonly digits: number;
}

/** The text of a number of the series, such as `INV-00042`. */
export function documentNumber({ prefix, digits }: Pick<NumberSeries, 'prefix' | 'digits'>, number: number): string {
  return `${prefix}${String(number).padStart(digits, '0')}`;
}
