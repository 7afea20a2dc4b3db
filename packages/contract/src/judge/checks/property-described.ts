import { isObject } from '../../document/json.ts';
import { walkDescribed } from '../../document/place.ts';
import type { Place } from '../../document/place.ts';
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
  judges:
    'Walks through the value and its schemas together, because JSON Schema treats unknown properties as valid. Skips objects without described properties, which are open on purpose. Reports only the shape of an unknown value, because the value could be a secret.',
  client: 'The generated type lacks the property, so you need a cast to read it. If it is a secret, nothing masks it in logs.',
  applies: returnsJson,
  checkResponse({ document, exchange, response, json }) {
    if (response === undefined || json?.pointer === undefined || exchange.body.kind !== 'json') return [];
    const remarks: Remark[] = [];
    walkDescribed(document, { pointer: json.pointer, provenance: response.provenance }, exchange.body.value, (place) => {
      if (isDescribed(place)) return true;
      const known = place.parents.flatMap(({ schema }) => keysOf(schema, 'properties'));
      if (known.length === 0) return false;
      const owner = place.parents.findLast(({ schema }) => keysOf(schema, 'properties').length > 0);
      const at = `${owner?.pointer ?? json.pointer ?? ''}/properties`;
      remarks.push({
        pointer: place.pointer,
        verdict: 'discovered',
        message: `the document does not describe the property ${place.name}${looksSecret(place) ? ', which looks like a secret' : ''}`,
        isUrgent: looksSecret(place),
        expected: [...new Set(known)].join(', '),
        observed: shapeOf(place.value),
        at,
        rule: place.name,
        proposal: {
          kind: 'add-entry',
          at,
          key: place.name,
          value: {
            ...shapeSchema(place.value),
            'x-provenance': 'inferred',
            description: OBSERVED,
          },
        },
      });
      return false;
    });
    return remarks;
  },
};

/** Whether a value has a name that is common for secrets. */
function looksSecret({ name, value }: Place): boolean {
  return SECRET_NAME.test(name) && (typeof value === 'string' || typeof value === 'number') && value !== '';
}

/** Whether a schema describes the place, even if only with `true` or an empty schema. */
function isDescribed({ name, nodes, parents }: Place): boolean {
  if (parents.length === 0 || nodes.length > 0) return true;
  return parents.some(({ schema }) => isObject(schema['properties']) && Object.hasOwn(schema['properties'], name));
}
