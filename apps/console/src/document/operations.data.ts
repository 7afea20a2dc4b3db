/** The facts of the document of the operator API about each operation. */
import { joinPointer, keysOf, parseDocument, readOperations, schemaNodes, valueAt } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import type { OperationId } from '@reseller/operator-client';

import type { DescribedConsequence } from './consequence.ts';

const document = parseDocument(operatorDocument);

interface Facts extends Pick<Operation, 'method' | 'path' | 'summary' | 'destructive'> {
  readonly scope: string;
  readonly sandboxOnly: boolean;
  /** The operation that returns the resource whose version this one takes, and its path. */
  readonly versionedBy?: Pick<Operation, 'id' | 'path'> | undefined;
  /** Whether a header lets the operation only create its resource, and not replace one. */
  readonly mayOnlyCreate: boolean;
  readonly consequence?: DescribedConsequence | undefined;
  /** The operation that states the price of a request to this one, and the titles of the values in its response. Undefined if there is none. */
  readonly quote?: { readonly id: string; readonly titles: Readonly<Record<string, string>> } | undefined;
  /** The path of the secret in its response that no operation returns again, such as `['issued', 'key']`. Undefined if it has none. */
  readonly secret?: readonly string[] | undefined;
}

const readable = new Set(
  readOperations(document)
    .filter(({ readOnly }) => readOnly)
    .flatMap(secretsOf)
    .map(({ mark }) => mark),
);

export const operations: Readonly<Record<OperationId, Facts>> = Object.assign(
  {},
  ...readOperations(document).map((operation) => ({ [operation.id]: factsOf(operation) })),
);

function factsOf(operation: Operation): Facts {
  const { method, path, summary, destructive, pointer } = operation;
  const { 'x-scope': scope, 'x-sandbox-only': sandboxOnly, 'x-consequence': consequence } = Object(valueAt(document, pointer));
  const secret = secretsOf(operation).find(({ mark }) => !readable.has(mark));
  return {
    method,
    path,
    summary,
    destructive,
    scope: String(scope),
    sandboxOnly: sandboxOnly === true,
    consequence,
    quote: quoteOf(operation),
    secret: secret?.path,
    versionedBy: readerOf(operation),
    mayOnlyCreate: operation.parameters.some(({ name }) => name === 'If-None-Match'),
  };
}

/** The operation of the path, or of the nearest path above, that reads. Undefined if the operation takes no version. */
function readerOf({ path, parameters }: Operation): Pick<Operation, 'id' | 'path'> | undefined {
  if (!parameters.some(({ name }) => name === 'If-Match')) return undefined;
  const readers = readOperations(document).filter(({ method, path: read }) => method === 'GET' && `${path}/`.startsWith(`${read}/`));
  const [nearest] = readers.toSorted((one, other) => other.path.length - one.path.length);
  return nearest && { id: nearest.id, path: nearest.path };
}

/** The operation at the same path followed by `/quote`. */
function quoteOf({ path }: Operation): Facts['quote'] {
  const quote = readOperations(document).find((one) => one.path === `${path}/quote`);
  const response = quote?.responses['200']?.content['application/json']?.pointer;
  if (quote === undefined || response === undefined) return undefined;
  const titles = schemaNodes(document, response).flatMap(({ schema, pointer }) =>
    keysOf(schema, 'properties').map((name) => [name, String(valueAt(document, joinPointer(pointer, 'properties', name, 'title')))]),
  );
  return { id: quote.id, titles: Object.fromEntries(titles) };
}

interface Secret {
  /** Pointer to the schema that has `x-secret`. */
  readonly mark: string;
  readonly path: readonly string[];
}

/** The secrets in the JSON of a successful response. */
function secretsOf({ responses }: Operation): Secret[] {
  return Object.entries(responses).flatMap(([status, { content }]) => {
    const pointer = content['application/json']?.pointer;
    return status.startsWith('2') && pointer !== undefined ? secretsIn(pointer, []) : [];
  });
}

function secretsIn(schema: string, path: readonly string[]): Secret[] {
  return schemaNodes(document, schema).flatMap((node) => [
    ...(node.schema['x-secret'] === true ? [{ mark: node.pointer, path }] : []),
    ...keysOf(node.schema, 'properties').flatMap((name) => secretsIn(joinPointer(node.pointer, 'properties', name), [...path, name])),
    ...(node.schema['items'] === undefined ? [] : secretsIn(joinPointer(node.pointer, 'items'), [...path, '0'])),
  ]);
}
