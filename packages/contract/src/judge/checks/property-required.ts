import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';

export const propertyRequired: Check = {
  id: 'property-required',
  claim: 'Every object has the properties that the document requires, in every item of every list and map.',
  example: '`order.total` is required, and a response does not have it.',
  judges:
    'Validates the whole body with Ajv 2020. A property that is null is present; the check property-null judges whether it may be null.',
  client:
    'The property is not optional in the generated type, so TypeScript lets you use it without a check. At run time it is `undefined`.',
  applies: describes(({ schema }) => Array.isArray(schema['required'])),
  checkResponse: (context) => schemaRemarks(context, ({ keyword }) => keyword === 'required' || keyword === 'dependentRequired'),
};
