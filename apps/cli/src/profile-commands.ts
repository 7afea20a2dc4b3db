import type { Command } from 'commander';

import { Failure } from './failure.ts';
import type { Io } from './io.ts';
import { render } from './output.ts';
import { readSettings, removeProfile, saveProfile, useProfile } from './profiles.ts';
import { note, print, readSecret } from './terminal.ts';

interface AddOptions {
  readonly url?: string;
  readonly operatorUrl?: string;
}

/** The commands that manage profiles. */
export function addProfileCommands(io: Io, program: Command): void {
  const profile = program.command('profile').description('Profiles: the services that you use, with their keys');
  profile
    .command('add')
    .summary('Add or replace a profile, and use it')
    .description(
      'Add or replace a profile, and use it from now on. It asks for the key or token without showing it. Without a terminal, it reads a line of the standard input.',
    )
    .argument('<name>', 'Its name')
    .option('--url <url>', 'The address of the reseller API. It asks for an API key')
    .option('--operator-url <url>', 'The address of the operator API. It asks for an operator token')
    .action((name: string, options: AddOptions) => add(io, name, options));
  profile
    .command('use')
    .description('Use a profile from now on')
    .argument('<name>', 'Its name')
    .action((name: string) => useProfile(io.env, name));
  profile
    .command('remove')
    .description('Remove a profile with its keys')
    .argument('<name>', 'Its name')
    .action((name: string) => remove(io, name));
  profile
    .command('list')
    .description('List the profiles. Keys are not shown')
    .action(() => list(io));
}

async function add(io: Io, name: string, { url, operatorUrl }: AddOptions): Promise<void> {
  if (url === undefined && operatorUrl === undefined) throw new Failure('--url, --operator-url or both are missing.');
  for (const [flag, address] of Object.entries({ url, 'operator-url': operatorUrl })) checkAddress(flag, address);
  const apiKey = url === undefined ? undefined : await secretFor(io, 'API key');
  const operatorToken = operatorUrl === undefined ? undefined : await secretFor(io, 'operator token');
  note(io, await saveProfile(io.env, { name, baseUrl: url, operatorUrl }, { apiKey, operatorToken }));
}

async function remove(io: Io, name: string): Promise<void> {
  const left = await removeProfile(io.env, name);
  if (left !== undefined) note(io, left);
}

async function secretFor(io: Io, what: string): Promise<string> {
  const secret = await readSecret(io, `${what}: `);
  if (secret === '') throw new Failure(`The ${what} is empty.`);
  return secret;
}

function checkAddress(flag: string, address: string | undefined): void {
  if (address === undefined) return;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Failure(`--${flag} must be an address such as https://api.example.com, got "${address}".`);
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLocal)
    throw new Failure(`--${flag} must begin with https://, because the key would be sent in clear text.`);
  if (url.username || url.password) throw new Failure(`--${flag} must not contain a user or a password.`);
}

async function list(io: Io): Promise<void> {
  const { current, profiles } = readSettings(io.env);
  const rows = profiles.map((profile) => ({
    current: profile.name === current ? 'yes' : 'no',
    name: profile.name,
    baseUrl: profile.baseUrl,
    operatorUrl: profile.operatorUrl,
    storedIn: profile.storedIn,
  }));
  await print(io, render(rows, { format: 'table', columns: undefined, width: undefined }));
}
