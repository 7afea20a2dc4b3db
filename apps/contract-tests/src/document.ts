import { readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { DocumentError, parseDocument } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';
import { editedFiles, mapSources, upgradeDocument } from '@reseller/contract/engine';
import type { Report, SourceMap } from '@reseller/contract/engine';
import { parse } from 'yaml';

import { CannotRunError } from './cannot-run.ts';

/** A document in one piece, and the files that a person edits. */
export interface LoadedDocument {
  readonly document: OpenApiDocument;
  /** What readers of a report should know of it. */
  readonly notes: readonly string[];
  /** Whether it is written in OpenAPI 3.0 and was read as 3.1. */
  readonly isUpgraded: boolean;
  /** The root file of the sources. */
  readonly root: string;
  /** The folder that file names are shown relative to. */
  readonly base: string;
}

/** The document that a command line chooses. */
export interface ChosenDocument {
  /** A file. Undefined for the reseller document. */
  readonly document: string | undefined;
  readonly extension: boolean;
}

/** The document that a command line chooses, in one piece. */
export function openChosenDocument({ document, extension }: ChosenDocument): Promise<LoadedDocument> {
  return openDocument(document, extension ? 'service' : 'openapi');
}

/**
 * The reseller document, or the one in a file: in one piece or in many, as YAML or JSON.
 * @throws {CannotRunError} when it cannot be used
 */
export async function openDocument(file: string | undefined, name: BundleName = 'openapi'): Promise<LoadedDocument> {
  if (file === undefined) {
    const folder = dirname(fileURLToPath(import.meta.resolve('@reseller/openapi/package.json')));
    const root = resolve(folder, name === 'openapi' ? 'openapi.yaml' : 'dist/service.yaml');
    return { document: await loadDocument(name), notes: [], isUpgraded: false, root, base: dirname(folder) };
  }
  const root = resolve(file);
  const text = await readFile(root, 'utf8').catch((error: unknown) => {
    throw new CannotRunError(`The document ${file} cannot be read. Give the path of an OpenAPI document as --document.`, {
      cause: error,
    });
  });
  try {
    const parsed: unknown = parse(text);
    const { document, notes, isUpgraded } = upgradeDocument(hasOutsideReference(parsed) ? await bundled(root) : parsed);
    return { document, notes, isUpgraded, root, base: process.cwd() };
  } catch (error) {
    if (error instanceof CannotRunError) throw error;
    const why =
      error instanceof DocumentError
        ? error.message
        : `It is neither YAML nor JSON: ${error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : ''}`;
    throw new CannotRunError(`The document ${file} cannot be used. ${why}`, { cause: error });
  }
}

/** The specification, or the specification and the extension. */
export type BundleName = 'openapi' | 'service';

const bundles = new Map<BundleName, OpenApiDocument>();

/**
 * The bundle of the reseller document: always the same object, so that its schemas are compiled once in a process.
 * @throws {CannotRunError} when it has not been built
 */
export async function loadDocument(name: BundleName = 'openapi'): Promise<OpenApiDocument> {
  const bundle = bundles.get(name) ?? (await readBundle(name));
  bundles.set(name, bundle);
  return bundle;
}

async function readBundle(name: BundleName): Promise<OpenApiDocument> {
  const place = fileURLToPath(import.meta.resolve(`@reseller/openapi/${name}.json`));
  let text: string;
  try {
    text = await readFile(place, 'utf8');
  } catch (error) {
    throw new CannotRunError('The bundle of the document is missing. Build it: npx pnpm@12 build', { cause: error });
  }
  return parseDocument(JSON.parse(text));
}

/** The places of the parts of a document in its files. */
export function sourcesOf({ document, root, base }: LoadedDocument): Promise<SourceMap> {
  return mapSources(document, root, base);
}

/** A change waits for another at most as often as it has places around it. */
const MAX_PASSES = 100;

/**
 * Writes the proposals of findings into the sources.
 * @returns the files that were changed
 */
export async function writeProposals(loaded: LoadedDocument, findings: Report['findings']): Promise<readonly string[]> {
  const changed = new Set<string>();
  // A change may make the place for the next one, such as the map that two headers need.
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const files = editedFiles(findings, await sourcesOf(loaded));
    if (files.size === 0) return [...changed];
    for (const [path, text] of files) {
      await writeFile(path, text);
      changed.add(path);
    }
  }
  throw new Error('The proposals do not come to an end. This is a fault of the contract tests; look at what was changed.');
}

async function bundled(root: string): Promise<unknown> {
  // Only documents in several files need it, and it takes a while to load.
  const { bundle, createConfig } = await import('@redocly/openapi-core');
  const { bundle: result, problems } = await bundle({ ref: root, config: await createConfig({}) });
  const problem = problems.find(({ severity }) => severity === 'error');
  if (problem !== undefined) throw new CannotRunError(`The document cannot be put into one piece: ${problem.message}`);
  return JSON.parse(JSON.stringify(result.parsed));
}

function hasOutsideReference(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, child]) => (key === '$ref' && typeof child === 'string' && !child.startsWith('#')) || hasOutsideReference(child),
  );
}
