import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';

const RULES = ['const', 'enum', 'minimum', 'maximum', 'multipleOf', 'pattern', 'minLength', 'maxLength', 'minItems', 'maxItems'];
const OTHERS: ReadonlySet<string> = new Set(['required', 'dependentRequired', 'type', 'format', 'unevaluatedProperties']);

export const valueAllowed: Check = {
  id: 'value-allowed',
  claim:
    'Values are within the limits of the document: constants, closed enumerations, ranges, decimals, lengths, patterns and sizes of pages.',
  example: '`state` has `enum: [open, paid]`, and its value is `void`.',
  judges:
    'Uses Ajv 2020 for every rule except type, format and required. Compares `multipleOf` in exact decimal arithmetic, so that 19.99 is a multiple of 0.01. The check value-seen judges new values of open enumerations. Ignores `unevaluatedProperties`, because Ajv rejects valid data there (ajv#2559); the check property-described finds the properties that it forbids.',
  client:
    'Code that relies on the limit gets a value that its type or its validation excludes. A `switch` over a closed enumeration has no branch for it.',
  applies: describes(({ schema }) => RULES.some((keyword) => schema[keyword] !== undefined)),
  checkResponse: (context) => schemaRemarks(context, (issue, value) => !OTHERS.has(issue.keyword) && value !== null),
};
