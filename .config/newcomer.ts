/** A clone of this repository and the shell of a person who has just made it, for tests that type the commands of the documentation. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { inject } from 'vitest';

import { freePorts, isFree } from './free-ports.ts';
import './provided.ts';
import { REPOSITORY } from './turbo.ts';

/** Variables that pnpm, npm and vitest set for the processes that they start. */
const OF_THE_TEST_RUN =
  /^(?:npm_(?!config_)|npm_config_(?:user_agent|yes)$|pnpm_script|VITEST|NODE_(?!EXTRA_CA_CERTS$)|TEST$|INIT_CWD$|RESELLER_|PROD$|DEV$|MODE$)/i;

export interface Clone {
  readonly folder: string;
  remove(): void;
}

/** Copies the files that a commit of this state would have. The folder has a space in its name, and only its owner can read it. */
export function cloneRepository(): Clone {
  // On the disk, where pnpm can link the files of its store instead of copying them.
  const parent = mkdtempSync(join(inject('diskFolder'), 'clone-'));
  const folder = join(parent, 'my reseller');
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  });
  mkdirSync(folder);
  for (const file of listed.split('\0')) {
    if (file !== '' && existsSync(join(REPOSITORY, file))) cpSync(join(REPOSITORY, file), join(folder, file));
  }
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true }) };
}

/** The environment without what the test run has added: npx and Node are those of the machine. */
export function newcomerEnvironment(settings: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !OF_THE_TEST_RUN.test(name));
  const path = (process.env['PATH'] ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter), ...settings };
}

/** A command line in a shell, with what it has printed so far. */
export interface Typed {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  /** Sends a signal to all processes of the command, like a terminal. */
  signal(name: NodeJS.Signals): void;
}

/** Types a command line. The caller signals its processes at the end of the test. */
export function type(line: string, folder: string, settings: Readonly<Record<string, string>> = {}): Typed {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', line], {
    cwd: folder,
    detached: true,
    env: newcomerEnvironment(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = shell;
  let stdout = '';
  let stderr = '';
  shell.stdout.on('data', (chunk) => (stdout += String(chunk)));
  shell.stderr.on('data', (chunk) => (stderr += String(chunk)));
  function signal(name: NodeJS.Signals): void {
    try {
      if (pid !== undefined) process.kill(-pid, name);
    } catch {
      // All processes of the group have ended.
    }
  }
  return { stdout: () => stdout, stderr: () => stderr, ended: once(shell, 'close').then(() => shell.exitCode), signal };
}

/** Whether nothing on this machine listens on the ports. */
export async function areFree(ports: readonly number[]): Promise<boolean> {
  const found = await Promise.all(ports.map(isFree));
  return found.every(Boolean);
}

/** Settings of a sandbox that listens on free ports. */
export async function otherPorts(): Promise<Readonly<Record<string, string>>> {
  const [port = '', operatorPort = ''] = (await freePorts(2)).map(String);
  return { RESELLER_PORT: port, RESELLER_OPERATOR_PORT: operatorPort };
}
