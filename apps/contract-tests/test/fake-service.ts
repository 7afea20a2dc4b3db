import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createMatcher, readOperations, type OpenApiDocument, type Operation } from '@reseller/contract';

export const API_KEY = 'example-key-of-the-fake-service';

/** What is answered, before it goes out. */
export interface FakeAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
}

/** Changes of answers by operationId: what a service might get wrong. */
export type Defects = Readonly<Record<string, (answer: FakeAnswer) => FakeAnswer>>;

export interface FakeService {
  readonly url: string;
  /** The operations that were called, in order. */
  readonly called: readonly string[];
  close(): Promise<void>;
}

/** A service that answers every operation with the first success example of the document, and knows one API key. */
export async function startFakeService(document: OpenApiDocument, defects: Defects = {}): Promise<FakeService> {
  const match = createMatcher(readOperations(document));
  const called: string[] = [];
  const server = createServer((request, response) => {
    const operation = match(request.method ?? '', new URL(request.url ?? '/', 'http://fake.invalid').pathname)?.operation;
    if (operation === undefined) {
      send(response, { status: 404, contentType: 'text/plain', body: 'no such operation' });
      return;
    }
    called.push(operation.id);
    const answer = example(operation, isKnown(request, operation) ? '200' : '401');
    send(response, defects[operation.id]?.(answer) ?? answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    called,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isKnown(request: IncomingMessage, { security }: Operation): boolean {
  return security === undefined || request.headers[security.header.toLowerCase()] === API_KEY;
}

function example({ id, responses }: Operation, status: string): FakeAnswer {
  const [found] = Object.values(responses[status]?.content['application/json']?.examples ?? {});
  if (found === undefined) throw new Error(`The document has no example for ${id} ${status}.`);
  return { status: Number(status), contentType: 'application/json', body: found.value };
}

function send(response: ServerResponse, { status, contentType, body }: FakeAnswer): void {
  response.writeHead(status, { 'content-type': contentType }).end(typeof body === 'string' ? body : JSON.stringify(body));
}
