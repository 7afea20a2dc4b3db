import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const RETRY_MS = 20;

/**
 * Runs `work` while no other process or call on this machine holds the lock of the same name. The lock is a listening socket in the abstract
 * namespace of Linux, which the kernel removes when the process ends, however it ends.
 */
export async function withLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const server = createServer();
    try {
      server.listen({ path: `\0${name}` });
      await once(server, 'listening');
    } catch (error) {
      if (!isInUse(error)) throw error;
      await wait(RETRY_MS);
      continue;
    }
    try {
      return await work();
    } finally {
      server.close();
    }
  }
}

/** Whether a process or call on this machine holds the lock. */
export async function isLocked(name: string): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ path: `\0${name}` });
    await once(server, 'listening');
    server.close();
    return false;
  } catch (error) {
    if (!isInUse(error)) throw error;
    return true;
  }
}

function isInUse(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EADDRINUSE';
}
