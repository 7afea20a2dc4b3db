/** Profiles: the addresses of services, each with a key, a token or both. */
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';

import { errorText } from '@reseller/contract';

import { EXIT, Failure } from './failure.ts';
import { configFolder } from './folders.ts';
import { openKeyring } from './keyring.ts';
import { readIfPresent, writePrivate } from './private-file.ts';

export interface Profile {
  readonly name: string;
  /** Address of the reseller API. */
  readonly baseUrl: string | undefined;
  /** Address of the operator API. */
  readonly operatorUrl: string | undefined;
  /** Where its credentials are. */
  readonly storedIn: 'keyring' | 'file';
}

/** The secrets of a profile. */
export interface Credentials {
  readonly apiKey?: string | undefined;
  readonly operatorToken?: string | undefined;
}

interface Settings {
  readonly current: string | undefined;
  readonly profiles: readonly Profile[];
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i;

export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const file = settingsFile(env);
  const text = readIfPresent(file);
  if (text === undefined) return { current: undefined, profiles: [] };
  const settings: unknown = parsed(text, file);
  if (!isSettings(settings)) throw new Failure(`The file ${file} is not a list of profiles. Correct or delete it.`, EXIT.failed);
  return settings;
}

export function findProfile(env: NodeJS.ProcessEnv, name: string): Profile {
  const { profiles } = readSettings(env);
  const profile = profiles.find((one) => one.name === name);
  if (profile) return profile;
  const known = profiles.map((one) => one.name).join(', ') || 'none';
  throw new Failure(`There is no profile "${name}". Profiles: ${known}. Add one with 'reseller profile add ${name}'.`);
}

/** Adds or replaces a profile and makes it the current one. @returns where the credentials are, in words */
export async function saveProfile(
  env: NodeJS.ProcessEnv,
  given: { readonly name: string; readonly baseUrl: string | undefined; readonly operatorUrl: string | undefined },
  credentials: Credentials,
): Promise<string> {
  if (!NAME.test(given.name)) {
    throw new Failure(`"${given.name}" is not a valid name for a profile. Use 1 to 63 letters, digits, dots, hyphens and underscores.`);
  }
  const problem = await writeToKeyring(env, given.name, credentials);
  const storedIn = problem === undefined ? 'keyring' : 'file';
  if (storedIn === 'file') writeSecrets(env, { ...readSecrets(env), [given.name]: credentials });
  const others = readSettings(env).profiles.filter(({ name }) => name !== given.name);
  writeSettings(env, { current: given.name, profiles: [...others, { ...given, storedIn }] });
  return problem === undefined
    ? 'The credentials are in the keyring of this system.'
    : `The credentials are in ${secretsFile(env)}, which only you can read, because this system has no keyring (${problem}).`;
}

/** @returns why the credentials are not in the keyring; undefined if they are */
async function writeToKeyring(env: NodeJS.ProcessEnv, name: string, credentials: Credentials): Promise<string | undefined> {
  const keyring = await openKeyring(env);
  if (typeof keyring === 'string') return keyring;
  try {
    await keyring.write(name, JSON.stringify(credentials));
    return undefined;
  } catch (error) {
    // Some systems open and read a keyring, and refuse to write to it.
    return errorText(error);
  }
}

export function useProfile(env: NodeJS.ProcessEnv, name: string): void {
  findProfile(env, name);
  writeSettings(env, { ...readSettings(env), current: name });
}

/** Removes a profile. @returns the part that it could not remove, in words */
export async function removeProfile(env: NodeJS.ProcessEnv, name: string): Promise<string | undefined> {
  const { storedIn } = findProfile(env, name);
  const keyring = storedIn === 'keyring' ? await openKeyring(env) : undefined;
  if (typeof keyring === 'object') await keyring.remove(name);
  const { [name]: _, ...secrets } = readSecrets(env);
  if (existsSync(secretsFile(env))) writeSecrets(env, secrets);
  const { current, profiles } = readSettings(env);
  writeSettings(env, { current: current === name ? undefined : current, profiles: profiles.filter((one) => one.name !== name) });
  if (typeof keyring !== 'string') return undefined;
  return `The profile ${name} is removed. Its credentials may still be in the keyring of this system, which cannot be opened (${keyring}).`;
}

export async function credentialsOf(env: NodeJS.ProcessEnv, { name, storedIn }: Profile): Promise<Credentials> {
  if (storedIn === 'file') return readSecrets(env)[name] ?? {};
  const keyring = await openKeyring(env);
  const secret = typeof keyring === 'string' ? undefined : await keyring.read(name);
  if (secret !== undefined) return credentialsIn(parsed(secret, 'the keyring'));
  const reason = typeof keyring === 'string' ? `cannot be opened: ${keyring}` : 'no longer has them';
  throw new Failure(
    `The credentials of the profile ${name} are in the keyring of this system, which ${reason}. Add the profile again with 'reseller profile add ${name}', or remove it with 'reseller profile remove ${name}'.`,
    EXIT.failed,
  );
}

function settingsFile(env: NodeJS.ProcessEnv): string {
  return join(configFolder(env), 'profiles.json');
}

function secretsFile(env: NodeJS.ProcessEnv): string {
  return join(configFolder(env), 'credentials.json');
}

function writeSettings(env: NodeJS.ProcessEnv, settings: Settings): void {
  writePrivate(settingsFile(env), `${JSON.stringify(settings, null, 2)}\n`);
}

function readSecrets(env: NodeJS.ProcessEnv): Readonly<Record<string, Credentials>> {
  const file = secretsFile(env);
  const text = readIfPresent(file);
  if (text === undefined) return {};
  // Another program may have copied it with other permissions.
  chmodSync(file, 0o600);
  const secrets: unknown = parsed(text, file);
  return Object.fromEntries(Object.entries(Object(secrets)).map(([name, value]) => [name, credentialsIn(value)]));
}

function writeSecrets(env: NodeJS.ProcessEnv, secrets: Readonly<Record<string, Credentials>>): void {
  writePrivate(secretsFile(env), `${JSON.stringify(secrets, null, 2)}\n`);
}

function credentialsIn(value: unknown): Credentials {
  const { apiKey, operatorToken } = Object(value);
  return {
    apiKey: typeof apiKey === 'string' ? apiKey : undefined,
    operatorToken: typeof operatorToken === 'string' ? operatorToken : undefined,
  };
}

function isSettings(value: unknown): value is Settings {
  const { profiles } = Object(value);
  return Array.isArray(profiles) && profiles.every((profile) => typeof Object(profile).name === 'string');
}

/** The message names the file and not its content, which may be secret. */
function parsed(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure(`${source} is not valid JSON. Correct or delete it.`, EXIT.failed);
  }
}
