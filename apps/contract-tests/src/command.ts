import { join } from 'node:path';

import { errorText } from '@reseller/contract';
import manifest from '@reseller/contract/package.json' with { type: 'json' };

import { CannotRunError } from './cannot-run.ts';
import { compareDocuments } from './commands/diff.ts';
import { explainCheck } from './commands/explain.ts';
import { judgeHar } from './commands/har.ts';
import { runAgainst } from './commands/run.ts';
import type { FilePaths } from './commands/run.ts';
import { withConfiguration } from './config.ts';
import type { Console } from './console.ts';
import { journalFolder } from './installation.ts';
import { readArguments, USAGE } from './options.ts';
import type { Environment } from './options.ts';

/** The environment and the outputs of a command. */
export interface CommandContext {
  readonly environment: Environment;
  readonly output: Console;
  readonly paths?: FilePaths;
  /** Ends a run early. Its reason is the exit code of a run that leaves nothing. */
  readonly signal?: AbortSignal;
}

const { version: VERSION } = manifest;

/** The default paths. */
function defaultPaths(environment: Environment): FilePaths {
  return { journal: join(journalFolder(environment), 'contract-journal.jsonl') };
}

/**
 * Runs the command in this process.
 * @param argv arguments after the script
 * @returns the exit code: 0 nothing failed, 1 findings that fail the run, 2 could not run, 3 changes remain, 4 failed after the first request, else the reason of the signal
 */
export async function runCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  const { output } = context;
  try {
    return await dispatch(argv, context);
  } catch (error) {
    // An unexpected error must not result in exit code 1, which means findings.
    output.print(error instanceof CannotRunError ? error.message : `The run failed: ${errorText(error)}`);
    return 2;
  }
}

async function dispatch(
  argv: readonly string[],
  { environment, output, signal, paths = defaultPaths(environment) }: CommandContext,
): Promise<number> {
  const args = readArguments(await withConfiguration(argv, environment), environment);
  switch (args.command) {
    case 'help':
      output.print(USAGE);
      return 0;
    case 'version':
      output.print(`contract ${VERSION}, Node.js ${process.versions.node}`);
      return 0;
    case 'har':
      return judgeHar(args, args.har ?? '', output);
    case 'explain':
      return explainCheck(args.files[0] ?? '', output);
    case 'diff':
      return compareDocuments(args, output);
    default:
      return runAgainst(args, { environment, output, paths, ...(signal === undefined ? {} : { signal }) });
  }
}
