import { fillPath } from '@reseller/contract';
import type { OpenApiDocument, Operation, Validator } from '@reseller/contract';
import { discoverCreated, discoverPaths, namedValues } from '@reseller/contract/engine';
import type { Exchange, PathValues } from '@reseller/contract/engine';

/** The path parameters in the examples of a document: the resources that exist in a fake service made from them. */
export function examplePaths(document: OpenApiDocument, operations: readonly Operation[], validator: Validator): readonly PathValues[] {
  const exchanges = operations.flatMap((operation) => exampleExchanges({ document, validator }, operation));
  return operations.flatMap((operation) => {
    if (!operation.path.includes('{')) return [];
    const own = operation.parameters.filter((parameter) => parameter.in === 'path' && parameter.examples.length > 0);
    const examples = own.length === 1 ? own.map(({ name, examples: [first] }) => ({ [name]: String(first) })) : [];
    const created = exchanges
      .map((exchange) => discoverCreated({ document, validator, operation, operations, exchange }))
      .filter((path) => path !== undefined);
    return [...examples, ...discoverPaths({ document, validator, operation, exchanges }), ...created];
  });
}

/** The example responses of an operation, as exchanges with the example path parameters. */
function exampleExchanges(
  source: { readonly document: OpenApiDocument; readonly validator: Validator },
  operation: Operation,
): readonly Exchange[] {
  const { method, responses } = operation;
  const path = operation.parameters
    .filter((parameter) => parameter.in === 'path')
    .map((parameter) => [parameter.name, namedValues(source, parameter)[0]] as const);
  if (path.some(([, value]) => value === undefined)) return [];
  const url = `http://document.example${fillPath(operation.path, Object.fromEntries(path.map(([name, value]) => [name, value ?? ''])))}`;
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, { content }]) =>
      Object.values(content['application/json']?.examples ?? {}).map(({ value }): Exchange => ({
        operation,
        sent: { method, url, headers: {}, body: undefined, credential: 'account', purpose: 'call', detail: '', at: '' },
        status: Number(status),
        headers: {},
        mediaType: 'application/json',
        body: { kind: 'json', value, hasByteOrderMark: false, duplicates: [] },
        echoesCredential: false,
        milliseconds: 0,
      })),
    );
}
