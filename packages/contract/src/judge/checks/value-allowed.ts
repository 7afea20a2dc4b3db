import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';
import { alterFirst } from '../tamper.ts';
import { isAboutDecimals } from './amount-decimals.ts';

const OTHERS: ReadonlySet<string> = new Set(['required', 'dependentRequired', 'type', 'format', 'unevaluatedProperties']);

export const valueAllowed: Check = {
  id: 'value-allowed',
  claim: 'Values are within the limits of the document: constants, closed enumerations, ranges, lengths and patterns.',
  judges:
    'Uses Ajv 2020 for every rule except type, format, required and decimals. The check value-seen judges new values of open enumerations. Ignores `unevaluatedProperties`, because Ajv rejects valid data there (ajv#2559); the check property-described finds the properties that it forbids.',
  client:
    'Code that relies on the limit gets a value that its type or its validation excludes. A `switch` over a closed enumeration has no branch for it.',
  applies: describes(({ schema }) =>
    ['const', 'enum', 'minimum', 'maximum', 'pattern', 'minLength', 'maxLength'].some((keyword) => schema[keyword] !== undefined),
  ),
  checkResponse: (context) =>
    schemaRemarks(context, (issue, value) => !OTHERS.has(issue.keyword) && !isAboutDecimals(issue) && value !== null),
  defect: {
    description: 'A constant has another value.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        ({ nodes }) => nodes.some(({ schema }) => typeof schema['const'] === 'string'),
        () => 'fine',
      ),
  },
};
