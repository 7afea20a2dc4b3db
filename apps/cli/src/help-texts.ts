/** Texts of the documents for a person at a command line: commands in the place of HTTP requests, and examples as commands. */
import type { Operation } from '@reseller/contract';
import type { Command } from 'commander';

import { operatorApi, resellerApi } from './api.ts';
import type { Api } from './api.ts';
import { flagOf, pathArguments } from './input.ts';

/** By method and path. The operator API also names operations of the reseller API. */
let commandsByRequest: ReadonlyMap<string, string> | undefined;

/** Replaces `GET /vm/list/hosts` by `reseller vm hosts`. */
export function withCommands(text: string): string {
  commandsByRequest ??= new Map(
    [resellerApi(), operatorApi()].flatMap(({ name, commands }) =>
      commands.map(({ words, operation }) => [`${operation.method} ${operation.path}`, commandOf(name, words)] as const),
    ),
  );
  const known = commandsByRequest;
  return text.replaceAll(/\b(?:GET|PUT|POST|DELETE|PATCH) \/[\w{}/.-]*[\w}]/g, (request) => known.get(request) ?? request);
}

/** The words that a person types for a command: `['reseller', 'vm', 'create']`. */
export function wordsOf(command: Command): readonly string[] {
  return [...(command.parent ? wordsOf(command.parent) : []), command.name()];
}

/** A command from the first example of the document; undefined if a value has none. */
export function exampleOf({ name }: Api, words: readonly string[], operation: Operation): string | undefined {
  const values = pathArguments(operation).map(({ examples }) => examples[0]);
  if (values.includes(undefined)) return undefined;
  const [example] = Object.values(operation.body?.examples ?? {});
  const options = Object.entries(Object(example?.value)).map(([field, value]) => `--${flagOf(field)} ${quoted(value)}`);
  return [commandOf(name, words), ...values.map(quoted), ...options].join(' ');
}

const examples = new WeakMap<Command, string>();

/** Shows an example in the help and the manual page of a command. */
export function addExample(command: Command, example: string): void {
  examples.set(command, example);
  command.addHelpText('after', `\nExample:\n  ${example}`);
}

export function commandExample(command: Command): string | undefined {
  return examples.get(command);
}

function commandOf(api: Api['name'], words: readonly string[]): string {
  return ['reseller', ...(api === 'operator' ? ['operator'] : []), ...words].join(' ');
}

function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
