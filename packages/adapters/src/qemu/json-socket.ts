/** Line-delimited JSON over a unix socket: the protocol of QEMU's monitor (QMP) and of its guest agent. */
import { open } from 'node:fs/promises';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';

/** QEMU or the guest refused a command, or did not answer. */
export class QemuCommandError extends Error {
  override readonly name = 'QemuCommandError';
}

export type Message = Readonly<Record<string, unknown>>;

export interface JsonSocket {
  send(message: Message): void;
  /** The next message that `accept` accepts. @throws QemuCommandError after the timeout, or if the other side closes. */
  next(accept: (message: Message) => boolean, timeoutMs: number): Promise<Message>;
}

/** Connects for the duration of `work`. @throws QemuCommandError if nothing listens. */
export async function withJsonSocket<T>(folder: string, name: string, work: (socket: JsonSocket) => Promise<T>): Promise<T> {
  const socket = await connectIn(folder, name);
  try {
    return await work(jsonSocketOn(socket, name));
  } finally {
    socket.destroy();
  }
}

/** Connects to a unix socket in a folder. @throws QemuCommandError if nothing listens. */
export async function connectIn(folder: string, name: string): Promise<Socket> {
  // The path of a unix socket has at most 107 bytes. A path below /proc/self/fd stays short, wherever the folder is.
  const directory = await open(folder, 'r');
  try {
    return await connected(`/proc/self/fd/${directory.fd}/${name}`, join(folder, name));
  } finally {
    await directory.close();
  }
}

function connected(path: string, shown: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = createConnection(path);
  socket.once('connect', () => resolve(socket));
  socket.once('error', (cause) => reject(new QemuCommandError(`Nothing listens on ${shown}.`, { cause })));
  return promise;
}

/** The guest is not trusted, so a message, a connection and the number of messages have limits. */
const MAX_MESSAGE_BYTES = 64 * 1024;
const MAX_BYTES = 4 * 1024 ** 2;
const MAX_MESSAGES = 1_000;

/** @param name Names the other side in errors. */
function jsonSocketOn(socket: Socket, name: string): JsonSocket {
  const waiting = new Set<(received: Message | QemuCommandError) => void>();
  const early: Message[] = [];
  let failure: QemuCommandError | undefined;

  function fail(error: QemuCommandError): void {
    failure ??= error;
    socket.destroy();
    for (const receive of waiting) receive(failure);
  }
  function closed(): void {
    fail(new QemuCommandError(`The other side closed ${name} before it answered.`));
  }
  socket.on('error', closed);
  socket.on('close', closed);
  const take = lineReader((line) => {
    const message = parsed(line);
    if (message === undefined) return;
    if (waiting.size === 0) early.push(message);
    for (const receive of waiting) receive(message);
  });
  socket.on('data', (bytes: Buffer) => {
    const excess = failure === undefined ? take(bytes) : undefined;
    if (excess !== undefined) fail(new QemuCommandError(`${name} got ${excess}, so the connection was closed.`));
  });
  return {
    send: (message) => void socket.write(`${JSON.stringify(message)}\n`),
    next(accept, timeoutMs) {
      const known = early.findIndex(accept);
      if (known >= 0) return Promise.resolve(early.splice(0, known + 1).at(-1) ?? {});
      if (failure !== undefined) return Promise.reject(failure);
      const { promise, resolve, reject } = Promise.withResolvers<Message>();
      const timer = setTimeout(() => receive(new QemuCommandError(`${name} gave no answer within ${timeoutMs} ms.`)), timeoutMs);
      function receive(received: Message | QemuCommandError) {
        const isFailure = received instanceof QemuCommandError;
        if (!isFailure && !accept(received)) return;
        clearTimeout(timer);
        waiting.delete(receive);
        if (isFailure) reject(received);
        else resolve(received);
      }
      waiting.add(receive);
      return promise;
    },
  };
}

/** @returns A function that takes bytes and passes complete lines on. It returns what exceeds a limit, and nothing otherwise. */
function lineReader(onLine: (line: string) => void): (bytes: Buffer) => string | undefined {
  let rest: Buffer[] = [];
  let [restBytes, total, lines] = [0, 0, 0];
  return (bytes) => {
    total += bytes.length;
    if (total > MAX_BYTES) return `more than ${MAX_BYTES} bytes`;
    let from = 0;
    for (let end = bytes.indexOf(NEW_LINE); end >= 0; end = bytes.indexOf(NEW_LINE, from)) {
      if (restBytes + end - from > MAX_MESSAGE_BYTES) return `a message of more than ${MAX_MESSAGE_BYTES} bytes`;
      lines += 1;
      if (lines > MAX_MESSAGES) return `more than ${MAX_MESSAGES} messages`;
      onLine(Buffer.concat([...rest, bytes.subarray(from, end)]).toString('utf8'));
      [rest, restBytes, from] = [[], 0, end + 1];
    }
    rest.push(bytes.subarray(from));
    restBytes += bytes.length - from;
    return restBytes > MAX_MESSAGE_BYTES ? `a message of more than ${MAX_MESSAGE_BYTES} bytes` : undefined;
  };
}

const NEW_LINE = 0x0a;

/** The guest agent begins a delimited answer with a byte that is not JSON. */
function parsed(line: string): Message | undefined {
  const start = line.indexOf('{');
  if (start < 0) return undefined;
  try {
    const value: unknown = JSON.parse(line.slice(start));
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
