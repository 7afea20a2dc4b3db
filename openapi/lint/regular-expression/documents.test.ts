import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { entriesOf } from '../nodes.ts';
import { alphabetOf } from './alphabet.ts';
import { countSteps } from './steps.ts';
import { parsePattern } from './syntax.ts';
import type { Syntax } from './syntax.ts';

const OPENAPI = resolve(import.meta.dirname, '../..');
const KB = 1_024;
/** Steps for each character of a text. The hostname patterns need most, because a label can end at each of 62 characters. */
const MAX_STEPS_PER_CHARACTER = 400;

const FORMER_NAME = String.raw`^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$`;
const FORMER_SSH_KEY = String.raw`^(ssh-(rsa|dss|ed25519)|ecdsa-sha2-nistp(256|384|521))( |%20|\+)AAAA([A-Za-z0-9+/]|%2[BbFf])+(=|%3[Dd]){0,2}(( |%20|\+)[^\x00-\x1f\x7f-\x9f]*)?[\r\n]*$`;

const patterns = new Set(
  ['.', 'operator'].flatMap((folder) =>
    readdirSync(join(OPENAPI, folder))
      .filter((file) => file.endsWith('.yaml'))
      .flatMap((file) => patternsIn(parse(readFileSync(join(OPENAPI, folder, file), 'utf8')))),
  ),
);

function patternsIn(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(patternsIn);
  return entriesOf(node).flatMap(([key, value]) => (key === 'pattern' && typeof value === 'string' ? [value] : patternsIn(value)));
}

describe('the pattern of a document', () => {
  test('is found for each field that has one', () => expect(patterns.size).toBeGreaterThan(40));

  test.each([...patterns])('%s needs steps in proportion to the length of hostile texts of 4, 16 and 64 kB', (pattern) => {
    for (const write of costliest(pattern)) {
      const [short = 0, longer = 0, long = 0] = [4, 16, 64].map((size) =>
        countSteps(pattern, write(size * KB), MAX_STEPS_PER_CHARACTER * size * KB),
      );
      expect(longer).toBeLessThan(4.1 * short);
      expect(long).toBeLessThan(4.1 * longer);
      expect(long).toBeLessThan(MAX_STEPS_PER_CHARACTER * 64 * KB);
    }
  });

  test.each([FORMER_NAME, FORMER_SSH_KEY])('is refused if it takes quadratic time, as %s did', (pattern) => {
    const [write = String] = costliest(pattern);
    const maxSteps = MAX_STEPS_PER_CHARACTER * 4 * KB;
    expect(countSteps(pattern, write(4 * KB), maxSteps)).toBe(maxSteps);
  });
});

describe('a pattern that was rewritten', () => {
  test('accepts the same names, of any five characters', () => {
    const letters = ['a', '0', ' ', '\u00a0', '\u3000', '\n', '\u0085', '\u{1f600}'];
    expect(judgedDifferently(FORMER_NAME, patternOfField('ssh_key_displayname'), { letters, length: 5 })).toEqual([]);
  });
  test.each(['ssh-rsa AAAA', 'ecdsa-sha2-nistp384+AAAA'])('accepts the same SSH keys, of any four parts after %s', (before) => {
    const letters = ['A', '/', '+', '=', ' ', '%20', '%2B', '%2f', '%3D', '%', '\n', '\0'];
    expect(judgedDifferently(FORMER_SSH_KEY, patternOfField('ssh_key'), { letters, length: 4, before })).toEqual([]);
  });
});

function patternOfField(field: string): string {
  const { components } = parse(readFileSync(join(OPENAPI, 'vm.yaml'), 'utf8'));
  return components.schemas.CreateVmForm.properties[field].pattern;
}

interface Texts {
  readonly letters: readonly string[];
  readonly length: number;
  readonly before?: string;
}

/** The texts of up to `length` letters that only one of two patterns accepts. */
function judgedDifferently(former: string, rewritten: string, { letters, length, before = '' }: Texts): readonly string[] {
  const [one, other] = [new RegExp(former, 'u'), new RegExp(rewritten, 'u')];
  const differing: string[] = [];
  let texts = [before];
  for (let count = 0; count <= length; count++) {
    differing.push(...texts.filter((text) => one.test(text) !== other.test(text)));
    texts = texts.flatMap((text) => letters.map((letter) => text + letter));
  }
  return differing;
}

/** Writes a text of a length. */
type Write = (length: number) => string;

/** Of many texts that repeat one or two characters after a beginning that matches, the three that need most steps. */
function costliest(pattern: string): readonly Write[] {
  const { characters } = alphabetOf(charactersOf({ kind: 'choice', parts: parsePattern(pattern, 'u').alternatives }), 'u');
  const repeated = characters.flatMap((one) => characters.map((other) => one + other));
  const writes = beginningsOf(pattern).flatMap((beginning) =>
    repeated.flatMap((text) =>
      ['', '\0'].map(
        (end): Write =>
          (length) =>
            beginning + text.repeat((length - beginning.length) / 2) + end,
      ),
    ),
  );
  return writes
    .map((write) => ({ write, steps: countSteps(pattern, write(KB / 4), MAX_STEPS_PER_CHARACTER * KB) }))
    .toSorted((one, other) => other.steps - one.steps)
    .slice(0, 3)
    .map(({ write }) => write);
}

function charactersOf(syntax: Syntax): readonly string[] {
  if (syntax.kind === 'character') return [syntax.source];
  if (syntax.kind === 'repetition') return charactersOf(syntax.part);
  return 'parts' in syntax ? syntax.parts.flatMap(charactersOf) : [];
}

/** The texts before the repetitions of a pattern. */
function beginningsOf(pattern: string): readonly string[] {
  const beginnings = new Set(['']);
  function read(syntax: Syntax, before: string): string {
    if (syntax.kind === 'character')
      return before + (alphabetOf([syntax.source], 'u').characters.find((one) => RegExp(syntax.source, 'u').test(one)) ?? '');
    if (syntax.kind === 'sequence') return syntax.parts.reduce((text, part) => read(part, text), before);
    if (syntax.kind === 'choice') return syntax.parts.map((part) => read(part, before))[0] ?? before;
    if (syntax.kind !== 'repetition') return before;
    if (syntax.max === Infinity) beginnings.add(before);
    const once = read(syntax.part, before);
    return syntax.min === 0 ? before : once;
  }
  for (const alternative of parsePattern(pattern, 'u').alternatives) read(alternative, '');
  return [...beginnings];
}
