import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { operator, soundTree, treeOfTwo, withText } from './testing/tree.ts';

const PATH_FILE = 'paths/thing@{id}@info.yaml';
const rule = 'reseller/path-file-name';

it('accepts a path in a file with its name', async () => {
  expect(await lint(soundTree)).toEqual([]);
});

it('refuses a path in a file with another name', async () => {
  const { [PATH_FILE]: text = '', ...rest } = withText('openapi.yaml', PATH_FILE, 'paths/thing-info.yaml');
  expect(await lint({ ...rest, 'paths/thing-info.yaml': text })).toEqual([
    {
      rule,
      at: 'openapi.yaml#/paths/~1thing~1{id}~1info/$ref',
      message: `The path /thing/{id}/info is in paths/thing-info.yaml. Name its file after it, with "@" for "/": ${PATH_FILE}.`,
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

it('expects the paths of another document in the folder with its name', async () => {
  expect(await lint(treeOfTwo, { operator }, 'operator')).toEqual([]);
  const stray = withText('operator.yaml', `operator/${PATH_FILE}`, PATH_FILE, treeOfTwo);
  expect(await lint(stray, { operator }, 'operator')).toContainEqual({
    rule,
    at: 'operator.yaml#/paths/~1thing~1{id}~1info/$ref',
    message: `The path /thing/{id}/info is in ${PATH_FILE}. Name its file after it, with "@" for "/": operator/${PATH_FILE}.`,
  });
});
