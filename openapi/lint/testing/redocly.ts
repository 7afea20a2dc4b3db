import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { bundle as bundleDocument, createConfig, lint as lintDocument } from '@redocly/openapi-core';
import type { Config, NormalizedProblem, RawUniversalConfig } from '@redocly/openapi-core';
import { parse, stringify } from 'yaml';

import { entriesOf, isFields } from '../nodes.ts';
import type { Fields } from '../nodes.ts';
import reseller from '../plugin.ts';
import type { Tree } from './tree.ts';

/** A finding of lint. `at` is the file, relative to the tree, with a JSON pointer. */
export interface Problem {
  rule: string;
  at: string;
  message: string;
}

const OPENAPI = fileURLToPath(new URL('../..', import.meta.url));

/** Our configuration for a tree without bundles, optionally with more documents. */
function configuration(furtherApis: Fields): string {
  const config: unknown = parse(readFileSync(join(OPENAPI, 'redocly.yaml'), 'utf8'));
  if (!isFields(config) || !isFields(config['apis'])) throw new Error('redocly.yaml has no apis.');
  return stringify({ ...config, plugins: [], apis: { reseller: config['apis']['service'], ...furtherApis } });
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
  // Given a path, Redocly would load the plugin only once, for the folder of the first tree.
  const config = await createConfig({ ...raw, plugins: [reseller({ contentDir: folder })] }, { configPath });
  const root = config.resolvedConfig.apis?.[api]?.root;
  if (root === undefined) throw new Error(`redocly.yaml has no API ${api}.`);
  return { config: config.forAlias(api), ref: join(folder, root) };
}

/**
 * Lints a tree with Redocly and our configuration. The library of Redocly runs in this process, because each start of its command line
 * takes about a second. `pnpm lint` runs the command line.
 *
 * @param furtherApis - documents besides openapi.yaml, in the format of redocly.yaml
 * @param api - the document to lint
 */
export function lint(tree: Tree, furtherApis: Fields = {}, api = 'reseller'): Promise<Problem[]> {
  return withTree(tree, furtherApis, async (folder) => {
    const problems = await lintDocument(await load(folder, api));
    return problems.filter(({ ignored }) => ignored !== true).map((problem) => asProblem(problem, folder));
  });
}

function asProblem({ ruleId, severity, message, location: [location] }: NormalizedProblem, folder: string): Problem {
  if (severity !== 'error') throw new Error(`${ruleId} is a warning, so it would not fail the lint.`);
  if (!location) throw new Error('Redocly reported a problem in an unknown format.');
  return { rule: ruleId, at: `${relative(folder, location.source.absoluteRef)}${location.pointer ?? ''}`, message };
}

/**
 * Bundles a tree with Redocly.
 *
 * @throws Error with Redocly's findings if bundling failed
 */
export function bundle(tree: Tree): Promise<unknown> {
  return withTree(tree, {}, async (folder) => {
    const { bundle: made, problems } = await bundleDocument(await load(folder, 'reseller'));
    if (problems.length > 0) throw new Error(`redocly bundle failed:\n${problems.map(({ message }) => message).join('\n')}`);
    // Like a bundle that is written to a file and read.
    const document: unknown = parse(stringify(made.parsed));
    return document;
  });
}

/** The part of a document at a list of keys. */
export function partOf(document: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>((node, key) => entriesOf(node).find(([name]) => name === key)?.[1], document);
}
