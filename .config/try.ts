/**
 * Runs a program, or the TypeScript of a page of the documentation, against the sandbox that runs on this machine: the script `try`.
 * The sandbox leaves its addresses and keys in its data folder.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

import { blocksOf, programOf } from './blocks.ts';
import { REPOSITORY } from './turbo.ts';

const USAGE = `Usage: npx -y pnpm@12 try FILE [ARGUMENT...]
       npx -y pnpm@12 try --reset

  FILE     a TypeScript program, or a Markdown page whose TypeScript blocks are one program. It runs against the sandbox on this machine:
           environment: 'sandbox' is its address, and RESELLER_API_KEY and RESELLER_OPERATOR_TOKEN are its keys
  --reset  brings the sandbox back to its first start

Put your own programs into examples/quickstart, where they find the packages of this repository.
`;
const NO_SANDBOX = 'No sandbox is running. Start one in another terminal: npx -y pnpm@12 start\n';
const RESET = 'To bring the sandbox back to its first start: npx -y pnpm@12 try --reset\n';
const DONE = `The sandbox keeps what the program did. ${RESET}`;
const FAILED = `The program failed, perhaps because an earlier run has changed the sandbox. ${RESET}`;
const SHORT_ERRORS = new URL('short-errors.mjs', import.meta.url).href;
/** Pages become files here, where their imports are found. */
const PAGES = join(REPOSITORY, 'examples/quickstart/.pages');

interface RunningSandbox {
  readonly baseUrl: string;
  readonly operatorUrl: string;
  readonly apiKey: string;
  readonly operatorToken: string;
}

const [first, ...given] = process.argv.slice(2);
if (first === undefined || first === '--help') process.stdout.write(USAGE);
else if (first === '--reset') process.exitCode = await reset();
else process.exitCode = await tryFile(resolve(process.env['INIT_CWD'] ?? REPOSITORY, first));

async function tryFile(path: string): Promise<number> {
  if (!existsSync(path)) return fail(`There is no file ${path}. Name a program or a page, relative to the current folder.\n\n${USAGE}`, 2);
  if (!/\.(?:[cm]?[jt]s|md)$/.test(path)) return fail(`${path} is not a TypeScript program or a Markdown page.\n\n${USAGE}`, 2);
  const { programs, needsSandbox } = path.endsWith('.md') ? pageOf(path) : { programs: [path], needsSandbox: usesSandbox(path) };
  if (programs.length === 0) return fail(`${path} has no TypeScript that try could run. Type its commands in a terminal.\n`, 2);
  const sandbox = needsSandbox ? await runningSandbox() : undefined;
  if (needsSandbox && sandbox === undefined) return fail(NO_SANDBOX);
  for (const program of programs) {
    const code = await run(program, sandbox);
    if (code !== 0) return needsSandbox ? fail(FAILED, code) : code;
  }
  if (needsSandbox) process.stderr.write(DONE);
  return 0;
}

/** The programs of a page: one that uses the sandbox, and one with tests, which bring a service of their own. */
function pageOf(path: string): { readonly programs: string[]; readonly needsSandbox: boolean } {
  const blocks = blocksOf(path);
  const name = basename(path, '.md');
  const program = programOf(blocks, 'ts');
  const tests = programOf(blocks, 'ts', 'test');
  mkdirSync(PAGES, { recursive: true });
  const programs = [
    { file: join(PAGES, `${name}.ts`), code: program },
    { file: join(PAGES, `${name}-tests.ts`), code: tests },
  ].filter(({ code }) => code !== '');
  for (const { file, code } of programs) writeFileSync(file, code);
  return { programs: programs.map(({ file }) => file), needsSandbox: program !== '' };
}

/** Tests bring a service of their own. */
function usesSandbox(path: string): boolean {
  return !readFileSync(path, 'utf8').includes('@reseller/testing');
}

async function run(program: string, sandbox: RunningSandbox | undefined): Promise<number> {
  const settings = sandbox && {
    RESELLER_API_KEY: sandbox.apiKey,
    RESELLER_OPERATOR_TOKEN: sandbox.operatorToken,
    RESELLER_SANDBOX_URL: sandbox.baseUrl,
    RESELLER_SANDBOX_OPERATOR_URL: sandbox.operatorUrl,
  };
  const child = spawn(process.execPath, ['--import', SHORT_ERRORS, program, ...given], {
    stdio: 'inherit',
    env: { ...process.env, ...settings },
  });
  const [code] = await once(child, 'exit');
  return typeof code === 'number' ? code : 1;
}

async function runningSandbox(): Promise<RunningSandbox | undefined> {
  const folder = resolve(REPOSITORY, process.env['RESELLER_DATA_DIR'] || '.data');
  function textOf(name: string): string | undefined {
    return existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').trim() : undefined;
  }
  const addresses = textOf('running.json');
  if (addresses === undefined) return undefined;
  const { baseUrl, operatorUrl }: { baseUrl: string; operatorUrl: string } = JSON.parse(addresses);
  // A sandbox that was killed leaves the file behind.
  const isRunning = await fetch(`${baseUrl}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isRunning) return undefined;
  const operatorToken = textOf('operator-token') ?? process.env['RESELLER_OPERATOR_TOKEN'] ?? '';
  return { baseUrl, operatorUrl, apiKey: textOf('demo-api-key') ?? '', operatorToken };
}

async function reset(): Promise<number> {
  const sandbox = await runningSandbox();
  if (sandbox === undefined) return fail(NO_SANDBOX);
  const headers = { authorization: `Bearer ${sandbox.operatorToken}` };
  const response = await fetch(`${sandbox.operatorUrl}/sandbox/reset`, { method: 'POST', headers });
  if (!response.ok) return fail(`The sandbox could not be reset: ${response.status} ${await response.text()}\n`);
  process.stdout.write('The sandbox is as after its first start. Its keys are the same.\n');
  return 0;
}

function fail(message: string, code = 1): number {
  process.stderr.write(message);
  return code;
}
