import { resolve } from 'node:path';

/** How the process is set up. */
export interface Configuration {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Where the embedded store and the key files are. */
  readonly dataDirectory: string;
  readonly logLevel: string;
  /** From the environment; undefined where the file in the data directory holds it. */
  readonly secret: string | undefined;
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
  return {
    host: value('RESELLER_HOST') ?? '127.0.0.1',
    port: port(value('RESELLER_PORT') ?? '4010'),
    dataDirectory: resolve(REPOSITORY, value('RESELLER_DATA_DIR') ?? '.data'),
    logLevel: logLevel(value('RESELLER_LOG_LEVEL') ?? 'warn'),
    secret: secret(value('RESELLER_SECRET')),
  };
}

function port(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= 65_535) return number;
  throw new ConfigurationError(`RESELLER_PORT is '${text}'. Set it to a port number from 0 to 65535, 0 for any free one.`);
}

function logLevel(text: string): string {
  if (LOG_LEVELS.includes(text)) return text;
  throw new ConfigurationError(`RESELLER_LOG_LEVEL is '${text}'. Set it to one of ${LOG_LEVELS.join(', ')}.`);
}

function secret(text: string | undefined): string | undefined {
  if (text === undefined || text.length >= 32) return text;
  throw new ConfigurationError(
    `RESELLER_SECRET has ${text.length} characters. Set it to at least 32 random ones, or leave it out to have one made and kept in the data directory.`,
  );
}
