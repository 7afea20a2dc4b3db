/** Line-delimited JSON over a unix socket: the protocol of QEMU's monitor (QMP) and of its guest agent. */
import { open } from 'node:fs/promises';
import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

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
    return await work(jsonSocketOn(socket));
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

function jsonSocketOn(socket: Socket): JsonSocket {
  const waiting = new Set<(message: Message | undefined) => void>();
  const early: Message[] = [];
  function endWaiting() {
    for (const receive of waiting) receive(undefined);
  }
  socket.on('error', endWaiting);
  socket.on('close', endWaiting);
  const lines = createInterface({ input: socket });
  // It emits the errors of its input again.
  lines.on('error', endWaiting);
  lines.on('line', (line) => {
    const message = parsed(line);
    if (message === undefined) return;
    if (waiting.size === 0) early.push(message);
    for (const receive of waiting) receive(message);
  });
  return {
    send: (message) => void socket.write(`${JSON.stringify(message)}\n`),
    next(accept, timeoutMs) {
      const known = early.findIndex(accept);
      if (known >= 0) return Promise.resolve(early.splice(0, known + 1).at(-1) ?? {});
      const { promise, resolve, reject } = Promise.withResolvers<Message>();
      const timer = setTimeout(() => receive(undefined), timeoutMs);
      function receive(message: Message | undefined) {
        if (message !== undefined && !accept(message)) return;
        clearTimeout(timer);
        waiting.delete(receive);
        if (message === undefined) reject(new QemuCommandError(`There was no answer within ${timeoutMs} ms.`));
        else resolve(message);
      }
      waiting.add(receive);
      return promise;
    },
  };
}

/** The guest agent begins a delimited answer with a byte that is not JSON. */
function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line.replace(/^[^{]*/, ''));
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
