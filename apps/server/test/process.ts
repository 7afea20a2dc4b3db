/** The server as a process, for tests. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { onTestFailed, onTestFinished } from 'vitest';

import { printedFact } from '../../../.config/printed-fact.ts';
import { serverProgram } from '../../../.config/server-program.ts';

/** Maximum length of the log that is shown when a test fails, in characters. */
export const MOST_SHOWN = 10_000;

/** The VM of the demo account of every sandbox. */
export const SAMPLE_VM = 48_213;

/** A Node and the file that it runs. */
export interface Program {
  readonly node: string;
  readonly main: string;
}

/** The sources as a program, for a test that replaces one of their modules. It takes longer to start. */
export const SOURCE: Program = { node: process.execPath, main: sourceOf('main') };

/** The source of the process or of a command. */
export function sourceOf(command: string): string {
  return resolve(import.meta.dirname, `../src/${command}.ts`);
}

function bundled(): Program {
  return { node: process.execPath, main: serverProgram() };
}

/** A started server. */
export interface Server {
  readonly process: ChildProcess;
  readonly baseUrl: string;
  readonly operatorUrl: string;
  /** API key of the demo account; empty for a live service. */
  readonly apiKey: string;
  /** The text that it printed before it was ready. */
  readonly welcome: string;
  /** Its log so far, one line of JSON for each event. */
  logged(): string;
  /** Sends a signal, waits for the end and returns the exit code, or null if the signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'server-test-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A process that has ended. */
export interface Ran {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Starts a server on a free port and waits until it is ready. It ends with the test.
 *
 * @param meanwhile Makes it ready. Its parameter returns the log so far.
 */
export async function startServer(
  environment: Readonly<Record<string, string>>,
  program: Program = bundled(),
  meanwhile: (logged: () => string) => Promise<void> = async () => {},
): Promise<Server> {
  const child = run(environment, program);
  const logged = logOf(child);
  onTestFinished(() => void child.kill('SIGKILL'));
  onTestFailed(
    () => void process.stderr.write(`The server ${child.pid} (exit code ${child.exitCode}) logged:\n${logged().slice(-MOST_SHOWN)}\n`),
  );
  const [server] = await Promise.all([whenReady(child, logged), meanwhile(logged)]);
  return server;
}

/** Starts a server in `beforeAll`, for tests that only read. The caller ends it. */
export async function startSharedServer(environment: Readonly<Record<string, string>>): Promise<Server> {
  const child = run(environment, bundled());
  return whenReady(child, logOf(child));
}

/** Keeps reading the log of a server while it runs, because a full pipe would block it. */
function logOf({ stderr }: ServerProcess): () => string {
  let logged = '';
  stderr.on('data', (chunk) => (logged += String(chunk)));
  return () => logged;
}

async function whenReady(child: ServerProcess, logged: () => string): Promise<Server> {
  let welcome = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    welcome += String(chunk);
    if (/^curl .*\n/m.test(welcome) || /, live\n[^]* Data .*\n\n/.test(welcome)) break;
  }
  const fact = (label: string): string => printedFact(welcome + logged(), label);
  return {
    process: child,
    baseUrl: fact('Base URL'),
    operatorUrl: fact('Operator'),
    apiKey: welcome.includes(', live\n') ? '' : fact('API key'),
    welcome,
    logged,
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = once(child, 'exit');
      child.kill(signal);
      const [code] = await ended;
      return typeof code === 'number' ? code : null;
    },
  };
}

/** Runs a server that should exit by itself. */
export async function runServer(environment: Readonly<Record<string, string>>): Promise<Ran> {
  const child = run(environment, bundled());
  onTestFinished(() => void child.kill('SIGKILL'));
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stdout, stderr };
}

/** Starts a maintenance command. */
export function startCommand(file: string, given: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [file, ...given], { env: { ...INHERITED, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Runs a maintenance command to its end. It runs the bundle unless another file is given. */
export async function runCommand(
  name: string,
  given: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  file = serverProgram(name),
): Promise<Ran> {
  const child = startCommand(file, given, environment);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stdout, stderr };
}

/** The only variables that a started process takes over. Without the compile cache, each start takes 0.4 seconds longer. */
export const INHERITED = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };

type ServerProcess = ReturnType<typeof run>;

function run(environment: Readonly<Record<string, string>>, { node, main }: Program) {
  return spawn(node, [main], {
    // No load balancer has to notice that a server of a test stops.
    env: { ...INHERITED, RESELLER_PORT: '0', RESELLER_OPERATOR_PORT: '0', RESELLER_DRAIN_SECONDS: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
