import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';
import { dropFirst, isPayload } from '../tamper.ts';

export const propertyRequired: Check = {
  id: 'property-required',
  claim: 'Every property that the document requires is there, in every item of every list and map.',
  judges: 'By Ajv 2020, over the whole body. `null` counts as there; whether it is allowed is the check property-null.',
  client: 'The property is not optional in the generated type, so TypeScript lets you use it unchecked; at run time it is `undefined`.',
  applies: describes(({ schema }) => Array.isArray(schema['required'])),
  checkResponse: (context) => schemaRemarks(context, ({ keyword }) => keyword === 'required' || keyword === 'dependentRequired'),
  defect: {
    description: 'A required property is left out.',
    tamper: (exchange) =>
      dropFirst(
        exchange,
        (place) =>
          isPayload(place) &&
          place.parents.some(({ schema }) => Array.isArray(schema['required']) && schema['required'].includes(place.name)),
      ),
  },
};
