import { expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { operator, treeOfTwo, withText } from './testing/tree.ts';

const rule = 'reseller/write-scope';
const file = 'operator/paths/thing@{id}@info.yaml';
const rules = { 'reseller/extensions': { severity: 'error', without: ['x-provenance'] } };

const problemsWith = async (operation: string, scope: string) => {
  const scoped = withText(file, '  x-retry: never\n', `  x-retry: never\n  x-scope: ${scope}\n`, treeOfTwo);
  const tree = withText(file, 'operationId: changeThing', `operationId: ${operation}`, scoped);
  return (await lint(tree, { operator: { ...operator, rules } }, 'operator')).filter((problem) => problem.rule === rule);
};

it('refuses a PUT that a token for reading may send', async () => {
  expect(await problemsWith('changeThing', 'read')).toEqual([
    { rule, at: `${file}#/put/x-scope`, message: 'x-scope is read, but a PUT changes something. Name the scope that the change needs.' },
  ]);
});

it('accepts a PUT that changes nothing', async () => {
  const marked = withText(file, '  x-retry: never\n', '  x-retry: never\n  x-scope: read\n  x-read-only: true\n', treeOfTwo);
  expect((await lint(marked, { operator: { ...operator, rules } }, 'operator')).filter((problem) => problem.rule === rule)).toEqual([]);
});

it('accepts any other scope, and that every token signs in', async () => {
  expect(await problemsWith('changeThing', 'support')).toEqual([]);
  expect(await problemsWith('createSession', 'read')).toEqual([]);
  expect(await problemsWith('createSessions', 'read')).toHaveLength(1);
});
