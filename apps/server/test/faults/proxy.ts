/** The network between the instances and their database, which can be made to fail. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

import { onTestFinished } from 'vitest';

import { freePort } from '../../../../.config/free-ports.ts';

export interface Proxy {
  /** Connection string of the database through the proxy. */
  readonly url: string;
  /** Breaks every connection and refuses new ones. */
  cut(): Promise<void>;
  /** Silently drops all data, on open and new connections. */
  swallow(): void;
  /** Connects new clients to another server. Existing connections stay as they are. */
  moveTo(url: string): void;
  /** Accepts new connections again; existing ones stay as they are. */
  mend(): Promise<void>;
}

/** A connection of a client. */
export interface Connection {
  /** Drops all further data from the database. */
  mute(): void;
  /** Breaks the connection. */
  cut(): void;
}

/** Sees each message of a client before the database, with the texts of its statements. */
export type Watch = (sent: string, connection: Connection) => void;

/** Starts a proxy in front of a database, which ends with the test. */
export async function proxyTo(url: string, watch: Watch = () => {}): Promise<Proxy> {
  let target = new URL(url);
  const sockets = new Set<Socket>();
  let swallowing = false;

  const server = createServer((client) => {
    keep(client);
    if (swallowing) return;
    const database = connect(Number(target.port), target.hostname);
    keep(database);
    const connection = {
      mute: () => void database.removeAllListeners('data').resume(),
      cut: () => void client.destroy(),
    };
    client.on('data', (chunk) => {
      watch(chunk.toString('latin1'), connection);
      database.write(chunk);
    });
    database.on('data', (chunk) => client.write(chunk));
    client.on('close', () => database.destroy());
    database.on('close', () => client.destroy());
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

  // It listens again after a cut, so no other process may get its port in between.
  await listen(await freePort());
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
      // Neither side receives anything from the other again, not even the end of the connection.
      for (const socket of sockets) {
        socket.removeAllListeners('data');
        socket.removeAllListeners('close');
        socket.on('close', () => sockets.delete(socket));
        socket.resume();
      }
    },
    moveTo(other) {
      target = new URL(other);
    },
    async mend() {
      swallowing = false;
      if (!server.listening) await listen(port);
    },
  };
}
