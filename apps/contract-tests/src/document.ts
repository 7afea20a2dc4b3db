import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { DocumentError, isError, parseDocument } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';
import { editedFiles, mapSources, upgradeDocument } from '@reseller/contract/engine';
import type { Report, SourceMap } from '@reseller/contract/engine';
import { parse } from 'yaml';

import { CannotRunError } from './cannot-run.ts';
import { isClone } from './installation.ts';

/** A bundled document and its source files. */
export interface LoadedDocument {
  readonly document: OpenApiDocument;
  /** Notes about the document for readers of a report. */
  readonly notes: readonly string[];
  /** Whether it is written in OpenAPI 3.0 or Swagger 2, and was read as 3.1. */
  readonly isUpgraded: boolean;
  /** The root file of the sources. */
  readonly root: string;
  /** The folder to which file names are relative. */
  readonly base: string;
}

const SERVED_DOCUMENT_MS = 10_000;

/** The options that choose a document. */
export interface ChosenDocument {
  /** A file. Undefined for the reseller document. */
  readonly document: string | undefined;
  readonly extension: boolean;
}

/** Opens the chosen document. */
export function openChosenDocument({ document, extension }: ChosenDocument): Promise<LoadedDocument> {
  return openDocument(document, extension ? 'service' : 'openapi');
}

/** The document that a service of the reseller API serves, with the specification and its own extension; undefined if it serves none. */
export async function openServedDocument(target: URL): Promise<LoadedDocument | undefined> {
  const url = new URL('openapi.json', `${target.href.replace(/\/?$/, '/')}`);
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(SERVED_DOCUMENT_MS) });
    if (!response.ok) return undefined;
    const document = parseDocument(await response.json());
    if (!hasSpecification(document, await loadDocument())) return undefined;
    return { ...(await openDocument(undefined, 'service')), document, notes: [`It is the document of the service, ${url.href}.`] };
  } catch {
    // The run itself says what is wrong with the target.
    return undefined;
  }
}

/** Whether a document is one of the reseller API: a document of another API, or a part, would leave operations unjudged. */
function hasSpecification({ info, paths }: OpenApiDocument, specification: OpenApiDocument): boolean {
  return (
    info.title === specification.info.title && Object.keys(Object(specification.paths)).every((path) => Object.hasOwn(Object(paths), path))
  );
}

/**
 * Opens the reseller document, or the one in a file: bundled or in several files, YAML or JSON.
 * @throws {CannotRunError} when the document is unusable
 */
export async function openDocument(file: string | undefined, name: BundleName = 'openapi'): Promise<LoadedDocument> {
  if (file === undefined) {
    const folder = dirname(fileURLToPath(locate('package.json')));
    // The published package of the document has only the bundles.
    const root = resolve(folder, isClone ? 'openapi.yaml' : `generated/${name}.yaml`);
    return { document: await loadDocument(name), notes: [], isUpgraded: false, root, base: dirname(folder) };
  }
  const root = resolve(file);
  const text = await readFile(root, 'utf8').catch((error: unknown) => {
    throw new CannotRunError(`The document ${file} cannot be read. Give the path of an OpenAPI document as --document.`, {
      cause: error,
    });
  });
  try {
    const parsed = parseText(text);
    const { document, notes, isUpgraded } = upgradeDocument(hasOutsideReference(parsed) ? await bundled(root) : parsed);
    return { document, notes, isUpgraded, root, base: process.cwd() };
  } catch (error) {
    if (error instanceof CannotRunError) throw error;
    const why =
      error instanceof DocumentError
        ? error.message
        : `It is neither YAML nor JSON: ${isError(error) ? (error.message.split('\n', 1)[0] ?? '') : ''}`;
    throw new CannotRunError(`The document ${file} cannot be used. ${why}`, { cause: error });
  }
}

/** Parses JSON, else YAML. The parser of YAML reads JSON too, but needs many times the time and memory. */
function parseText(text: string): unknown {
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch {
      // YAML in the flow style.
    }
  }
  // Documents of version 1.1 share responses with the merge key.
  return parse(text, { merge: true });
}

/** The specification, or the specification with the extension. */
export type BundleName = 'openapi' | 'service';

const bundles = new Map<BundleName, OpenApiDocument>();

/**
 * Loads the bundle of the reseller document. Returns the same object every time, so that a process compiles its schemas once.
 * @throws {CannotRunError} when it has not been generated
 */
export async function loadDocument(name: BundleName = 'openapi'): Promise<OpenApiDocument> {
  const bundle = bundles.get(name) ?? (await readBundle(name));
  bundles.set(name, bundle);
  return bundle;
}

/** The address of a file of the package with the reseller document, which users of other documents need not install. */
function locate(file: string): string {
  try {
    return import.meta.resolve(`@reseller/openapi/${file}`);
  } catch (error) {
    throw new CannotRunError(
      'Give the OpenAPI document of the API as --document FILE. Without it, the package @reseller/openapi is needed.',
      {
        cause: error,
      },
    );
  }
}

async function readBundle(name: BundleName): Promise<OpenApiDocument> {
  const place = fileURLToPath(locate(`${name}.json`));
  let text: string;
  try {
    text = await readFile(place, 'utf8');
  } catch (error) {
    throw new CannotRunError('The bundle of the document is missing. Generate it: npx -y pnpm@12 generate', { cause: error });
  }
  return parseDocument(JSON.parse(text));
}

/** Maps a document to its source files. */
export function sourcesOf({ document, root, base }: LoadedDocument): Promise<SourceMap> {
  return mapSources(document, root, base);
}

/** Enough passes for changes that depend on each other, since a change waits at most once for each of its parents. */
const MAX_PASSES = 100;

/**
 * Writes the proposals of findings into the sources.
 * @returns the files that were changed
 */
export async function writeProposals(loaded: LoadedDocument, findings: Report['findings']): Promise<readonly string[]> {
  const changed = new Set<string>();
  // A change may create the parent for the next one, such as the map for two headers.
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const files = editedFiles(findings, await sourcesOf(loaded));
    if (files.size === 0) return [...changed];
    for (const [path, text] of files) {
      await writeFile(path, text);
      changed.add(path);
    }
  }
  throw new Error('Writing the proposals did not finish. This is a bug in the contract tests; review the changed files.');
}

/** The document in one object, as the Redocly configuration next to its root bundles it. */
async function bundled(root: string): Promise<unknown> {
  // Loaded only when needed, because loading takes long.
  const { bundle, createConfig, loadConfig } = await import('@redocly/openapi-core');
  const configPath = join(dirname(root), 'redocly.yaml');
  const config = existsSync(configPath) ? await loadConfig({ configPath }) : await createConfig({});
  const [alias] = Object.entries(config.resolvedConfig.apis ?? {}).find(([, api]) => resolve(dirname(root), api.root) === root) ?? [];
  const { bundle: result, problems } = await bundle({ ref: root, config: config.forAlias(alias) });
  const problem = problems.find(
    ({ severity, location }) => severity === 'error' && !location.some(({ pointer }) => pointer?.includes('/x-')),
  );
  if (problem !== undefined) throw new CannotRunError(`The document cannot be bundled: ${problem.message}`);
  return JSON.parse(JSON.stringify(result.parsed));
}

function hasOutsideReference(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  // References in a schema with an $id are relative to that, not to the file.
  if ('$id' in value && typeof value.$id === 'string') return false;
  // No program reads a reference in an extension of another one.
  return Object.entries(value).some(
    ([key, child]) =>
      !key.startsWith('x-') && ((key === '$ref' && typeof child === 'string' && !child.startsWith('#')) || hasOutsideReference(child)),
  );
}
