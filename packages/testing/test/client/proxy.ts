/** A proxy between a client and a service, all on sockets. It loses requests and responses, and can respond instead of the service. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

/** The fate of one attempt. */
export type Fate =
  | { readonly kind: 'pass' }
  /** The connection is reset, before or after the service carried out the request. */
  | { readonly kind: 'reset'; readonly when: When }
  /** No response comes. */
  | { readonly kind: 'hang'; readonly when: When }
  /** The response breaks off within its body. */
  | { readonly kind: 'cut' }
  /** A page replaces the response. */
  | { readonly kind: 'page'; readonly when: When; readonly page: Page };

export type When = 'before' | 'after';

export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ProxyOptions {
  /** Which requests are attempts of purchases. Default is each PUT. */
  readonly isPurchase?: (request: IncomingMessage) => boolean;
  /** Removes the idempotency key from requests and its lifetime from responses, like a server that honours no keys. */
  readonly withoutKeys?: boolean;
  /** Removes reads of the request log from the log. */
  readonly withoutReadsInLog?: boolean;
  /** Is called for a request to `/advance/<milliseconds>`, with which a client lets the service sleep as long as itself. */
  readonly advance?: (milliseconds: number) => void;
}

export interface Proxy {
  readonly baseUrl: string;
  /** Sets the fates of the next attempts of purchases, in order. */
  plan(...fates: readonly Fate[]): void;
  /** Sets the fates of the attempts of each purchase that names itself in the header `x-purchase`. */
  planEach(fatesOf: (purchase: string) => readonly Fate[]): void;
  /** Number of requests to a path. */
  count(path: string): number;
  close(): void;
}

/** A response of the service. */
interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

const LOG_PATH = '/account/requests';
const PAGE_SIZE = 50;

export async function startProxy(target: string, options: ProxyOptions = {}): Promise<Proxy> {
  const fates: Fate[] = [];
  let fatesOf: (purchase: string) => readonly Fate[] = () => [];
  const fatesOfPurchases = new Map<string, Fate[]>();
  const { isPurchase = ({ method }: IncomingMessage) => method === 'PUT' } = options;
  function nextFate(request: IncomingMessage): Fate | undefined {
    if (!isPurchase(request)) return undefined;
    const purchase = request.headers['x-purchase'];
    if (typeof purchase !== 'string') return fates.shift();
    const planned = fatesOfPurchases.get(purchase) ?? [...fatesOf(purchase)];
    fatesOfPurchases.set(purchase, planned);
    return planned.shift();
  }
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    const [, milliseconds] = /^\/advance\/(\d+)$/.exec(path) ?? [];
    if (milliseconds !== undefined) {
      options.advance?.(Number(milliseconds));
      response.end();
      return;
    }
    counts.set(path, (counts.get(path) ?? 0) + 1);
    void handle(request, response, { target, options, fate: nextFate(request) ?? { kind: 'pass' } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${portOf(server)}`,
    plan: (...planned) => void fates.splice(0, fates.length, ...planned),
    planEach: (chosen) => void (fatesOf = chosen),
    count: (path) => counts.get(path) ?? 0,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server does not listen on a port.');
  return address.port;
}

interface Handling {
  readonly target: string;
  readonly options: ProxyOptions;
  readonly fate: Fate;
}

async function handle(request: IncomingMessage, response: ServerResponse, { target, options, fate }: Handling): Promise<void> {
  const body = await text(request);
  const forward = () => send(target, request, body, options);
  if (fate.kind === 'pass' || fate.kind === 'cut') {
    const reply = await forward();
    response.writeHead(reply.status, headersOf(reply));
    if (fate.kind === 'pass') return void response.end(reply.body);
    response.write(reply.body.slice(0, reply.body.length / 2), () => request.socket.resetAndDestroy());
    return;
  }
  if (fate.when === 'after') await forward();
  if (fate.kind === 'hang') return;
  if (fate.kind === 'reset') return void request.socket.resetAndDestroy();
  const { page } = fate;
  response.writeHead(page.status, { ...page.headers, 'content-length': Buffer.byteLength(page.body) }).end(page.body);
}

async function send(target: string, request: IncomingMessage, body: string, options: ProxyOptions): Promise<Reply> {
  const { method = 'GET', url = '/' } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    const isDropped =
      name === 'host' || name === 'connection' || name === 'content-length' || (options.withoutKeys && name === 'idempotency-key');
    if (typeof value === 'string' && !isDropped) headers.set(name, value);
  }
  const fetchAt = async (form: string): Promise<Reply> => {
    const response = await fetch(target + url, { method, headers, redirect: 'manual', ...(form !== '' && { body: form }) });
    const kept = new Headers(response.headers);
    if (options.withoutKeys) kept.delete('idempotency-key-lifetime');
    return { status: response.status, headers: kept, body: await response.text() };
  };
  if (options.withoutReadsInLog && url === LOG_PATH) return withoutReads(body, fetchAt);
  return fetchAt(body);
}

/** A page of the log without the reads of the log. */
async function withoutReads(form: string, fetchAt: (form: string) => Promise<Reply>): Promise<Reply> {
  const offset = Number(new URLSearchParams(form).get('offset') ?? 0);
  const kept: unknown[] = [];
  const first = await fetchAt('');
  for (let from = 0; ; from += PAGE_SIZE) {
    // Each of these reads is logged too and shifts the log by one entry.
    const reply = from === 0 ? first : await fetchAt(`offset=${from + from / PAGE_SIZE}`);
    const { data }: { data: { endpoint: string }[] } = JSON.parse(reply.body);
    kept.push(...data.filter(({ endpoint }) => endpoint !== LOG_PATH));
    if (data.length < PAGE_SIZE) break;
  }
  const envelope: object = JSON.parse(first.body);
  return { ...first, body: JSON.stringify({ ...envelope, data: kept.slice(offset, offset + PAGE_SIZE) }) };
}

function headersOf({ headers, body }: Reply): Record<string, string | number> {
  const kept = [...headers].filter(([name]) => name !== 'content-encoding' && name !== 'transfer-encoding' && name !== 'connection');
  return { ...Object.fromEntries(kept), 'content-length': Buffer.byteLength(body) };
}
