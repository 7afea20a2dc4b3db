import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const rule = 'reseller/operation-responses';
const file = 'paths/thing@{id}@info.yaml';
const at = `${file}#/put/responses`;

it('accepts an operation with responses for a missing key, an unknown id and a broken rule', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it.each([
  ['401', 'PUT /thing/{id}/info has no 401 response, but it needs a credential, which can be missing or unknown. Add it under responses.'],
  ['404', 'PUT /thing/{id}/info has no 404 response, but its path names something that may not exist. Add it under responses.'],
  ['422', 'PUT /thing/{id}/info has no 422 response, but its body can break a rule. Add it under responses.'],
])('refuses an operation without %s', async (status, message) => {
  const tree = withText(file, `    '${status}':\n      $ref: ../components/responses/Refused.yaml\n`, '');
  expect(await lint(tree)).toEqual([{ rule, at, message }]);
});

it('refuses an operation for sandboxes without 403', async () => {
  expect(await lint(withText(file, '  x-retry: never\n', '  x-retry: never\n  x-sandbox-only: true\n'))).toEqual([
    { rule, at, message: 'PUT /thing/{id}/info has no 403 response, but a live service refuses it. Add it under responses.' },
  ]);
});

it('does not require 404 if the path has only parameters with a closed list of values', async () => {
  const without = withText(file, "    '404':\n      $ref: ../components/responses/Refused.yaml\n", '');
  const closed =
    '  parameters:\n    - { name: id, in: path, required: true, description: A kind., schema: { type: string, enum: [a, b] } }\n';
  const tree = withText(file, '  x-retry: never\n', `  x-retry: never\n${closed}`, without);
  expect((await lint(tree)).filter((problem) => problem.rule === rule)).toEqual([]);
});

it('does not require 401 if no credential is needed', async () => {
  const tree = withText(file, '  x-retry: never\n', '  x-retry: never\n  security: []\n');
  expect(await lint(withText(file, "    '401':\n      $ref: ../components/responses/Refused.yaml\n", '', tree))).toEqual([]);
});
