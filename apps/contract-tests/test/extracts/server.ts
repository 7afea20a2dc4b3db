import { createMatcher, createValidator, responseFor, surveyOperations } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';
import { credentialOf, credentialText, readBody, sampleOf } from '@reseller/contract/engine';

import { startServer } from '../raw-server.ts';
import type { ReceivedRequest, RawServer } from '../raw-server.ts';

export const KEY = 'user:key-of-the-extracts';

/**
 * Starts a server that conforms to a document: it requires the credential, knows only the identifiers in the examples, refuses
 * invalid bodies and parameters, and returns the examples.
 */
export function startConforming(document: OpenApiDocument): Promise<RawServer> {
  const { operations } = surveyOperations(document);
  const match = createMatcher(operations);
  const source = { document, validator: createValidator(document, { brief: true, lenient: true }) };
  const known = new Set(
    operations
      .flatMap((operation) => [...examplesOf(operation), ...operation.parameters.flatMap(({ examples }) => examples)])
      .flatMap(leaves),
  );

  /** The status of the response, and the operation that describes its body. */
  function outcome(request: ReceivedRequest): readonly [status: number, operation: Operation | undefined] {
    const found = match(request.method, request.path);
    if (found === undefined) return [operations.some(({ method }) => match(method, request.path) !== undefined) ? 405 : 404, undefined];
    const { operation, parameters } = found;
    const { security, body } = operation;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const url = `http://server.invalid${request.path}?${request.query.toString()}`;
    for (const key of security?.keys ?? []) {
      const credential = credentialOf(key, { url, headers });
      if (credential !== credentialText(key, KEY) && !(security?.optional === true && credential === undefined)) return [401, operation];
    }
    if (Object.values(parameters).some((value) => !known.has(value))) return [404, operation];
    for (const { in: place, name, required, pointer } of operation.parameters) {
      const value = place === 'query' ? (request.query.get(name) ?? undefined) : undefined;
      if (place !== 'query' || pointer === undefined) continue;
      if (value === undefined ? required : [value, Number(value)].every((one) => source.validator.compile(pointer)(one).length > 0))
        return [400, operation];
    }
    const reading = body === undefined ? undefined : readBody(operation, request.body);
    if (
      body !== undefined &&
      reading !== undefined &&
      (reading.issues.length > 0 || source.validator.compile(body.pointer)(reading.values).length > 0)
    )
      return [422, operation];
    return [Number(Object.keys(operation.responses).find((status) => status.startsWith('2'))), operation];
  }

  return startServer((request, response) => {
    const [status, operation] = outcome(request);
    const described = operation === undefined ? undefined : responseFor(operation, status);
    const [type, media] = Object.entries(described?.content ?? {})[0] ?? [];
    const headers = Object.fromEntries(
      Object.entries(described?.headers ?? {}).map(([name, { pointer }]) => [
        name,
        String(pointer === undefined ? '' : sampleOf(source, pointer)?.value),
      ]),
    );
    const example = Object.values(media?.examples ?? {})[0]?.value;
    const value = example ?? (media?.pointer === undefined ? undefined : sampleOf(source, media.pointer)?.value);
    const text = type === undefined || value === undefined ? '' : type.includes('json') ? JSON.stringify(value) : String(value);
    response.writeHead(status, { ...headers, ...(type === undefined ? {} : { 'content-type': type }) }).end(text);
  });
}

function examplesOf({ responses }: Operation): readonly unknown[] {
  return Object.values(responses).flatMap(({ content }) =>
    Object.values(content).flatMap(({ examples }) => Object.values(examples).map(({ value }) => value)),
  );
}

function leaves(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leaves);
  return value === null || value === undefined ? [] : [String(value)];
}
