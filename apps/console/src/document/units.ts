/** The units in which a person writes a number that the document has in a unit of programs (`x-unit`). */

/** How many units of the document each unit of people has, the smallest first. */
const UNITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'basis points': { '%': 100 },
  bytes: { bytes: 1, kB: 1e3, KiB: 1_024, MB: 1e6, MiB: 1_048_576, GB: 1e9, GiB: 1_073_741_824 },
  MB: { MB: 1, GB: 1_024 },
  milliseconds: { ms: 1, s: 1_000, min: 60_000 },
  seconds: { s: 1, min: 60, h: 3_600, d: 86_400 },
};

/** The units of people for a unit of the document, the smallest first. */
export function unitsFor(unit: string): readonly string[] {
  return Object.keys(multiplesOf(unit));
}

/** The text of a number, in the largest unit in which it is whole: `19 %`, `24 h`. */
export function quantityText(unit: string, value: number): string {
  const units = Object.entries(multiplesOf(unit));
  const [name, size] = units.findLast(([, each]) => value !== 0 && value % each === 0) ?? units[0] ?? ['', 1];
  return `${value / size} ${name}`;
}

/**
 * The number that a text stands for.
 *
 * @throws RangeError with a message that begins "must".
 */
export function quantityOf(unit: string, text: string): number {
  const units = Object.entries(multiplesOf(unit));
  const [, whole, decimals = '', given = ''] = /^(\d+)(?:\.(\d+))?\s*(\D*)$/.exec(text.trim()) ?? [];
  const [only] = units.length === 1 ? units : [];
  const found = given === '' ? only : units.find(([name]) => name.toLowerCase() === given.toLowerCase());
  if (whole === undefined || found === undefined) throw new RangeError(`must be a number with its unit, such as ${exampleOf(unit)}`);
  const [value, scale] = [BigInt(whole + decimals) * BigInt(found[1]), 10n ** BigInt(decimals.length)];
  if (value % scale !== 0n) throw new RangeError(`must be a multiple of ${quantityText(unit, 1)}`);
  return Number(value / scale);
}

function exampleOf(unit: string): string {
  const names = unitsFor(unit);
  return names.length === 1 ? `19 ${names[0]}` : names.map((name) => `1 ${name}`).join(' or ');
}

function multiplesOf(unit: string): Readonly<Record<string, number>> {
  const units = UNITS[unit];
  if (units === undefined) throw new Error(`No person writes ${unit}. Add the units of people for it.`);
  return units;
}
