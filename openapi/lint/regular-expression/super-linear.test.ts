import { describe, expect, test } from 'vitest';

import { superLinearText } from './super-linear.ts';

describe('a regular expression that takes more than linear time', () => {
  test.each([
    ['repetitions inside repetitions', '^(a+)+$'],
    ['alternatives that overlap', '^(a|a)*$'],
    ['alternatives that overlap after some characters', '^(a|b|ab)*$'],
    ['repetitions that can all be empty', '^(a*b*)*$'],
    ['optional parts that can all be empty', '^(a?b?)*$'],
    ['neighbouring repetitions of the same characters', String.raw`^\d+\d+$`],
    ['repetitions that meet at an optional separator', '^[a+]+(\\+[^!]*)?$'],
    ['repetitions that share a character', '^[^c]*[^sc][^c]*$'],
    ['a search that begins at each place of a run', String.raw`\s+$`],
    ['a search that reads to the end from each place', 'a.*b'],
    ['a condition after a run', String.raw`a+\b`],
    ['a repetition in an optional part after the end of a match', '^x(a+a+b)?'],
    ['a repetition in a lookahead', '^(?=.*a)b'],
    ['letters that differ only in case', '^a+A+$', 'i'],
    ['characters beyond Latin-1', '^\u3042*[\u3041-\u3043]*$', 'u'],
    ['white space beyond Latin-1', String.raw`^\s*[\u2000-\u2001]*$`, 'u'],
    ['one of several alternatives', '^ok$|^a*a*$'],
  ])('is found by %s', (_, source, flags = '') => expect(superLinearText(source, flags)).toBeTypeOf('string'));
});

describe('a regular expression that takes linear time', () => {
  test.each([
    ['one repetition', '^a*$'],
    ['a repetition with a separator', '^([a-z]+\\.)+[a-z]+$'],
    ['neighbouring repetitions of different characters', String.raw`^\d+\.\d+$`],
    ['limited repetitions inside a repetition', '^([a-z]([a-z-]{0,61}[a-z])?\\.)+$'],
    ['an optional part inside a repetition', '^(a?b)*$'],
    ['letters that differ only in case', '^a+A+$'],
    ['a search that stops at the first place', String.raw`\s+`],
    ['a search that stops at the first place after a condition', String.raw`(?<!\w)\w+`],
    ['a run at one place', String.raw`\s+$`, 'y'],
    ['a search for a fixed text', 'abc'],
    ['no character', ''],
  ])('is accepted with %s', (_, source, flags = '') => expect(superLinearText(source, flags)).toBeUndefined());
});

test('shows a text whose repetition takes long', () => expect(superLinearText('^x(y|z+)[z!]*$')).toBe('z'));

test('refuses to judge a reference to a group', () => expect(() => superLinearText(String.raw`(a)\1`)).toThrow('cannot be judged'));
