import { expect, it } from 'vitest';

import { statementsOf, statementsOfMarkdown } from './statements.ts';

it.each([
  [
    'Runtime of the VM. Its unit is not shown; this service returns seconds.',
    'Its unit is not shown; this service returns seconds.',
    'not-shown',
  ],
  ['Price. It is inferred that it is in EUR.', 'It is inferred that it is in EUR.', 'inferred'],
  [
    '`PAID` was seen, `CANCELED` is inferred, and the list is not shown.',
    '`PAID` was seen, `CANCELED` is inferred, and the list is not shown.',
    'not-shown',
  ],
  ['Hostname.\n  In this service\n  it is an FQDN.', 'In this service it is an FQDN.', 'not-shown'],
])('finds the sentence with a marker in %j', (description, text, provenance) => {
  expect(statementsOf(description)).toEqual([{ text, provenance }]);
});

it('finds nothing in a shown description or in the remark that the bundle adds', () => {
  expect(statementsOf('Virtual cores. The maximum depends on the host system.\n\n*Limits not shown; they are our choice.*')).toEqual([]);
});

it('returns the heading of a sentence, and all items of a list or table after a marked introduction', () => {
  const markdown = `First (inferred).

## How to read this document

| remark | meaning |
|---|---|
| not shown | our choice |

## Billing

VMs are billed per second.

Not shown, and so in this implementation:

- A month has 30 days.
- Prices add up:

  | resource | counts |
  |---|---|
  | core | cores |

  The sum is rounded.
- Totals are
  rounded.

Invoices are sent.

- A list of its own.

## Errors

In this implementation \`type\` names the failure.

| code | when |
|---|---|
| 400 | malformed |

## Limits

| limit | value |
|---|---|
| offset | from 1 |
| body | 64 KiB (not shown) |
`;
  expect(statementsOfMarkdown(markdown)).toEqual([
    { heading: '', text: 'First (inferred).', provenance: 'inferred' },
    { heading: 'Billing', text: 'A month has 30 days.', provenance: 'not-shown' },
    { heading: 'Billing', text: 'Prices add up:', provenance: 'not-shown' },
    { heading: 'Billing', text: 'core: cores', provenance: 'not-shown' },
    { heading: 'Billing', text: 'The sum is rounded.', provenance: 'not-shown' },
    { heading: 'Billing', text: 'Totals are rounded.', provenance: 'not-shown' },
    { heading: 'Errors', text: 'In this implementation `type` names the failure.', provenance: 'not-shown' },
    { heading: 'Errors', text: '400: malformed', provenance: 'not-shown' },
    { heading: 'Limits', text: 'body: 64 KiB (not shown)', provenance: 'not-shown' },
  ]);
});
