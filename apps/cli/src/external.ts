/** Commands of other packages, under the same program. They run as processes of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

import { EXIT, Failure } from './failure.ts';
import type { Io } from './io.ts';
import { findProfile } from './profiles.ts';
import type { Profile } from './profiles.ts';
import { credential, findTarget } from './target.ts';
import { print } from './terminal.ts';
import { installable } from './version.ts';

/** A program of another package. */
export interface ExternalCommand {
  readonly name: string;
  readonly summary: string;
  /** The package, the program in it, and its leading arguments. */
  readonly program: readonly [packageName: string, binary: string, ...leading: readonly string[]];
  /**
   * The meaning of a profile: the service that it calls, as the other commands do unless `--target` names one, or the address at which it
   * listens. Without it, the program has nothing to do with a service.
   */
  readonly profile?: 'calls' | 'listens';
  /** The text for `--help`, of a program that has none. */
  readonly usage?: string;
}

export const EXTERNAL_COMMANDS: readonly ExternalCommand[] = [
  { name: 'sandbox', summary: 'Run a sandbox on this machine', program: ['@reseller/sandbox', 'reseller-sandbox'] },
  {
    name: 'mock',
    summary: 'Run a mock that returns the examples of the document',
    program: ['@reseller/mock', 'reseller-mock'],
    usage:
      'Usage: reseller mock [--profile NAME]\n\nRuns on this machine and calls no service. It listens at the address of the profile, so that the other commands reach it with the same profile. Without a profile, MOCK_PORT is its port, 4020 by default, and 0 for a free one.\n',
    profile: 'listens',
  },
  {
    name: 'contract',
    summary: 'Compare a running service with its document',
    program: ['@reseller/contract', 'contract'],
    profile: 'calls',
  },
  {
    name: 'diff',
    summary: 'Compare two documents',
    program: ['@reseller/contract', 'contract', 'diff'],
    usage:
      'Usage: reseller diff [--format text|json|markdown|github] [--wire] OLD NEW\n\nCompares two documents and calls no service, so it takes no profile. It ends with 1 if a change breaks users.\n',
  },
];

/** The commands of an installation of the service (`npx -y pnpm@12 bundle`). */
export const SERVER_COMMANDS = {
  start: 'Run the service',
  backup: 'Copy the embedded store while the service runs',
  restore: 'Put a copy into a new data directory',
  move: 'Copy the embedded store into a PostgreSQL database',
  migrate: 'Bring the tables up to date',
  reseal: 'Encrypt the stored secrets again after their key was replaced',
  'verify-audit': 'Verify the chain of the audit records',
} as const;

/** Runs the program of a package that is installed next to this one, or in the current project. @returns its exit code */
export async function runExternal(io: Io, { name, program, profile, usage }: ExternalCommand, given: readonly string[]): Promise<number> {
  if (usage !== undefined && given.includes('--help')) {
    await print(io, usage);
    return EXIT.done;
  }
  const [packageName, binary, ...leading] = program;
  const file = programFile(io.folder, packageName, binary);
  if (file === undefined) {
    throw new Failure(
      `This command runs a program of ${packageName}, which is not installed here. Install it: npm install --global ${installable(packageName)}`,
      EXIT.failed,
    );
  }
  const { more, environment } = await settingsFor(io, name, profile, given);
  return runNode(io, file, [...leading, ...more], environment);
}

interface ProgramSettings {
  readonly more: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

async function settingsFor(io: Io, name: string, meaning: ExternalCommand['profile'], given: readonly string[]): Promise<ProgramSettings> {
  const at = given.findIndex((one) => /^--profile(?:=|$)/.test(one));
  const [option, value] = at < 0 ? [] : [given[at], given[at]?.includes('=') ? given[at].slice('--profile='.length) : given[at + 1]];
  const others = at < 0 ? given : given.toSpliced(at, option?.includes('=') ? 1 : 2);
  if (meaning === 'calls') return serviceFor(io, value, others);
  if (at < 0) return { more: given, environment: {} };
  if (meaning === undefined) throw new Failure(`reseller ${name} calls no service. Leave out --profile.`);
  return { more: others, environment: { MOCK_PORT: portOf(findProfile(io.env, value ?? '')) } };
}

/** @throws Failure if a program on this machine cannot listen at the address of the profile. */
function portOf({ name, baseUrl = '' }: Profile): string {
  const { protocol, hostname, port } = URL.parse(baseUrl) ?? {};
  if (protocol === 'http:' && (hostname === '127.0.0.1' || hostname === 'localhost') && port) return port;
  throw new Failure(
    `A mock listens on this machine, so the address of its profile must be http://127.0.0.1:PORT. That of the profile ${name} is ${baseUrl || 'missing'}.`,
  );
}

/** The arguments and the environment with which a program calls the service of the other commands. */
async function serviceFor(io: Io, profile: string | undefined, others: readonly string[]): Promise<ProgramSettings> {
  // A subcommand, such as `explain`, or a target of its own.
  const needsNone = others[0]?.startsWith('-') === false || others.some((one) => one === '--help' || /^--target(=|$)/.test(one));
  if (needsNone) return { more: others, environment: {} };
  const { url, secret } = credential(await findTarget(io, profile), others.includes('--operator') ? 'operatorToken' : 'apiKey');
  return { more: [...others, '--target', url], environment: { CONTRACT_API_KEY: secret } };
}

/** Runs a command of an installation of the service. @returns its exit code */
export async function runServerCommand(io: Io, name: keyof typeof SERVER_COMMANDS, given: readonly string[]): Promise<number> {
  const script = name === 'start' ? 'main' : name;
  const folder = resolve(io.folder, io.env['RESELLER_INSTALLATION'] || '.');
  const file = ['dist/server/src', 'apps/server/src']
    .flatMap((source) => [join(folder, source, `${script}.js`), join(folder, source, `${script}.ts`)])
    .find(existsSync);
  if (file === undefined) {
    throw new Failure(
      `${folder} is not an installation of the service. Run this command in its folder, or set RESELLER_INSTALLATION to the folder, such as /opt/reseller.`,
    );
  }
  return runNode(io, file, given);
}

function programFile(folder: string, packageName: string, binary: string): string | undefined {
  for (const from of [import.meta.url, join(folder, 'package.json')]) {
    try {
      const manifest = createRequire(from).resolve(`${packageName}/package.json`);
      const { bin }: { bin?: Readonly<Record<string, string>> } = JSON.parse(readFileSync(manifest, 'utf8'));
      if (bin?.[binary] !== undefined) return join(dirname(manifest), bin[binary]);
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}

async function runNode({ env }: Io, file: string, given: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(process.execPath, [file, ...given], { stdio: 'inherit', env: { ...env, ...environment } });
  // The terminal sends an interrupt to the child, too. This process ends after it.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : EXIT.failed;
}
