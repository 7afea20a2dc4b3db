import type { AnswerCheck, Remark } from '../finding.ts';
import { isObject } from '../json.ts';
import { shapeOf } from '../observe.ts';
import { walkDescribed, type Place } from '../place.ts';
import { keysOf } from '../schema.ts';

export const propertyDescribed: AnswerCheck = {
  id: 'property-described',
  claim: 'The document describes every property of the body.',
  isFinal: false,
  look({ document, answer, response, json }) {
    if (response === undefined || json?.pointer === undefined || answer.body.kind !== 'json') return [];
    const remarks: Remark[] = [];
    walkDescribed(document, { pointer: json.pointer, provenance: response.provenance }, answer.body.value, (place) => {
      if (isDescribed(place)) return true;
      const known = place.parents.flatMap(({ schema }) => keysOf(schema, 'properties'));
      // An object of which no property is described is open on purpose.
      if (known.length === 0) return false;
      remarks.push({
        pointer: place.pointer,
        verdict: 'discovered',
        message: `the document does not describe the property ${place.name}`,
        expected: [...new Set(known)].join(', '),
        observed: shapeOf(place.value),
        rule: `${place.parents.map((node) => node.pointer).join(' ')} ${place.name}`,
      });
      return false;
    });
    return remarks;
  },
};

/** Whether some schema speaks of the place, be it only with `true` or an empty schema. */
function isDescribed({ name, nodes, parents }: Place): boolean {
  if (parents.length === 0 || nodes.length > 0) return true;
  return parents.some(({ schema }) => isObject(schema['properties']) && Object.hasOwn(schema['properties'], name));
}
