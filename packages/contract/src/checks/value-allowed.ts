import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';
import { alterFirst } from '../tamper.ts';
import { isAboutDecimals } from './amount-decimals.ts';

const OTHERS: ReadonlySet<string> = new Set(['required', 'dependentRequired', 'type', 'format', 'unevaluatedProperties']);

export const valueAllowed: Check = {
  id: 'value-allowed',
  claim: 'Values keep the limits that the document gives them: constants, closed enumerations, ranges, lengths, patterns.',
  judges:
    'By Ajv 2020, every rule apart from type, format, required and decimals. A new value of an open enumeration is the check value-seen. `unevaluatedProperties` is left out because Ajv refuses valid data there (ajv#2559). The check property-described finds the properties that it forbids.',
  client:
    'Code that relies on the limit meets a value that its type or its validation excludes; a `switch` over a closed enumeration has no branch for it.',
  applies: describes(({ schema }) =>
    ['const', 'enum', 'minimum', 'maximum', 'pattern', 'minLength', 'maxLength'].some((keyword) => schema[keyword] !== undefined),
  ),
  checkResponse: (context) =>
    schemaRemarks(context, (issue, value) => !OTHERS.has(issue.keyword) && !isAboutDecimals(issue) && value !== null),
  defect: {
    description: 'A constant is another text.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        ({ nodes }) => nodes.some(({ schema }) => typeof schema['const'] === 'string'),
        () => 'fine',
      ),
  },
};
