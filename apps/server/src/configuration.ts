import { resolve } from 'node:path';

import { publicUrlOf } from '@reseller/service';

/** How the process is set up. */
export interface Configuration {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Port of the operator's side, on the same host; 0 picks a free one. */
  readonly operatorPort: number;
  /** URL at which callers reach the service; undefined for the address that it listens on. */
  readonly publicUrl: string | undefined;
  /** Connection string of the PostgreSQL database that the store is; undefined for the embedded store. */
  readonly databaseUrl: string | undefined;
  /** Where the embedded store and the key files are; not used with a database. */
  readonly dataDirectory: string;
  readonly logLevel: string;
  /** From the environment; undefined where the file in the data directory holds it, which it never does with a database. */
  readonly secret: string | undefined;
  /** `sandbox`, or `live`: no sample data, no demo account, and no sandbox operations. */
  readonly mode: 'sandbox' | 'live';
  /** Milliseconds after which a node that is heard of no more counts as dead. */
  readonly lease: number;
  /** Milliseconds that a call of the infrastructure may take. */
  readonly portTimeout: number;
  /** From the environment; undefined where a sandbox's file in the data directory holds it. */
  readonly operatorToken: string | undefined;
  /** Whether the reseller API understands what existing clients send beside the rules of the document. */
  readonly lenient: boolean;
}

/** A value of the environment that cannot be used; the message is one line. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
const REPOSITORY = resolve(import.meta.dirname, '../../..');

/**
 * The configuration that environment variables describe; README.md lists them.
 *
 * @throws ConfigurationError naming the variable, what it holds and what was expected.
 */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Configuration {
  const value = (name: string): string | undefined => environment[name] || undefined;
  const mode = modeOf(value('RESELLER_MODE') ?? 'sandbox');
  assertInfrastructure(value('RESELLER_INFRASTRUCTURE'), mode);
  const url = databaseUrl(value('DATABASE_URL'));
  const isShared = url !== undefined;
  return {
    mode,
    databaseUrl: url,
    lease: seconds('RESELLER_LEASE_SECONDS', value('RESELLER_LEASE_SECONDS') ?? '15') * 1000,
    portTimeout: seconds('RESELLER_INFRASTRUCTURE_SECONDS', value('RESELLER_INFRASTRUCTURE_SECONDS') ?? '30') * 1000,
    operatorToken: operatorToken(value('RESELLER_OPERATOR_TOKEN'), mode, isShared),
    host: value('RESELLER_HOST') ?? '127.0.0.1',
    port: port('RESELLER_PORT', value('RESELLER_PORT') ?? '4010'),
    operatorPort: port('RESELLER_OPERATOR_PORT', value('RESELLER_OPERATOR_PORT') ?? '4011'),
    publicUrl: publicUrl(value('RESELLER_PUBLIC_URL'), mode),
    dataDirectory: resolve(REPOSITORY, value('RESELLER_DATA_DIR') ?? '.data'),
    logLevel: logLevel(value('RESELLER_LOG_LEVEL') ?? 'warn'),
    secret: secret(value('RESELLER_SECRET'), isShared),
    lenient: lenient(value('RESELLER_LENIENT') ?? 'false'),
  };
}

function port(name: string, text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= 65_535) return number;
  throw new ConfigurationError(`${name} is '${text}'. Set it to a port number from 0 to 65535, 0 for any free one.`);
}

function seconds(name: string, text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 1 && number <= 3_600) return number;
  throw new ConfigurationError(`${name} is '${text}'. Set it to a whole number of seconds from 1 to 3600.`);
}

function publicUrl(text: string | undefined, mode: 'sandbox' | 'live'): string | undefined {
  if (text === undefined && mode === 'live')
    throw new ConfigurationError(
      'RESELLER_PUBLIC_URL is missing, which a live service needs for the links to its invoices. Set it to the URL at which resellers reach the service, such as https://api.example.com.',
    );
  try {
    return text === undefined ? undefined : publicUrlOf(text);
  } catch (error) {
    throw new ConfigurationError(`RESELLER_PUBLIC_URL cannot be used. ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function logLevel(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new ConfigurationError(`RESELLER_LOG_LEVEL is '${text}'. Set it to one of ${LOG_LEVELS.join(', ')}.`);
}

/** What it holds is never shown: a password is part of it. */
function databaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isDatabase = url !== undefined && /^postgres(?:ql)?:$/.test(url.protocol) && url.hostname !== '' && /^\/[^/]+$/.test(url.pathname);
  if (isDatabase) return text;
  throw new ConfigurationError(
    'DATABASE_URL is no connection string of a PostgreSQL database. Set it to one, such as postgres://user:password@host:5432/database, with special characters of the password percent-encoded.',
  );
}

function secret(text: string | undefined, isShared: boolean): string | undefined {
  if (text === undefined && isShared)
    throw new ConfigurationError(
      'RESELLER_SECRET is missing, which a service with DATABASE_URL needs. Set it to at least 32 random characters, the same on every node.',
    );
  if (text === undefined || text.length >= 32) return text;
  throw new ConfigurationError(
    `RESELLER_SECRET has ${text.length} characters. Set it to at least 32 random ones, or leave it out to have one made and kept in the data directory.`,
  );
}

function lenient(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new ConfigurationError(`RESELLER_LENIENT is '${text}'. Set it to true or false.`);
}

function modeOf(text: string): 'sandbox' | 'live' {
  if (text === 'sandbox' || text === 'live') return text;
  throw new ConfigurationError(`RESELLER_MODE is '${text}'. Set it to sandbox or live.`);
}

/** There are only simulated adapters of the infrastructure, so a live service must be told to use them. */
function assertInfrastructure(text: string | undefined, mode: 'sandbox' | 'live'): void {
  if (text !== undefined && text !== 'simulated')
    throw new ConfigurationError(
      `RESELLER_INFRASTRUCTURE is '${text}'. Set it to simulated, the only infrastructure that this process has.`,
    );
  if (text === undefined && mode === 'live')
    throw new ConfigurationError(
      'RESELLER_INFRASTRUCTURE is missing. This process has no adapters for real infrastructure, so a live service would sell servers and domains that do not exist. Set it to simulated if that is what you want, or pass your adapters to createService in a process of your own.',
    );
}

function operatorToken(text: string | undefined, mode: 'sandbox' | 'live', isShared: boolean): string | undefined {
  if (text === undefined && mode === 'live')
    throw new ConfigurationError(
      'RESELLER_OPERATOR_TOKEN is missing, which a live service needs. Set it to at least 32 random characters.',
    );
  if (text === undefined && isShared)
    throw new ConfigurationError(
      'RESELLER_OPERATOR_TOKEN is missing, which a service with DATABASE_URL needs. Set it to at least 32 random characters, the same on every node.',
    );
  if (text === undefined || /^[!-~]{32,256}$/.test(text)) return text;
  throw new ConfigurationError(
    'RESELLER_OPERATOR_TOKEN cannot be used. Set it to 32 to 256 visible ASCII characters, or leave it out in a sandbox to have one made and kept in the data directory.',
  );
}
