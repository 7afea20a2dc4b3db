/** The page with the console of a VM, and the WebSocket that connects it to the screen of the machine. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

import type { FastifyInstance } from 'fastify';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type { RawData, WebSocket } from 'ws';

import { forgetSession, isConsoleLink, keepSessions, openConsoleSession } from '../../core/vm/console.ts';
import type { ConsoleSession } from '../../core/vm/console.ts';
import { Refusal } from '../../rules/refusal.ts';
import { CONSOLE_PATH } from '../../rules/vm-console.ts';
import { addressOfUpgrade } from '../shared/client-address.ts';
import type { HttpContext } from '../shared/context.ts';
import { refuseMissingFiles } from '../shared/missing-files.ts';
import { isNovncFile, novncDirectory } from './novnc-files.ts';
import { PAGE, SCRIPT, STYLES } from './vm-console-page.ts';

const SESSION_PATH = `${CONSOLE_PATH}/session`;
const DAY_SECONDS = 86_400;
/** Bytes of a message from a browser. The longest ones are texts of its clipboard. */
const MAX_MESSAGE_BYTES = 256 * 1024;
/** Sessions of an instance. */
const MAX_SESSIONS = 1_000;
/** Bytes of the reason of a close (RFC 6455, 5.5). */
const MAX_REASON_BYTES = 123;
/** Checks without an answer of the browser after which it counts as gone. */
const MAX_MISSED = 3;
/** How long a stop waits for browsers to confirm the end of their sessions. */
const LINGER_MS = 1_000;
const LINGER_POLL_MS = 10;

/** Codes of RFC 6455, and our own ones. */
const CLOSE = { goingAway: 1001, failed: 1011, ended: 4000, refused: 4003 } as const;

const VM_ENDED = 'The VM was stopped or restarted. Get a new link.';

/** The types of messages that a person causes (RFC 6143, 7.5): a key, the mouse, the clipboard, and a key as QEMU extends it. */
const INPUT_TYPES: ReadonlySet<number | undefined> = new Set([4, 5, 6, 255]);

/** Whether a request asks for the WebSocket of a console. Others that ask for an upgrade get a plain response. */
export function isConsoleUpgrade({ url = '', headers }: IncomingMessage): boolean {
  return url.split('?', 1)[0] === SESSION_PATH && headers.upgrade?.toLowerCase() === 'websocket';
}

/** Serves the page at /vm-console/, and its WebSocket. */
export async function serveVmConsole(app: FastifyInstance, context: HttpContext): Promise<void> {
  await servePage(app, context);
  const consoles = createConsoles(context);
  app.server.on('upgrade', (request, stream, head) => {
    stream.on('error', () => stream.destroy());
    if (isConsoleUpgrade(request)) consoles.accept(request, stream, head);
    else stream.destroy();
  });
  app.addHook('preClose', () => consoles.close());
}

async function servePage(app: FastifyInstance, { runtime: { publicUrl } }: Pick<HttpContext, 'runtime'>): Promise<void> {
  const root = novncDirectory();
  if (root === undefined) return;
  const { default: fastifyStatic } = await import('@fastify/static');
  await app.register(
    async (site) => {
      site.addHook('onSend', (_request, reply, payload, done) => {
        const socket = publicUrl().replace(/^http/, 'ws');
        reply.headers({
          'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ${new URL(socket).origin}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
          'x-frame-options': 'DENY',
          'referrer-policy': 'no-referrer',
          'cross-origin-opener-policy': 'same-origin',
          'cross-origin-resource-policy': 'same-origin',
        });
        done(null, payload);
      });
      site.get('/', (_request, reply) => reply.type('text/html; charset=utf-8').send(PAGE));
      site.get('/page.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(SCRIPT));
      site.get('/page.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(STYLES));
      refuseMissingFiles(site, () => new Refusal(404, 'not_found', 'There is no such file. Open a link of POST /vm/{vmid}/console.'));
      await site.register(fastifyStatic, {
        root,
        prefix: '/novnc/',
        index: false,
        redirect: false,
        cacheControl: false,
        allowedPath: isNovncFile,
        setHeaders: (reply) => void reply.header('cache-control', `public, max-age=${DAY_SECONDS}`),
      });
    },
    { prefix: CONSOLE_PATH },
  );
}

interface Open {
  readonly session: ConsoleSession;
  readonly socket: WebSocket;
  /** By the clock of the process, in milliseconds. */
  lastInput: number;
  /** Checks since the browser answered last. */
  missed: number;
}

/** The sessions of this instance, with their dependencies. */
interface Consoles {
  readonly context: HttpContext;
  readonly open: Set<Open>;
}

function createConsoles(context: HttpContext) {
  const { runtime, logger, isStopping, trustedProxies, failedAuthentications } = context;
  const { store, ports } = runtime;
  const consoles: Consoles = { context, open: new Set() };
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: true,
    maxPayload: MAX_MESSAGE_BYTES,
    // The response must not repeat the secret.
    handleProtocols: (protocols) => (protocols.has('binary') ? 'binary' : false),
  });
  const timer = setInterval(() => {
    checkConsoles(consoles).catch((error: unknown) =>
      logger.warn({ err: error }, 'the open consoles were not checked; they are checked again'),
    );
  }, runtime.consoleLimits.checkMs).unref();
  /** Only a link takes one of the sessions, so that nobody without one can take them all. */
  async function upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const secret = secretIn(request);
    if (!(await store.read((db) => isConsoleLink(db, secret, ports.clock.now())))) {
      failedAuthentications.note('reseller', addressOfUpgrade(request, trustedProxies));
      return refuse(stream, '401 Unauthorized', 'This link was used or has expired. Get a new one with POST /vm/{vmid}/console.');
    }
    if (isStopping() || sockets.clients.size >= MAX_SESSIONS)
      return refuse(stream, '503 Service Unavailable', 'Get a new link and open it in a minute.');
    sockets.handleUpgrade(request, stream, head, (socket) => {
      connectConsole(consoles, socket, secret).catch((error: unknown) => {
        if (error instanceof Refusal) return closeWith(socket, CLOSE.refused, error.message);
        logger.error({ err: error }, 'a console could not be opened');
        return closeWith(socket, CLOSE.failed, 'The console could not be opened. Get a new link.');
      });
    });
  }
  return {
    accept(request: IncomingMessage, stream: Duplex, head: Buffer): void {
      const { origin } = new URL(runtime.publicUrl());
      if (request.headers.origin !== origin) return refuse(stream, '403 Forbidden', `Open the console on a page of ${origin}.`);
      upgrade(request, stream, head).catch((error: unknown) => {
        logger.error({ err: error }, 'the link of a console could not be looked up');
        refuse(stream, '503 Service Unavailable', 'Open the link again in a minute.');
      });
    },
    async close(): Promise<void> {
      clearInterval(timer);
      for (const socket of sockets.clients) closeWith(socket, CLOSE.goingAway, 'The service restarts. Get a new link.');
      const deadline = performance.now() + LINGER_MS;
      while (sockets.clients.size > 0 && performance.now() < deadline) await wait(LINGER_POLL_MS);
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

async function connectConsole({ context, open }: Consoles, socket: WebSocket, secret: string): Promise<void> {
  const { runtime, logger } = context;
  const { store, ports, consoleLimits } = runtime;
  // Nothing is lost until the machine is connected.
  socket.pause();
  socket.on('error', () => socket.terminate());
  const session = await store.commit(({ db }) => openConsoleSession(db, secret, consoleLimits, ports.clock.now()));
  const about = { vm: session.vmId, account: session.accountId };
  const one: Open = { session, socket, lastInput: performance.now(), missed: 0 };
  function forgetConsole(): void {
    open.delete(one);
    logger.info(about, 'a console was closed');
    store
      .commit(({ db }) => forgetSession(db, session.hash))
      .catch((error: unknown) => logger.warn({ err: error }, 'a closed console stays in the store until its time is over'));
  }
  // The browser may have gone while the session was opened.
  if (socket.readyState === socket.CLOSED) return forgetConsole();
  open.add(one);
  socket.on('message', (data) => void (isInput(data) && (one.lastInput = performance.now())));
  socket.on('pong', () => (one.missed = 0));
  socket.once('close', forgetConsole);
  logger.info(about, 'a console was opened');
  const screen = await ports.hypervisor.console?.(session.vmId);
  if (screen && socket.readyState === socket.OPEN) return relay(socket, screen);
  screen?.destroy();
  closeWith(socket, CLOSE.failed, 'The VM has no console at the moment. Get a new link.');
}

/** Ends the sessions that may not go on, that nobody uses, or whose browser has gone. */
async function checkConsoles({ context, open }: Consoles): Promise<void> {
  const { store, ports, consoleLimits } = context.runtime;
  if (open.size === 0) return;
  const checked = [...open];
  const hashes = checked.map(({ session }) => session.hash);
  const allowed = await store.commit(({ db }) => keepSessions(db, hashes, ports.clock.now()));
  for (const one of checked) {
    const { session, socket } = one;
    const vmState = allowed.get(session.hash);
    if (vmState === undefined) closeWith(socket, CLOSE.refused, 'The time is over, or the console is no longer allowed.');
    else if (vmState !== 'running') closeWith(socket, CLOSE.ended, VM_ENDED);
    else if (performance.now() - one.lastInput > consoleLimits.idleMs)
      closeWith(socket, CLOSE.ended, 'Nobody used the console. Get a new link.');
    else if (++one.missed > MAX_MISSED) socket.terminate();
    else socket.ping();
  }
}

/** Connects both directions. Each side is read only as fast as the other one takes it. */
function relay(socket: WebSocket, screen: Duplex): void {
  const browser = createWebSocketStream(socket);
  // `pipeline` would end the connection without the reason.
  browser.on('error', () => socket.terminate()).pipe(screen, { end: false });
  screen.on('error', () => screen.destroy()).pipe(browser, { end: false });
  for (const event of ['end', 'close']) screen.once(event, () => closeWith(socket, CLOSE.ended, VM_ENDED));
  socket.once('close', () => screen.destroy());
}

function closeWith(socket: WebSocket, code: number, reason: string): void {
  // A closing handshake needs the messages of the other side.
  socket.resume();
  socket.close(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES));
}

/** The secret is the second protocol that the page offers, because a page cannot set other headers of a WebSocket. */
function secretIn({ headers }: IncomingMessage): string {
  return headers['sec-websocket-protocol']?.split(',')[1]?.trim() ?? '';
}

function isInput(data: RawData): boolean {
  return INPUT_TYPES.has(data instanceof Buffer ? data[0] : undefined);
}

function refuse(stream: Duplex, status: string, text: string): void {
  stream.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}
