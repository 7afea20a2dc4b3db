/** A TCP proxy that a test can cut, as if the server were unavailable. */
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';

import { onTestFinished } from 'vitest';

export interface Way {
  /** The URL through the proxy. */
  readonly url: string;
  /** Ends every connection, and refuses new ones. */
  cut(): Promise<void>;
}

/** Starts a proxy to the server of a URL, such as a connection string. */
export async function wayTo(url: string): Promise<Way> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(Number(port), hostname);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('The proxy has no port.');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(address.port);
  const cut = async () => {
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  onTestFinished(cut);
  return { url: through.href, cut };
}
