/**
 * Type-checks every package of the workspace, and this folder, with the TypeScript of the root. Packages with the same compiler options are one
 * program: most of the work is to check the sources that packages share, and a program checks them once.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';

import { installTestTools } from './test-tools.ts';
import { REPOSITORY } from './turbo.ts';

const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
/** Where the configurations of the programs are. TypeScript looks for the types of Node from here. */
const CONFIGURATIONS = join(REPOSITORY, 'node_modules/.cache/typecheck');

// Tests import them, and the next import needs one of them.
await installTestTools();
const { default: ts } = await import('typescript-5.9');

interface Configuration {
  readonly compilerOptions?: Readonly<Record<string, unknown>>;
  readonly include: readonly string[];
}

const folders = globSync(['openapi', 'packages/*', 'apps/*', 'examples/*', '.config'], { cwd: REPOSITORY }).filter((folder) =>
  existsSync(join(REPOSITORY, folder, 'tsconfig.json')),
);
const programs = Map.groupBy(folders, (folder) => JSON.stringify(configurationOf(folder).compilerOptions ?? {}));
mkdirSync(CONFIGURATIONS, { recursive: true });
for (const [options, inProgram] of programs) await check(JSON.parse(options), inProgram);

function configurationOf(folder: string): Configuration {
  const { config } = ts.readConfigFile(join(REPOSITORY, folder, 'tsconfig.json'), (file) => readFileSync(file, 'utf8'));
  return config;
}

async function check(compilerOptions: object, inProgram: readonly string[]): Promise<void> {
  const [first = ''] = inProgram;
  const project = inProgram.length === 1 ? first : writeProgram(compilerOptions, inProgram);
  // Run in the root, so that the paths in errors are relative to it. Rarer garbage collection saves a fifth of the CPU time.
  const tsc = spawn(process.execPath, [TSC, '-p', project, '--checkers', '1'], {
    cwd: REPOSITORY,
    env: { ...process.env, GOGC: '400' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [errors, [code]] = await Promise.all([text(tsc.stdout), once(tsc, 'exit')]);
  process.stdout.write(errors);
  if (code !== 0) process.exitCode = 1;
}

/** Writes the configuration of a program and returns its path. */
function writeProgram(compilerOptions: object, inProgram: readonly string[]): string {
  const file = join(CONFIGURATIONS, `${inProgram.map((folder) => basename(folder)).join('+')}.json`);
  const toRoot = relative(CONFIGURATIONS, REPOSITORY);
  const configuration = {
    extends: `${toRoot}/tsconfig.base.json`,
    // Only the build emits files, so imports between packages may keep their extension.
    compilerOptions: { ...compilerOptions, rewriteRelativeImportExtensions: false },
    include: inProgram.flatMap((folder) => configurationOf(folder).include.map((pattern) => `${toRoot}/${folder}/${pattern}`)),
    exclude: [`${toRoot}/**/node_modules`],
  };
  writeFileSync(file, JSON.stringify(configuration));
  return file;
}
