/** The network between the nodes and their database, as something that can fail. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

import { onTestFinished } from 'vitest';

export interface Proxy {
  /** The database's connection string by way of the proxy. */
  readonly url: string;
  /** Breaks every connection and takes no further one. */
  cut(): Promise<void>;
  /** Lets nothing through any more, on connections that stay open and on new ones; nobody is told. */
  swallow(): void;
  /** Lets new connections through again; those from before stay as they are. */
  mend(): Promise<void>;
}

/** A proxy in front of a database, which ends with the test. */
export async function proxyTo(url: string): Promise<Proxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let swallowing = false;

  const server = createServer((client) => {
    keep(client);
    if (swallowing) return;
    const database = connect(Number(target.port), target.hostname);
    keep(database);
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.on('data', (chunk) => to.write(chunk));
      from.on('close', () => to.destroy());
    }
  });
  function keep(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  }
  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }
  async function close(): Promise<void> {
    const closed = server.listening ? once(server, 'close') : undefined;
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await listen(0);
  onTestFinished(close);
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  return {
    url: through.href,
    cut: close,
    swallow() {
      swallowing = true;
      // Neither side hears anything of the other again, not even its end.
      for (const socket of sockets) {
        socket.removeAllListeners('data');
        socket.removeAllListeners('close');
        socket.on('close', () => sockets.delete(socket));
        socket.resume();
      }
    },
    async mend() {
      swallowing = false;
      if (!server.listening) await listen(port);
    },
  };
}
