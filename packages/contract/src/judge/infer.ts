import { isObject, typeOf } from '../document/json.ts';
import type { JsonObject } from '../document/json.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
/** The description of parts that a contract test added to the document. */
export const OBSERVED = 'Observed by a contract test; its meaning is not known yet.';

/**
 * Whether the keys of an object are data, such as identifiers or domain names, not property names. This is assumed when all values
 * are objects of the same shape.
 */
export function isMap(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const [first, ...others] = Object.values(value);
  if (!isObject(first) || others.length === 0) return false;
  const names = namesIn(first);
  return names !== '' && others.every((other) => isObject(other) && namesIn(other) === names);
}

function namesIn(value: JsonObject): string {
  return Object.keys(value).toSorted().join('\n');
}

/** A schema for an observed value, without the value itself. Proposals add it to the document. */
export function shapeSchema(value: unknown): JsonObject {
  if (Array.isArray(value)) {
    const [first] = value;
    return first === undefined ? { type: 'array', items: {} } : { type: 'array', items: shapeSchema(first) };
  }
  if (isMap(value)) {
    const [first] = Object.values(value);
    return { type: 'object', additionalProperties: shapeSchema(first) };
  }
  if (isObject(value)) {
    const properties = Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, { ...shapeSchema(item), description: OBSERVED }]),
    );
    return { type: 'object', properties };
  }
  if (typeof value !== 'string') return { type: typeOf(value) };
  if (UUID.test(value)) return { type: 'string', format: 'uuid' };
  return DATE_TIME.test(value) ? { type: 'string', format: 'date-time' } : { type: 'string' };
}
