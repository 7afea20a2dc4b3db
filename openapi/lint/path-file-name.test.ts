import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const PATH_FILE = 'paths/thing@{id}@info.yaml';
const rule = 'reseller/path-file-name';

it('accepts a path in a file that is named after it', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it('refuses a path in a file of another name', async () => {
  const { [PATH_FILE]: text = '', ...rest } = withText('openapi.yaml', PATH_FILE, 'paths/thing-info.yaml');
  expect(await lint({ ...rest, 'paths/thing-info.yaml': text })).toEqual([
    {
      rule,
      at: 'openapi.yaml#/paths/~1thing~1{id}~1info/$ref',
      message: `The path /thing/{id}/info is kept in paths/thing-info.yaml. Name its file after it, with "@" for "/": ${PATH_FILE}.`,
    },
  ]);
});

it('refuses a path that is written in the root document', async () => {
  const operation = soundTree[PATH_FILE]?.replaceAll('../', '').replaceAll(/^/gm, '      ') ?? '';
  const { [PATH_FILE]: _moved, ...rest } = withText('openapi.yaml', `    $ref: ${PATH_FILE}\n`, `${operation}\n`);
  expect(await lint(rest)).toEqual([
    {
      rule,
      at: 'openapi.yaml#/paths/~1thing~1{id}~1info',
      message: `The path /thing/{id}/info is written in the root document. Move it to ${PATH_FILE} and leave a $ref to that file.`,
    },
  ]);
});
