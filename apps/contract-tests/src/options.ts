import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { CannotRunError } from './cannot-run.ts';

export const USAGE = `Checks the answers of a running service against the OpenAPI document. Calls only what changes nothing.

  pnpm contract [--target URL] [--api-key KEY]

  --target URL    base address, http://127.0.0.1:4010 (the local sandbox) when omitted
  --api-key KEY   API key; better in RESELLER_API_KEY, where other users of the machine do not see it.
                  For a sandbox on this machine, .data/demo-api-key is read when neither is given
  --help          this text

Exit code: 0 nothing failed, 1 violations, 2 could not run.`;

const DEFAULT_TARGET = 'http://127.0.0.1:4010';
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);
/** The server writes it at its first start (mode 600), at the root of the repository. */
const DEMO_KEY_FILE = new URL('../../../.data/demo-api-key', import.meta.url);
/** What a header can carry: visible ASCII. */
const KEY = /^[!-~]+$/;

export interface CommandOptions {
  readonly target: URL;
  readonly apiKey: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the command line and, where it is silent, the environment.
 * @param demoKeyFile where the sandbox of this machine leaves its key
 * @returns undefined when help is asked for
 * @throws {CannotRunError} when an argument is unknown or unusable, or there is no API key
 */
export async function readOptions(
  argv: readonly string[],
  environment: Environment,
  demoKeyFile = DEMO_KEY_FILE,
): Promise<CommandOptions | undefined> {
  const values = parse(argv);
  if (values.help === true) return undefined;
  const target = readTarget(values.target ?? DEFAULT_TARGET);
  const apiKey = (values['api-key'] ?? environment['RESELLER_API_KEY'] ?? (await readDemoKey(target, demoKeyFile)) ?? '').trim();
  if (apiKey === '') {
    throw new CannotRunError(
      LOOPBACK.has(target.hostname)
        ? 'There is no API key. Start the sandbox once (pnpm start), which writes .data/demo-api-key, or set RESELLER_API_KEY.'
        : 'There is no API key. Set RESELLER_API_KEY to the key of the account at the target.',
    );
  }
  if (!KEY.test(apiKey))
    throw new CannotRunError('The API key has characters that a header cannot carry. Check that it was copied whole and without spaces.');
  return { target, apiKey };
}

function parse(argv: readonly string[]): {
  readonly target?: string | undefined;
  readonly 'api-key'?: string | undefined;
  readonly help?: boolean | undefined;
} {
  // pnpm hands "--" on to the script.
  const args = argv.filter((argument, index) => !(argument === '--' && index === 0));
  try {
    const options = { target: { type: 'string' }, 'api-key': { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const;
    return parseArgs({ args, options, allowPositionals: false }).values;
  } catch (error) {
    // Node's first sentence says what is wrong; an argument can be a mistyped key, so it is not repeated.
    const isPositional = error instanceof Error && 'code' in error && error.code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL';
    const unknown = /^Unknown option '(--?[a-z-]+)/.exec(error instanceof Error ? error.message : '')?.[1];
    const what = isPositional
      ? 'An argument belongs to no option'
      : unknown === undefined
        ? 'An option lacks its value'
        : `The option ${unknown} is unknown`;
    throw new CannotRunError(`${what}. See pnpm contract --help.`, { cause: error });
  }
}

function readTarget(text: string): URL {
  const target = URL.canParse(text) ? new URL(text) : undefined;
  if (target === undefined || (target.protocol !== 'http:' && target.protocol !== 'https:')) {
    throw new CannotRunError('The target is not an http or https address. Give one such as --target http://127.0.0.1:4010.');
  }
  if (target.username !== '' || target.password !== '' || target.search !== '' || target.hash !== '') {
    throw new CannotRunError('The target must be a plain base address, without user, password, query or fragment.');
  }
  return target;
}

async function readDemoKey(target: URL, file: URL): Promise<string | undefined> {
  if (!LOOPBACK.has(target.hostname)) return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
}
