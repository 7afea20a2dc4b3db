/** The bundled program and a sandbox, each as a process. */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { createReseller } from '@reseller/client/extension';
import type { Reseller } from '@reseller/client/extension';
import { createClient, listAccounts } from '@reseller/operator-client';
import type { Client } from '@reseller/operator-client';
import { inject, vi } from 'vitest';

import { freePorts } from '../../../.config/free-ports.ts';
import { bundle } from '../bundle.ts';
import { findTarget } from '../src/target.ts';

export interface Sandbox {
  readonly reseller: Reseller;
  readonly operator: Client;
  readonly operatorUrl: string;
  readonly baseUrl: string;
  readonly operatorToken: string;
  readonly apiKey: string;
  readonly dataFolder: string;
  readonly accountId: string;
  stop(): Promise<void>;
}

/** Starts the service as `start` does, and waits until it can be used. */
export async function startSandbox(): Promise<Sandbox> {
  const dataFolder = newFolder();
  const [port, operatorPort] = await freePorts(2);
  const server = spawn(process.execPath, [join(import.meta.dirname, '../../server/src/main.ts')], {
    env: {
      ...process.env,
      RESELLER_DATA_DIR: dataFolder,
      RESELLER_PORT: String(port),
      RESELLER_OPERATOR_PORT: String(operatorPort),
      RESELLER_LOG_LEVEL: 'silent',
    },
    stdio: 'ignore',
  });
  await vi.waitUntil(() => existsSync(join(dataFolder, 'running.json')), { timeout: 60_000 });
  const target = await inFolder(dataFolder, () => findTarget(undefined));
  const { baseUrl = '', operatorUrl = '', apiKey = '', operatorToken = '' } = target;
  const operator = createClient({ baseUrl: operatorUrl, token: operatorToken });
  const [account] = (await listAccounts({ client: operator })).items;
  return {
    reseller: createReseller({ baseUrl, apiKey }),
    operator,
    accountId: account?.id ?? '',
    baseUrl,
    operatorUrl,
    operatorToken,
    apiKey,
    dataFolder,
    stop: async () => {
      server.kill('SIGTERM');
      if (server.exitCode === null) await once(server, 'exit');
    },
  };
}

/** Runs code that finds the sandbox of a data folder. */
async function inFolder<Result>(dataFolder: string, work: () => Promise<Result>): Promise<Result> {
  const before = process.env['RESELLER_DATA_DIR'];
  process.env['RESELLER_DATA_DIR'] = dataFolder;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env['RESELLER_DATA_DIR'];
    else process.env['RESELLER_DATA_DIR'] = before;
  }
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
