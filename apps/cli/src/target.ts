/** Which service a command calls, and with which credentials. */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import envPaths from 'env-paths';

import { EXIT, Failure } from './failure.ts';
import type { Io } from './io.ts';
import { readIfPresent } from './private-file.ts';
import { credentialsOf, findProfile, readSettings } from './profiles.ts';
import type { Credentials } from './profiles.ts';
import { installable } from './version.ts';

/** A service. */
export interface Target extends Credentials {
  /** Where it was found, in words. */
  readonly source: string;
  readonly baseUrl?: string | undefined;
  readonly operatorUrl?: string | undefined;
}

/**
 * The service that the user means: of the option `--profile` or `RESELLER_PROFILE`, of `RESELLER_BASE_URL`, of the current profile, else a
 * sandbox that runs on this machine. A command never calls a live service that the user has not named.
 *
 * @throws Failure if there is none.
 */
export async function findTarget(io: Io, profile: string | undefined): Promise<Target> {
  const { env } = io;
  const named = profile ?? (env['RESELLER_PROFILE'] || undefined);
  if (named !== undefined) return ofProfile(env, named);
  const { RESELLER_BASE_URL: baseUrl, RESELLER_OPERATOR_URL: operatorUrl } = env;
  const { RESELLER_API_KEY: apiKey, RESELLER_OPERATOR_TOKEN: operatorToken } = env;
  const { current } = readSettings(env);
  if (baseUrl || (operatorUrl && current === undefined)) return { source: 'the environment', baseUrl, operatorUrl, apiKey, operatorToken };
  // The address of the operator API alone does not hide the reseller API of the profile. No token of the profile goes to that address.
  if (current !== undefined && operatorUrl) return { ...(await ofProfile(env, current)), operatorUrl, operatorToken };
  if (current !== undefined) return ofProfile(env, current);
  const sandbox = runningSandbox(io);
  if (sandbox) return sandbox;
  throw new Failure(
    `No service is known. Start a sandbox on this machine with 'npx --package ${installable('@reseller/sandbox')} reseller-sandbox', or add a profile with 'reseller profile add NAME --url URL'.`,
  );
}

async function ofProfile(env: NodeJS.ProcessEnv, name: string): Promise<Target> {
  const profile = findProfile(env, name);
  return { source: `the profile ${name}`, ...profile, ...(await credentialsOf(env, profile)) };
}

/** A sandbox leaves its addresses and keys in its data folder. */
function runningSandbox(io: Io): Target | undefined {
  for (const folder of dataFolders(io)) {
    const file = join(folder, 'running.json');
    // In a folder above this one, another user could have put the address of another service.
    if (folder !== io.env['RESELLER_DATA_DIR'] && isOfAnotherUser(file)) continue;
    const running = readIfPresent(file);
    if (running === undefined) continue;
    const { baseUrl, operatorUrl } = Object(JSON.parse(running));
    const [apiKey, operatorToken] = ['demo-api-key', 'operator-token'].map((name) => readIfPresent(join(folder, name))?.trim());
    if (apiKey !== undefined) return { source: `the sandbox in ${folder}`, baseUrl, operatorUrl, apiKey, operatorToken };
  }
  return undefined;
}

function isOfAnotherUser(file: string): boolean {
  const uid = statSync(file, { throwIfNoEntry: false })?.uid;
  return uid !== undefined && process.getuid !== undefined && uid !== process.getuid();
}

/** The data folders of the package `@reseller/sandbox`, and of `start` in the repository that contains the current folder. */
function* dataFolders({ env, folder: current }: Io): Generator<string> {
  const { RESELLER_DATA_DIR: given } = env;
  if (given) yield given;
  let folder = current;
  for (;;) {
    yield join(folder, '.data');
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  yield envPaths('reseller-sandbox', { suffix: '' }).data;
}

/** The service whose purchases count against one budget. */
export function budgetPlace({ baseUrl, operatorUrl }: Target): string {
  return baseUrl ?? operatorUrl ?? '';
}

/** @throws Failure if the target has no such credential. */
export function credential(target: Target, which: 'apiKey' | 'operatorToken'): { readonly url: string; readonly secret: string } {
  const isKey = which === 'apiKey';
  const [url, secret] = isKey ? [target.baseUrl, target.apiKey] : [target.operatorUrl, target.operatorToken];
  const api = isKey ? 'reseller' : 'operator';
  if (!url) {
    throw new Failure(
      `No address of the ${api} API is known (${target.source}). Set ${isKey ? 'RESELLER_BASE_URL' : 'RESELLER_OPERATOR_URL'}, or add it to the profile.`,
    );
  }
  for (const [value, variable, what] of [
    [url, isKey ? 'RESELLER_BASE_URL' : 'RESELLER_OPERATOR_URL', 'address'],
    [secret, isKey ? 'RESELLER_API_KEY' : 'RESELLER_OPERATOR_TOKEN', isKey ? 'API key' : 'operator token'],
  ] as const)
    if (value !== undefined && /\s/.test(value))
      throw new Failure(
        `The ${what} has a blank or the end of a line (${target.source}). Set ${variable}, or the profile, to the value without it.`,
        EXIT.usage,
      );
  if (secret) return { url, secret };
  const variable = isKey ? 'RESELLER_API_KEY' : 'RESELLER_OPERATOR_TOKEN';
  throw new Failure(
    `No ${isKey ? 'API key' : 'operator token'} is known (${target.source}). Set ${variable}, or add it to the profile.`,
    EXIT.forbidden,
  );
}
