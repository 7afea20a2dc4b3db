/** The streamable HTTP transport, for clients on this machine. A page in a browser cannot use it: it has neither the token nor an allowed origin. */
import { randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';

import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { errorText } from '@reseller/contract';

import { EXIT, Failure } from '../failure.ts';
import { stateFolder } from '../folders.ts';
import { createPrivate, readIfPresent } from '../private-file.ts';

const ADDRESS = '127.0.0.1';
const PATH = '/mcp';
/** Sessions at once, those of clients that have gone included. */
const MAX_SESSIONS = 32;

/**
 * Serves until the program is ended.
 *
 * @param create Makes a server for each client.
 * @param tell Gets the address, and the file with the bearer token.
 */
export async function serveHttp(
  env: NodeJS.ProcessEnv,
  create: () => Server,
  port: number,
  tell: (url: string, tokenFile: string) => void,
): Promise<void> {
  const { file, token } = readToken(env);
  const sessions = new Map<string, Connection>();
  const http = createServer((request, response) => {
    const refusal = refusalOf(request, token, http.address());
    if (refusal) return refuse(response, refusal);
    handle(request, response).catch((error: unknown) => refuse(response, [500, errorText(error)]));
  });
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (typeof id === 'string' && known) return use(id, known, request, response);
    if (id !== undefined) return refuse(response, [404, 'The session has ended. Initialize a new one.']);
    if (sessions.size >= MAX_SESSIONS && !(await endIdle()))
      return refuse(response, [503, `${MAX_SESSIONS} clients are connected, and more are not possible. End one of them.`]);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, { transport, requests: 0 }),
      onsessionclosed: (session) => void sessions.delete(session),
    });
    await create().connect(transport);
    await transport.handleRequest(request, response);
  }
  async function use(id: string, session: Connection, request: IncomingMessage, response: ServerResponse): Promise<void> {
    // The session that was used last is the last of the map.
    sessions.delete(id);
    sessions.set(id, session);
    session.requests++;
    response.once('close', () => void session.requests--);
    await session.transport.handleRequest(request, response);
  }
  /** Ends the session that has been idle for the longest time: a client that has crashed ends none. @returns False if none is idle. */
  async function endIdle(): Promise<boolean> {
    const [id, session] = [...sessions].find(([, { requests }]) => requests === 0) ?? [];
    if (id === undefined || !session) return false;
    sessions.delete(id);
    await session.transport.close();
    return true;
  }
  http.listen(port, ADDRESS);
  await Promise.race([
    once(http, 'listening'),
    once(http, 'error').then(([error]) => {
      throw new Failure(`The port ${port} cannot be used: ${errorText(error)}.`, EXIT.failed, error);
    }),
  ]);
  tell(`http://${hostOf(http.address())}${PATH}`, file);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => http.close());
  process.once('SIGINT', () => http.closeAllConnections());
  process.once('SIGTERM', () => http.closeAllConnections());
  await once(http, 'close');
}

interface Connection {
  readonly transport: StreamableHTTPServerTransport;
  /** Requests that are open, such as the stream of a connected client. */
  requests: number;
}

type Refusal = readonly [status: number, message: string];

function refusalOf(
  { headers, url }: IncomingMessage,
  token: string,
  address: ReturnType<ReturnType<typeof createServer>['address']>,
): Refusal | undefined {
  const hosts = new Set([hostOf(address), hostOf(address).replace(ADDRESS, 'localhost')]);
  if (!hosts.has(headers.host ?? '')) return [403, 'The Host header is not the address of this server.'];
  if (headers.origin !== undefined && !hosts.has(headers.origin.replace('http://', ''))) return [403, 'The origin is not allowed.'];
  if (!isEqual(headers.authorization ?? '', `Bearer ${token}`)) return [401, 'The bearer token is missing or wrong.'];
  return url === PATH ? undefined : [404, `The address of this server ends in ${PATH}.`];
}

function isEqual(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function hostOf(address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  return `${ADDRESS}:${typeof address === 'object' ? (address?.port ?? '') : ''}`;
}

function refuse(response: ServerResponse, [status, message]: Refusal): void {
  if (response.headersSent) return void response.end();
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }));
}

/** The token stays the same, so that the configuration of a client does, too. */
function readToken(env: NodeJS.ProcessEnv): { readonly file: string; readonly token: string } {
  const file = join(stateFolder(env), 'mcp-token');
  createPrivate(file, `${randomBytes(32).toString('base64url')}\n`);
  const token = readIfPresent(file)?.trim();
  if (!token) throw new Failure(`The file ${file} has no token. Delete it, and start again.`, EXIT.failed);
  return { file, token };
}
