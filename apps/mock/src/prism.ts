import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** A running Prism. */
export interface Prism {
  readonly port: number;
  close(): Promise<void>;
}

const LISTENING = /Prism is listening on http:\/\/127\.0\.0\.1:(\d+)/;
/** Ends Prism with this process, even if this process is killed. */
const END_WITH_PARENT = "data:text/javascript,process.once('disconnect',()=>process.exit())";

/**
 * Starts the command line of Prism on a free port.
 *
 * @throws Error with the last lines that Prism printed, if it ends before it listens.
 */
export async function startPrism(document: Readonly<Record<string, unknown>>): Promise<Prism> {
  const folder = await mkdtemp(join(tmpdir(), 'reseller-mock-'));
  const file = join(folder, 'document.json');
  await writeFile(file, JSON.stringify(document));
  const program = createRequire(import.meta.url).resolve('@stoplight/prism-cli/dist/index.js');
  const prism = fork(program, ['mock', '--host', '127.0.0.1', '--port', '0', file], {
    execArgv: [`--import=${END_WITH_PARENT}`],
    // Without colours, the line with the port is easy to find.
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    silent: true,
  });
  const ended = once(prism, 'exit');
  const { stdout, stderr } = prism;
  if (stdout === null || stderr === null) throw new Error('Prism has no output.');
  async function close(): Promise<void> {
    prism.kill();
    await ended;
    // Not earlier, because Prism watches the file and ends when it is gone.
    await rm(folder, { recursive: true, force: true });
  }
  try {
    const port = await waitForPort(stdout, stderr, ended);
    // Prism blocks when its output is not read.
    stdout.resume();
    stderr.resume();
    return { port, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function waitForPort(stdout: Readable, stderr: Readable, ended: Promise<unknown>): Promise<number> {
  const lines: string[] = [];
  const errors = createInterface(stderr).on('line', (line) => lines.push(line));
  const output = createInterface(stdout);
  const found = new Promise<number>((resolve) => {
    output.on('line', (line) => {
      lines.push(line);
      const port = LISTENING.exec(line)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
  try {
    return await Promise.race([
      found,
      ended.then(() => {
        throw new Error(`Prism ended before it was ready. It printed:\n${lines.slice(-5).join('\n')}`);
      }),
    ]);
  } finally {
    errors.close();
    output.close();
  }
}
