import { parsePattern } from './syntax.ts';
import type { Syntax } from './syntax.ts';

type Instruction = { readonly kind: 'character'; matches(character: string): boolean } | Split | Jump | { readonly kind: 'start' | 'end' };

/** Tries `first`, and `second` if that fails. */
interface Split {
  readonly kind: 'split';
  first: number;
  second: number;
}

interface Jump {
  readonly kind: 'jump';
  to: number;
}

/**
 * Counts the steps of a backtracking matcher. They are the same on every machine, unlike times. It supports what the patterns of the
 * documents use, and repetitions only of parts that are not empty.
 *
 * @param maxSteps where it stops counting
 */
export function countSteps(source: string, text: string, maxSteps: number): number {
  const program = compile(source);
  const characters = [...text];
  let steps = 0;
  for (let start = 0; start <= characters.length; start++) {
    const branches = [{ at: 0, index: start }];
    for (let branch = branches.pop(); branch; branch = branches.pop()) {
      let { at, index } = branch;
      for (;;) {
        steps++;
        const instruction = program[at];
        if (!instruction || steps >= maxSteps) return steps;
        if (instruction.kind === 'split') {
          branches.push({ at: instruction.second, index });
          at = instruction.first;
          continue;
        }
        if (instruction.kind === 'jump') {
          at = instruction.to;
          continue;
        }
        const character = characters[index];
        if (instruction.kind === 'character') {
          if (character === undefined || !instruction.matches(character)) break;
          index++;
        } else if (index !== (instruction.kind === 'start' ? 0 : characters.length)) break;
        at++;
      }
    }
  }
  return steps;
}

function compile(source: string): readonly Instruction[] {
  const { alternatives, lookarounds } = parsePattern(source, 'u');
  if (lookarounds.length > 0) throw new Error('A lookaround cannot be counted.');
  const program: Instruction[] = [];
  /** Adds an instruction that tries the next one first. Another place is set later. */
  function addSplit(): Split {
    const added: Split = { kind: 'split', first: program.length + 1, second: program.length + 1 };
    program.push(added);
    return added;
  }
  function addJump(): Jump {
    const added: Jump = { kind: 'jump', to: 0 };
    program.push(added);
    return added;
  }
  function addChoice([first, ...others]: readonly Syntax[]): void {
    if (!first) return;
    if (others.length === 0) return add(first);
    const split = addSplit();
    add(first);
    const jump = addJump();
    split.second = program.length;
    addChoice(others);
    jump.to = program.length;
  }
  function addRepetition({ part, min, max }: Extract<Syntax, { kind: 'repetition' }>): void {
    for (let copy = 0; copy < min; copy++) add(part);
    const splits: Split[] = [];
    const loop = program.length;
    for (let copy = min; copy < (max === Infinity ? min + 1 : max); copy++) {
      splits.push(addSplit());
      add(part);
    }
    if (max === Infinity) addJump().to = loop;
    for (const split of splits) split.second = program.length;
  }
  function add(syntax: Syntax): void {
    switch (syntax.kind) {
      case 'character':
        return void program.push({ kind: 'character', matches: matcherOf(syntax.source) });
      case 'sequence':
        return syntax.parts.forEach(add);
      case 'choice':
        return addChoice(syntax.parts);
      case 'repetition':
        return addRepetition(syntax);
      default:
        program.push({ kind: syntax.kind === 'start' ? 'start' : 'end' });
    }
  }
  addChoice(alternatives);
  return program;
}

/** Asks the engine once for each character. */
function matcherOf(source: string): (character: string) => boolean {
  const expression = new RegExp(`^(?:${source})$`, 'u');
  const known = new Map<string, boolean>();
  return (character) => {
    const matches = known.get(character) ?? expression.test(character);
    known.set(character, matches);
    return matches;
  };
}
