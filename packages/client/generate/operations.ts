/** Each operation as a function that needs no knowledge of the wire, with its facts. */
import { readOperations } from '@reseller/contract';
import type { FormField, OpenApiDocument, Operation } from '@reseller/contract';

import { follow, items, members, quoted } from './json.ts';
import type { Places } from './places.ts';

/** `operations.gen.ts` */
export function writeOperations(document: OpenApiDocument): string {
  const operations = readOperations(document);
  return [
    `import type { Call } from '../runtime/call.ts';`,
    ...writersOf(document, operations),
    `import type { CallOptions, Client, Reconciling } from '../runtime/options.ts';`,
    ...(operations.some((operation) => pathNames(operation).length > 0) ? [`import { fill } from '../runtime/path.ts';`] : []),
    `import type { FormOf, Needs } from '../runtime/form-types.ts';`,
    `import type { Recovered } from '../runtime/recovered.ts';`,
    `import * as sdk from './sdk.gen.ts';`,
    `import type * as types from './types.gen.ts';`,
    '',
    ...operations.map((operation) => writeFunction(document, operation)),
    '/** Every operation without its client, as the facade offers them. */',
    'export interface Operations {',
    ...operations.map((operation) => writeMethods(document, operation)),
    '}',
    '',
    '/** What a purchase, or another operation that may not be sent twice, answers. */',
    'export interface OnceAnswers {',
    ...operations.filter(isOnce).map(({ id }) => `  ${id}: types.${typeName(id)}Success['data'];`),
    '}',
    '',
  ].join('\n');
}

/**
 * `places.gen.ts`: the operations as `createReseller` offers them.
 *
 * @throws Error when an operation has no place, or a place no operation.
 */
export function writePlaces(document: OpenApiDocument, places: Places): string {
  const operations = new Map(readOperations(document).map((operation) => [operation.id, operation]));
  const placed = new Set<string>();
  const table = (within: Places, each: (operation: Operation) => string, indent = '  '): string[] =>
    Object.entries(within).flatMap(([name, place]) => {
      if (typeof place !== 'string') return [`${indent}${name}: {`, ...table(place, each, `${indent}  `), `${indent}},`];
      const operation = operations.get(place);
      if (!operation) throw new Error(`generate/places.ts names ${place}, which the document does not have.`);
      placed.add(place);
      return [`${indent}${name}: ${each(operation)},`];
    });
  const values = table(
    places,
    (operation) => `at(${[operation.method, operation.path, metaOf(document, operation)].map(quoted).join(', ')})`,
  );
  const missing = [...operations.keys()].filter((id) => !placed.has(id));
  if (missing.length > 0) throw new Error(`Say in generate/places.ts where createReseller offers ${missing.join(', ')}.`);
  return [
    ...writersOf(document, [...operations.values()]),
    `import type { Operations } from './operations.gen.ts';`,
    `import type { Call } from '../runtime/call.ts';`,
    `import type { Write } from '../runtime/form.ts';`,
    `import type { Meta } from '../runtime/options.ts';`,
    '',
    '/** What writes the requests of all operations. */',
    `export const WRITE: Write = ${[...operations.values()].some((operation) => writerOf(document, operation) === 'writeRich') ? 'writeRich' : 'write'};`,
    '',
    '/** Every operation of the document, by group, made by its method, path, and what the document says of it (`Meta`). */',
    'export const groupsOf = (at: (method: string, path: string, meta: Meta) => (...input: unknown[]) => Call<never>): Groups => ({',
    ...values,
    '});',
    '',
    '/** Every operation by group, as it is called. */',
    'export interface Groups {',
    ...table(places, ({ id }) => `Operations['${id}']`).map((line) => line.replace(/^( *)(\w+:)/, '$1readonly $2').replace(/,$/, ';')),
    '}',
    '',
  ].join('\n');
}

/** What the runtime goes by; see `Meta`. */
function metaOf(document: OpenApiDocument, operation: Operation): string {
  const { id, billable, readOnly, retry, form, parameters } = operation;
  const dependent = members(members(form?.schema)['dependentRequired']);
  const flags = [
    retry === 'safe' && 's',
    billable && 'b',
    readOnly && 'r',
    parameters.some(({ name }) => name === 'Idempotency-Key') && 'k',
  ].filter((letter) => letter !== false);
  // The runtime repeats such an operation where the server is known to honour keys.
  if (isOnce(operation) && !flags.includes('k')) throw new Error(`${id} may not be sent twice, and takes no Idempotency-Key.`);
  if (isOnce(operation) && [...(form?.fields.values() ?? [])].some(({ kind }) => kind === 'array'))
    throw new Error(
      `${id} takes a list and may not be sent twice: src/reconcile.ts does not compare lists with the log. Teach it, then generate.`,
    );
  const fields = [...(form?.fields.values() ?? [])].map((field) => wordOf(document, id, field, items(dependent[field.name])));
  return [id, flags.join(''), ...fields].join(' ');
}

/** The function of the runtime that writes the form of an operation: none where it has none. */
function writerOf(document: unknown, { id, form }: Operation): 'write' | 'writeRich' | undefined {
  if (!form) return undefined;
  const types = [...form.fields.values()].map((field) => typeOf(document, id, field));
  return types.every((type) => ['string', 'integer', 'boolean'].includes(type)) ? 'write' : 'writeRich';
}

/** The imports of those that are needed. */
function writersOf(document: unknown, operations: readonly Operation[]): string[] {
  const writers = new Set(operations.map((operation) => writerOf(document, operation)));
  return [
    ...(writers.has('write') ? [`import { write } from '../runtime/form.ts';`] : []),
    ...(writers.has('writeRich') ? [`import { writeRich } from '../runtime/rich-form.ts';`] : []),
  ];
}

/** A field as the runtime reads it; see `Write`. */
function wordOf(document: unknown, id: string, field: FormField, needed: readonly unknown[]): string {
  const { name, required, secret } = field;
  if (/\W/.test(name)) throw teach(id, field, 'has a name with other characters than letters, digits and _');
  if (needed.length > 1) throw teach(id, field, 'needs more than one other field');
  const type = typeOf(document, id, field);
  return ['.', name, !required && '?', type !== 'string' && `:${type}`, secret && '*', ...needed.map((other) => `>${String(other)}`)]
    .filter((part) => part !== false)
    .join('');
}

/** What joins the items of a list, by the words of `rich-form.ts`. */
const JOINTS = { ',': 'csv', ' ': 'ssv', '|': 'pipes' } as const;

/** The type of a field by the words of the runtime: that of a list is the type of its items, `_`, and what joins them. */
function typeOf(document: unknown, id: string, field: FormField): string {
  const { kind, items: itemKind, separator, pointer } = field;
  const { format } = members(follow(document, { $ref: `#${pointer}` }));
  if (kind === 'json' || kind === 'unsupported') throw teach(id, field, `is of the kind ${kind}`);
  if (kind === 'array') return `${itemKind}_${separator === undefined ? 'multi' : JOINTS[separator]}`;
  return kind === 'string' && format === 'date-time' ? 'instant' : kind === 'string' && format === 'date' ? 'date' : kind;
}

function teach(id: string, { name }: FormField, what: string): Error {
  return new Error(
    `The field ${name} of ${id} ${what}, which src/runtime/form.ts and rich-form.ts do not write. Teach them, then generate.`,
  );
}

/** Whether a second sending may have a second effect. */
function isOnce({ retry }: Operation): boolean {
  return retry === 'never';
}

function writeFunction(document: OpenApiDocument, operation: Operation): string {
  const { id, form } = operation;
  const writer = writerOf(document, operation);
  const path = pathNames(operation);
  const sent = [
    '...options',
    'client',
    ...(path.length > 0 ? [`path: { ${path.join(', ')} }`, 'fill'] : []),
    ...(form ? ['body: form'] : []),
    `meta: ${quoted(metaOf(document, operation))}`,
    ...(writer ? [`write: ${writer}`] : []),
  ];
  return [
    ...comment(document, operation, ''),
    `export const ${id} = (${['client: Client', ...inputs(document, operation), 'options?: CallOptions'].join(', ')}): Promise<types.${typeName(id)}Success['data']> =>`,
    `  sdk.${id}({ ${sent.join(', ')} });`,
    '',
  ].join('\n');
}

function writeMethods(document: OpenApiDocument, operation: Operation): string {
  const { id } = operation;
  const answer = `types.${typeName(id)}Success['data']`;
  const plain = `  ${id}(${[...inputs(document, operation), 'options?: CallOptions'].join(', ')}): Call<${answer}>;`;
  const doc = comment(document, operation, '  ');
  if (!isOnce(operation)) return [...doc, plain].join('\n');
  const required = inputs(document, operation).map((input) => input.replace('?:', ': undefined |'));
  return [...doc, plain, ...doc, `  ${id}(${[...required, 'options: Reconciling'].join(', ')}): Call<Recovered<${answer}>>;`].join('\n');
}

function pathNames({ parameters }: Operation): string[] {
  return parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
}

function inputs(document: unknown, operation: Operation): string[] {
  const type = typeName(operation.id);
  const path = operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, schema }) => `${name}: types.${type}Data['path']['${name}']${isDigits(document, schema) ? ' | number' : ''}`);
  const { form } = operation;
  if (!form) return path;
  const needs = Object.entries(members(members(form.schema)['dependentRequired'])).map(
    ([field, needed]) =>
      ` & Needs<types.${type}Data['body'], ${quoted(field)}, ${items(needed)
        .map((name) => quoted(String(name)))
        .join(' | ')}>`,
  );
  return [...path, `form${form.required ? '' : '?'}: FormOf<types.${type}Data['body']>${needs.join('')}`];
}

/** An identifier of digits may be given as the number that another answer held. */
function isDigits(document: unknown, schema: unknown): boolean {
  const { pattern } = members(follow(document, schema));
  return typeof pattern === 'string' && /^\^(?:\[[0-9]-9\](?:\{\d+(?:,\d*)?\}|[+*])?)+\$$/.test(pattern);
}

function comment(document: unknown, operation: Operation, indent: string): string[] {
  const { pointer } = operation;
  const written = members(follow(document, { $ref: `#${pointer}` }));
  const pathOf = operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, pointer: at }) => `@param ${name} ${descriptionOf(document, at ?? '', name)}`);
  const lines = [
    operation.summary,
    '',
    ...String(written['description'] ?? '').split('\n'),
    '',
    ...pathOf,
    ...(operation.form ? [`@param form ${String(members(written['requestBody'])['description'] ?? '').split('\n')[0]}`] : []),
    ...(isOnce(operation) ? ['@throws OutcomeUnknownError when the answer was lost: it may have been carried out.'] : []),
    ...(operation.billable
      ? [
          '@throws CreditLimitError when it would exceed the credit limit.',
          '@throws SpendRefusedError when the spend guard refused it; nothing was sent.',
        ]
      : []),
    '@throws ResellerError, of the class that tells what happened.',
  ];
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`];
}

/** The description of a path parameter, which stands beside its schema. */
function descriptionOf(document: unknown, schemaPointer: string, name: string): string {
  const holder = members(follow(document, { $ref: `#${schemaPointer.replace(/\/schema$/, '')}` }));
  const own =
    holder['description'] ??
    Object.values(members(members(members(document)['components'])['parameters']))
      .map(members)
      .find((parameter) => parameter['name'] === name)?.['description'];
  return String(own ?? '').split('\n')[0] ?? '';
}

function typeName(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1);
}
