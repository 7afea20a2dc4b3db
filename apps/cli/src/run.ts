import tab from '@bomb.sh/tab/commander';
import { CommanderError } from 'commander';
import type { Command } from 'commander';

import { BASH_SCRIPT, completeValues, separated } from './completion.ts';
import { describeError, exitCodeOf } from './errors.ts';
import { EXIT, ProgramFailed } from './failure.ts';
import { wordsOf } from './help-texts.ts';
import type { Io } from './io.ts';
import { buildProgram } from './program.ts';
import { note, print } from './terminal.ts';
import { printableLines } from './text.ts';

/**
 * Runs a command.
 *
 * @param given The words after the name of the program.
 * @returns its exit code
 */
export async function main(given: readonly string[], io: Io): Promise<number> {
  const program = buildProgram(io);
  forEachCommand(program, (command) => command.exitOverride());
  if (given[0] === 'complete') forEachCommand(program, shorten);
  tab(program);
  const completed = given[0] === 'complete' && given[1] === '--' ? separated(given.slice(2)) : undefined;
  if (completed) await completeValues(io, program, completed);
  if (given[0] === 'complete' && given[1] === 'bash') {
    await print(io, BASH_SCRIPT);
    return EXIT.done;
  }
  const unknown = unknownWord(program, given);
  if (unknown !== undefined) {
    note(io, `error: unknown command '${printableLines(unknown.word)}'\n\nRun '${unknown.parent} --help' for the commands that there are.`);
    return EXIT.usage;
  }
  try {
    await program.parseAsync(completed ? ['complete', '--', ...completed] : [...given], { from: 'user' });
    return EXIT.done;
  } catch (error) {
    // The framework has printed its own message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (error instanceof ProgramFailed) return error.exitCode;
    note(io, printableLines(`Error: ${describeError(error)}`));
    return exitCodeOf(error);
  }
}

/** The first word that is not a command where one is expected. With `--help`, the framework would show the help of what is above it. */
function unknownWord(program: Command, words: readonly string[]): { readonly word: string; readonly parent: string } | undefined {
  if (!words.some((word) => word === '--help' || word === '-h')) return undefined;
  let command = program;
  for (const word of words) {
    if (word.startsWith('-') || command.commands.length === 0) return undefined;
    const found = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (found === undefined) return { word, parent: wordsOf(command).join(' ') };
    command = found;
  }
  return undefined;
}

/** A shell shows one line for each command. */
function shorten(command: Command): void {
  command.description(command.summary() || command.description());
}

function forEachCommand(command: Command, apply: (command: Command) => void): void {
  apply(command);
  for (const inner of command.commands) forEachCommand(inner, apply);
}
