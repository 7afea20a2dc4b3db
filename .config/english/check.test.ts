import { describe, expect, it } from 'vitest';

import { checkEnglish } from './check.ts';
import { englishRules } from './rules.ts';

describe('each English rule', () => {
  it.each(englishRules.flatMap((rule) => rule.bad.map((sentence) => ({ sentence, rule }))))('reports: $sentence', ({ sentence, rule }) => {
    expect(checkEnglish(sentence, [rule])).toHaveLength(1);
  });

  it.each(englishRules.flatMap((rule) => rule.good.map((sentence) => ({ sentence, rule }))))('accepts: $sentence', ({ sentence, rule }) => {
    expect(checkEnglish(sentence, [rule])).toEqual([]);
  });
});

describe('checkEnglish', () => {
  it('joins a sentence that wraps across the lines of a comment', () => {
    expect(checkEnglish('const a = 1;\n/**\n * Waits 5 seconds at the\n * most.\n */\n')).toMatchObject([
      { line: 3, found: 'at the most' },
    ]);
  });
});
