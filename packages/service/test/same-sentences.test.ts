/** A rule on money that several texts need is the same sentence in each of them. */
import { readFileSync } from 'node:fs';

import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import resellerDocument from '@reseller/openapi/service.json' with { type: 'json' };
import { expect, test } from 'vitest';

const guide = readFileSync(new URL('../../../apps/docs/site/guides/dedicated-servers.md', import.meta.url), 'utf8');
const reseller = resellerDocument.info.description;
const operator = operatorDocument.info.description;
const credits = [resellerDocument, operatorDocument].map(({ components }) => JSON.stringify(components.schemas.Credit));

const RULES: readonly (readonly [string, readonly unknown[]])[] = [
  [
    'An order of a dedicated server needs the price of its first runtime and of the renewals that are due until the end of the month if the set-up completes at once.',
    [
      reseller,
      guide,
      resellerDocument.paths['/dedicated/{identifier}/purchase'].put.description,
      operatorDocument.paths['/dedicated/servers'].post.description,
    ],
  ],
  [
    'The balance counts with the net amount that it pays together with its VAT, at the highest VAT rate of the month, rounded down to cents.',
    [reseller, operator, ...credits],
  ],
  [
    'The rest of a partly paid invoice counts with its net amount in proportion to the rest of its gross amount, rounded up to cents.',
    [reseller, operator, ...credits],
  ],
  [
    'The orders that are still being delivered, with the amounts that they can cost until the end of the period. They are not in `estimate`.',
    credits,
  ],
  ['of a sale that begins later with the rate at its start', [reseller, operator]],
];

test.each(RULES)('%s', (sentence, texts) => {
  for (const text of texts) expect(String(text).replaceAll(/\s+/g, ' ')).toContain(sentence);
});
