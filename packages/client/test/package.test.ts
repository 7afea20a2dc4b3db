/** The package as it will be published: what is in it, how it resolves, how it compiles for those who use it, and how large it is. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';
import type { Metafile, OutputFile } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type * as client from '../src/index.ts';
import * as door from '../src/operations.ts';

const packageDirectory = join(import.meta.dirname, '..');
const require = createRequire(import.meta.url);

/** Beside the code, not in the system's directory: a user's compiler finds nothing but the package there either. */
let directory: string;
let tarball: string;

beforeAll(() => {
  mkdirSync(join(packageDirectory, 'reports'), { recursive: true });
  directory = mkdtempSync(join(packageDirectory, 'reports', 'package-'));
  execFileSync('pnpm', ['run', 'build'], { cwd: packageDirectory, stdio: 'pipe' });
  execFileSync('pnpm', ['pack', '--pack-destination', directory], { cwd: packageDirectory, stdio: 'pipe' });
  const [name = ''] = readdirSync(directory);
  tarball = join(directory, name);
  const installed = join(directory, 'node_modules', '@reseller', 'client');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('publint has nothing to say', async () => {
  const contents = readFileSync(tarball);
  const bytes = contents.buffer.slice(contents.byteOffset, contents.byteOffset + contents.byteLength);
  const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('its types resolve wherever ESM does', () => {
  const attw = join(packageDirectory, 'node_modules', '.bin', 'attw');
  const { status, stdout } = spawnSync(attw, [tarball, '--profile', 'esm-only'], { encoding: 'utf8' });
  expect({ status, stdout }).toMatchObject({ status: 0 });
});

test('it needs no other package and nothing of Node', () => {
  const manifest: Record<string, unknown> = JSON.parse(readFileSync(join(directory, 'node_modules/@reseller/client/package.json'), 'utf8'));
  expect(manifest['dependencies']).toBeUndefined();
  expect(manifest['exports']).toMatchObject({ '.': { types: './dist/index.d.ts', default: './dist/index.js' } });
  const dist = join(directory, 'node_modules/@reseller/client/dist');
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    for (const [, specifier = ''] of readFileSync(join(dist, file), 'utf8').matchAll(/(?:from|import\() ?['"]([^'"]+)['"]/g))
      expect(specifier).toMatch(/^\./);
  }
});

describe('types', () => {
  const compilers = { 'TypeScript 7': '../../../node_modules/typescript/bin/tsc', 'TypeScript 6': '../node_modules/typescript/bin/tsc' };
  const options = {
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: [],
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    verbatimModuleSyntax: true,
    isolatedDeclarations: true,
    declaration: true,
    erasableSyntaxOnly: true,
    skipLibCheck: false,
  };
  const cases = Object.entries(compilers).flatMap(([name, compiler]) =>
    (['nodenext', 'bundler'] as const).map((resolution) => [name, resolution, compiler] as const),
  );

  test.each(cases)('%s, %s: what must compile does, and what must not does not', (_, resolution, compiler) => {
    copyFileSync(join(import.meta.dirname, 'types.ts'), join(directory, 'types.ts'));
    const module = resolution === 'nodenext' ? { module: 'nodenext' } : { module: 'esnext', moduleResolution: 'bundler' };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, ...module }, files: ['types.ts'] }));
    const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, compiler), '-p', directory], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  test('the descriptions of the document are in the types', () => {
    const types = readFileSync(join(directory, 'node_modules/@reseller/client/dist/generated/operations.gen.d.ts'), 'utf8');
    expect(types).toContain('Buys a virtual server and starts it');
  });
});

/** All that the package exports. */
const everything = "export * from '@reseller/client';";

/** Built as an application would be: into one file, or into the files that are loaded at once and those that are loaded later. */
function bundleOf(source: string, splitting = false) {
  return build({
    stdin: { contents: source, resolveDir: directory },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    splitting,
    outdir: join(directory, 'built'),
    format: 'esm',
    platform: 'neutral',
    target: 'es2024',
  });
}

/** The names of the files that are loaded with a built file, itself among them. */
function loadedWith(file: string, { outputs }: Metafile): string[] {
  const imports = outputs[file]?.imports.filter(({ kind }) => kind === 'import-statement') ?? [];
  return [file, ...imports.flatMap(({ path }) => loadedWith(path, { outputs, inputs: {} }))];
}

/** Bytes, each file compressed by itself. */
function sizeOf(files: readonly OutputFile[]): number {
  return files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
}

describe('size, minified by esbuild and compressed by gzip', () => {
  const { createClient: _, ...functions } = door;

  test.each(Object.keys(functions))('one operation, %s: at most 3,000 bytes', async (name) => {
    const { outputFiles } = await bundleOf(
      `import { createClient, ${name} } from '@reseller/client/operations'; export const call = (config, ...input) => ${name}(createClient(config), ...input);`,
    );
    expect(outputFiles).toHaveLength(1);
    expect(sizeOf(outputFiles)).toBeLessThanOrEqual(3_000);
  });

  test('everything, as it is loaded: at most 5,000 bytes; what changes something needs the rest, once', async () => {
    const { outputFiles, metafile } = await bundleOf(everything, true);
    const entry = Object.keys(metafile.outputs).find((file) => metafile.outputs[file]?.entryPoint) ?? '';
    const atOnce = new Set(loadedWith(entry, metafile).map((file) => resolve(file)));
    const [first, later] = [outputFiles.filter(({ path }) => atOnce.has(path)), outputFiles.filter(({ path }) => !atOnce.has(path))];
    expect(sizeOf(first)).toBeLessThanOrEqual(5_000);
    expect(later.map(({ path }) => basename(path))).toEqual([expect.stringMatching(/^purchases-/)]);
    // Ratchets: lower them, never raise them.
    expect(sizeOf(later)).toBeLessThanOrEqual(1_930);
    expect(sizeOf((await bundleOf(everything)).outputFiles)).toBeLessThanOrEqual(6_520);
  });

  test('where the rest cannot be loaded, reading works, and nothing that changes something is sent', async () => {
    const { outputFiles } = await bundleOf(everything, true);
    const built = join(directory, 'built');
    mkdirSync(built);
    const isRest = (path: string) => basename(path).startsWith('purchases-');
    for (const { path, contents } of outputFiles) if (!isRest(path)) writeFileSync(path, contents);
    const sent: string[] = [];
    const fetch = async (url: string) => {
      sent.push(url);
      return Response.json({ status: 'success', requestID: null, message: '', data: [] });
    };
    const { createReseller }: typeof client = await import(pathToFileURL(join(built, 'stdin.js')).href);
    const reseller = createReseller({ apiKey: 'key', baseUrl: 'https://a.test', fetch });
    await reseller.domain.list();
    await expect(reseller.vm.reinstall(12_345)).rejects.toThrow(/purchases-/);
    expect(sent).toEqual(['https://a.test/domain/list']);
  });

  test('it runs where there is nothing but the web’s own functions', async () => {
    const { createContext, Script } = require('node:vm');
    const source = "import { createReseller } from '@reseller/client'; globalThis.createReseller = createReseller;";
    const { outputFiles } = await bundleOf(source);
    const code = outputFiles
      .map(({ text }) => text)
      .join('')
      .replaceAll(/export ?\{\};?/g, '');
    const answer = { status: 'success', requestID: null, message: '', data: ['a.test'] };
    const worker = createContext({
      AbortController,
      AbortSignal,
      Headers,
      Request,
      Response,
      URL,
      crypto,
      queueMicrotask,
      setTimeout,
      clearTimeout,
      fetch: async () => Response.json(answer),
    });
    new Script(code).runInContext(worker);
    const found: unknown = await new Script("createReseller({ apiKey: 'key', baseUrl: 'https://a.test' }).domain.list()").runInContext(
      worker,
    );
    expect(found).toEqual(['a.test']);
  });
});
