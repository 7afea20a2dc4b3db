/** The bundled program and a sandbox, each as a process. */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { createReseller } from '@reseller/client/extension';
import type { Reseller } from '@reseller/client/extension';
import { createClient, listAccounts } from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { inject } from 'vitest';

import { startSandbox as startProcess } from '../../../.config/sandbox.ts';
import { bundle } from '../bundle.ts';

export interface Sandbox {
  readonly reseller: Reseller;
  readonly operator: Client;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataFolder: string;
  readonly accountId: string;
  stop(): Promise<void>;
}

/** Starts the service as `start` does. */
export async function startSandbox(): Promise<Sandbox> {
  const started = await startProcess();
  const { baseUrl, operatorUrl, apiKey, operatorToken, dataDirectory } = started;
  const operator = createClient({ baseUrl: operatorUrl, token: operatorToken });
  const [account] = (await listAccounts({ client: operator })).items;
  return {
    reseller: createReseller({ baseUrl, apiKey }),
    operator,
    accountId: account?.id ?? '',
    baseUrl,
    apiKey,
    dataFolder: dataDirectory,
    stop: () => started.stop(),
  };
}

let bundled: Promise<string> | undefined;

/** The file of the bundled program. */
export function program(): Promise<string> {
  bundled ??= (async () => {
    const folder = join(inject('runFolder'), `cli-${process.pid}`);
    mkdirSync(folder, { recursive: true });
    // The packages that npm would install with it.
    symlinkSync(join(import.meta.dirname, '../node_modules'), join(folder, 'node_modules'));
    await bundle(join(folder, 'dist'));
    return join(folder, 'dist/main.js');
  })();
  return bundled;
}

export function newFolder(): string {
  return mkdtempSync(join(inject('runFolder'), 'cli-data-'));
}

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A person with a command line: own configuration, own state, no keyring, no terminal. */
export interface Person {
  readonly configFolder: string;
  readonly stateFolder: string;
  run(...given: readonly string[]): Promise<CliResult>;
  /** Types a text into the standard input. */
  runWith(input: string, ...given: readonly string[]): Promise<CliResult>;
  start(...given: readonly string[]): Promise<ChildProcessWithoutNullStreams>;
  readonly env: NodeJS.ProcessEnv;
}

export function person(env: NodeJS.ProcessEnv): Person {
  const configFolder = join(newFolder(), 'config');
  const stateFolder = join(newFolder(), 'state');
  const { RESELLER_API_KEY: _, RESELLER_OPERATOR_TOKEN: __, ...others } = process.env;
  const own = { ...others, RESELLER_CONFIG_DIR: configFolder, RESELLER_STATE_DIR: stateFolder, RESELLER_KEYRING: 'off', ...env };
  async function start(...given: readonly string[]): Promise<ChildProcessWithoutNullStreams> {
    return spawn(process.execPath, [await program(), ...given], { env: own, cwd: configFolder.replace(/config$/, '') });
  }
  async function runWith(input: string, ...given: readonly string[]): Promise<CliResult> {
    const child = await start(...given);
    child.stdin.end(input);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
    return { code, stdout, stderr };
  }
  return { configFolder, stateFolder, env: own, start, runWith, run: (...given) => runWith('', ...given) };
}
