/** Runs command lines that the project prints in real shells, against a server that writes down what arrives. */
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A request as it arrived. */
export interface ArrivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

/** A server that sends the same response to each request. */
export interface Recorder {
  readonly baseUrl: string;
  readonly arrived: readonly ArrivedRequest[];
  close(): void;
}

export async function startRecorder(status = 418, body = 'noted'): Promise<Recorder> {
  const arrived: ArrivedRequest[] = [];
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers } = request;
    arrived.push({ method, url, headers, body: await text(request) });
    response.writeHead(status).end(body);
  }
  const server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    baseUrl: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    arrived,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Shell {
  readonly program: string;
  readonly args: readonly string[];
}

/** A shell that runs a script, and one into which a person pastes a line. An interactive shell replaces `!` by its history. */
const SHELLS: readonly Shell[] = [
  { program: 'sh', args: [] },
  { program: 'bash', args: ['--norc', '--noprofile', '-i'] },
].filter(({ program }) => spawnSync(program, ['-c', 'exit 0']).status === 0);

/** The reason why this machine cannot run command lines. Undefined if it can. */
export const whyNoCommandLines: string | undefined = findReason();
if (whyNoCommandLines !== undefined) process.stdout.write(`Command lines are not run in a shell here: ${whyNoCommandLines}.\n`);

function findReason(): string | undefined {
  if (process.platform === 'win32') return 'they are written for the shells of Unix';
  if (SHELLS.length === 0) return 'there is no shell';
  return spawnSync('curl', ['--version']).status === 0 ? undefined : 'there is no curl';
}

/**
 * Runs lines in each shell of this machine, in an empty folder and without the settings of the user.
 *
 * @throws Error if a line creates a file, for example because a shell runs a command in a hostile value.
 */
export async function runInShells(lines: readonly string[], environment: Readonly<Record<string, string>>): Promise<void> {
  for (const { program, args } of SHELLS) {
    const folder = mkdtempSync(join(tmpdir(), 'command-line-'));
    try {
      await new Promise<void>((resolve) => {
        const env = { PATH: process.env['PATH'], LANG: 'C.UTF-8', HOME: folder, HISTFILE: '/dev/null', ...environment };
        const child = execFile(program, args, { cwd: folder, env, timeout: 50_000 }, () => resolve());
        child.stdin?.end(lines.map((line) => `${line}\n`).join(''));
      });
      const left = readdirSync(folder);
      if (left.length > 0) throw new Error(`A line left ${left.join(', ')} behind.`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}

/** The number of shells in which `runInShells` runs each line. */
export const SHELL_COUNT = SHELLS.length;

/** Texts with characters that mean something to a shell, curl, a form or a URL. */
export const HOSTILE_TEXTS: readonly string[] = [
  `it's`,
  `''; touch made; '`,
  '"; touch made; "',
  '$(touch made)',
  '`touch made`',
  '${HOME}',
  '!1 !!',
  'a\nb\r\nc\td',
  'a\\b\\',
  '@/etc/hostname',
  '<made >made |cat &',
  '[1-3]{a,b}#c?d&e=f+g%20h',
  '%27%%s',
  'ä€😀\u202e\u0000\u007f',
  ' ',
  '~ *',
  '-o made',
];
