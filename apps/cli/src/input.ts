/** The input of an operation, as arguments and options of a command. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';

import { errorText, schemaNodes, valueAt } from '@reseller/contract';
import type { FormField, OpenApiDocument, Operation, Parameter } from '@reseller/contract';

import { Failure } from './failure.ts';
import type { Io } from './io.ts';

/** The values of a request. */
export interface Input {
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The header with which a change is refused if another one came before it. */
export const IF_MATCH = 'If-Match';

/** An option of a command, from a query parameter or a field of the body. */
export interface InputOption {
  /** `network_speed` in the document. */
  readonly name: string;
  /** `network-speed` on the command line. */
  readonly flag: string;
  readonly in: 'query' | 'body';
  readonly required: boolean;
  readonly kind: FormField['kind'];
  readonly items: FormField['items'];
  readonly isNullable: boolean;
  readonly secret: boolean;
  readonly description: string;
  /** The values that the document lists. Others may be valid. */
  readonly choices: readonly string[];
  /** The value that the service takes where none is given. */
  readonly defaultValue: string | undefined;
}

/** The path parameters of an operation, in the order of the path. */
export function pathArguments({ path, parameters }: Operation): readonly Parameter[] {
  const named = parameters.filter((parameter) => parameter.in === 'path');
  return named.toSorted((one, other) => path.indexOf(`{${one.name}}`) - path.indexOf(`{${other.name}}`));
}

/** The query parameters and fields of an operation. */
export function inputOptions(document: OpenApiDocument, { parameters, body }: Operation): readonly InputOption[] {
  const queries = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, required, pointer = '', holder }) => ({
      name,
      in: 'query' as const,
      required,
      kind: scalarKind(document, pointer),
      items: 'string' as const,
      secret: false,
      pointer,
      description: descriptionAt(document, holder),
    }));
  const fields = [...(body?.fields.values() ?? [])].map((field) => ({
    ...field,
    in: 'body' as const,
    required: field.required && body?.required === true,
    description: '',
  }));
  return [...queries, ...fields].map(({ pointer, description, ...option }) => ({
    ...option,
    flag: flagOf(option.name),
    description: description || described(document, pointer),
    ...valuesOf(document, pointer),
  }));
}

/** `allowFallbackIPs` and `network_speed` as flags: `allow-fallback-ips`, `network-speed`. */
export function flagOf(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
}

/** The description of a path or query parameter. */
export function descriptionAt(document: OpenApiDocument, pointer: string): string {
  const value: unknown = valueAt(document, pointer);
  const text: unknown = Object(value).description;
  return typeof text === 'string' ? text : '';
}

function described(document: OpenApiDocument, pointer: string): string {
  const texts = schemaNodes(document, pointer).map(({ schema }) => schema['description']);
  return texts.find((text): text is string => typeof text === 'string') ?? '';
}

function scalarKind(document: OpenApiDocument, pointer: string): FormField['kind'] {
  const types = new Set(schemaNodes(document, pointer).flatMap(({ schema }) => schema['type'] ?? []));
  return (['integer', 'number', 'boolean'] as const).find((kind) => types.has(kind)) ?? 'string';
}

function valuesOf(document: OpenApiDocument, pointer: string): Pick<InputOption, 'choices' | 'defaultValue' | 'isNullable'> {
  const schemas = schemaNodes(document, pointer).map(({ schema }) => schema);
  const listed = schemas.flatMap((schema) => [schema['enum'] ?? []].flat()).filter((value) => value !== null);
  const defaults = schemas.flatMap((schema) => (schema['default'] === undefined ? [] : [String(schema['default'])]));
  return {
    choices: [...new Set(listed.map(String))],
    defaultValue: defaults[0],
    isNullable: schemas.some((schema) => [schema['type']].flat().includes('null')),
  };
}

/**
 * The value of an option, of the type that the document gives it.
 *
 * @param text The text on the command line. The text of a secret and of JSON may be in a file: `@FILE`, or `@-` for the standard input.
 * @throws Failure if the text cannot be such a value.
 */
export async function parseOption(io: Io, option: InputOption, text: string): Promise<unknown> {
  const given = option.secret || option.kind === 'json' || option.kind === 'array' ? await contentOf(io, text, option.flag) : text;
  if (option.isNullable && given === 'null') return null;
  if (option.kind === 'json') return parseJson(option.flag, given);
  if (option.kind === 'array')
    return given.startsWith('[') ? parseJson(option.flag, given) : [parseScalar(option.flag, option.items, given)];
  return parseScalar(option.flag, option.kind, given);
}

function parseScalar(flag: string, kind: FormField['kind'], text: string): unknown {
  if (kind === 'integer' || kind === 'number') {
    const value = Number(text);
    const fits = kind === 'integer' ? /^-?\d+$/.test(text) && Number.isSafeInteger(value) : text.trim() !== '' && Number.isFinite(value);
    if (!fits) throw new Failure(`--${flag} must be ${kind === 'integer' ? 'a whole number' : 'a number'}, got "${text}".`);
    return value;
  }
  if (kind === 'boolean') {
    if (text !== 'true' && text !== 'false') throw new Failure(`--${flag} must be true or false, got "${text}".`);
    return text === 'true';
  }
  return text;
}

function parseJson(flag: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = errorText(error);
    throw new Failure(`--${flag} must be JSON, or @FILE with JSON: ${why}.`, undefined, error);
  }
}

/** The text itself, or that of the file after `@`. */
export async function contentOf({ folder, stdin }: Io, text: string, flag: string): Promise<string> {
  if (!text.startsWith('@')) return text;
  const file = text.slice(1);
  try {
    const content = file === '-' ? await textOf(stdin) : readFileSync(resolve(folder, file), 'utf8');
    return content.trimEnd();
  } catch (error) {
    throw new Failure(`The file of --${flag} cannot be read: ${errorText(error)}.`, undefined, error);
  }
}
