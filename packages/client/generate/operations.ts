/** Each operation as a function that needs no knowledge of the wire, with its facts. */
import { readOperations } from '@reseller/contract';
import type { FormField, OpenApiDocument, Operation } from '@reseller/contract';

import { follow, items, members, quoted, source } from './json.ts';

/** `operations.gen.ts` */
export function writeOperations(document: OpenApiDocument): string {
  const operations = readOperations(document);
  return [
    `import type { Call } from '../runtime/call.ts';`,
    `import { writeForm } from '../runtime/form.ts';`,
    `import type { CallOptions, Client, Reconciling } from '../runtime/options.ts';`,
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

/** `functions.gen.ts`: all functions in one object, apart from them, so that who imports one does not get all. */
export function writeFunctions(document: OpenApiDocument): string {
  const names = readOperations(document).map(({ id }) => id);
  return [
    `import { ${names.join(', ')} } from './operations.gen.ts';`,
    '',
    '/** Every operation of the document, by its operationId. */',
    `export const FUNCTIONS: Readonly<Record<string, unknown>> = { ${names.join(', ')} };`,
    '',
  ].join('\n');
}

/** The facts of an operation that the runtime goes by. */
function factsOf(document: OpenApiDocument, operation: Operation): Record<string, unknown> {
  const { id, billable, readOnly, retry, form } = operation;
  const dependent = members(members(form?.schema)['dependentRequired']);
  return {
    id,
    safe: retry === 'safe' || undefined,
    billable: billable || undefined,
    reads: readOnly || undefined,
    keyed: operation.parameters.some(({ name }) => name === 'Idempotency-Key') || undefined,
    page: pageSize(document, operation),
    form: form && Object.fromEntries([...form.fields.values()].map((field) => [field.name, formKind(document, id, field)])),
    needs: Object.keys(dependent).length > 0 ? dependent : undefined,
  };
}

/** A letter for the type, `!` where it is required, then what joins the items of a list (`*`: the field is repeated). */
function formKind(document: unknown, id: string, { name, pointer, kind, items: itemKind, separator, required }: FormField): string {
  const { format } = members(follow(document, { $ref: `#${pointer}` }));
  const letters = {
    string: format === 'date-time' ? 'd' : format === 'date' ? 'D' : 's',
    integer: 'i',
    number: 'n',
    boolean: 'b',
  } as const;
  const need = required ? '!' : '';
  if (kind === 'array') return letters[itemKind] + need + (separator ?? '*');
  if (kind === 'json' || kind === 'unsupported')
    throw new Error(`The field ${name} of ${id} is of a kind that src/runtime/form.ts does not write. Teach it, then generate.`);
  return letters[kind] + need;
}

/** How many entries an answer that is a list holds at the most. */
function pageSize(document: unknown, operation: Operation): number | undefined {
  const schema = operation.responses['200']?.content['application/json']?.schema;
  for (const part of [schema, ...items(members(schema)['allOf'])]) {
    const data = members(follow(document, members(members(follow(document, part))['properties'])['data']));
    if (typeof data['maxItems'] === 'number') return data['maxItems'];
  }
  return undefined;
}

/** Whether a second sending may have a second effect. */
function isOnce({ retry }: Operation): boolean {
  return retry === 'never';
}

function writeFunction(document: OpenApiDocument, operation: Operation): string {
  const { id, form } = operation;
  const path = pathNames(operation);
  const sent = [
    '...options',
    'client',
    ...(path.length > 0 ? [`path: { ${path.join(', ')} }`] : []),
    ...(form ? ['body: form'] : []),
    `meta: ${id}Facts`,
  ];
  return [
    `const ${id}Facts = ${form ? source(factsOf(document, operation)).replace('{ ', '{ write: writeForm, ') : source(factsOf(document, operation))} as const;`,
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
