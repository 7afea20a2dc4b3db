import tab from '@bomb.sh/tab/commander';
import { CommanderError } from 'commander';
import type { Command } from 'commander';

import { BASH_SCRIPT, completeValues } from './completion.ts';
import { describeError, exitCodeOf } from './errors.ts';
import { EXIT } from './failure.ts';
import { buildProgram } from './program.ts';
import { note, print } from './terminal.ts';
import { printableLines } from './text.ts';

// A program such as head has read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.done : EXIT.failed));
process.exitCode = await main(process.argv);

async function main(given: readonly string[]): Promise<number> {
  const program = buildProgram();
  forEachCommand(program, (command) => command.exitOverride());
  if (given[2] === 'complete') forEachCommand(program, shorten);
  tab(program);
  if (given[2] === 'complete' && given[3] === '--') await completeValues(program, given.slice(4));
  if (given[2] === 'complete' && given[3] === 'bash') {
    await print(BASH_SCRIPT);
    return EXIT.done;
  }
  try {
    await program.parseAsync([...given]);
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    // The framework has printed its own message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    note(printableLines(`Error: ${describeError(error)}`));
    return exitCodeOf(error);
  }
}

/** A shell shows one line for each command. */
function shorten(command: Command): void {
  command.description(command.summary() || command.description());
}

function forEachCommand(command: Command, apply: (command: Command) => void): void {
  apply(command);
  for (const inner of command.commands) forEachCommand(inner, apply);
}
