import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../mock/src/main.ts', import.meta.url));

/** Starts the mock in a separate process, because apps do not import each other. */
export async function startMockProcess(): Promise<{ readonly url: URL; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [MAIN], { env: { ...process.env, MOCK_PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) {
    const address = /^Mock: (\S+)$/.exec(line)?.[1];
    if (address === undefined) continue;
    // Reads the remaining output, so that the process does not block on a full pipe.
    child.stdout.resume();
    return {
      url: new URL(address),
      stop: async () => {
        child.kill();
        await exited;
      },
    };
  }
  throw new Error('The mock ended before it printed its address.');
}
