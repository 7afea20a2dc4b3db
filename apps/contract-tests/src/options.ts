import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { moneyOf, type Money } from '@reseller/contract/engine';
import { CannotRunError } from './cannot-run.ts';

export const USAGE = `Checks the answers of a running service against the OpenAPI document. Read-only unless told otherwise.

  npx pnpm@12 contract [--target URL] [options]   call a service and judge its answers
  npx pnpm@12 contract --har FILE                 judge recorded traffic
  npx pnpm@12 contract proxy --target URL         judge the traffic that passes through a proxy
  npx pnpm@12 contract diff OLD NEW               say what a change of the document means
  npx pnpm@12 contract selftest                   show of every check that it finds its defect

  --target URL         base address; the local sandbox when omitted, http://127.0.0.1:4010 or the port in RESELLER_PORT
  --api-key KEY        API key; better in RESELLER_API_KEY, where other users of the machine do not see it.
                       For a sandbox on this machine, demo-api-key in its data folder (RESELLER_DATA_DIR, or .data) is
                       read when neither is given
  --document FILE      another OpenAPI 3.1 document, in one file or in many
  --mode MODE          read-only (default), or full: also what changes something and can be undone
  --only OPERATION...  only these, and by name what costs money or cannot be undone. OPERATION=IDENTIFIER allows it
                       to be used on that thing; without, only on what the run made itself
  --plan               list every request that may leave, and send none
  --budget AMOUNT      how much may be spent, such as 12.50, gross where the API says gross
  --allow-unknown-price N
                       how many requests that cost money may succeed of which the API does not say the price
  --yes                do what full mode says it will do
  --seed N             which wrong forms are sent, in which order, and what new things are called;
                       another each time when omitted, and printed
  --rate N/s           at most so many requests a second
  --compare URL        a second service that should answer the same; its key in RESELLER_COMPARE_API_KEY, else the same key
  --operator URL       operator API where one-time codes are presented as a third party would, in full mode (or
                       RESELLER_OPERATOR_URL); its token, or that of a verifier, in RESELLER_OPERATOR_TOKEN. For a sandbox
                       on this machine, operator-token in its data folder is read when it is not set
  --baseline FILE      accepted findings, each with reason, owner and expiry
  --report DIR         write report.json, JUnit, SARIF, HTML, Markdown, HAR and proposals there
  --write              write the proposals into the YAML of the document
  --port N             port of the proxy (4040)
  --help               this text

Exit code: 0 nothing failed, 1 violations, 2 could not run.`;

/** Host names of this machine. */
export const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);
const LOCAL = 'http://127.0.0.1:4010';
const REPOSITORY = resolve(import.meta.dirname, '../../..');
/** What a header can carry: visible ASCII. */
const KEY = /^[!-~]+$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** A file that a sandbox writes to its data folder at its first start, readable by its owner alone. */
export function keyFile(name: 'demo-api-key' | 'operator-token', environment: Environment): string {
  return join(resolve(REPOSITORY, environment['RESELLER_DATA_DIR'] || '.data'), name);
}

/** What the command line says, checked one by one. */
export interface Arguments {
  readonly command: 'run' | 'har' | 'proxy' | 'diff' | 'selftest' | 'help';
  /** Files of `diff`. */
  readonly files: readonly string[];
  readonly target: URL;
  readonly apiKey: string | undefined;
  readonly document: string | undefined;
  readonly mode: 'read-only' | 'full';
  readonly only: ReadonlyMap<string, string | undefined>;
  readonly plan: boolean;
  readonly budget: Money | undefined;
  /** How many purchases of unknown price may succeed. */
  readonly unknownPrices: number;
  readonly yes: boolean;
  readonly seed: number;
  readonly rate: number | undefined;
  readonly compare: URL | undefined;
  readonly operator: URL | undefined;
  readonly baseline: string | undefined;
  readonly report: string | undefined;
  readonly write: boolean;
  readonly har: string | undefined;
  readonly port: number;
}

const COMMANDS = ['proxy', 'diff', 'selftest'] as const;

/**
 * Reads the command line.
 * @throws {CannotRunError} when an argument is unknown or unusable
 */
export function readArguments(argv: readonly string[], environment: Environment = {}): Arguments {
  const { values, positionals } = parse(argv);
  const command =
    values.help === true ? 'help' : values.har === undefined ? (COMMANDS.find((name) => name === positionals[0]) ?? 'run') : 'har';
  const rest = command === 'run' || command === 'har' || command === 'help' ? positionals : positionals.slice(1);
  if (command === 'diff' && rest.length !== 2) throw new CannotRunError('diff needs two documents: npx pnpm@12 contract diff OLD NEW.');
  if (command !== 'diff' && rest.length > 0 && values.only === undefined)
    throw new CannotRunError('An argument belongs to no option. See npx pnpm@12 contract --help.');
  const mode = values.mode ?? 'read-only';
  if (mode !== 'read-only' && mode !== 'full') throw new CannotRunError('--mode is read-only or full.');
  return {
    command,
    files: command === 'diff' ? rest : [],
    target: readAddress(values.target ?? (command === 'run' || command === 'proxy' ? localTarget(environment) : LOCAL), 'target'),
    apiKey: values['api-key'],
    document: values.document,
    mode,
    only: readNames([...(values.only ?? []), ...(command === 'diff' ? [] : rest)]),
    plan: values.plan === true,
    budget: readMoney(values.budget),
    unknownPrices: readNumber(values['allow-unknown-price'], '--allow-unknown-price', 0) ?? 0,
    yes: values.yes === true,
    seed: readNumber(values.seed, '--seed', 0) ?? randomInt(1, 2 ** 31),
    rate: readNumber(values.rate?.replace(/\/s$/, ''), '--rate', 1),
    compare: values.compare === undefined ? undefined : readAddress(values.compare, 'compared service'),
    operator: readOperatorAddress(values.operator, environment, mode),
    baseline: values.baseline,
    report: values.report,
    write: values.write === true,
    har: values.har,
    port: readNumber(values.port, '--port', 0) ?? 4040,
  };
}

/**
 * The API key for a target: the argument, else the environment, else that of the sandbox on this machine.
 * @throws {CannotRunError} when there is none, or a header cannot carry it
 */
export async function readKey({ target, apiKey: given }: Pick<Arguments, 'target' | 'apiKey'>, environment: Environment): Promise<string> {
  const demoKeyFile = keyFile('demo-api-key', environment);
  const apiKey = (given ?? environment['RESELLER_API_KEY'] ?? (await readDemoKey(target, demoKeyFile)) ?? '').trim();
  if (apiKey === '') {
    throw new CannotRunError(
      LOOPBACK.has(target.hostname)
        ? `There is no API key. Start the sandbox once (npx pnpm@12 start), which writes ${demoKeyFile}, or set RESELLER_API_KEY.`
        : 'There is no API key. Set RESELLER_API_KEY to the key of the account at the target.',
    );
  }
  if (!KEY.test(apiKey))
    throw new CannotRunError('The API key has characters that a header cannot carry. Check that it was copied whole and without spaces.');
  return apiKey;
}

const OPTIONS = {
  target: { type: 'string' },
  'api-key': { type: 'string' },
  document: { type: 'string' },
  mode: { type: 'string' },
  only: { type: 'string', multiple: true },
  plan: { type: 'boolean' },
  budget: { type: 'string' },
  'allow-unknown-price': { type: 'string' },
  yes: { type: 'boolean' },
  seed: { type: 'string' },
  rate: { type: 'string' },
  compare: { type: 'string' },
  operator: { type: 'string' },
  baseline: { type: 'string' },
  report: { type: 'string' },
  write: { type: 'boolean' },
  har: { type: 'string' },
  port: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

function parse(argv: readonly string[]): ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>> {
  // pnpm hands "--" on to the script.
  const args = argv.filter((argument, index) => !(argument === '--' && index === 0));
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    // Node's first sentence says what is wrong; an argument can be a mistyped key, so it is not repeated.
    const unknown = /^Unknown option '(--?[a-z-]+)/.exec(error instanceof Error ? error.message : '')?.[1];
    const what = unknown === undefined ? 'An option lacks its value, or has one that it does not take' : `The option ${unknown} is unknown`;
    throw new CannotRunError(`${what}. See npx pnpm@12 contract --help.`, { cause: error });
  }
}

function readNames(words: readonly string[]): ReadonlyMap<string, string | undefined> {
  const names = words.flatMap((word) => word.split(',')).filter((word) => word !== '');
  return new Map(
    names.map((word) => {
      const equals = word.indexOf('=');
      return equals < 0 ? ([word, undefined] as const) : ([word.slice(0, equals), word.slice(equals + 1)] as const);
    }),
  );
}

function readNumber(text: string | undefined, name: string, least: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || !Number.isSafeInteger(value))
    throw new CannotRunError(`${name} must be a whole number from ${least} on.`);
  return value;
}

function readMoney(text: string | undefined): Money | undefined {
  const amount = moneyOf(text);
  if (text !== undefined && amount === undefined)
    throw new CannotRunError('--budget is an amount such as 12.50, with up to eight decimals.');
  return amount;
}

function readAddress(text: string, what: string): URL {
  const target = URL.canParse(text) ? new URL(text) : undefined;
  if (target === undefined || (target.protocol !== 'http:' && target.protocol !== 'https:')) {
    throw new CannotRunError(`The ${what} is not an http or https address. Give one such as --target http://127.0.0.1:4010.`);
  }
  if (target.username !== '' || target.password !== '' || target.search !== '' || target.hash !== '') {
    throw new CannotRunError(`The ${what} must be a plain base address, without user, password, query or fragment.`);
  }
  return target;
}

/** The sandbox that `npx pnpm@12 start` starts in the same environment. */
function localTarget(environment: Environment): string {
  const port = environment['RESELLER_PORT'];
  if (!port) return LOCAL;
  if (/^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) <= 65_535) return `http://127.0.0.1:${port}`;
  throw new CannotRunError(
    `RESELLER_PORT is '${port}', which does not name the port of a running sandbox. Name the service with --target.`,
  );
}

/** An address that the environment names for all commands says nothing where no code is generated; one that was written does. */
function readOperatorAddress(given: string | undefined, environment: Environment, mode: Arguments['mode']): URL | undefined {
  if (given !== undefined && mode !== 'full')
    throw new CannotRunError('--operator is for full mode: a read-only run generates no one-time codes. Add --mode full, or leave it out.');
  const text = given ?? (mode === 'full' ? environment['RESELLER_OPERATOR_URL'] : undefined);
  return text === undefined || text === '' ? undefined : readAddress(text, 'operator API');
}

async function readDemoKey(target: URL, file: string): Promise<string | undefined> {
  if (!LOOPBACK.has(target.hostname)) return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}
