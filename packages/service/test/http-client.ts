/** The HTTP client of the tests: requests from the operations of a document, on a socket or injected into the application. */
import { createValidator, fillPath, parseDocument, pathPattern, readOperations, responseFor, writeForm } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import resellerDocument from '@reseller/openapi/service.json' with { type: 'json' };
import type { FastifyInstance } from 'fastify';

/** The input of one call. */
export interface Sent {
  readonly path?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, unknown>>;
  /** A raw body instead of a form. */
  readonly body?: string;
  /** Media type of the body. Default: that of a form. */
  readonly contentType?: string;
  /** Null for none. */
  readonly apiKey?: string | null;
  readonly idempotencyKey?: string;
}

/** A response. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the shape that it asks for, and the document was checked
  readonly body: any;
}

export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Sends a request and returns its response. */
export type Transport = (request: HttpRequest) => Promise<Received>;

export function overSocket(baseUrl: string): Transport {
  return ({ method, url, headers, body }) => receive(fetch(baseUrl + url, { method, headers, ...(body !== undefined && { body }) }));
}

/** Reads a response of `fetch` to its end. */
export async function receive(response: Promise<Response>): Promise<Received> {
  const ended = await response;
  return toReceived(ended.status, ended.headers, await ended.text());
}

/** Sends requests without a socket. */
export function injectedInto(app: FastifyInstance): Transport {
  return async ({ method, url, headers, body }) => {
    const response = await app.inject({ method: methodOf(method), url, headers, ...(body !== undefined && { payload: body }) });
    const pairs = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
    return toReceived(response.statusCode, new Headers(pairs), response.payload);
  };
}

function toReceived(status: number, headers: Headers, text: string): Received {
  const isJson = /^application\/([\w.-]+\+)?json\b/.test(headers.get('content-type') ?? '');
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** One of the two documents. */
export interface DescribedApi {
  readonly operations: readonly Operation[];
  operation(id: string): Operation;
  /** The operation that a request belongs to. */
  operationAt(method: string, url: string): Operation | undefined;
  /**
   * Checks a response against the document.
   *
   * @throws Error if the document does not describe the status, the media type or the body.
   */
  check(operation: Operation, response: Received): void;
}

export function describedApi(document: unknown): DescribedApi {
  const api = parseDocument(document);
  const validator = createValidator(api, { brief: true });
  const operations = readOperations(api);
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  const patterns = operations.map((operation) => ({ operation, pattern: pathPattern(operation.path) }));
  return {
    operations,
    operation(id) {
      const operation = byId.get(id);
      if (!operation) throw new Error(`The document has no operation ${id}.`);
      return operation;
    },
    operationAt(method, url) {
      const { pathname } = new URL(url, 'http://localhost');
      return patterns.find(({ operation, pattern }) => operation.method === method.toUpperCase() && pattern.test(pathname))?.operation;
    },
    check({ id, ...operation }, { status, headers, text, body }) {
      const described = responseFor({ id, ...operation }, status);
      if (!described) throw new Error(`${id} returned ${status}, which the document does not describe: ${text}`);
      const mediaTypes = Object.keys(described.content);
      if (text === '' && mediaTypes.length === 0) return;
      const type = headers.get('content-type')?.split(';')[0] ?? '';
      const pointer = described.content[type]?.pointer;
      if (pointer === undefined)
        throw new Error(`${id} returned ${status} as "${type}", but the document describes ${mediaTypes.join(', ')}.`);
      const problems = validator.compile(pointer)(type === 'text/csv' ? text : body);
      if (problems.length > 0)
        throw new Error(`${id} returned ${status} with a body that the document does not describe: ${JSON.stringify(problems)} ${text}`);
    },
  };
}

export const resellerApi = describedApi(resellerDocument);
export const operatorApi = describedApi(operatorDocument);

/** The request of a reseller for an operation. */
export function resellerRequest(operation: Operation, sent: Sent, defaultApiKey: string): HttpRequest {
  const apiKey = sent.apiKey === undefined ? defaultApiKey : sent.apiKey;
  const body = sent.body ?? (sent.form && writeForm(operation, sent.form));
  return {
    method: operation.method,
    url: fillPath(operation.path, sent.path ?? {}),
    headers: {
      ...(apiKey !== null && { 'x-service-apikey': apiKey }),
      ...(sent.idempotencyKey !== undefined && { 'idempotency-key': sent.idempotencyKey }),
      ...(body !== undefined && { 'content-type': sent.contentType ?? 'application/x-www-form-urlencoded' }),
    },
    body,
  };
}

/** The request of an operator, with a JSON body if one is given. */
export function operatorRequest(method: string, url: string, token: string, body?: unknown): HttpRequest {
  const headers = { authorization: `Bearer ${token}` };
  if (body === undefined) return { method, url, headers };
  return { method, url, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Calls an operation as a reseller and checks the response against the document. */
export async function callOperation(transport: Transport, id: string, sent: Sent, defaultApiKey: string): Promise<Received> {
  const operation = resellerApi.operation(id);
  const response = await transport(resellerRequest(operation, sent, defaultApiKey));
  resellerApi.check(operation, response);
  return response;
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const;

function methodOf(method: string): (typeof METHODS)[number] {
  const known = METHODS.find((candidate) => candidate === method);
  if (!known) throw new Error(`${method} is not a method that Fastify can inject.`);
  return known;
}
