import { alphabetOf } from './alphabet.ts';
import type { Syntax } from './syntax.ts';

/** A state is a place of the expression that matches one character, as in the construction of Glushkov. */
export interface Automaton {
  /** For each state, the letters that lead into it. */
  readonly letters: readonly ReadonlySet<number>[];
  /** For each state, the next states, with the number of ways to each. */
  readonly next: readonly Ways[];
  /** One character of each letter. */
  readonly characters: readonly string[];
}

/** Numbers of ways to states. 2 means several. */
export type Ways = ReadonlyMap<number, number>;

/** The ends of a part of the expression. */
interface Ends {
  readonly first: Ways;
  readonly last: Ways;
  /** The number of ways to match no character. */
  readonly empty: number;
}

const NO_WAYS: Ways = new Map();
const EMPTY: Ends = { first: NO_WAYS, last: NO_WAYS, empty: 1 };

/** A longer repetition counts as unlimited, because the square of its length is much work too. */
const MAX_COPIES = 100;

/** Matches the text before the place where a match begins. */
const ANYTHING: Syntax = { kind: 'repetition', part: { kind: 'character', source: String.raw`[\s\S]` }, min: 0, max: Infinity };

/** The automaton of a match that begins at one place. */
export function automatonOfMatch(syntax: Syntax, flags: string): Automaton {
  const builder = createBuilder();
  builder.build(syntax);
  return builder.finish(flags);
}

/**
 * The automaton of the search for the place where a match begins. States that end a match are left out, because a search that reaches
 * one has succeeded and tries no further place.
 */
export function automatonOfSearch(alternatives: readonly Syntax[], flags: string): Automaton {
  const builder = createBuilder();
  for (const alternative of alternatives) {
    if (hasStart(alternative)) continue;
    const { last } = builder.build({ kind: 'sequence', parts: [ANYTHING, alternative] });
    if (!hasCondition(alternative)) builder.removeWaysTo(last);
  }
  return builder.finish(flags);
}

interface Builder {
  build(syntax: Syntax): Ends;
  removeWaysTo(states: Ways): void;
  finish(flags: string): Automaton;
}

function createBuilder(): Builder {
  const sources: string[] = [];
  const next: Map<number, number>[] = [];
  function link(from: Ways, to: Ways): void {
    for (const [state, ways] of from) next[state] = sum(next[state] ?? NO_WAYS, times(to, ways));
  }
  function follow(one: Ends, other: Ends): Ends {
    link(one.last, other.first);
    return {
      first: sum(one.first, times(other.first, one.empty)),
      last: sum(other.last, times(one.last, other.empty)),
      empty: Math.min(2, one.empty * other.empty),
    };
  }
  function repeat(part: Syntax, min: number, max: number): Ends {
    let ends = EMPTY;
    for (let copy = 0; copy < Math.min(min, MAX_COPIES); copy++) ends = follow(ends, build(part));
    if (max - min > MAX_COPIES) {
      const { first, last } = build(part);
      link(last, first);
      return follow(ends, { first, last, empty: 1 });
    }
    // x{0,3} is (x(x(x)?)?)?
    let rest = EMPTY;
    for (let copy = min; copy < max; copy++) {
      const copied = follow(build(part), rest);
      rest = { ...copied, empty: Math.min(2, copied.empty + 1) };
    }
    return follow(ends, rest);
  }
  function build(syntax: Syntax): Ends {
    switch (syntax.kind) {
      case 'character': {
        const one = new Map([[next.push(new Map()) - 1, 1]]);
        sources.push(syntax.source);
        return { first: one, last: one, empty: 0 };
      }
      case 'sequence':
        return syntax.parts.map(build).reduce(follow, EMPTY);
      case 'choice':
        return syntax.parts.map(build).reduce(either);
      case 'repetition':
        return repeat(syntax.part, syntax.min, syntax.max);
      default:
        return EMPTY;
    }
  }
  return {
    build,
    removeWaysTo(states) {
      for (const ways of next) for (const state of states.keys()) ways.delete(state);
    },
    finish(flags) {
      const { characters, lettersOf } = alphabetOf(sources, flags);
      return { letters: sources.map(lettersOf), next, characters };
    },
  };
}

function either(one: Ends, other: Ends): Ends {
  return { first: sum(one.first, other.first), last: sum(one.last, other.last), empty: Math.min(2, one.empty + other.empty) };
}

function sum(one: Ways, other: Ways): Map<number, number> {
  const total = new Map(one);
  for (const [state, ways] of other) total.set(state, Math.min(2, (total.get(state) ?? 0) + ways));
  return total;
}

function times(ways: Ways, factor: number): Ways {
  return factor === 0 ? NO_WAYS : new Map([...ways].map(([state, count]) => [state, Math.min(2, count * factor)]));
}

/** Whether every match begins at the start of the text. */
function hasStart(syntax: Syntax): boolean {
  if (syntax.kind === 'sequence') return syntax.parts[0] !== undefined && hasStart(syntax.parts[0]);
  return syntax.kind === 'choice' ? syntax.parts.every(hasStart) : syntax.kind === 'start';
}

/** Whether a match can depend on what follows it. */
function hasCondition(syntax: Syntax): boolean {
  // A condition at the start is met before the rest is read.
  if (syntax.kind === 'sequence')
    return syntax.parts.some((part, index) => hasCondition(part) && !(index === 0 && part.kind === 'condition'));
  if (syntax.kind === 'choice') return syntax.parts.some(hasCondition);
  return syntax.kind === 'repetition' ? hasCondition(syntax.part) : syntax.kind === 'condition';
}
