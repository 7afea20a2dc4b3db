/** A JSON object with members of unknown types. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object, neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON type of a value, with `integer` for whole numbers. */
export function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** An empty object without a prototype, in which names such as `__proto__` are ordinary. */
export function emptyRecord<Value>(): Record<string, Value> {
  const record: Record<string, Value> = Object.create(null);
  return record;
}

/** An own member of an object, never an inherited one such as `constructor`. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
