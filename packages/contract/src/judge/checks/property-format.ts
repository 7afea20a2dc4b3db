import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';

export const propertyFormat: Check = {
  id: 'property-format',
  claim: 'Strings have the format that the document gives, such as date-time, uuid, uri or email.',
  example: '`created` has `format: date-time`, and its value is `25.11.2026`.',
  judges: 'Uses the full formats of ajv-formats; a UUID must be as in RFC 9562, without `urn:`. Ignores unknown formats.',
  client: 'The type is `string` either way, so your code fails later: `new Date(...)` is invalid, or a lookup by UUID finds nothing.',
  applies: describes(({ schema }) => typeof schema['format'] === 'string'),
  checkResponse: (context) => schemaRemarks(context, ({ keyword }) => keyword === 'format'),
};
