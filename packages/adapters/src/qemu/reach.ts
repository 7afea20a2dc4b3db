/** Connections to the ports of VMs. */
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { monitor } from './qmp.ts';

const CONNECT_MS = 5_000;
const MONITOR_MS = 2_000;
const POLL_MS = 50;

/** Whether an address accepts a connection. */
export function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    function end(isReached: boolean) {
      socket.destroy();
      resolve(isReached);
    }
    socket.once('connect', () => end(true));
    for (const event of ['timeout', 'error'] as const) socket.once(event, () => end(false));
  });
}

/**
 * Whether a guest accepts a connection to a port that QEMU forwards. QEMU itself accepts each connection, so its table of connections says whether
 * the guest has.
 *
 * @param forwarded The port of 127.0.0.1.
 */
export async function guestAccepts(folder: string, forwarded: number): Promise<boolean> {
  const established = new RegExp(`TCP\\[ESTABLISHED\\]\\s+\\d+\\s+127\\.0\\.0\\.1\\s+${forwarded}\\s`);
  const socket = connect(forwarded, '127.0.0.1');
  // QEMU ends the connection that the guest refuses.
  socket.on('error', () => {});
  socket.resume();
  const until = performance.now() + CONNECT_MS;
  try {
    while (!socket.closed && performance.now() < until) {
      if (established.test(await monitor(folder, 'info usernet', MONITOR_MS))) return true;
      await wait(POLL_MS);
    }
    return false;
  } finally {
    socket.destroy();
  }
}
