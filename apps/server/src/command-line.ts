/** Options and error messages of the maintenance commands. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { errorText, isError } from '@reseller/contract/is-error';
import { StoreOpenError } from '@reseller/service/maintenance';

import { ConfigurationError } from './configuration.ts';
import { SecretError } from './secrets.ts';

/** Paths in options and variables are relative to this folder, regardless of the current folder. */
const REPOSITORY = resolve(import.meta.dirname, '../../..');

/** An error of the user; the message is for the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The user has asked for the usage, which is the message. */
export class HelpRequest extends Error {
  override readonly name = 'HelpRequest';
}

/** The text options that were given, by name. Other options are refused, except for flags. */
export function optionsOf(
  names: readonly string[],
  usage: string,
  flags: readonly string[] = [],
): Readonly<Record<string, string | undefined>> {
  const { values } = parsed({ ...typed(names, 'string'), ...typed(flags, 'boolean') }, usage);
  return Object.fromEntries(names.map((name) => [name, typeof values[name] === 'string' ? values[name] : undefined]));
}

/** Whether a flag was given. Other options are refused, except for text options. */
export function flagOf(name: string, usage: string, names: readonly string[] = []): boolean {
  return parsed({ ...typed([name], 'boolean'), ...typed(names, 'string') }, usage).values[name] === true;
}

function typed<Type extends 'string' | 'boolean'>(names: readonly string[], type: Type): Record<string, { type: Type }> {
  return Object.fromEntries(names.map((name) => [name, { type }]));
}

function parsed(options: Readonly<Record<string, { type: 'string' | 'boolean' }>>, usage: string) {
  if (process.argv.slice(2).includes('--help')) throw new HelpRequest(usage);
  try {
    return parseArgs({ options });
  } catch (error) {
    throw new UsageError(`${errorText(error)}\n\n${usage}`, { cause: error });
  }
}

export function pathOf(text: string): string {
  return resolve(REPOSITORY, text);
}

/** The data directory of the service. */
export function dataDirectory(given: string | undefined): string {
  return pathOf(given ?? (process.env['RESELLER_DATA_DIR'] || '.data'));
}

/** Runs a command. An error that the user can fix is one line; the exit code of any error is 1. */
export async function runCommand(work: () => string | Promise<string>): Promise<void> {
  try {
    process.stdout.write(await work());
  } catch (error) {
    if (error instanceof HelpRequest) {
      process.stdout.write(error.message);
      return;
    }
    const isForUser =
      error instanceof UsageError || error instanceof StoreOpenError || error instanceof SecretError || error instanceof ConfigurationError;
    process.stderr.write(`${isForUser ? error.message : isError(error) ? (error.stack ?? error.message) : String(error)}\n`);
    process.exitCode = 1;
  }
}

/** A number with its noun, in the singular or the plural. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
