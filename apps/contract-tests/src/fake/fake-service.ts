import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createMatcher, readForm, readOperations, type OpenApiDocument, type Operation } from '@reseller/contract';
import type { Defect, Exchange, FakeAnswer } from '@reseller/contract/engine';
import { createFakeState, type FakeState } from './state.ts';

/** The key that it knows. */
export const FAKE_KEY = 'example-key-of-the-fake-service';

/** A service made of a document alone, which keeps all that the document says; `defects` say where it does not. */
export interface FakeService {
  readonly url: string;
  /** The operations that were called, in order. */
  readonly called: readonly string[];
  /** Every request, as method and path. */
  readonly requests: readonly string[];
  /** Presents a one-time code, as a third party would. */
  presentOtp(code: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Changes of answers. */
export type Tamper = Defect['tamper'];

/** Starts it on a free port of this machine. */
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
        : answer({
            document,
            state,
            operation: found.operation,
            parameters: found.parameters,
            key: keyOf(request, found.operation),
            body,
            query: Object.fromEntries(searchParams),
          });
    send(response, tamper(exchange) ?? exchange.answer);
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

interface Asked {
  readonly document: OpenApiDocument;
  readonly state: FakeState;
  readonly operation: Operation;
  readonly parameters: Readonly<Record<string, string>>;
  readonly key: Exchange['key'];
  readonly body: string;
  readonly query: Readonly<Record<string, string>>;
}

function answer({ document, state, operation, parameters, key, body, query }: Asked): Exchange {
  const form = operation.form === undefined ? undefined : readForm(operation, body);
  const outcome = key !== 'account' ? 'unauthorized' : state.outcome(operation, parameters, form);
  const success: Exchange['success'] = (page) =>
    state.succeed(operation, parameters, page === 'first page' ? { form: undefined, query: {} } : { form, query });
  const given = outcome === 'success' ? success() : state.refusal(operation, outcome);
  return { document, operation, method: operation.method, outcome, key, form, query, answer: given, success };
}

function keyOf(request: IncomingMessage, { security }: Operation): Exchange['key'] {
  const given = security === undefined ? FAKE_KEY : request.headers[security.header.toLowerCase()];
  return given === undefined ? 'none' : given === FAKE_KEY ? 'account' : 'wrong';
}

function send(response: ServerResponse, { status, headers, body }: FakeAnswer): void {
  response.writeHead(status, { ...headers }).end(typeof body === 'string' ? body : JSON.stringify(body));
}
