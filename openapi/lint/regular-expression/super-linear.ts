import { automatonOfMatch, automatonOfSearch } from './automaton.ts';
import type { Automaton } from './automaton.ts';
import { cyclesOf } from './components.ts';
import { parsePattern } from './syntax.ts';

/**
 * Decides whether a backtracking matcher, such as those of ECMAScript, Python and PCRE, can need more than linear time. That is so when
 * the automaton of the expression has two states p and q, and a text that leads from p to p, from p to q and from q to q: if the match
 * fails later, the matcher tries to change from p to q at each repetition of that text (Weber and Seidl, "On the degree of ambiguity of
 * finite automata", 1991). It does not decide whether a match can fail later, so it can refuse an expression that is linear.
 *
 * @returns a text whose repetition takes super-linear time, or undefined
 * @throws {Error} when the syntax is not valid, or refers to a group, which an automaton cannot follow
 */
export function superLinearText(source: string, flags = ''): string | undefined {
  const { alternatives, lookarounds } = parsePattern(source, flags);
  for (const lookaround of lookarounds) {
    // It is tried at many places, so linear time for each would be too long.
    const text = cyclicText(automatonOfMatch(lookaround, flags));
    if (text !== undefined) return text;
  }
  for (const alternative of alternatives) {
    const text = ambiguousText(automatonOfMatch(alternative, flags));
    if (text !== undefined) return text;
  }
  // A sticky expression matches at one place.
  return flags.includes('y') ? undefined : ambiguousText(automatonOfSearch(alternatives, flags));
}

/** A character that can be matched without a limit. */
function cyclicText({ letters, next, characters }: Automaton): string | undefined {
  const [state] = cyclesOf(next.keys(), (one) => keysOf(next[one])).keys();
  return state === undefined ? undefined : textOf(characters, letters[state]);
}

function ambiguousText(automaton: Automaton): string | undefined {
  const { letters, next, characters } = automaton;
  const size = next.length;
  const cycles = cyclesOf(next.keys(), (state) => keysOf(next[state]));
  for (const [state, ways] of next.entries()) {
    // Two ways from p to q within a cycle: each repetition doubles the work.
    const twice = [...ways].find(([to, count]) => count > 1 && cycles.has(state) && cycles.get(to) === cycles.get(state));
    if (twice) return textOf(characters, letters[twice[0]]);
  }
  function* nextPairs(pair: number): Iterable<number> {
    const [one, other] = [Math.floor(pair / size), pair % size];
    for (const to of keysOf(next[one])) {
      if (cycles.get(to) !== cycles.get(one)) continue;
      for (const otherTo of keysOf(next[other])) {
        if (cycles.get(otherTo) === cycles.get(other) && common(letters[to], letters[otherTo]) !== undefined) yield to * size + otherTo;
      }
    }
  }
  const pairs = [...cycles.keys()].flatMap((one) => [...cycles.keys()].filter((other) => other !== one).map((other) => one * size + other));
  const pairCycles = cyclesOf(pairs, nextPairs);
  for (const pair of pairs) {
    const text = pairCycles.has(pair) ? connectingText(automaton, pairCycles, pair) : undefined;
    if (text !== undefined) return text;
  }
  return undefined;
}

interface Step {
  readonly pair: number;
  readonly middle: number;
  readonly text: string;
}

/** A text that leads from p to p, from p to q and from q to q. */
function connectingText(
  { letters, next, characters }: Automaton,
  pairCycles: ReadonlyMap<number, number>,
  pair: number,
): string | undefined {
  const size = next.length;
  const [p, q] = [Math.floor(pair / size), pair % size];
  const cycle = pairCycles.get(pair);
  const seen = new Set<number>();
  const steps: Step[] = [{ pair, middle: p, text: '' }];
  for (const step of steps) {
    const [one, other] = [Math.floor(step.pair / size), step.pair % size];
    for (const to of keysOf(next[one])) {
      for (const otherTo of keysOf(next[other])) {
        const nextPair = to * size + otherTo;
        if (pairCycles.get(nextPair) !== cycle) continue;
        for (const middle of keysOf(next[step.middle])) {
          const letter = common(letters[to], letters[otherTo], letters[middle]);
          const key = nextPair * size + middle;
          if (letter === undefined || seen.has(key)) continue;
          seen.add(key);
          const text = step.text + (characters[letter] ?? '');
          if (nextPair === pair && middle === q) return text;
          steps.push({ pair: nextPair, middle, text });
        }
      }
    }
  }
  return undefined;
}

function keysOf(ways: ReadonlyMap<number, number> | undefined): Iterable<number> {
  return ways?.keys() ?? [];
}

/** A letter that is in all sets. */
function common(first: ReadonlySet<number> = new Set(), ...others: readonly (ReadonlySet<number> | undefined)[]): number | undefined {
  for (const letter of first) if (others.every((letters) => letters?.has(letter))) return letter;
  return undefined;
}

function textOf(characters: readonly string[], letters: ReadonlySet<number> = new Set()): string {
  const [letter = 0] = letters;
  return characters[letter] ?? '';
}
