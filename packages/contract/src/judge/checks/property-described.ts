import { isObject, typeOf } from '../../document/json.ts';
import type { JsonObject } from '../../document/json.ts';
import { walkDescribed } from '../../document/place.ts';
import type { Place } from '../../document/place.ts';
import { parentPointer, valueAt } from '../../document/pointer.ts';
import { keysOf } from '../../document/schema.ts';
import { shapeOf } from '../../exchange/observe.ts';
import { returnsJson } from '../applies.ts';
import type { Check } from '../check.ts';
import type { Remark } from '../finding.ts';
import { OBSERVED, shapeSchema } from '../infer.ts';

const SECRET_NAME = /passw|secret|token|api_?key|private_?key|credential|auth_?code|pass_?phrase|^pin$|^cvc$|^cvv$|^ssn$|^iban$/i;

export const propertyDescribed: Check = {
  id: 'property-described',
  claim: 'The document describes every property of the body.',
  example: 'A response has `internal_note`, and the document does not describe this property.',
  judges:
    'Walks through the value and its schemas together, because JSON Schema treats unknown properties as valid. Skips objects without described properties, which are open on purpose, and closed ones, whose unknown properties are violations of value-allowed. Several unknown properties of one type in an object without any known one are the keys of a map, which is one finding. Reports only the shape of an unknown value, because the value could be a secret.',
  client: 'The generated type lacks the property, so you need a cast to read it. If it is a secret, nothing masks it in logs.',
  applies: returnsJson,
  checkResponse({ document, exchange, response, json }) {
    if (response === undefined || json?.pointer === undefined || exchange.body.kind !== 'json') return [];
    const { value } = exchange.body;
    const unknown = new Map<string, Place[]>();
    walkDescribed(document, { pointer: json.pointer, provenance: response.provenance }, value, (place) => {
      if (isDescribed(place)) return true;
      const holder = parentPointer(place.pointer);
      if (isObject(valueAt(value, holder)) && isJudged(place)) unknown.set(holder, [...(unknown.get(holder) ?? []), place]);
      return false;
    });
    return [...unknown].flatMap(([holder, places]) => remarksOn(valueAt(value, holder), places));
  },
};

/** Whether the parent of a place has described properties and does not forbid others, which is a violation of `additionalProperties`. */
function isJudged({ parents }: Place): boolean {
  const isClosed = parents.some(({ schema }) => schema['additionalProperties'] === false);
  return !isClosed && parents.some(({ schema }) => keysOf(schema, 'properties').length > 0);
}

/** The remarks on the undescribed properties of one object. A map whose document shows example keys is one cause. */
function remarksOn(holder: unknown, places: readonly Place[]): readonly Remark[] {
  const [first] = places;
  if (first === undefined) return [];
  const known = [...new Set(first.parents.flatMap(({ schema }) => keysOf(schema, 'properties')))];
  const owner = first.parents.findLast(({ schema }) => keysOf(schema, 'properties').length > 0)?.pointer ?? '';
  const at = `${owner}/properties`;
  const isMap = places.length > 1 && known.every((name) => !Object.hasOwn(Object(holder), name)) && haveOneType(places);
  const typical = (places.find(({ value }) => value !== null) ?? first).value;
  if (isMap)
    return [
      {
        pointer: parentPointer(first.pointer),
        verdict: 'discovered',
        message: `the document describes example keys of a map as properties (${known.slice(0, 3).join(', ')})`,
        expected: 'additionalProperties with the schema of all values',
        observed: `${places.length} other keys, each with ${shapeOf(typical)}`,
        at,
        rule: 'map',
        assertion: { kind: 'property', pointer: first.pointer, isPresent: false },
        proposal: { kind: 'add-entry', at: owner, key: 'additionalProperties', value: observedSchema(typical) },
      },
    ];
  return places.map((place) => ({
    pointer: place.pointer,
    verdict: 'discovered',
    message: `the document does not describe the property ${place.name}${looksSecret(place) ? ', which looks like a secret' : ''}`,
    isUrgent: looksSecret(place),
    expected: known.join(', '),
    observed: shapeOf(place.value),
    at,
    rule: place.name,
    assertion: { kind: 'property', pointer: place.pointer, isPresent: false },
    proposal: { kind: 'add-entry', at, key: place.name, value: observedSchema(place.value) },
  }));
}

/** Whether the values have one type, with numbers of any kind and null for values that are missing. */
function haveOneType(places: readonly Place[]): boolean {
  const types = places.map(({ value }) => typeOf(value).replace('integer', 'number'));
  return new Set(types.filter((type) => type !== 'null')).size <= 1;
}

function observedSchema(value: unknown): JsonObject {
  return { ...shapeSchema(value), 'x-provenance': 'inferred', description: OBSERVED };
}

/** Whether a value has a name that is common for secrets. */
function looksSecret({ name, value }: Place): boolean {
  return SECRET_NAME.test(name) && (typeof value === 'string' || typeof value === 'number') && value !== '';
}

/** Whether a schema describes the place, even if only with `true` or an empty schema. */
function isDescribed({ name, nodes, parents }: Place): boolean {
  if (parents.length === 0 || nodes.length > 0) return true;
  return parents.some(({ schema }) => isObject(schema['properties']) && Object.hasOwn(schema['properties'], name));
}
