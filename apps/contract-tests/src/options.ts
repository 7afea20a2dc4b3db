import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { isError } from '@reseller/contract';
import { moneyOf, VERDICTS } from '@reseller/contract/engine';
import type { Mode, Money, NamedOperations, Verdict } from '@reseller/contract/engine';

import { CannotRunError } from './cannot-run.ts';
import { CONTRACT, dataFolder, isClone, START_SANDBOX } from './installation.ts';

export const USAGE = `Checks the responses of a running service against its OpenAPI document. Read-only by default.

Usage
  ${CONTRACT} [--target URL] [options] call a service and judge its responses
  ${CONTRACT} --har FILE               judge a recording
  ${CONTRACT} diff OLD NEW             compare two documents and name what breaks their users
  ${CONTRACT} explain [CHECK]          explain the check of a finding with an example, or list all checks

Target
  --target URL         base address of the API. With --document, the default of a read-only run is the first server of the document
  --document FILE      its OpenAPI document: 3.1, 3.0 or Swagger 2, in one file or in many
  --api-key KEY        API key, bearer token or user:password, sent as the document says. Prefer CONTRACT_API_KEY, which
                       other users of the machine cannot see
  --credential SCHEME=VALUE
                       credential for one security scheme of the document; can be repeated. Prefer the environment:
                       CONTRACT_API_KEY_SCHEME, with the name of the scheme in upper case. An API key, a token,
                       user:password, or client_id:client_secret for OAuth 2 client credentials, with which the run gets
                       tokens, and new ones when they expire or are refused

Requests
  --mode MODE          read-only (default), or full: also operations that change something and can be undone
  --only OPERATION...  restrict the run to these operations and the reads that find identifiers for them
  --also OPERATION...  add operations that must be named: those that cost money, cannot be undone, or change what the run
                       does not make. OPERATION=IDENTIFIER allows the operation on that resource; otherwise it is used only
                       on resources that the run created. For several path parameters: OPERATION=IDENTIFIER/IDENTIFIER.
                       Reads take an identifier the same way: --only getOrder=48213
  --except OPERATION...
                       operations that the run must not call
  --header 'NAME: VALUE'
                       a header of every request; can be repeated
  --value NAME=VALUE   the value of a parameter with this name, also of a path parameter, or of a field of a body (JSON,
                       if the field is not a text); can be repeated
  --hooks FILE         a module with functions that are called before requests and after responses, and with checks
  --config FILE        options in a YAML or JSON file, by their names. \${NAME} is replaced from the environment.
                       Default: contract.yaml in this folder, if it exists
  --plan               list every request that the run may send, and send none
  --budget AMOUNT      how much the run may spend, such as 12.50; gross if the API states gross prices
  --allow-unknown-price N
                       how many purchases may succeed without a price from the API
  --yes                make the changes that full mode announces
  --seed N             determines the order of invalid bodies and the names of new resources.
                       Default: a random number, which is printed
  --requests N         maximum number of valid requests for each operation in full mode, with different values (default: 10)
  --rate N/s           maximum number of requests per second

Reseller API (the document without --document; its package is @reseller/openapi)
  --extension          include the operations of the extension, which the specification names but does not show.
                       Without it, a read-only run takes the document of the service (/openapi.json) if that has the
                       whole specification
  --operator URL       operator API at which one-time codes are presented as by a third party, in full mode (or
                       RESELLER_OPERATOR_URL). Its token, or that of a verifier, is RESELLER_OPERATOR_TOKEN
                       The default target is the sandbox on this machine: http://127.0.0.1:4010, or the port in RESELLER_PORT,
                       with the key and the operator token that it writes to its data folder (RESELLER_DATA_DIR, or .data)

Results
  --fail-on VERDICT    least severe verdict that ends with exit code 1: violation (default), discovered, learned or
                       unverified
  --baseline FILE      accepted findings, each with reason, owner and expiry
  --report DIR         write report.json, JUnit, SARIF, Markdown, HAR, and a test of each finding for node --test to
                       this folder
  --quiet              print only the result, and what the run leaves
  --write              write the proposals into the YAML files of the document
  --format FORMAT      output of diff: text (default), json, markdown, or github (annotations)
  --wire               in a diff, judge only requests and responses, not code of the generated client
  --version            print the version of this program and of Node.js
  --help               print this text

Examples
  ${CONTRACT} --target https://api.example.com --document api.yaml --report reports
  ${CONTRACT} --target https://api.example.com --document api.yaml --mode full --also createOrder --except sendReport --yes
  ${CONTRACT} --target https://api.example.com --document api.yaml --only getOrder=48213 listOrders --fail-on discovered

Exit code: 0 nothing failed, 1 findings that fail the run, 2 could not run, 3 changes remain that the run should have undone (they are
listed), 4 an error after the first request (the report has what was found), 130 or 143 stopped by Ctrl-C or SIGTERM after everything was undone.`;

/** Host names of this machine. */
export const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);
const LOCAL = 'http://127.0.0.1:4010';
/** A header can carry visible ASCII only. */
const KEY = /^[!-~]+$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** A file that a sandbox writes to its data folder at its first start. Only its owner can read it. */
export function keyFile(name: 'demo-api-key' | 'operator-token', environment: Environment): string {
  return join(dataFolder(environment), name);
}

type Command = 'run' | 'har' | 'diff' | 'explain' | 'help' | 'version';

/** The parsed and validated arguments. `--help` explains them. */
export type Arguments = ReturnType<typeof readArguments>;

const OUTPUT_FORMATS = ['text', 'json', 'markdown', 'github'] as const;

/**
 * Reads the command line.
 * @throws {CannotRunError} when an argument is unknown or unusable
 */
export function readArguments(argv: readonly string[], environment: Environment = {}) {
  const { values, positionals, only, also, except } = parse(argv);
  const command = readCommand(values, positionals);
  const hasWords = command === 'diff' || command === 'explain';
  const rest = hasWords ? positionals.slice(1) : positionals;
  if (command === 'diff' && rest.length !== 2) throw new CannotRunError(`diff needs two documents: ${CONTRACT} diff OLD NEW.`);
  if (command !== 'diff' && rest.length > (command === 'explain' ? 1 : 0))
    throw new CannotRunError(`Unexpected argument. See ${CONTRACT} --help.`);
  rejectWithoutEffect(command, values);
  if (values.extension === true && (values.document !== undefined || values.write === true)) {
    throw new CannotRunError(
      '--extension chooses the bundle of the specification and the extension. Leave out --document and --write, which need one document.',
    );
  }
  if (values.write === true && values.document === undefined && !isClone) {
    throw new CannotRunError('--write changes the files of a document. Name yours with --document.');
  }
  const mode = readMode(values.mode);
  const budget = readMoney(values.budget);
  for (const name of FULL_MODE)
    if (mode !== 'full' && values[name] !== undefined)
      throw new CannotRunError(
        `--${name} has no effect, because a read-only run sends few requests, and changes and buys nothing. Add --mode full, or leave it out.`,
      );
  return {
    command,
    files: hasWords ? rest : [],
    target: readAddress(values.target ?? (command === 'run' ? localTarget(environment) : LOCAL), 'target'),
    /** Whether the user gives the target. */
    hasTarget: values.target !== undefined,
    apiKey: values['api-key'],
    document: values.document,
    extension: values.extension === true,
    mode,
    only: readNames(only),
    also: readNames(also),
    except: new Set(except.flatMap((word) => word.split(',')).filter((word) => word !== '')),
    failOn: readFailOn(values['fail-on']),
    plan: values.plan === true,
    budget,
    unknownPrices: readNumber(values['allow-unknown-price'], '--allow-unknown-price', 0) ?? 0,
    yes: values.yes === true,
    seed: readNumber(values.seed, '--seed', 0) ?? randomInt(1, 2 ** 31),
    given: {
      headers: readPairs(values.header, ':', '--header', "'X-Tenant: 7'"),
      values: readPairs(values.value, '=', '--value', 'tenant=7'),
    },
    credentials: readPairs(values.credential, '=', '--credential', 'Token=VALUE'),
    hooks: values.hooks,
    requests: readNumber(values.requests, '--requests', 1),
    rate: readNumber(values.rate?.replace(/\/s$/, ''), '--rate', 1),
    operator: readOperatorAddress(values.operator, environment, mode),
    baseline: values.baseline,
    report: values.report,
    quiet: values.quiet === true,
    write: values.write === true,
    har: values.har,
    format: readFormat(values.format),
    wire: values.wire === true,
  };
}

/** RESELLER_API_KEY is the name of earlier versions. */
function keyIn(environment: Environment): string | undefined {
  return environment['CONTRACT_API_KEY'] ?? environment['RESELLER_API_KEY'];
}

/**
 * Reads the API key for a target: from the argument, else the environment, else the sandbox on this machine.
 * @throws {CannotRunError} when there is none, or it has characters that are not allowed in a header
 */
export async function readKey(
  { target, apiKey: given, document }: Pick<Arguments, 'target' | 'apiKey' | 'document'>,
  environment: Environment,
): Promise<string> {
  const demoKeyFile = keyFile('demo-api-key', environment);
  const isSandbox = LOOPBACK.has(target.hostname) && document === undefined;
  const named = given ?? keyIn(environment);
  const apiKey = (named ?? (isSandbox ? await readFile(demoKeyFile, 'utf8').catch(() => '') : '')).trim();
  if (apiKey === '') {
    throw new CannotRunError(
      isSandbox
        ? `There is no API key. Start the sandbox once (${START_SANDBOX}), which writes ${demoKeyFile}, or set CONTRACT_API_KEY.`
        : 'There is no API key. Set CONTRACT_API_KEY to the key of the account at the target.',
    );
  }
  if (!KEY.test(apiKey))
    throw new CannotRunError(
      'The API key has characters that are not allowed in a header. Check that you copied all of it, without spaces.',
    );
  return apiKey;
}

const OPTIONS = {
  target: { type: 'string' },
  'api-key': { type: 'string' },
  document: { type: 'string' },
  extension: { type: 'boolean' },
  mode: { type: 'string' },
  header: { type: 'string', multiple: true },
  value: { type: 'string', multiple: true },
  credential: { type: 'string', multiple: true },
  hooks: { type: 'string' },
  config: { type: 'string' },
  only: { type: 'string', multiple: true },
  also: { type: 'string', multiple: true },
  except: { type: 'string', multiple: true },
  'fail-on': { type: 'string' },
  version: { type: 'boolean' },
  plan: { type: 'boolean' },
  budget: { type: 'string' },
  'allow-unknown-price': { type: 'string' },
  yes: { type: 'boolean' },
  seed: { type: 'string' },
  rate: { type: 'string' },
  requests: { type: 'string' },
  operator: { type: 'string' },
  baseline: { type: 'string' },
  report: { type: 'string' },
  quiet: { type: 'boolean' },
  write: { type: 'boolean' },
  har: { type: 'string' },
  format: { type: 'string' },
  wire: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>>['values'];

interface Parsed {
  readonly values: Values;
  readonly positionals: readonly string[];
  readonly only: readonly string[];
  readonly also: readonly string[];
  readonly except: readonly string[];
}

/** Options that take all words up to the next option. */
const LISTS: ReadonlySet<string> = new Set(['only', 'also', 'except']);

function parse(argv: readonly string[]): Parsed {
  // pnpm passes "--" to the script.
  const args = argv.filter((argument, index) => !(argument === '--' && index === 0));
  const { values, tokens } = parseTokens(args);
  const words: Record<string, string[]> = { only: [], also: [], except: [], none: [] };
  let list = 'none';
  for (const token of tokens) {
    if (token.kind === 'option') list = LISTS.has(token.name) ? token.name : 'none';
    if (token.kind !== 'option-terminator' && typeof token.value === 'string' && (token.kind === 'positional' || LISTS.has(token.name)))
      words[list]?.push(token.value);
  }
  const { none: positionals = [], only = [], also = [], except = [] } = words;
  return { values, positionals, only, also, except };
}

function parseTokens(args: string[]): ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true; tokens: true }>> {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: true, tokens: true });
  } catch (error) {
    // The message has only the name of the option, because its value can be a key.
    const [, problem, name] = /^(Unknown option|Option) '(--?[a-z-]+)/.exec(isError(error) ? error.message : '') ?? [];
    const what = problem === 'Unknown option' ? 'is unknown' : 'needs a value, or does not take one';
    throw new CannotRunError(`${name === undefined ? 'An option' : `The option ${name}`} ${what}. See ${CONTRACT} --help.`, {
      cause: error,
    });
  }
}

function readCommand(values: Values, [first]: readonly string[]): Command {
  if (values.help === true) return 'help';
  if (values.version === true) return 'version';
  if (values.har !== undefined) return 'har';
  return first === 'diff' || first === 'explain' ? first : 'run';
}

type OptionName = keyof typeof OPTIONS;

const FULL_MODE = ['budget', 'allow-unknown-price', 'requests', 'yes'] as const;
const JUDGING = ['config', 'document', 'extension', 'fail-on', 'baseline', 'report', 'quiet', 'write'] as const;
/** The options of each command. Those of a run are all that no other command has alone. */
const OPTIONS_OF: Readonly<Record<Exclude<Command, 'run' | 'help' | 'version'>, readonly OptionName[]>> = {
  har: ['har', ...JUDGING],
  diff: ['config', 'format', 'wire'],
  explain: ['config'],
};
const NOT_OF_A_RUN: readonly OptionName[] = ['har', 'format', 'wire'];

/** Rejects options that the command ignores, because their user expects an effect. */
function rejectWithoutEffect(command: Command, values: Values): void {
  if (command === 'help' || command === 'version') return;
  for (const name of Object.keys(values)) {
    const isKnown = command === 'run' ? !NOT_OF_A_RUN.some((one) => one === name) : OPTIONS_OF[command].some((one) => one === name);
    if (!isKnown)
      throw new CannotRunError(
        `--${name} has no effect on ${command === 'run' ? 'a run' : command === 'har' ? 'the judgement of a recording' : command}. Leave it out. See ${CONTRACT} --help.`,
      );
  }
}

function readMode(text: string | undefined): Mode {
  if (text === undefined || text === 'read-only' || text === 'full') return text ?? 'read-only';
  throw new CannotRunError('--mode must be read-only or full.');
}

function readFailOn(text: string | undefined): Verdict {
  const verdict = VERDICTS.find((one) => one === (text ?? 'violation'));
  if (verdict === undefined) throw new CannotRunError(`--fail-on must be one of ${VERDICTS.join(', ')}.`);
  return verdict;
}

function readFormat(text: string | undefined): (typeof OUTPUT_FORMATS)[number] {
  const format = OUTPUT_FORMATS.find((one) => one === (text ?? 'text'));
  if (format === undefined) throw new CannotRunError(`--format must be one of ${OUTPUT_FORMATS.join(', ')}.`);
  return format;
}

/** Reads operations with the resources that they may use. An operation can be given several times, with another resource each time. */
function readNames(words: readonly string[]): NamedOperations {
  const names = new Map<string, string[]>();
  for (const word of words.flatMap((list) => list.split(',')).filter((part) => part !== '')) {
    const equals = word.indexOf('=');
    const id = equals < 0 ? word : word.slice(0, equals);
    names.set(id, [...(names.get(id) ?? []), ...(equals < 0 ? [] : [word.slice(equals + 1)])]);
  }
  return names;
}

/** Reads pairs of a name and a value. The names of headers are in lower case. */
function readPairs(texts: readonly string[] = [], separator: ':' | '=', option: string, example: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(separator);
      const [name, value] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1).trim()];
      const isHeader = separator === ':';
      if (name === '' || (isHeader && !(/^[\w-]+$/.test(name) && /^[ -~]*$/.test(value))))
        throw new CannotRunError(`${option} needs a name and a value, such as ${option} ${example}.`);
      return [isHeader ? name.toLowerCase() : name, value];
    }),
  );
}

function readNumber(text: string | undefined, name: string, least: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || !Number.isSafeInteger(value))
    throw new CannotRunError(`${name} must be a whole number of at least ${least}.`);
  return value;
}

function readMoney(text: string | undefined): Money | undefined {
  const amount = moneyOf(text);
  if (text !== undefined && amount === undefined)
    throw new CannotRunError('--budget must be an amount such as 12.50, with at most eight decimals.');
  return amount;
}

export function readAddress(text: string, what: string): URL {
  const target = URL.canParse(text) ? new URL(text) : undefined;
  if (target === undefined || (target.protocol !== 'http:' && target.protocol !== 'https:')) {
    throw new CannotRunError(`The ${what} is not an http or https address. Give one such as --target http://127.0.0.1:4010.`);
  }
  if (target.username !== '' || target.password !== '' || target.search !== '' || target.hash !== '') {
    throw new CannotRunError(`The ${what} must be a plain base address, without user, password, query or fragment.`);
  }
  return target;
}

/** The address of the sandbox that is started in the same environment. */
function localTarget(environment: Environment): string {
  const port = environment['RESELLER_PORT'];
  if (!port) return LOCAL;
  if (/^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) <= 65_535) return `http://127.0.0.1:${port}`;
  throw new CannotRunError(
    `RESELLER_PORT is '${port}', which is not a port from 1 to 65535. Give the address of the service with --target.`,
  );
}

/** A read-only run ignores RESELLER_OPERATOR_URL, because it generates no codes, but refuses `--operator`. */
function readOperatorAddress(given: string | undefined, environment: Environment, mode: Mode): URL | undefined {
  if (given !== undefined && mode !== 'full')
    throw new CannotRunError('--operator is for full mode: a read-only run generates no one-time codes. Add --mode full, or leave it out.');
  const text = given ?? (mode === 'full' ? environment['RESELLER_OPERATOR_URL'] : undefined);
  return text === undefined || text === '' ? undefined : readAddress(text, 'operator API');
}
