/** The two ways to call an operation, with the document's descriptions: a single function, and a method of `createReseller`. */
import { readOperations } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';

import { factsOf, isOpenForm, isPaged } from './facts.ts';
import { follow, items, members, quoted } from './json.ts';
import type { Places } from './places.ts';

/** `operations.gen.ts` */
export function writeFunctions(document: OpenApiDocument): string {
  const operations = readOperations(document);
  return [
    `import type { Call } from '../runtime/call.ts';`,
    `import type { Client } from '../runtime/client.ts';`,
    `import type { FormInput, OpenFormInput } from '../runtime/form-input.ts';`,
    `import type { RequestOptions } from '../runtime/options.ts';`,
    `import type { KeyedList } from '../runtime/shape.ts';`,
    `import * as table from './operation-table.gen.ts';`,
    `import * as sdk from './sdk.gen.ts';`,
    `import type * as types from './types.gen.ts';`,
    '',
    ...operations.flatMap((operation) => writeFunction(document, operation)),
    '/** What each operation returns. */',
    'export interface OperationData {',
    ...operations.map((operation) => `  ${operation.id}: ${dataType(document, operation)};`),
    '}',
    '',
    '/** Operations that must not take effect twice. */',
    `export type OnceOperation = ${operations
      .filter(isOnce)
      .map(({ id }) => quoted(id))
      .join(' | ')};`,
    '',
  ].join('\n');
}

/**
 * `groups.gen.ts`
 *
 * @throws Error if an operation has no place, or a place has no operation.
 */
export function writeGroups(document: OpenApiDocument, places: Places): string {
  const operations = new Map(readOperations(document).map((operation) => [operation.id, operation]));
  const placed = new Set<string>();
  function walk(within: Places, each: (name: string, operation: Operation) => string[], end: string, indent = '  '): string[] {
    return Object.entries(within).flatMap(([name, place]) => {
      if (typeof place !== 'string') {
        const opening = end === ';' ? `${indent}readonly ${name}: {` : `${indent}${name}: {`;
        return [opening, ...walk(place, each, end, `${indent}  `), `${indent}}${end}`];
      }
      const operation = operations.get(place);
      if (!operation) throw new Error(`generate/places.ts names ${place}, which the document does not have.`);
      placed.add(place);
      return each(name, operation).map((line) => indent + line);
    });
  }
  const types = walk(places, (name, operation) => writeMethodType(document, name, operation), ';');
  const values = walk(places, (name, operation) => writeMethod(document, name, operation), ',');
  const missing = [...operations.keys()].filter((id) => !placed.has(id));
  if (missing.length > 0) throw new Error(`Say in generate/places.ts where createReseller offers ${missing.join(', ')}.`);
  return [
    `import type { AnyCallOptions, CallOptions, DryRunOptions, ReconcilingOptions } from '../call-options.ts';`,
    `import type { WithDates } from '../dates.ts';`,
    `import { pagedCall } from '../paged-call.ts';`,
    `import type { PagedCall } from '../paged-call.ts';`,
    `import type { Call } from '../runtime/call.ts';`,
    `import type { Client } from '../runtime/client.ts';`,
    `import type { FormInput, OpenFormInput } from '../runtime/form-input.ts';`,
    `import type { DryRun } from '../runtime/options.ts';`,
    `import type { Recovered } from '../runtime/recovered.ts';`,
    `import type { KeyedList } from '../runtime/shape.ts';`,
    `import * as table from './operation-table.gen.ts';`,
    `import * as sdk from './sdk.gen.ts';`,
    `import type * as types from './types.gen.ts';`,
    '',
    '/** Every operation, by group. With `Dates`, instants are `Date`s. */',
    'export interface Groups<Dates extends boolean = false> {',
    ...types,
    '}',
    '',
    '/** The groups of a client. */',
    'export const groupsOf = <Dates extends boolean>(client: Client): Groups<Dates> => ({',
    ...values,
    '});',
    '',
  ].join('\n');
}

function writeFunction(document: OpenApiDocument, operation: Operation): string[] {
  const parameters = ['client: Client', ...inputs(document, operation), 'options?: RequestOptions'];
  return [
    ...comment(document, operation),
    `export function ${operation.id}(${parameters.join(', ')}): Call<${dataType(document, operation)}> {`,
    `  return ${sdkCall(operation)};`,
    '}',
    '',
  ];
}

function writeMethod(document: OpenApiDocument, name: string, operation: Operation): string[] {
  const call = isPaged(operation) ? `pagedCall((offset) => ${sdkCall(operation, '{ ...form, ...offset }')}, form)` : sdkCall(operation);
  return [`${name}: (${[...inputs(document, operation), 'options?: AnyCallOptions'].join(', ')}) => ${call},`];
}

/** One overload for each way to call it. Each has the description, because editors show that of the overload that is called. */
function writeMethodType(document: OpenApiDocument, name: string, operation: Operation): string[] {
  const data = datedDataType(document, operation);
  const call = isPaged(operation) ? `PagedCall<${itemType(data)}>` : `Call<${data}>`;
  const before = inputs(document, operation);
  const required = before.map((input) => input.replace('?:', ': undefined |'));
  function overload(parameters: readonly string[], returns: string) {
    return [...comment(document, operation), `${name}(${parameters.join(', ')}): ${returns};`];
  }
  return [
    ...overload([...required, 'options: DryRunOptions'], 'Promise<DryRun>'),
    ...(isOnce(operation) ? overload([...required, 'options: ReconcilingOptions'], `Call<Recovered<${data}>>`) : []),
    // Last, because compilers report and `ReturnType` takes the last overload.
    ...overload([...before, 'options?: CallOptions'], call),
  ];
}

function itemType(array: string): string {
  return `(${array})[number]`;
}

function sdkCall(operation: Operation, form = 'form'): string {
  const path = pathNames(operation);
  const input = [
    '...options',
    'client',
    ...(path.length > 0 ? [`path: { ${path.join(', ')} }`] : []),
    ...(operation.form ? [`body: ${form}`] : []),
    `meta: table.${operation.id}`,
  ];
  return `sdk.${operation.id}({ ${input.join(', ')} })`;
}

function inputs(document: unknown, operation: Operation): string[] {
  const data = `types.${typeName(operation.id)}Data`;
  const path = operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, schema }) => `${name}: ${data}['path'][${quoted(name)}]${isDigits(document, schema) ? ' | number' : ''}`);
  const { form } = operation;
  const type = isOpenForm(operation) ? 'OpenFormInput' : 'FormInput';
  return form ? [...path, `form${form.required ? '' : '?'}: ${type}<NonNullable<${data}['body']>>`] : path;
}

/** An identifier of digits may also be the number that another operation returned. */
function isDigits(document: unknown, schema: unknown): boolean {
  const { pattern } = members(follow(document, schema));
  return typeof pattern === 'string' && /^\^(?:\[[0-9]-9\](?:\{\d+(?:,\d*)?\}|[+*])?)+\$$/.test(pattern);
}

function dataType(document: OpenApiDocument, operation: Operation): string {
  const data = `types.${typeName(operation.id)}Success['data']`;
  const { list } = factsOf(document, operation);
  if (!list) return data;
  return 'property' in list ? `${data}[${quoted(list.property)}]` : `KeyedList<${data}, ${quoted(list.keyedBy)}>`;
}

function datedDataType(document: OpenApiDocument, operation: Operation): string {
  const data = dataType(document, operation);
  const { instants = [] } = factsOf(document, operation);
  return instants.length === 0 ? data : `Dates extends true ? WithDates<${data}, ${instants.map(quoted).join(' | ')}> : ${data}`;
}

/** Whether a repeated request may have a second effect. */
function isOnce({ retry }: Operation): boolean {
  return retry === 'never';
}

function pathNames({ parameters }: Operation): string[] {
  return parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
}

function comment(document: unknown, operation: Operation): string[] {
  const written = members(follow(document, { $ref: `#${operation.pointer}` }));
  const lines = [
    operation.summary,
    '',
    ...String(written['description'] ?? '').split('\n'),
    '',
    ...operation.parameters
      .filter((parameter) => parameter.in === 'path')
      .map(({ name, pointer }) => `@param ${name} ${descriptionOf(document, pointer ?? '', name)}`),
    ...(operation.form ? [`@param form ${firstLine(members(written['requestBody'])['description'])}`] : []),
    ...(isOnce(operation) ? ['@throws OutcomeUnknownError if the response was lost and the request may have been carried out.'] : []),
    ...(operation.billable
      ? [
          '@throws CreditLimitError if it would exceed the credit limit.',
          '@throws SpendRefusedError if the spend guard refused it. Nothing was sent.',
        ]
      : []),
    '@throws ResellerError Its class tells the kind of the failure.',
  ];
  return ['/**', ...lines.map((line) => ` * ${line}`.trimEnd()), ' */'];
}

/** The description of a path parameter. It is next to the schema of the parameter. */
function descriptionOf(document: unknown, schemaPointer: string, name: string): string {
  const holder = members(follow(document, { $ref: `#${schemaPointer.replace(/\/schema$/, '')}` }));
  const shared = Object.values(members(members(members(document)['components'])['parameters']))
    .map(members)
    .find((parameter) => parameter['name'] === name);
  return firstLine(holder['description'] ?? shared?.['description']);
}

function firstLine(text: unknown): string {
  return items(String(text ?? '').split('\n')).map(String)[0] ?? '';
}

function typeName(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1);
}
