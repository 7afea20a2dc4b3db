import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../mock/src/main.ts', import.meta.url));

/** The mock as a process of its own, as apps do not import one another. */
export async function startMockProcess(): Promise<{ readonly url: URL; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [MAIN], { env: { ...process.env, MOCK_PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  for await (const line of createInterface(child.stdout)) {
    const address = /^Mock: (\S+)$/.exec(line)?.[1];
    if (address === undefined) continue;
    // Whatever it prints from here on is read, so that it never waits for a reader.
    child.stdout.resume();
    return {
      url: new URL(address),
      stop: async () => {
        child.kill();
        await exited;
      },
    };
  }
  throw new Error('The mock ended before it said its address.');
}
