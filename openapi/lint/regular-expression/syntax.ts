import { RegExpParser } from '@eslint-community/regexpp';
import type { AST } from '@eslint-community/regexpp';

/** A regular expression, reduced to what decides how a backtracking matcher searches. */
export type Syntax =
  /** `condition` is an assertion about the place, such as `$` or a lookahead. */
  | { readonly kind: 'start' | 'condition' }
  /** One character. `source` is its regular expression, such as `[a-z]`. */
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Syntax[] }
  | { readonly kind: 'repetition'; readonly part: Syntax; readonly min: number; readonly max: number };

export interface Parsed {
  /** The alternatives at the top. */
  readonly alternatives: readonly Syntax[];
  /** The contents of lookaheads and lookbehinds. The alternatives have a condition in their place. */
  readonly lookarounds: readonly Syntax[];
}

/** @throws {Error} when the syntax is not valid, or has a reference to a group, which no automaton can follow */
export function parsePattern(source: string, flags: string): Parsed {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
  const lookarounds: Syntax[] = [];
  function sequence({ elements }: AST.Alternative): Syntax {
    return { kind: 'sequence', parts: elements.map(reduce) };
  }
  function choice(alternatives: readonly AST.Alternative[]): Syntax {
    return { kind: 'choice', parts: alternatives.map(sequence) };
  }
  function reduce(element: AST.Element): Syntax {
    switch (element.type) {
      case 'Group':
      case 'CapturingGroup':
        return choice(element.alternatives);
      case 'Quantifier': {
        const { min, max } = element;
        return { kind: 'repetition', part: reduce(element.element), min, max };
      }
      case 'Assertion':
        if (element.kind === 'lookahead' || element.kind === 'lookbehind') lookarounds.push(choice(element.alternatives));
        return { kind: element.kind === 'start' && !flags.includes('m') ? 'start' : 'condition' };
      case 'Backreference':
        throw new Error(`The reference ${element.raw} to a group cannot be judged.`);
      default:
        return { kind: 'character', source: element.raw };
    }
  }
  return { alternatives: pattern.alternatives.map(sequence), lookarounds };
}
