/** Runs the shell commands of documentation, for tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { onTestFailed, onTestFinished } from 'vitest';

import { freePorts } from '../../../.config/free-ports.ts';
import { PNPM, PNPM_ARGUMENTS } from '../../../.config/install.mjs';
import { MOST_SHOWN, temporaryDirectory } from './process.ts';
import type { Ran } from './process.ts';

const REPOSITORY = resolve(import.meta.dirname, '../../..');

/** The shell blocks of a section of a Markdown document, in order. A word after `sh` names blocks that need something further. */
export function commandsOf(document: string, section: string, word = ''): string {
  const part = document.split(/^## /m).find((one) => one.startsWith(`${section}\n`)) ?? '';
  const blocks = [...part.matchAll(/^```sh(?: (\w+))?\n(.*?)^```$/gms)];
  return blocks.flatMap(([, named = '', block = '']) => (named === word ? block : [])).join('\n');
}

/** Replaces ports by free ones. */
export async function withFreePorts(script: string, ports: readonly string[]): Promise<string> {
  const free = await freePorts(ports.length);
  let replaced = script;
  for (const [index, port] of ports.entries()) {
    if (!script.includes(port)) throw new Error(`The commands do not contain the port ${port}.`);
    replaced = replaced.replaceAll(port, String(free[index]));
  }
  return replaced;
}

/** Runs a script in the shell, and ends all its processes when the test ends. */
export async function runScript(script: string, directory = REPOSITORY): Promise<Ran> {
  const shell = spawn('/bin/sh', ['-eu'], {
    cwd: directory,
    // A separate process group, so that all of its processes can be ended.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${folderOfNpx()}:${process.env['PATH'] ?? ''}`, TMPDIR: temporaryDirectory() },
  });
  function endAll(): void {
    try {
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
    } catch {
      // All processes of the group have ended.
    }
  }
  let printed = '';
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
  onTestFinished(endAll);
  onTestFailed(({ task }) => {
    if (shell.exitCode !== null) return;
    // The message of a timeout says nothing of the script.
    for (const error of task.result?.errors ?? []) error.message += `\nThe script did not end. It printed:\n${printed.slice(-MOST_SHOWN)}`;
  });
  // A failed script leaves processes that would keep its output open.
  shell.once('exit', (code) => code === 0 || endAll());
  shell.stdin.end(script);
  const [stdout, stderr, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'exit')]);
  return { code, stdout, stderr };
}

/** A folder whose `npx` is the pnpm that runs the tests, so that no registry is needed. */
function folderOfNpx(): string {
  const folder = temporaryDirectory();
  const file = join(folder, 'npx');
  // The shell would find this file again.
  const path = process.env['PATH'] ?? '';
  const command = [PNPM, ...PNPM_ARGUMENTS].map((word) => `'${word}'`).join(' ');
  writeFileSync(file, `#!/bin/sh\n[ "$1" = -y ] && shift\nshift\nPATH='${path}' exec ${command} "$@"\n`);
  chmodSync(file, 0o755);
  return folder;
}
