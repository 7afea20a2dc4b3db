// @ts-check
/**
 * Installs packages, then runs a file: `node .config/run.mjs [FILE [argument...]]`. It runs with the Node of this process if that is
 * supported, and otherwise with one from a package.
 * A file of the sources of an app needs only the packages with which the app runs. Everything else needs all packages.
 * Plain JavaScript, because it runs before anything is installed, on any Node from version 20.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import module from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { HELP } from './help.mjs';
import { install } from './install.mjs';

const SELF = fileURLToPath(import.meta.url);
const REPOSITORY = resolve(dirname(SELF), '..');

const [file, ...given] = process.argv.slice(2);
const script = process.env['npm_lifecycle_event'] ?? 'start';
/** The Node whose packages pnpm-workspace.yaml lists. */
const [, major = '', minor = ''] =
  /^ {2}node-[\w-]+: (\d+)\.(\d+)\./m.exec(readFileSync(join(REPOSITORY, 'pnpm-workspace.yaml'), 'utf8')) ?? [];
const [ownMajor, ownMinor = 0] = process.versions.node.split('.').map(Number);
/** A later major version may lack what this one has. */
const isSupported = ownMajor === Number(major) && ownMinor >= Number(minor);
/** Whether the root must install Node. The installed one runs this script again, and must stay. */
const needsNode = !isSupported || process.execPath.startsWith(join(REPOSITORY, 'node_modules', sep));

if (/^(?:npm|yarn|bun)\//.test(process.env['npm_config_user_agent'] ?? '')) {
  process.stderr.write(`This repository uses pnpm. Run: npx -y pnpm@12 ${script}\n`);
  process.exitCode = 1;
} else if (given.includes('--help') && HELP[script] !== undefined) process.stdout.write(HELP[script]);
else await main();

async function main() {
  const result = await installPackages();
  if (result === 'failed') {
    process.stderr.write('The packages could not be installed. Check the connection to the package registry, and run the command again.\n');
    process.exitCode = 1;
    return;
  }
  const node = installedNode();
  if (result === 'installed') {
    // Headers for native addons, which no package here has. Where pnpm copies files, they are a quarter of what start installs.
    if (node !== undefined) rmSync(join(node, 'include'), { recursive: true, force: true });
    process.stderr.write(`Installed. Now ${script} runs.\n`);
  }
  if (file === undefined) return;
  if (isSupported) await run(resolve(REPOSITORY, file));
  else if (node === undefined) throw new Error(`There is no Node for ${process.platform} ${process.arch}.`);
  else runWith(join(node, 'bin', process.platform === 'win32' ? 'node.exe' : 'node'));
}

function installPackages() {
  const [app] = /^apps\/[\w-]+(?=\/src\/)/.exec(file ?? '') ?? [];
  // pnpm would remove the packages of the other projects that are only for development.
  if (app === undefined || existsSync(join(REPOSITORY, 'node_modules/turbo')))
    return install(
      REPOSITORY,
      'Installing the packages of all scripts, about 600. This takes 20 to 120 seconds, depending on the network.',
    );
  const needed = isSupported ? 'about 150' : `about 150, and Node ${major} because this is Node ${process.versions.node}`;
  return install(
    REPOSITORY,
    `Installing the packages that ${script} needs: ${needed}. This takes 5 to 60 seconds, depending on the network.`,
    {
      project: join(REPOSITORY, app),
      // Node is an optional dependency of the root, which pnpm always includes.
      given: ['--prod', ...(needsNode ? [] : ['--no-optional']), '--filter-prod', `{./${app}}...`],
    },
  );
}

/** The folder of the Node that the root installs, one package for each platform. */
function installedNode() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  return Object.keys(optionalDependencies)
    .map((name) => join(REPOSITORY, 'node_modules', name))
    .find((path) => existsSync(path));
}

/**
 * Runs a program in this process, so that it receives the signals and sets the exit code.
 *
 * @param {string} path
 */
async function run(path) {
  // Node keeps the compiled modules of TypeScript for the next start.
  module.enableCompileCache?.(process.env['NODE_COMPILE_CACHE'] ?? join(REPOSITORY, 'node_modules/.cache/node-compile'));
  const { endWithNpx } = await import('./npx.ts');
  endWithNpx();
  // The program sees the same arguments as if Node had been started with its file.
  process.argv.splice(1, process.argv.length, path, ...given);
  await import(pathToFileURL(path).href);
}

/**
 * Runs this script again with another Node.
 *
 * @param {string} node
 */
function runWith(node) {
  const child = spawn(node, [SELF, ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal sends it to both processes.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (code) => (process.exitCode = code ?? 1));
}
