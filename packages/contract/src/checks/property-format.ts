import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';
import { alterFirst, isPayload } from '../tamper.ts';

export const propertyFormat: Check = {
  id: 'property-format',
  claim: 'Texts have the format that the document gives them: date-time, uuid, uri, email and so on.',
  judges:
    'By the full formats of ajv-formats; a UUID in the form of RFC 9562, without `urn:`. Formats that are not known are a remark and no rule.',
  client:
    'The type is `string` either way. What you do with it fails later and elsewhere: `new Date(...)` is invalid, a lookup by UUID finds nothing.',
  applies: describes(({ schema }) => typeof schema['format'] === 'string'),
  checkResponse: (context) => schemaRemarks(context, ({ keyword }) => keyword === 'format'),
  defect: {
    description: 'A moment is sent in local notation instead of ISO 8601, an identifier without its dashes.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) =>
          isPayload(place) &&
          typeof place.value === 'string' &&
          place.nodes.some(({ schema }) => schema['format'] === 'date-time' || schema['format'] === 'uuid'),
        () => '31.12.2026 09:30',
      ),
  },
};
