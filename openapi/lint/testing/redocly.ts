import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { parse, stringify } from 'yaml';

import { entriesOf, type Fields, isFields } from '../nodes.ts';
import type { Tree } from './tree.ts';

/** A finding of lint. `at` is the file, relative to the tree, with a JSON pointer. */
export type Problem = { rule: string; at: string; message: string };

const OPENAPI = fileURLToPath(new URL('../..', import.meta.url));
const CLI = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js');

/** Our configuration for a tree without bundles, optionally with more documents. */
function configuration(furtherApis: Fields): string {
  const config: unknown = parse(readFileSync(join(OPENAPI, 'redocly.yaml'), 'utf8'));
  if (!isFields(config) || !isFields(config['apis'])) throw new Error('redocly.yaml has no apis.');
  return stringify({
    ...config,
    plugins: [join(OPENAPI, 'lint/plugin.ts')],
    apis: { reseller: config['apis']['reseller'], ...furtherApis },
  });
}

async function withTree<T>(tree: Tree, furtherApis: Fields, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'openapi-lint-')));
  try {
    const files = {
      'redocly.yaml': configuration(furtherApis),
      'EXTENSIONS.md': readFileSync(join(OPENAPI, 'EXTENSIONS.md'), 'utf8'),
      ...tree,
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function redocly(folder: string, args: readonly string[]): Promise<{ failed: boolean; stdout: string; stderr: string }> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const options = { cwd: folder, env };
  return new Promise((done) => {
    execFile(process.execPath, [CLI, ...args], options, (error, stdout, stderr) => done({ failed: error !== null, stdout, stderr }));
  });
}

/**
 * Runs the real Redocly CLI with our configuration on a tree and returns its findings.
 *
 * @param furtherApis - documents besides openapi.yaml, in the format of redocly.yaml
 * @param api - the document to lint
 * @throws Error with the output of the CLI if it did not finish
 */
export function lint(tree: Tree, furtherApis: Fields = {}, api = 'reseller'): Promise<Problem[]> {
  return withTree(tree, furtherApis, async (folder) => {
    const { failed, stdout, stderr } = await redocly(folder, ['lint', api, '--format=json', '--max-problems=1000']);
    if (!stdout.startsWith('{')) throw new Error(`redocly lint came to no judgement:\n${stdout}${stderr}`);
    const report: unknown = JSON.parse(stdout);
    const problems = isFields(report) && Array.isArray(report['problems']) ? report['problems'].map(asProblem) : [];
    if (failed !== problems.length > 0)
      throw new Error(`The number of problems that redocly lint reports, ${problems.length}, does not match its exit code.`);
    return problems;
  });
}

function asProblem(problem: unknown): Problem {
  if (!isFields(problem) || !Array.isArray(problem['location'])) throw new Error('Redocly reported a problem in an unknown format.');
  const location: unknown = problem['location'][0];
  const file = isFields(location) && isFields(location['source']) ? location['source']['ref'] : '';
  return {
    rule: String(problem['ruleId']),
    at: `${String(file)}${isFields(location) ? String(location['pointer']) : ''}`,
    message: String(problem['message']),
  };
}

/**
 * Bundles a tree with the real Redocly CLI.
 *
 * @throws Error with the output of the CLI if bundling failed
 */
export function bundle(tree: Tree): Promise<unknown> {
  return withTree(tree, {}, async (folder) => {
    const { failed, stdout, stderr } = await redocly(folder, ['bundle', 'reseller', '--output', 'dist/openapi.yaml']);
    if (failed) throw new Error(`redocly bundle failed:\n${stdout}${stderr}`);
    const document: unknown = parse(readFileSync(join(folder, 'dist/openapi.yaml'), 'utf8'));
    return document;
  });
}

/** The part of a document at a list of keys. */
export function partOf(document: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((node, key) => entriesOf(node).find(([name]) => name === key)?.[1], document);
}
