import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

import type { Oas3Rule } from '@redocly/openapi-core';
import { parse, parseDocument } from 'yaml';

import { entriesOf, isFields } from './nodes.ts';
import type { Fields } from './nodes.ts';

/** Files next to the documents that are not part of them, in addition to dot-files and *.md. */
const TOOLING = new Set([
  'lint',
  'service',
  'generated',
  'dist',
  'generate.ts',
  'node_modules',
  'coverage',
  'package.json',
  'tsconfig.json',
  'turbo.json',
  'redocly.yaml',
]);

/** Texts that redocly.yaml puts into a document, such as its description. */
function textsOf(folder: string): Set<string> {
  return new Set(
    apisOf(folder)
      .flatMap((api) => textsWithin(api['decorators']))
      .map((file) => resolve(folder, file)),
  );
}

function textsWithin(node: unknown): string[] {
  return entriesOf(node).flatMap(([key, value]) => (key === 'filePath' && typeof value === 'string' ? [value] : textsWithin(value)));
}

function apisOf(folder: string): Fields[] {
  const config: unknown = parse(readFileSync(join(folder, 'redocly.yaml'), 'utf8'));
  return entriesOf(isFields(config) ? config['apis'] : undefined).flatMap(([, api]) => (isFields(api) ? [api] : []));
}

/** The root documents that redocly.yaml names, apart from bundles. */
function rootsOf(folder: string): string[] {
  const roots = apisOf(folder).flatMap((api) => (typeof api['root'] === 'string' ? [resolve(folder, api['root'])] : []));
  return [...new Set(roots)].filter((root) => relative(folder, root).split(sep)[0] !== 'generated');
}

/** All files that are reached from the roots by $ref, the roots included. */
function reachableFrom(roots: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const waiting = [...roots];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    // The rule no-unresolved-refs reports broken references.
    if (reached.has(file) || !existsSync(file)) continue;
    reached.add(file);
    // Unlike parse, this does not throw on invalid YAML. Redocly reports where such a file breaks.
    const content: unknown = parseDocument(readFileSync(file, 'utf8')).toJS();
    for (const reference of referencesIn(content)) {
      const [target] = reference.split('#');
      if (target) waiting.push(resolve(dirname(file), target));
    }
  }
  return reached;
}

function referencesIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(referencesIn);
  return entriesOf(node).flatMap(([key, value]) => (key === '$ref' && typeof value === 'string' ? [value] : referencesIn(value)));
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}

function belongs(path: string): boolean {
  const parts = path.split(sep);
  const isDocumentation = parts.length === 1 ? path.endsWith('.md') : parts.at(-1) === 'README.md';
  return isDocumentation || parts.some((part) => part.startsWith('.'));
}

/**
 * A file that no document reaches is unfinished or misspelt, and Redocly never opens it.
 * All documents share the tree, so the first root document of redocly.yaml reports for all.
 *
 * @param folder - the folder of redocly.yaml
 */
export function noOrphanFile(folder: string): Oas3Rule {
  return () => ({
    Root: {
      leave(_root, { report, location }) {
        const roots = rootsOf(folder);
        if (roots[0] !== location.source.absoluteRef) return;
        const reached = new Set([...reachableFrom(roots), ...textsOf(folder)]);
        const inTree = readdirSync(folder, { withFileTypes: true })
          .filter((entry) => !TOOLING.has(entry.name) && !entry.name.startsWith('.'))
          .flatMap((entry) => (entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)]));
        for (const file of inTree.toSorted()) {
          const path = relative(folder, file);
          if (reached.has(file) || belongs(path)) continue;
          report({
            message: `${path.split(sep).join('/')} cannot be reached from any root document. Refer to it with $ref, or delete it.`,
            location: location.child('openapi').key(),
          });
        }
      },
    },
  });
}
