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

export function readSettings(): Settings {
  const text = readIfPresent(settingsFile());
  if (text === undefined) return { current: undefined, profiles: [] };
  const settings: unknown = parsed(text, settingsFile());
  if (!isSettings(settings)) throw new Failure(`The file ${settingsFile()} is not a list of profiles. Correct or delete it.`, EXIT.failed);
  return settings;
}

export function findProfile(name: string): Profile {
  const { profiles } = readSettings();
  const profile = profiles.find((one) => one.name === name);
  if (profile) return profile;
  const known = profiles.map((one) => one.name).join(', ') || 'none';
  throw new Failure(`There is no profile "${name}". Profiles: ${known}. Add one with 'reseller profile add ${name}'.`);
}

/** Adds or replaces a profile and makes it the current one. @returns where the credentials are, in words */
export async function saveProfile(
  given: { readonly name: string; readonly baseUrl: string | undefined; readonly operatorUrl: string | undefined },
  credentials: Credentials,
): Promise<string> {
  if (!NAME.test(given.name)) {
    throw new Failure(`"${given.name}" is not a valid name for a profile. Use 1 to 63 letters, digits, dots, hyphens and underscores.`);
  }
  const problem = await writeToKeyring(given.name, credentials);
  const storedIn = problem === undefined ? 'keyring' : 'file';
  if (storedIn === 'file') writeSecrets({ ...readSecrets(), [given.name]: credentials });
  const others = readSettings().profiles.filter(({ name }) => name !== given.name);
  writeSettings({ current: given.name, profiles: [...others, { ...given, storedIn }] });
  return problem === undefined
    ? 'The credentials are in the keyring of this system.'
    : `The credentials are in ${secretsFile()}, which only you can read, because this system has no keyring (${problem}).`;
}

/** @returns why the credentials are not in the keyring; undefined if they are */
async function writeToKeyring(name: string, credentials: Credentials): Promise<string | undefined> {
  const keyring = await openKeyring();
  if (typeof keyring === 'string') return keyring;
  try {
    await keyring.write(name, JSON.stringify(credentials));
    return undefined;
  } catch (error) {
    // Some systems open and read a keyring, and refuse to write to it.
    return errorText(error);
  }
}

export function useProfile(name: string): void {
  findProfile(name);
  writeSettings({ ...readSettings(), current: name });
}

/** Removes a profile. @returns what it could not remove, in words */
export async function removeProfile(name: string): Promise<string | undefined> {
  const { storedIn } = findProfile(name);
  const keyring = storedIn === 'keyring' ? await openKeyring() : undefined;
  if (typeof keyring === 'object') await keyring.remove(name);
  const { [name]: _, ...secrets } = readSecrets();
  if (existsSync(secretsFile())) writeSecrets(secrets);
  const { current, profiles } = readSettings();
  writeSettings({ current: current === name ? undefined : current, profiles: profiles.filter((one) => one.name !== name) });
  if (typeof keyring !== 'string') return undefined;
  return `The profile ${name} is removed. Its credentials may still be in the keyring of this system, which cannot be opened (${keyring}).`;
}

export async function credentialsOf({ name, storedIn }: Profile): Promise<Credentials> {
  if (storedIn === 'file') return readSecrets()[name] ?? {};
  const keyring = await openKeyring();
  const secret = typeof keyring === 'string' ? undefined : await keyring.read(name);
  if (secret !== undefined) return credentialsIn(parsed(secret, 'the keyring'));
  const reason = typeof keyring === 'string' ? `cannot be opened: ${keyring}` : 'no longer has them';
  throw new Failure(
    `The credentials of the profile ${name} are in the keyring of this system, which ${reason}. Add the profile again with 'reseller profile add ${name}', or remove it with 'reseller profile remove ${name}'.`,
    EXIT.failed,
  );
}

function settingsFile(): string {
  return join(configFolder(), 'profiles.json');
}

function secretsFile(): string {
  return join(configFolder(), 'credentials.json');
}

function writeSettings(settings: Settings): void {
  writePrivate(settingsFile(), `${JSON.stringify(settings, null, 2)}\n`);
}

function readSecrets(): Readonly<Record<string, Credentials>> {
  const text = readIfPresent(secretsFile());
  if (text === undefined) return {};
  // Another program may have copied it with other permissions.
  chmodSync(secretsFile(), 0o600);
  const secrets: unknown = parsed(text, secretsFile());
  return Object.fromEntries(Object.entries(Object(secrets)).map(([name, value]) => [name, credentialsIn(value)]));
}

function writeSecrets(secrets: Readonly<Record<string, Credentials>>): void {
  writePrivate(secretsFile(), `${JSON.stringify(secrets, null, 2)}\n`);
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
