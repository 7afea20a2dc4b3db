import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';
import { typesOf } from '../schema.ts';
import { alterFirst, isPayload } from '../tamper.ts';

export const propertyNull: Check = {
  id: 'property-null',
  claim: 'Null stands only where the document allows it.',
  judges: 'By Ajv 2020. A property that is missing is the check property-required.',
  client: 'The generated type does not have `null`, so nothing makes you handle it: the first property you read of it throws.',
  applies: describes(({ schema }) => schema['type'] !== undefined),
  checkResponse: (context) =>
    schemaRemarks(context, ({ keyword }, value) => value === null && keyword !== 'required' && keyword !== 'dependentRequired'),
  defect: {
    description: 'Null is sent where the document allows no null.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) => isPayload(place) && typesOf(place.nodes).size > 0 && !typesOf(place.nodes).has('null'),
        () => null,
      ),
  },
};
