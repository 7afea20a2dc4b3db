import { readFile } from 'node:fs/promises';

import { isError } from '@reseller/contract';
import { parse } from 'yaml';

import { CannotRunError } from './cannot-run.ts';
import type { Environment } from './options.ts';

const DEFAULT_FILE = 'contract.yaml';

/**
 * Puts the options of a configuration file before those of the command line, which have precedence.
 * @throws {CannotRunError} when the file is unusable
 */
export async function withConfiguration(argv: readonly string[], environment: Environment): Promise<readonly string[]> {
  const at = argv.indexOf('--config');
  const named = at < 0 ? argv.find((argument) => argument.startsWith('--config='))?.slice('--config='.length) : argv[at + 1];
  const file = named ?? DEFAULT_FILE;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (named === undefined) return undefined;
    throw new CannotRunError(`The configuration ${file} cannot be read. Give the path of a YAML or JSON file as --config.`, {
      cause: error,
    });
  });
  return text === undefined ? argv : [...optionsIn(text, file, environment), ...argv];
}

function optionsIn(text: string, file: string, environment: Environment): readonly string[] {
  let options: unknown;
  try {
    options = parse(text);
  } catch (error) {
    const why = isError(error) ? (error.message.split('\n', 1)[0] ?? '') : '';
    throw new CannotRunError(`The configuration ${file} is not YAML: ${why}`, { cause: error });
  }
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new CannotRunError(`The configuration ${file} must have options by their names, such as "target: https://api.example.com".`);
  return Object.entries(options).flatMap(([name, value]) => argumentsFor(name, value, file, environment));
}

/** The command line for one option: `--yes` for true, one value for each item of a list, and a pair for each member of an object. */
function argumentsFor(name: string, value: unknown, file: string, environment: Environment): readonly string[] {
  const option = `--${name}`;
  function textOf(item: unknown): string {
    if (typeof item !== 'string' && typeof item !== 'number')
      throw new CannotRunError(`${name} in the configuration ${file} must be a text, a number, true, a list or an object of these.`);
    return String(item).replaceAll(/\$\{(\w+)\}/g, (_, variable: string) => {
      const given = environment[variable];
      if (given === undefined)
        throw new CannotRunError(`The configuration ${file} needs the environment variable ${variable}, which is not set.`);
      return given;
    });
  }
  if (value === true) return [option];
  if (value === false || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => [option, textOf(item)]);
  if (typeof value === 'object')
    return Object.entries(Object(value)).flatMap(([key, item]) => [option, `${key}${name === 'header' ? ': ' : '='}${textOf(item)}`]);
  return [option, textOf(value)];
}
