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
  const values = table(places, (operation) => quoted(`${operation.method} ${operation.path} ${metaOf(document, operation)}`));
  const missing = [...operations.keys()].filter((id) => !placed.has(id));
  if (missing.length > 0) throw new Error(`Say in generate/places.ts where createReseller offers ${missing.join(', ')}.`);
  return [
    ...writersOf(document, [...operations.values()]),
    `import type { Operations } from './operations.gen.ts';`,
    `import type { Write } from '../runtime/writing.ts';`,
    '',
    '/** What writes the requests of all operations. */',
    `export const WRITE: Write = ${[...operations.values()].some((operation) => writerOf(document, operation) === 'writeRich') ? 'writeRich' : 'write'};`,
    '',
    '/** Every operation of the document, by group: method, path, and what the document says of it (`Meta`). */',
    'export const PLACES = {',
    ...values,
    '} as const;',
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
  const fields = [...(form?.fields.values() ?? [])].map(
    (field) =>
      `${field.name}=${formKind(document, id, field)}${items(dependent[field.name])
        .map((needed) => `>${String(needed)}`)
        .join('')}`,
  );
  return [id, flags.join(''), ...fields].join(' ');
}

/** The function of the runtime that writes what an operation sends: none for a read without a form. */
function writerOf(document: unknown, operation: Operation): 'write' | 'writeRich' | undefined {
  const { id, form, readOnly } = operation;
  if (!form && readOnly && !isOnce(operation)) return undefined;
  return [...(form?.fields.values() ?? [])].every((field) => /^[sib]([!*]|$)/.test(formKind(document, id, field))) ? 'write' : 'writeRich';
}

/** The imports of those that are needed. */
function writersOf(document: unknown, operations: readonly Operation[]): string[] {
  const writers = new Set(operations.map((operation) => writerOf(document, operation)));
  return [
    ...(writers.has('writeRich') ? [`import { writeRich } from '../runtime/rich-form.ts';`] : []),
    ...(writers.has('write') ? [`import { write } from '../runtime/writing.ts';`] : []),
  ];
}

/** A letter for the type, what joins the items of a list (`+`: the field is repeated, `_`: a space), `!` where it is required, `*` where it is secret. */
function formKind(document: unknown, id: string, { name, pointer, kind, items: itemKind, separator, required }: FormField): string {
  const { format, 'x-secret': secret } = members(follow(document, { $ref: `#${pointer}` }));
  const letters = {
    string: format === 'date-time' ? 'd' : format === 'date' ? 'D' : 's',
    integer: 'i',
    number: 'n',
    boolean: 'b',
  } as const;
  const marks = (required ? '!' : '') + (secret === true ? '*' : '');
  if (kind === 'json' || kind === 'unsupported' || /[ =>*!]/.test(name))
    throw new Error(`The field ${name} of ${id} is of a kind that src/runtime/rich-form.ts does not write. Teach it, then generate.`);
  return (kind === 'array' ? letters[itemKind] + (separator ?? '+').replace(' ', '_') : letters[kind]) + marks;
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
    `export function ${id}(${['client: Client', ...inputs(document, operation), 'options?: CallOptions'].join(', ')}): Call<types.${typeName(id)}Success['data']> {`,
    `  return sdk.${id}({ ${sent.join(', ')} });`,
    '}',
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
  return typeof pattern === 'string' && /^\^\[[0-9]-9\](\{\d+(,\d*)?\}|[+*])?\$$/.test(pattern);
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
