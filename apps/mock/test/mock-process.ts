import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export type MockProcess = ChildProcessByStdio<null, Readable, Readable>;

/** Starts the mock as `pnpm start` does. */
export function startMockProcess(settings: Readonly<Record<string, string>>): MockProcess {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  return spawn(process.execPath, [main], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The address that the mock prints once it listens. */
export async function addressOf(mock: MockProcess): Promise<string> {
  mock.stdout.setEncoding('utf8');
  const [line] = await Promise.race([once(mock.stdout, 'data'), once(mock, 'exit')]);
  const address = /^Mock: (http:\/\/127\.0\.0\.1:\d+)\n/.exec(String(line))?.[1];
  if (address === undefined) throw new Error(`The mock did not print an address but: ${String(line)}`);
  // Later output must not fill the pipe, which is no longer read.
  mock.stdout.resume();
  return address;
}
