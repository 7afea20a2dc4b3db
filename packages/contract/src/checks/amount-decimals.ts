import { describes } from '../applies.ts';
import type { Check } from '../check.ts';
import { decimalsOf } from '../decimal.ts';
import type { Issue } from '../issues.ts';
import { schemaRemarks } from '../schema-remarks.ts';
import type { SchemaNode } from '../schema.ts';
import { alterFirst, isPayload } from '../tamper.ts';

export const amountDecimals: Check = {
  id: 'amount-decimals',
  claim: 'Numbers have no more decimals than the document gives them, such as cents with two.',
  judges:
    'By the `multipleOf` of the schema in exact decimal arithmetic, so that 19.99 is a multiple of 0.01. Amounts that are texts are judged by their pattern, in value-allowed.',
  client: 'Sums of such amounts differ from what is invoiced, and a database column with two decimals rounds them silently.',
  applies: describes(hasDecimals),
  checkResponse: (context) => schemaRemarks(context, isAboutDecimals),
  defect: {
    description: 'An amount is sent with more decimals than described.',
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

/** Whether a broken rule limits decimals; multiples of whole numbers are steps. */
export function isAboutDecimals({ keyword, params: { multipleOf } }: Issue): boolean {
  return keyword === 'multipleOf' && typeof multipleOf === 'number' && decimalsOf(multipleOf) > 0;
}
