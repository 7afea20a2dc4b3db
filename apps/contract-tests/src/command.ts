import { fileURLToPath } from 'node:url';

import manifest from '../package.json' with { type: 'json' };
import { CannotRunError } from './cannot-run.ts';
import { compareDocuments } from './commands/diff.ts';
import { judgeHar } from './commands/har.ts';
import { runProxy } from './commands/proxy.ts';
import { runAgainst } from './commands/run.ts';
import type { FilePaths } from './commands/run.ts';
import { selftest } from './commands/selftest.ts';
import type { Console } from './console.ts';
import { readArguments, USAGE } from './options.ts';
import type { Environment } from './options.ts';

/** The surroundings of a command, apart from its arguments. */
export interface CommandContext {
  readonly environment: Environment;
  readonly output: Console;
  readonly paths?: FilePaths;
  /** Ends what runs until it is told to stop. */
  readonly signal?: AbortSignal;
}

/** Private packages have no release of their own: the version is that of the package file. */
const { version: VERSION } = manifest;

/** Next to the sandbox's own data, at the root of the repository. */
const PLACES: FilePaths = { journal: fileURLToPath(new URL('../../../.data/contract-journal.jsonl', import.meta.url)) };

/**
 * The whole command but the process.
 * @param argv arguments after the script
 * @returns the exit code: 0 nothing failed, 1 violations, 2 could not run
 */
export async function runCommand(argv: readonly string[], context: CommandContext): Promise<0 | 1 | 2> {
  const { output } = context;
  try {
    return await dispatch(argv, context);
  } catch (error) {
    // An error that nobody foresaw must not end with the code that means violations.
    output.print(
      error instanceof CannotRunError ? error.message : `The run failed: ${error instanceof Error ? error.message : String(error)}`,
    );
    return 2;
  }
}

async function dispatch(argv: readonly string[], { environment, output, paths = PLACES, signal }: CommandContext): Promise<0 | 1 | 2> {
  const args = readArguments(argv, environment);
  switch (args.command) {
    case 'help':
      output.print(USAGE);
      return 0;
    case 'version':
      output.print(`contract ${VERSION}, Node.js ${process.versions.node}`);
      return 0;
    case 'har':
      return judgeHar(args, args.har ?? '', output);
    case 'proxy':
      return runProxy(args, output, signal);
    case 'diff':
      return compareDocuments(args, output);
    case 'selftest':
      return selftest(args, output);
    default:
      return runAgainst(args, environment, output, paths);
  }
}
