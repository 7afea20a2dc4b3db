import { resolve } from 'node:path';

import type { SimulatedPort } from '@reseller/service';
import type { Delays } from '@reseller/service/configuration';
import * as v from 'valibot';

import { SecretError, secretOf } from './secrets.ts';
import type { Environment } from './secrets.ts';
import { variables } from './variables.ts';

/** Configuration of the process. */
export interface Configuration {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Host of the operator API. It does not follow `host`, because resellers must not reach it. */
  readonly operatorHost: string;
  /** Port of the operator API; 0 picks a free port. */
  readonly operatorPort: number;
  /** The port of the name server of a sandbox. */
  readonly dnsPort: number;
  /** Names of hosts that a sandbox takes in addition to its own. */
  readonly allowedHosts: readonly string[];
  /** File for audit records. Undefined for no export. */
  readonly auditFile: string | undefined;
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
  /** How long the simulated infrastructure of a sandbox takes. */
  readonly delays: Delays | undefined;
  /** The token from the environment. Undefined if a sandbox has it in a file of the data directory. */
  readonly operatorToken: string | undefined;
  /** Path of the module with the adapters; undefined for none. */
  readonly adapters: string | undefined;
  /** The adapter that the environment names for each port, such as `simulated` or `qemu`. */
  readonly named: NamedAdapters;
  /** How to reach PowerDNS, if it has the zones. */
  readonly powerDns: { readonly url: string; readonly apiKey: string } | undefined;
  /** Folder of the images of QEMU; undefined for a test image. */
  readonly qemuImages: string | undefined;
  /** Whether everything without an adapter is simulated, also in a live service. */
  readonly simulatesRest: boolean;
  /** Whether the reseller API has the extension, the operations that the specification names but does not show. */
  readonly extension: boolean;
}

/** Invalid environment variables. The message has one line for each mistake. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

const REPOSITORY = resolve(import.meta.dirname, '../../..');
/** Variables that can also be in files. */
const DEFAULT_POWERDNS_URL = 'http://127.0.0.1:8081';
const SECRETS = ['RESELLER_SECRET', 'RESELLER_OPERATOR_TOKEN', 'RESELLER_POWERDNS_API_KEY', 'DATABASE_URL'];
/** Variables of other programs of this repository. */
const OF_OTHERS = new Set([
  'RESELLER_API_KEY',
  'RESELLER_API_URL',
  'RESELLER_LOG',
  'RESELLER_OPERATOR_URL',
  'RESELLER_SANDBOX_URL',
  'RESELLER_SANDBOX_OPERATOR_URL',
  'RESELLER_URL',
]);

/**
 * Reads the configuration from environment variables; README.md lists them.
 *
 * @throws ConfigurationError with all mistakes: the variable, its value and the expected value.
 */
export function readConfiguration(environment: Environment): Configuration {
  const { given, mistakes } = givenVariables(environment);
  const parsed = v.safeParse(variables, given);
  mistakes.push(...(parsed.issues ?? []).map((issue) => `${v.getDotPath(issue) ?? ''} ${issue.message}`), ...missing(given));
  if (parsed.success) mistakes.push(...samePort(parsed.output));
  if (!parsed.success || mistakes.length > 0) throw new ConfigurationError(mistakes.join('\n'));
  const found = parsed.output;
  return {
    mode: found.RESELLER_MODE,
    databaseUrl: found.DATABASE_URL,
    lease: found.RESELLER_LEASE_SECONDS * 1000,
    drain: found.RESELLER_DRAIN_SECONDS * 1000,
    clockLimits: clockLimits(found),
    portTimeout: found.RESELLER_INFRASTRUCTURE_SECONDS * 1000,
    delays: found.RESELLER_SANDBOX_DELAYS,
    operatorToken: found.RESELLER_OPERATOR_TOKEN,
    host: found.RESELLER_HOST,
    port: found.RESELLER_PORT,
    operatorHost: found.RESELLER_OPERATOR_HOST,
    operatorPort: operatorPortOf(found),
    dnsPort: dnsPortOf(found),
    trustedProxies: found.RESELLER_TRUST_PROXY,
    allowedHosts: found.RESELLER_ALLOWED_HOSTS,
    auditFile: found.RESELLER_AUDIT_FILE,
    securityContact: found.RESELLER_SECURITY_CONTACT,
    publicUrl: found.RESELLER_PUBLIC_URL,
    invoiceLinkDays: found.RESELLER_INVOICE_LINK_DAYS,
    dataDirectory: resolve(REPOSITORY, found.RESELLER_DATA_DIR),
    logLevel: found.RESELLER_LOG_LEVEL,
    secret: found.RESELLER_SECRET,
    previousSecret: found.RESELLER_SECRET_PREVIOUS,
    adapters: found.RESELLER_ADAPTERS === undefined ? undefined : resolve(found.RESELLER_ADAPTERS),
    named: namedAdapters(given),
    powerDns:
      found.RESELLER_DNS === 'powerdns'
        ? { url: found.RESELLER_POWERDNS_URL ?? DEFAULT_POWERDNS_URL, apiKey: found.RESELLER_POWERDNS_API_KEY ?? '' }
        : undefined,
    qemuImages: found.RESELLER_QEMU_IMAGES === undefined ? undefined : resolve(found.RESELLER_QEMU_IMAGES),
    simulatesRest: found.RESELLER_INFRASTRUCTURE !== undefined,
    extension: found.RESELLER_EXTENSION ?? found.RESELLER_MODE === 'sandbox',
  };
}

/** The variables that look like those of the service but are none, such as misspelt ones. */
export function unknownVariables(environment: Environment): string[] {
  const known = new Set([...Object.keys(variables.entries), ...SECRETS.map((name) => `${name}_FILE`), ...OF_OTHERS]);
  return Object.keys(environment).filter((name) => name.startsWith('RESELLER_') && !known.has(name));
}

type Given = Partial<Record<keyof typeof variables.entries, string>>;
type Found = v.InferOutput<typeof variables>;

/** The variables that are set, with the secrets that are in files. An empty variable counts as not set. */
function givenVariables(environment: Environment): { readonly given: Given; readonly mistakes: string[] } {
  const mistakes: string[] = [];
  const given = Object.keys(variables.entries).flatMap((name) => {
    try {
      const value = SECRETS.includes(name) ? secretOf(environment, name) : environment[name];
      return value ? [[name, value]] : [];
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      mistakes.push(error.message);
      return [];
    }
  });
  return { given: Object.fromEntries(given), mistakes };
}

/** The variables that the mode and the store need. */
function missing(given: Given): string[] {
  const isLive = given.RESELLER_MODE === 'live';
  const isShared = given.DATABASE_URL !== undefined;
  const named = namedAdapters(given);
  return [
    // What a module lacks is only known after it was loaded.
    ...(isLive && given.RESELLER_ADAPTERS === undefined && given.RESELLER_INFRASTRUCTURE === undefined
      ? withoutAdapter(PORTS.filter((port) => named[port] === undefined))
      : []),
    ...(isLive && named.hypervisor === 'qemu' && given.RESELLER_QEMU_IMAGES === undefined
      ? ['RESELLER_QEMU_IMAGES is missing. A live service with QEMU needs images of its operating systems. Set it to their folder.']
      : []),
    ...(named.dns === 'powerdns' && given.RESELLER_POWERDNS_API_KEY === undefined
      ? [
          'RESELLER_POWERDNS_API_KEY is missing. RESELLER_DNS=powerdns needs it. Set it to the value of api-key in the settings of PowerDNS.',
        ]
      : []),
    ...(isLive && given.RESELLER_PUBLIC_URL === undefined
      ? [
          'RESELLER_PUBLIC_URL is missing. A live service needs it for the links to its invoices. Set it to the URL at which resellers reach the service, such as https://api.example.com.',
        ]
      : []),
    ...(isLive && given.RESELLER_EXTENSION === undefined
      ? [
          'RESELLER_EXTENSION is missing. A live service needs a decision on what resellers may do. Set it to on, so that they can list, stop, change and delete what they bought. Set it to off, so that they can only do what the specification shows.',
        ]
      : []),
    ...delaysOfReal(given),
    ...(isShared && given.RESELLER_SECRET === undefined
      ? [
          'RESELLER_SECRET is missing. A service with DATABASE_URL needs it. Set it to at least 32 random characters, the same on each instance.',
        ]
      : []),
    ...((isLive || isShared) && given.RESELLER_OPERATOR_TOKEN === undefined
      ? [
          isShared
            ? 'RESELLER_OPERATOR_TOKEN is missing. A service with DATABASE_URL needs it. Set it to at least 32 random characters, the same on each instance.'
            : 'RESELLER_OPERATOR_TOKEN is missing. A live service needs it. Set it to at least 32 random characters.',
        ]
      : []),
  ];
}

/** The lines about delays of infrastructure that is not simulated. */
function delaysOfReal(given: Given): string[] {
  const delays = given.RESELLER_SANDBOX_DELAYS;
  if (delays === undefined) return [];
  const reason =
    given.RESELLER_MODE === 'live'
      ? 'a live service takes as long as its infrastructure'
      : given.RESELLER_HYPERVISOR === 'qemu' || given.RESELLER_ADAPTERS !== undefined
        ? 'real infrastructure takes as long as it does'
        : undefined;
  return reason === undefined
    ? []
    : [`RESELLER_SANDBOX_DELAYS is '${delays}', but ${reason}. Set it to nothing, or simulate all infrastructure.`];
}

const LIST = new Intl.ListFormat('en-GB');

/** The ports to infrastructure. */
export const PORTS = ['hypervisor', 'fleet', 'registrar', 'dns'] as const satisfies readonly SimulatedPort[];

/** The line about ports without an adapter in a live service. Empty if there is none. */
export function withoutAdapter(ports: readonly SimulatedPort[]): string[] {
  if (ports.length === 0) return [];
  const names = ports.map((port) => `RESELLER_${port.toUpperCase()}`);
  return [
    `RESELLER_INFRASTRUCTURE is missing. This live service has no adapter for its ${LIST.format(ports)}, so it would sell what does not exist. Set RESELLER_ADAPTERS to a module that creates what is missing. Set it to simulated, or only ${LIST.format(names)}, to simulate what is missing.`,
  ];
}

type NamedAdapters = Readonly<Record<SimulatedPort, string | undefined>>;

/** The values of the variables that name the adapter of a port. */
function namedAdapters(given: Given): NamedAdapters {
  return {
    hypervisor: given.RESELLER_HYPERVISOR,
    fleet: given.RESELLER_FLEET,
    registrar: given.RESELLER_REGISTRAR,
    dns: given.RESELLER_DNS,
  };
}

/** The port after that of the operator API. The last port has none after it, so any free one is used. */
function dnsPortOf(found: Found): number {
  const operatorPort = operatorPortOf(found);
  return found.RESELLER_DNS_PORT ?? (operatorPort === 0 || operatorPort >= 65_535 ? 0 : operatorPort + 1);
}

/** The port after that of the reseller API, so that one variable moves both. */
function operatorPortOf({ RESELLER_PORT, RESELLER_OPERATOR_PORT }: Found): number {
  return RESELLER_OPERATOR_PORT ?? (RESELLER_PORT === 0 ? 0 : RESELLER_PORT + 1);
}

function samePort(found: Found): string[] {
  const port = operatorPortOf(found);
  if (port > 65_535) return ['RESELLER_OPERATOR_PORT is missing. There is no port after 65535. Set it to a port number from 0 to 65534.'];
  return port !== 0 && port === found.RESELLER_PORT && found.RESELLER_OPERATOR_HOST === found.RESELLER_HOST
    ? [`RESELLER_OPERATOR_PORT is '${port}', which is also RESELLER_PORT. Set it to another port.`]
    : [];
}

function clockLimits(found: Found): Configuration['clockLimits'] {
  const { RESELLER_MAX_CLOCK_SKEW_SECONDS: skew, RESELLER_MAX_CLOCK_JUMP_HOURS: jump, RESELLER_CLOCK_CONFIRMED_UNTIL: confirmed } = found;
  return {
    ...(skew !== undefined && { maxSkewMs: skew * 1000 }),
    ...(jump !== undefined && { maxJumpMs: jump * 3_600_000 }),
    ...(confirmed !== undefined && { confirmedUntilMs: confirmed }),
  };
}
