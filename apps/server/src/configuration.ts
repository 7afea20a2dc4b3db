import { isIP } from 'node:net';
import { resolve } from 'node:path';

import { publicUrlOf, readDatabaseUrl } from '@reseller/service/configuration';

import { SecretError, secretOf } from './secrets.ts';
import type { Environment } from './secrets.ts';

/** Configuration of the process. */
export interface Configuration {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Host of the operator API. It does not follow `host`, because resellers must not reach it. */
  readonly operatorHost: string;
  /** Port of the operator API; 0 picks a free port. */
  readonly operatorPort: number;
  /** Names of hosts that a sandbox takes in addition to its own. */
  readonly allowedHosts: readonly string[];
  /** Where to report vulnerabilities. */
  readonly securityContact: string | undefined;
  /** IP addresses and CIDR networks of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** URL at which callers reach the service; undefined for the address that it listens on. */
  readonly publicUrl: string | undefined;
  /** Days for which a link to an invoice document is valid at least. */
  readonly invoiceLinkDays: number;
  /** Connection string of the PostgreSQL database; undefined for the embedded store. */
  readonly databaseUrl: string | undefined;
  /** Directory of the embedded store and the key files; not used with a database. */
  readonly dataDirectory: string;
  readonly logLevel: string;
  /** The secret from the environment. Undefined if it is in a file of the data directory, which requires the embedded store. */
  readonly secret: string | undefined;
  /** A second secret that is accepted while the secret is rotated. */
  readonly previousSecret: string | undefined;
  /** `sandbox`, or `live`: no sample data, no demo account, and no sandbox operations. */
  readonly mode: 'sandbox' | 'live';
  /** Milliseconds after which a silent instance counts as dead. */
  readonly lease: number;
  /** Milliseconds between the announcement of a stop and the end of the last connections. */
  readonly drain: number;
  /** Limits of the deviation of the machine's clock. A missing limit has the default of the service. */
  readonly clockLimits: { readonly maxSkewMs?: number; readonly maxJumpMs?: number; readonly confirmedUntilMs?: number };
  /** Timeout of a call to the infrastructure in milliseconds. */
  readonly portTimeout: number;
  /** The token from the environment. Undefined if a sandbox has it in a file of the data directory. */
  readonly operatorToken: string | undefined;
  /** Whether the reseller API has the extension, the operations that the specification names but does not show. */
  readonly extension: boolean;
}

/** An invalid environment variable. The message is one line. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
/** Values of target_session_attrs. The service refuses sessions that cannot write in any case. */
const WRITING_SESSIONS = ['read-write', 'primary'];
const REPOSITORY = resolve(import.meta.dirname, '../../..');

/**
 * Reads the configuration from environment variables; README.md lists them.
 *
 * @throws ConfigurationError with the variable, its value and the expected value.
 */
export function readConfiguration(environment: Environment): Configuration {
  function value(name: string): string | undefined {
    return environment[name] || undefined;
  }
  function secret(name: string): string | undefined {
    return configuredSecret(environment, name);
  }
  const mode = modeOf(value('RESELLER_MODE') ?? 'sandbox');
  assertInfrastructure(value('RESELLER_INFRASTRUCTURE'), mode);
  const url = databaseUrl(secret('DATABASE_URL'));
  const isShared = url !== undefined;
  return {
    mode,
    databaseUrl: url,
    lease: seconds('RESELLER_LEASE_SECONDS', value('RESELLER_LEASE_SECONDS') ?? '15') * 1000,
    drain: wholeNumber('RESELLER_DRAIN_SECONDS', value('RESELLER_DRAIN_SECONDS') ?? '5', { unit: 'seconds', from: 0, to: 3_600 }) * 1000,
    clockLimits: clockLimits(value),
    portTimeout: seconds('RESELLER_INFRASTRUCTURE_SECONDS', value('RESELLER_INFRASTRUCTURE_SECONDS') ?? '30') * 1000,
    operatorToken: operatorToken(secret('RESELLER_OPERATOR_TOKEN'), mode, isShared),
    host: value('RESELLER_HOST') ?? '127.0.0.1',
    port: port('RESELLER_PORT', value('RESELLER_PORT') ?? '4010'),
    operatorHost: value('RESELLER_OPERATOR_HOST') ?? '127.0.0.1',
    operatorPort: port('RESELLER_OPERATOR_PORT', value('RESELLER_OPERATOR_PORT') ?? '4011'),
    trustedProxies: trustedProxies(value('RESELLER_TRUST_PROXY')),
    allowedHosts: allowedHosts(value('RESELLER_ALLOWED_HOSTS')),
    securityContact: securityContact(value('RESELLER_SECURITY_CONTACT')),
    publicUrl: publicUrl(value('RESELLER_PUBLIC_URL'), mode),
    invoiceLinkDays: days('RESELLER_INVOICE_LINK_DAYS', value('RESELLER_INVOICE_LINK_DAYS') ?? '30'),
    dataDirectory: resolve(REPOSITORY, value('RESELLER_DATA_DIR') ?? '.data'),
    logLevel: logLevel(value('RESELLER_LOG_LEVEL') ?? 'warn'),
    secret: serviceSecret(secret('RESELLER_SECRET'), isShared),
    previousSecret: previousSecret(secret('RESELLER_SECRET_PREVIOUS')),
    extension: extension(value('RESELLER_EXTENSION') ?? (mode === 'sandbox' ? 'on' : 'off')),
  };
}

function configuredSecret(environment: Environment, name: string): string | undefined {
  try {
    return secretOf(environment, name);
  } catch (error) {
    throw error instanceof SecretError ? new ConfigurationError(error.message, { cause: error }) : error;
  }
}

function port(name: string, text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= 65_535) return number;
  throw new ConfigurationError(`${name} is '${text}'. Set it to a port number from 0 to 65535, where 0 picks a free port.`);
}

function days(name: string, text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 1 && number <= 3_650) return number;
  throw new ConfigurationError(`${name} is '${text}'. Set it to a whole number of days from 1 to 3650.`);
}

function seconds(name: string, text: string): number {
  return wholeNumber(name, text, { unit: 'seconds', from: 1, to: 3_600 });
}

function wholeNumber(name: string, text: string, { unit, from, to }: { unit: string; from: number; to: number }): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= from && number <= to) return number;
  throw new ConfigurationError(`${name} is '${text}'. Set it to a whole number of ${unit} from ${from} to ${to}.`);
}

function clockLimits(value: (name: string) => string | undefined): Configuration['clockLimits'] {
  const skew = value('RESELLER_MAX_CLOCK_SKEW_SECONDS');
  const jump = value('RESELLER_MAX_CLOCK_JUMP_HOURS');
  const confirmed = value('RESELLER_CLOCK_CONFIRMED_UNTIL');
  return {
    ...(skew !== undefined && { maxSkewMs: seconds('RESELLER_MAX_CLOCK_SKEW_SECONDS', skew) * 1000 }),
    ...(jump !== undefined && {
      maxJumpMs: wholeNumber('RESELLER_MAX_CLOCK_JUMP_HOURS', jump, { unit: 'hours', from: 1, to: 87_600 }) * 3_600_000,
    }),
    ...(confirmed !== undefined && { confirmedUntilMs: instant('RESELLER_CLOCK_CONFIRMED_UNTIL', confirmed) }),
  };
}

function instant(name: string, text: string): number {
  const milliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(milliseconds)) return milliseconds;
  throw new ConfigurationError(`${name} is '${text}'. Set it to an instant in UTC, such as 2026-12-24T18:00:00Z.`);
}

/** A number of hops does not suffice, because a client that reaches the service directly could then choose its address. */
function trustedProxies(text: string | undefined): readonly string[] {
  const networks = (text ?? '').split(',').flatMap((part) => part.trim() || []);
  const wrong = networks.find((network) => !isNetwork(network));
  if (wrong === undefined) return networks;
  throw new ConfigurationError(
    `RESELLER_TRUST_PROXY has '${wrong}'. Set it to the IP addresses or networks of your proxies, separated by commas, such as 10.0.0.5,2001:db8::/48.`,
  );
}

function allowedHosts(text: string | undefined): readonly string[] {
  const hosts = (text ?? '').split(',').flatMap((part) => part.trim().toLowerCase() || []);
  const wrong = hosts.find((host) => !/^[a-z0-9._-]{1,253}$/.test(host));
  if (wrong === undefined) return hosts;
  throw new ConfigurationError(
    `RESELLER_ALLOWED_HOSTS has '${wrong}'. Set it to names of hosts without a port, separated by commas, such as sandbox,sandbox.example.com.`,
  );
}

function securityContact(text: string | undefined): string | undefined {
  if (text === undefined || (/^(?:mailto:|https:\/\/|tel:)[!-~]+$/.test(text) && URL.canParse(text))) return text;
  throw new ConfigurationError(
    `RESELLER_SECURITY_CONTACT is '${text}'. Set it to a URL, such as mailto:security@example.com or https://example.com/security.`,
  );
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  const bits = Number(prefix ?? '1');
  return (prefix === undefined || /^\d{1,3}$/.test(prefix)) && bits >= 1 && bits <= (family === 4 ? 32 : 128);
}

function publicUrl(text: string | undefined, mode: 'sandbox' | 'live'): string | undefined {
  if (text === undefined && mode === 'live')
    throw new ConfigurationError(
      'RESELLER_PUBLIC_URL is missing. A live service needs it for the links to its invoices. Set it to the URL at which resellers reach the service, such as https://api.example.com.',
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

/** No message shows the value, because it contains a password. */
function databaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const address = readDatabaseUrl(text);
  if (!address)
    throw new ConfigurationError(
      'DATABASE_URL is not a connection string of a PostgreSQL database. Set it to one, such as postgres://user:password@host:5432/database, with special characters of the password percent-encoded, and several hosts separated by commas.',
    );
  if (address.targetSession === undefined || WRITING_SESSIONS.includes(address.targetSession)) return text;
  throw new ConfigurationError(
    `DATABASE_URL has target_session_attrs=${address.targetSession}, but the service needs to write. Set it to ${WRITING_SESSIONS.join(' or ')}, or omit it.`,
  );
}

function serviceSecret(text: string | undefined, isShared: boolean): string | undefined {
  if (text === undefined && isShared)
    throw new ConfigurationError(
      'RESELLER_SECRET is missing. A service with DATABASE_URL needs it. Set it to at least 32 random characters, the same on each instance.',
    );
  if (text === undefined || text.length >= 32) return text;
  throw new ConfigurationError(
    `RESELLER_SECRET has ${text.length} characters. Set it to at least 32 random characters, or omit it and the service generates one in the data directory.`,
  );
}

function previousSecret(text: string | undefined): string | undefined {
  if (text === undefined || text.length >= 32) return text;
  throw new ConfigurationError(
    `RESELLER_SECRET_PREVIOUS has ${text.length} characters. Set it to the secret that the service used so far, or omit it.`,
  );
}

function extension(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new ConfigurationError(`RESELLER_EXTENSION is '${text}'. Set it to on or off.`);
}

function modeOf(text: string): 'sandbox' | 'live' {
  if (text === 'sandbox' || text === 'live') return text;
  throw new ConfigurationError(`RESELLER_MODE is '${text}'. Set it to sandbox or live.`);
}

/** This process has only simulated adapters, so a live service uses them only on explicit request. */
function assertInfrastructure(text: string | undefined, mode: 'sandbox' | 'live'): void {
  if (text !== undefined && text !== 'simulated')
    throw new ConfigurationError(`RESELLER_INFRASTRUCTURE is '${text}'. Set it to simulated, the only infrastructure of this process.`);
  if (text === undefined && mode === 'live')
    throw new ConfigurationError(
      'RESELLER_INFRASTRUCTURE is missing. This process has no adapters for real infrastructure, so a live service would sell servers and domains that do not exist. Set it to simulated to do this anyway, or write your own process that passes your adapters to createService.',
    );
}

function operatorToken(text: string | undefined, mode: 'sandbox' | 'live', isShared: boolean): string | undefined {
  if (text === undefined && mode === 'live')
    throw new ConfigurationError('RESELLER_OPERATOR_TOKEN is missing. A live service needs it. Set it to at least 32 random characters.');
  if (text === undefined && isShared)
    throw new ConfigurationError(
      'RESELLER_OPERATOR_TOKEN is missing. A service with DATABASE_URL needs it. Set it to at least 32 random characters, the same on each instance.',
    );
  if (text === undefined || /^[!-~]{32,256}$/.test(text)) return text;
  throw new ConfigurationError(
    'RESELLER_OPERATOR_TOKEN cannot be used. Set it to 32 to 256 visible ASCII characters, or omit it in a sandbox, which then generates one in the data directory.',
  );
}
