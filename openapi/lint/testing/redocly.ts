import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundle as bundleDocument, createConfig, lint as lintDocument } from '@redocly/openapi-core';
import type { Config, NormalizedProblem, RawUniversalConfig } from '@redocly/openapi-core';
import { parse, stringify } from 'yaml';

import { entriesOf, type Fields, isFields } from '../nodes.ts';
import reseller from '../plugin.ts';
import type { Tree } from './tree.ts';

/** A finding of lint. `at` is the file, relative to the tree, and the pointer into it. */
export type Problem = { rule: string; at: string; message: string };

const OPENAPI = fileURLToPath(new URL('../..', import.meta.url));

/** Our own configuration, for a tree that has no bundle but may have further documents. */
function configuration(furtherApis: Fields): string {
  const config: unknown = parse(readFileSync(join(OPENAPI, 'redocly.yaml'), 'utf8'));
  if (!isFields(config) || !isFields(config['apis'])) throw new Error('redocly.yaml has no apis.');
  return stringify({ ...config, plugins: [], apis: { reseller: config['apis']['reseller'], ...furtherApis } });
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

async function load(folder: string, api: string): Promise<{ config: Config; ref: string }> {
  const configPath = join(folder, 'redocly.yaml');
  const raw: RawUniversalConfig = parse(readFileSync(configPath, 'utf8'));
  // By its path, Redocly would load the plugin once, for the folder of the first tree.
  const config = await createConfig({ ...raw, plugins: [reseller({ contentDir: folder })] }, { configPath });
  const root = config.resolvedConfig.apis?.[api]?.root;
  if (root === undefined) throw new Error(`redocly.yaml has no API ${api}.`);
  return { config: config.forAlias(api), ref: join(folder, root) };
}

/**
 * What Redocly with our configuration finds in a tree. Its library runs in this process, because each start of its command line takes about
 * a second. `pnpm lint` runs the command line.
 *
 * @param furtherApis - documents besides openapi.yaml, as redocly.yaml has them
 * @param api - which of the documents is judged
 */
export function lint(tree: Tree, furtherApis: Fields = {}, api = 'reseller'): Promise<Problem[]> {
  return withTree(tree, furtherApis, async (folder) => {
    const problems = await lintDocument(await load(folder, api));
    return problems.filter(({ ignored }) => ignored !== true).map((problem) => asProblem(problem, folder));
  });
}

function asProblem({ ruleId, severity, message, location: [location] }: NormalizedProblem, folder: string): Problem {
  if (severity !== 'error') throw new Error(`${ruleId} only warns, so nothing would fail by it.`);
  if (!location) throw new Error('Not a problem as Redocly reports it.');
  return { rule: ruleId, at: `${relative(folder, location.source.absoluteRef)}${location.pointer ?? ''}`, message };
}

/**
 * The bundle that Redocly makes of a tree.
 *
 * @throws Error with what Redocly found if it made none
 */
export function bundle(tree: Tree): Promise<unknown> {
  return withTree(tree, {}, async (folder) => {
    const { bundle: made, problems } = await bundleDocument(await load(folder, 'reseller'));
    if (problems.length > 0) throw new Error(`redocly bundle failed:\n${problems.map(({ message }) => message).join('\n')}`);
    // As the bundle that is written to a file: without anything that a file cannot hold.
    const document: unknown = parse(stringify(made.parsed));
    return document;
  });
}

/** The part of a document under a list of keys. */
export function partOf(document: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((node, key) => entriesOf(node).find(([name]) => name === key)?.[1], document);
}
