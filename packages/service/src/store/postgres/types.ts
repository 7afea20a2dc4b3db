import { types } from 'pg';

/** The integer types. A sum of 64-bit integers has the type numeric. */
const INTEGERS: ReadonlySet<number> = new Set([types.builtins.INT8, types.builtins.NUMERIC]);

/** Parses a value of a type. The driver returns 64-bit integers as text, but all integers of the service are below 2^53. */
export function parserOf(type: number): (text: string) => unknown {
  return INTEGERS.has(type) ? integer : types.getTypeParser(type);
}

function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The database returned the integer ${text}, which is beyond 2^53.`);
  return value;
}
