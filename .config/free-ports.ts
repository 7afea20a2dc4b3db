import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that systems give to `listen(0)` and to outgoing connections, which begin at 32768 or above. Another process could take such
 * a port before a program that starts slowly listens on it.
 */
const RANGE = { min: 10_000, max: 29_999 };

const chosen = new Set<number>();

/** Ports of 127.0.0.1 for programs that cannot choose one themselves. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(RANGE.min, RANGE.max + 1);
    if (chosen.has(port) || !(await isFree(port))) continue;
    chosen.add(port);
    ports.push(port);
  }
  return ports;
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Whether nothing on this machine listens on the port. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
