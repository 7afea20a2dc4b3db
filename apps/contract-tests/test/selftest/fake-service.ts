import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { createMatcher, readOperations } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';
import { credentialOf, credentialText, readBody } from '@reseller/contract/engine';

import type { Defect, FakeExchange, FakeResponse } from './defect.ts';
import { createFakeState } from './state.ts';
import type { FakeState } from './state.ts';

/** The valid key of a fake service. */
export const FAKE_KEY = 'example-key-of-the-fake-service';

/** A service that is generated from a document and conforms to it, except for injected defects. */
export interface FakeService {
  readonly url: string;
  /** Ids of the called operations, in order. */
  readonly called: readonly string[];
  /** Method and path of every request. */
  readonly requests: readonly string[];
  /** Presents a one-time code, as a third party would. */
  presentOtp(code: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Injects a defect into a response. */
export type Tamper = Defect['tamper'];

/** Starts a fake service on a free port of this machine. */
export async function startFakeService(document: OpenApiDocument, tamper: Tamper = () => undefined): Promise<FakeService> {
  const operations = readOperations(document);
  const match = createMatcher(operations);
  const state = createFakeState(document, operations);
  const called: string[] = [];
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const { pathname: path, searchParams } = new URL(request.url ?? '/', 'http://fake.invalid');
    const method = request.method ?? '';
    requests.push(`${method} ${path}`);
    const body = (await buffer(request)).toString();
    const found = match(method, path);
    if (found !== undefined) called.push(found.operation.id);
    const exchange =
      found === undefined
        ? state.refuse(operations.some((operation) => match(operation.method, path) !== undefined) ? 'wrong-method' : 'not-found', method)
        : correctExchange({
            document,
            state,
            operation: found.operation,
            parameters: found.parameters,
            credential: credentialIn(request, found.operation),
            body,
            query: Object.fromEntries(searchParams),
            headers: headersOf(request),
          });
    send(response, tamper(exchange) ?? exchange.response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    called,
    requests,
    presentOtp: async (code) => state.presentOtp(code),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface FakeRequest {
  readonly document: OpenApiDocument;
  readonly state: FakeState;
  readonly operation: Operation;
  readonly parameters: Readonly<Record<string, string>>;
  readonly credential: string | undefined;
  readonly body: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

function correctExchange({ document, state, operation, parameters, credential, body, query, headers }: FakeRequest): FakeExchange {
  const key = keyOf(credential, operation);
  const form = operation.body === undefined ? undefined : readBody(operation, body);
  const outcome = key !== 'account' ? 'unauthorized' : state.outcome(operation, parameters, { form, query, headers });
  const success: FakeExchange['success'] = (page) =>
    state.succeed(operation, parameters, page === 'first page' ? { form: undefined, query: {} } : { form, query });
  const given = outcome === 'success' ? success() : state.refusal(operation, outcome);
  return { document, operation, method: operation.method, outcome, key, credential, form, query, response: given, success };
}

function credentialIn(request: IncomingMessage, { security }: Operation): string | undefined {
  const [key] = security?.keys ?? [];
  if (key === undefined) return FAKE_KEY;
  return credentialOf(key, { url: `http://fake.invalid${request.url ?? '/'}`, headers: headersOf(request) });
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function keyOf(given: string | undefined, { security }: Operation): FakeExchange['key'] {
  const [key] = security?.keys ?? [];
  const expected = key === undefined ? FAKE_KEY : credentialText(key, FAKE_KEY);
  return given === undefined ? 'none' : given === expected ? 'account' : 'wrong';
}

function send(response: ServerResponse, { status, headers, body, isCut = false }: FakeResponse): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  if (!isCut) return void response.writeHead(status, { ...headers }).end(text);
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) });
  response.write(text.slice(0, -1), () => response.destroy());
}
