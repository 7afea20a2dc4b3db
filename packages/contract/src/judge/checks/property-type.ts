import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';

export const propertyType: Check = {
  id: 'property-type',
  claim: 'Every value has the JSON type that the document gives.',
  example: '`count` has `type: integer`, and its value is `"7"`.',
  judges: 'Uses Ajv 2020 without coercion: "1" is not 1. The check property-null judges null.',
  client: 'The generated type is wrong. Comparisons and arithmetic silently go wrong: `"10" < "9"` is true, and `"1" + 1` is "11".',
  applies: describes(({ schema }) => schema['type'] !== undefined),
  checkResponse: (context) => schemaRemarks(context, ({ keyword }, value) => keyword === 'type' && value !== null),
};
