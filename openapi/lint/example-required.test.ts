import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const rule = 'reseller/example-required';
const file = 'paths/thing@{id}@info.yaml';
const unused = 'reseller/no-orphan-file';

it('accepts bodies that have named examples', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it('refuses a request body without example', async () => {
  const tree = withText(
    file,
    '        examples:\n          renamed:\n            $ref: ../components/examples/thing/ChangeThingForm.yaml\n',
    '',
  );
  expect((await lint(tree)).filter((problem) => problem.rule !== unused)).toEqual([
    {
      rule,
      at: `${file}#/put/requestBody/content/application~1x-www-form-urlencoded`,
      message:
        'The request body has no example as application/x-www-form-urlencoded. Add named examples, each a $ref to a file in components/examples.',
    },
  ]);
});

it('refuses a response without example once, even if several operations share it', async () => {
  const shared = 'components/responses/Refused.yaml';
  const tree = withText(shared, '    examples:\n      refused:\n        $ref: ../examples/common/Refused.yaml\n', '');
  expect((await lint(tree)).filter((problem) => problem.rule !== unused)).toEqual([
    {
      rule,
      at: `${shared}#/content/application~1json`,
      message: 'The response has no example as application/json. Add named examples, each a $ref to a file in components/examples.',
    },
  ]);
});

it('refuses a response without content, unless it cannot have content', async () => {
  const tree = withText(file, "    '422':\n", "    '202':\n      description: Taken.\n    '204':\n      description: Done.\n    '422':\n");
  expect(await lint(tree)).toEqual([
    {
      rule,
      at: `${file}#/put/responses/202`,
      message: 'The response has no content, so it can have no example. Give it a media type with a schema and named examples.',
    },
  ]);
});
