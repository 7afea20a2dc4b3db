import { describe, expect, it } from 'vitest';

import { lint } from './testing/redocly.ts';
import { soundTree, withText } from './testing/tree.ts';

const FILE = 'components/schemas/thing/Thing.yaml';
const found = async (pattern: string) => {
  const problems = await lint(withText(FILE, '    const: thing\n', `    type: string\n    pattern: '${pattern}'\n`));
  return problems.filter(({ rule }) => rule === 'reseller/portable-pattern').map(({ message }) => message);
};

describe('a pattern', () => {
  it('may use syntax that all engines share', async () => {
    expect(await found(String.raw`^[^\x00-\x1f\x7f-\x9f]+(a|b){1,3}(?:c)$`)).toEqual([]);
  });
  it('must not have a Unicode property', async () =>
    expect(await found(String.raw`^\P{Cc}+$`)).toEqual([expect.stringContaining('Unicode property')]));
  it('must not have a lookahead', async () => expect(await found('^(?!a)b$')).toEqual([expect.stringContaining('lookaround')]));
  it('must compile with and without flags', async () => {
    const messages = await found('^[(]{a}$');
    expect(messages.length).toBeGreaterThan(0);
    expect(messages.join()).toContain('does not compile');
  });
});

it('accepts the patterns of a document that breaks no rule', async () => expect(await lint(soundTree)).toEqual([]));
