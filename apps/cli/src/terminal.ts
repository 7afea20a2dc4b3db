/** The streams of the program. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';

import { EXIT, Failure } from './failure.ts';
import type { Io } from './io.ts';

/** Writes a result. The promise resolves when the system has it. */
export function print({ stdout }: Io, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Writes a remark for a person, so that the standard output has the result alone. */
export function note({ stderr }: Io, text: string): void {
  stderr.write(`${text}\n`);
}

export function isInteractive({ stdin, stderr }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks a question whose answer is yes or no. Anything but yes is no. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await ask(io, `${question} [y/N] `));
}

async function ask({ stdin, stderr }: Io, question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

/** Reads a secret without showing it: from the terminal, else from a line of the standard input. */
export async function readSecret(io: Io, question: string): Promise<string> {
  const { stdin, stderr } = io;
  if (!isInteractive(io)) return readLine(stdin);
  stderr.write(question);
  stdin.setRawMode?.(true);
  try {
    return await typedLine(stdin);
  } finally {
    stdin.setRawMode?.(false);
    stdin.pause();
    stderr.write('\n');
  }
}

async function readLine(input: Readable): Promise<string> {
  const lines = createInterface({ input });
  for await (const line of lines) return line.trim();
  throw new Failure('The standard input is empty. It must have the key in one line.');
}

const [CONTROL_C, CONTROL_D, BACKSPACE, DELETE] = ['\u0003', '\u0004', '\b', '\u007f'];

function typedLine(input: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = '';
    function take(chunk: Buffer): void {
      for (const character of chunk.toString('utf8')) {
        if (character === '\r' || character === '\n') return end(() => resolve(typed.trim()));
        if (character === CONTROL_C || character === CONTROL_D) return end(() => reject(new Failure('Cancelled.', EXIT.notConfirmed)));
        typed = character === BACKSPACE || character === DELETE ? typed.slice(0, -1) : typed + character;
      }
    }
    function end(conclude: () => void): void {
      input.off('data', take);
      conclude();
    }
    input.on('data', take);
    input.resume();
  });
}

/** Opens an address. Without a browser nothing happens, because the address is printed. */
export function openInBrowser(url: string): void {
  const program = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open';
  spawn(program, [url], { detached: true, stdio: 'ignore' })
    .on('error', () => {})
    .unref();
}
