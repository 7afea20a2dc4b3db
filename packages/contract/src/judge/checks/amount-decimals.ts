import { decimalsOf } from '../../document/decimal.ts';
import type { Issue } from '../../document/issues.ts';
import type { SchemaNode } from '../../document/schema.ts';
import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { schemaRemarks } from '../schema-remarks.ts';
import { alterFirst, isPayload } from '../tamper.ts';

export const amountDecimals: Check = {
  id: 'amount-decimals',
  claim: 'Numbers have at most as many decimals as the document allows, such as two for an amount.',
  judges:
    'Compares with `multipleOf` in exact decimal arithmetic, so that 19.99 is a multiple of 0.01. The check value-allowed judges amounts in strings, by their pattern.',
  client: 'Your sums differ from the invoice, and a database column with two decimals silently rounds the amounts.',
  applies: describes(hasDecimals),
  checkResponse: (context) => schemaRemarks(context, isAboutDecimals),
  defect: {
    description: 'An amount has more decimals than described.',
    tamper: (exchange) =>
      alterFirst(
        exchange,
        (place) => isPayload(place) && typeof place.value === 'number' && place.nodes.some(hasDecimals),
        ({ value, nodes }) => Number(value) + Number(nodes.find(hasDecimals)?.schema['multipleOf']) / 8,
      ),
  },
};

function hasDecimals({ schema: { multipleOf } }: SchemaNode): boolean {
  return typeof multipleOf === 'number' && decimalsOf(multipleOf) > 0;
}

/** Whether a broken rule limits decimals. A multiple of a whole number is a step instead. */
export function isAboutDecimals({ keyword, params: { multipleOf } }: Issue): boolean {
  return keyword === 'multipleOf' && typeof multipleOf === 'number' && decimalsOf(multipleOf) > 0;
}
