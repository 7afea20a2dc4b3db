import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree } from './testing/tree.ts';

const entry = "openapi.yaml:\n  info-contact:\n    - '#/info'\n";

it('accepts a document that ignores nothing', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it('accepts an ignored finding with a reason', async () => {
  const reasoned = entry.replace('    -', '    # The provider publishes no contact.\n    -');
  expect(await lint({ ...soundTree, '.redocly.lint-ignore.yaml': reasoned })).toEqual([]);
});

it('refuses an ignored finding without a reason', async () => {
  expect(await lint({ ...soundTree, '.redocly.lint-ignore.yaml': entry })).toEqual([
    {
      rule: 'reseller/ignore-with-reason',
      at: 'openapi.yaml#/openapi',
      message:
        ".redocly.lint-ignore.yaml:3 ignores '#/info' without a reason. Fix the finding, or explain in a comment on the line above why it is ignored.",
    },
  ]);
});
