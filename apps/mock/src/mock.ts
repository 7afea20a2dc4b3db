import { Agent, createServer, request as sendRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { createMatcher, errorText, hasErrorCode, parseDocument, readOperations } from '@reseller/contract';

import { createRuleFinder } from './broken-rules.ts';
import type { BrokenRule, FindBrokenRules } from './broken-rules.ts';
import { errorEnvelope, problemMessage, validationEnvelope } from './envelope.ts';
import { documentForPrism } from './prism-document.ts';
import { startPrism } from './prism.ts';
import { createRepeater } from './repeat-values.ts';
import type { RepeatValues } from './repeat-values.ts';

/** A running mock. */
export interface Mock {
  /** Its address, without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

export interface MockOptions {
  /** The bundle, parsed. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The port to listen on; 0 picks a free port. */
  readonly port: number;
  /** Receives one line about each response. */
  readonly log?: (line: string) => void;
}

interface MockResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer | string;
}

const host = '127.0.0.1';
/** The body limit of the document, in bytes. */
const bodyLimit = 64 * 1024;

/** Prism, and the validator that names the rules of a 422. */
interface Backend {
  readonly port: number;
  readonly agent: Agent;
  readonly findBrokenRules: FindBrokenRules;
  readonly repeatValues: RepeatValues;
}

/**
 * Starts Prism on the document behind a thin layer for its wording. The layer converts errors that Prism generates itself (unknown route,
 * unknown method, …) to the envelope of the document, and names the broken rules of a form, where Prism returns an example.
 *
 * @throws Error if the port is in use; its message is for the user.
 */
export async function startMock({ document, port, log }: MockOptions): Promise<Mock> {
  const prism = await startPrism(documentForPrism(document));
  const agent = new Agent({ keepAlive: true });
  const parsed = parseDocument(document);
  const match = createMatcher(readOperations(parsed));
  const backend: Backend = {
    port: prism.port,
    agent,
    findBrokenRules: createRuleFinder(parsed, match),
    repeatValues: createRepeater(parsed, match),
  };

  const server = createServer(async (request, response) => {
    const mocked = await respond(request, backend);
    response.writeHead(mocked.status, mocked.headers).end(mocked.body);
    log?.(`${request.method} ${request.url} ${mocked.status}${reasonsOf(mocked)}`);
  });
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    agent.destroy();
    await prism.close();
  }

  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  } catch (error) {
    await close();
    if (hasErrorCode(error, 'EADDRINUSE')) {
      throw new Error(`Port ${port} is in use. Set MOCK_PORT to another port, or stop the process that uses it.`, { cause: error });
    }
    throw error;
  }
  return { url: `http://${host}:${portOf(server.address())}`, close };
}

async function respond(request: IncomingMessage, backend: Backend): Promise<MockResponse> {
  try {
    const body = await bodyOf(request);
    if (body === undefined) return refusal(413, 'The body is longer than 64 KiB. Send a shorter form.', {});
    const response = await askPrism(request, body, backend);
    if (response.status === 422) return withBrokenRules(response, backend.findBrokenRules(request.method ?? '', request.url ?? '', body));
    if (response.status === 200) {
      const { method = '', url: path = '' } = request;
      return withBody(200, backend.repeatValues({ method, path, body }, String(response.body)), response.headers);
    }
    if (response.status < 400 || response.headers['content-type'] === 'application/json') return response;
    return refusal(response.status, problemMessage(String(response.body)), response.headers);
  } catch (error) {
    return refusal(500, `The mock failed: ${errorText(error)}`, {});
  }
}

/** Prism's response as it is if the form breaks no rule: the caller asked for the example, or a parameter of the path is invalid. */
function withBrokenRules(response: MockResponse, rules: readonly BrokenRule[]): MockResponse {
  return rules.length === 0 ? response : withBody(422, validationEnvelope(rules), response.headers);
}

async function askPrism(request: IncomingMessage, body: Buffer, { port, agent }: Backend): Promise<MockResponse> {
  const headers = without(request.headers, ['connection', 'transfer-encoding', 'content-length']);
  // Prism checks the content type only of a body with a length, so a chunked body gets one here.
  if (body.length > 0) headers['content-length'] = String(body.length);
  const asked = sendRequest({ host, port, agent, method: request.method, path: request.url, headers });
  const received = new Promise<IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve).once('error', reject);
  });
  asked.end(body);
  const response = await received;
  return {
    status: response.statusCode ?? 500,
    headers: without(response.headers, ['connection', 'keep-alive', 'transfer-encoding']),
    body: await buffer(response),
  };
}

/** The whole body, or undefined if it is too long. A long body is read to its end but not kept. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= bodyLimit) chunks.push(chunk);
  }
  return length <= bodyLimit ? Buffer.concat(chunks) : undefined;
}

function without(headers: MockResponse['headers'], names: readonly string[]): MockResponse['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

function refusal(status: number, message: string, headers: MockResponse['headers']): MockResponse {
  return withBody(status, errorEnvelope(status, message), headers);
}

function withBody(status: number, body: string, headers: MockResponse['headers']): MockResponse {
  const length = String(Buffer.byteLength(body));
  return { status, headers: { ...headers, 'content-type': 'application/json', 'content-length': length }, body };
}

/** Violations of the document in the request or in Prism's response, from Prism's header `sl-violations`. */
function reasonsOf({ headers }: MockResponse): string {
  const messages = String(headers['sl-violations'] ?? '').matchAll(/"message":"((?:[^"\\]|\\.)*)"/g);
  const reasons = [...messages].map(([, message]) => message?.replaceAll('\\"', '"'));
  return reasons.length > 0 ? ` (${reasons.join('; ')})` : '';
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('The mock has no port.');
  return address.port;
}
