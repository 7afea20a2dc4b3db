/** The groups of `createReseller`. Each method calls the function of `sdk.gen.ts`, with positional parameters and the document's descriptions. */
import { readOperations } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';

import type { Places } from '../src/places.ts';
import { factsOf, isPaged } from './facts.ts';
import { follow, isNumeric, items, members, quoted } from './json.ts';

/**
 * `groups.gen.ts`
 *
 * @throws Error if an operation has no place, or a place has no operation.
 */
export function writeGroups(document: OpenApiDocument, places: Places): string {
  const operations = operationsAt(document, places);
  const writer = { types: methodType(document, operations), values: method(operations) };
  return moduleOf(importsFrom('../'), [
    '/** Every operation, by group. */',
    'export interface Groups {',
    ...walk(places, writer.types, ';'),
    '}',
    '',
    '/** The groups of a client. */',
    'export const groupsOf = (client: Client): Groups => ({',
    ...walk(places, writer.values, ','),
    '});',
  ]);
}

/** `extension/groups.gen.ts`: the groups of the specification with the operations that a document adds or describes differently. */
export function writeExtendedGroups(document: OpenApiDocument, specified: Places, extension: Places, added: readonly Operation[]): string {
  const places = mergePlaces(limitTo(specified, new Set(added.map(({ id }) => id))), extension);
  const operations = operationsAt(document, places);
  function base(within: readonly string[]): string {
    return ['BaseGroups', ...within.map((name) => `['${name}']`)].join('');
  }
  function isNew(within: readonly string[]): boolean {
    return groupAt(specified, within) === undefined;
  }
  const imports = [
    ...importsFrom('../../'),
    `import { groupsOf as baseGroupsOf } from '../groups.gen.ts';`,
    `import type { Groups as BaseGroups } from '../groups.gen.ts';`,
  ];
  return moduleOf(imports, [
    '/** Every operation of the specification and its extension, by group. */',
    `export interface Groups extends Omit<BaseGroups, ${namesOf(places)}> {`,
    ...walk(places, methodType(document, operations), ';', {
      opening: (within, inner) => (isNew(within) ? '{' : `Omit<${base(within)}, ${namesOf(inner)}> & {`),
    }),
    '}',
    '',
    '/** The groups of a client. */',
    'export const groupsOf = (client: Client): Groups => {',
    '  const base = baseGroupsOf(client);',
    '  return {',
    '    ...base,',
    ...walk(places, method(operations), ',', {
      members: (within) => (isNew(within) ? [] : [`...base.${within.join('.')},`]),
      indent: '    ',
    }),
    '  };',
    '};',
  ]);
}

/** The text of a module with the imports that it uses. */
function moduleOf(imports: readonly string[], lines: readonly string[]): string {
  const body = lines.join('\n');
  const used = imports.filter((line) => {
    const [, name = ''] = /(?:\{ (?:\w+ as )?|\* as )(\w+)/.exec(line) ?? [];
    return new RegExp(`\\b${name}\\b`).test(body);
  });
  return [...used, '', body, ''].join('\n');
}

function importsFrom(up: string): string[] {
  return [
    `import { callOptions } from '${up}runtime/check-options.ts';`,
    `import { pagedCall } from '${up}paged-call.ts';`,
    `import type { PagedCall } from '${up}paged-call.ts';`,
    `import type { Call } from '${up}runtime/call.ts';`,
    `import type { Client } from '${up}runtime/client.ts';`,
    `import type { RequestOptions } from '${up}runtime/options.ts';`,
    `import type { KeyedList } from '${up}runtime/shape.ts';`,
    `import * as sdk from './sdk.gen.ts';`,
    `import type * as types from './types.gen.ts';`,
  ];
}

type Write = (name: string, id: string) => readonly string[];

interface Layout {
  readonly opening?: (within: readonly string[], inner: Places) => string;
  /** Lines at the beginning of a group. */
  readonly members?: (within: readonly string[]) => readonly string[];
  readonly indent?: string;
}

function walk(places: Places, write: Write, end: ';' | ',', layout: Layout = {}, within: readonly string[] = []): string[] {
  const { opening = () => '{', members: more = () => [], indent = '  ' } = layout;
  return Object.entries(places).flatMap(([name, place]) => {
    if (typeof place === 'string') return write(name, place).map((line) => indent + line);
    const path = [...within, name];
    const deeper = { ...layout, indent: `${indent}  ` };
    return [
      `${indent}${end === ';' ? 'readonly ' : ''}${name}: ${opening(path, place)}`,
      ...more(path).map((line) => `${indent}  ${line}`),
      ...walk(place, write, end, deeper, path),
      `${indent}}${end}`,
    ];
  });
}

function namesOf(places: Places): string {
  return Object.keys(places).map(quoted).join(' | ');
}

function groupAt(places: Places, within: readonly string[]): Places | undefined {
  const place = within.reduce<Places | string | undefined>((at, name) => (typeof at === 'object' ? at[name] : undefined), places);
  return typeof place === 'object' ? place : undefined;
}

function operationsAt(document: OpenApiDocument, places: Places): ReadonlyMap<string, Operation> {
  const operations = new Map(readOperations(document).map((operation) => [operation.id, operation]));
  const placed = new Set(idsIn(places));
  for (const id of placed) if (!operations.has(id)) throw new Error(`src/places.ts names ${id}, which the document does not have.`);
  return operations;
}

/** The places of some operations. */
function limitTo(places: Places, ids: ReadonlySet<string>): Places {
  const limited = Object.entries(places).map(([name, place]) => [name, typeof place === 'string' ? place : limitTo(place, ids)] as const);
  return Object.fromEntries(limited.filter(([, place]) => (typeof place === 'string' ? ids.has(place) : Object.keys(place).length > 0)));
}

/** The groups of two documents in one. */
function mergePlaces(one: Places, other: Places): Places {
  const merged: Record<string, string | Places> = { ...one };
  for (const [name, place] of Object.entries(other)) {
    const present = merged[name];
    if (present === undefined) merged[name] = place;
    else if (typeof present === 'string' || typeof place === 'string') throw new Error(`Two operations have the place ${name}.`);
    else merged[name] = mergePlaces(present, place);
  }
  return merged;
}

/** The identifiers of the operations in places. */
export function idsIn(places: Places): string[] {
  return Object.values(places).flatMap((place) => (typeof place === 'string' ? [place] : idsIn(place)));
}

function methodType(document: OpenApiDocument, operations: ReadonlyMap<string, Operation>): Write {
  return (name, id) => {
    const operation = operationOf(operations, id);
    const data = dataType(document, operation);
    const call = isPaged(operation) ? `PagedCall<(${data})[number]>` : `Call<${data}>`;
    return [...comment(document, operation), `${name}(${parameters(document, operation)}): ${call};`];
  };
}

function method(operations: ReadonlyMap<string, Operation>): Write {
  return (name, id) => {
    const operation = operationOf(operations, id);
    const call = isPaged(operation) ? `pagedCall((offset) => ${sdkCall(operation, '{ ...form, ...offset }')}, form)` : sdkCall(operation);
    const names = [...pathNames(operation), ...(operation.form ? ['form'] : []), 'options'];
    return [`${name}: (${names.join(', ')}) => ${call},`];
  };
}

function operationOf(operations: ReadonlyMap<string, Operation>, id: string): Operation {
  const operation = operations.get(id);
  if (!operation) throw new Error(`The document has no operation ${id}.`);
  return operation;
}

function sdkCall(operation: Operation, form = 'form'): string {
  const path = pathNames(operation);
  const input = [
    '...callOptions(options)',
    'client',
    ...(path.length > 0 ? [`path: { ${path.join(', ')} }`] : []),
    ...(operation.form ? [`body: ${form}`] : []),
  ];
  return `sdk.${operation.id}({ ${input.join(', ')} })`;
}

function parameters(document: unknown, operation: Operation): string {
  const data = `types.${typeName(operation.id)}Data`;
  const path = operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map(
      ({ name, schema }) =>
        `${name}: ${data}['path'][${quoted(name)}]${isNumeric(members(follow(document, schema))['pattern']) ? ' | number' : ''}`,
    );
  const { form } = operation;
  const type = form && formType(document, operation);
  return [...path, ...(form ? [`form${form.required ? '' : '?'}: ${type}`] : []), 'options?: RequestOptions'].join(', ');
}

/** The name of the form's schema, which editors show. */
function formType(document: unknown, { id, pointer }: Operation): string {
  const body = members(follow(document, members(follow(document, { $ref: `#${pointer}` }))['requestBody']));
  const [content] = Object.values(members(body['content']));
  const [, name] = /^#\/components\/schemas\/(\w+)$/.exec(String(members(members(content)['schema'])['$ref'])) ?? [];
  return name === undefined ? `NonNullable<types.${typeName(id)}Data['body']>` : `types.${name}`;
}

function dataType(document: OpenApiDocument, operation: Operation): string {
  const data = `types.${typeName(operation.id)}Success['data']`;
  const { list } = factsOf(document, operation);
  if (!list) return data;
  return 'property' in list ? `${data}[${quoted(list.property)}]` : `KeyedList<${data}, ${quoted(list.keyedBy)}>`;
}

function pathNames({ parameters: all }: Operation): string[] {
  return all.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
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
    ...(operation.retry === 'never'
      ? ['@throws OutcomeUnknownError if the response was lost and the request may have been carried out.']
      : []),
    ...(operation.billable
      ? [
          '@throws CreditLimitError if it would exceed the credit limit.',
          '@throws SpendRefusedError if `beforeBillable` refused it. Nothing was sent.',
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
