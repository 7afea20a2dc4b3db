/** The package as it will be published: its files, how it resolves, how it compiles for its users, and its size. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';
import type { OutputFile } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { compile } from '../../../.config/tsc.ts';

const packageDirectory = join(import.meta.dirname, '..');
const testTools = join(import.meta.dirname, '../../../.config');
const require = createRequire(import.meta.url);

/** Within the repository, so that a failed run leaves no files elsewhere. */
let directory: string;
let tarball: string;

beforeAll(() => {
  mkdirSync(join(packageDirectory, 'reports'), { recursive: true });
  directory = mkdtempSync(join(packageDirectory, 'reports', 'package-'));
  compile(join(packageDirectory, 'tsconfig.build.json'));
  execFileSync('pnpm', ['pack', '--pack-destination', directory], { cwd: packageDirectory, stdio: 'pipe' });
  const [name = ''] = readdirSync(directory);
  tarball = join(directory, name);
  const installed = join(directory, 'node_modules', '@reseller', 'client');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('needs no other package and no module of Node', () => {
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
  const allCompilers = {
    '5.4': join(testTools, 'node_modules/typescript-5.4'),
    '5.6': join(testTools, 'node_modules/typescript-5.6'),
    '5.8': join(testTools, 'node_modules/typescript-5.8'),
    '5.9': join(testTools, 'node_modules/typescript-5.9'),
    '6.0': join(packageDirectory, 'node_modules/typescript'),
    '7.0': join(packageDirectory, '../../node_modules/typescript'),
  };
  const { '5.4': oldest, '7.0': newest } = allCompilers;
  const compilers: Readonly<Record<string, string>> = byDepth({ usual: { '5.4': oldest, '7.0': newest }, deep: allCompilers });
  const strict = {
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    // The declarations of the package are checked, those of the compiler are not.
    skipLibCheck: false,
    skipDefaultLibCheck: true,
  };
  const resolutions = {
    node16: { module: 'node16' },
    nodenext: { module: 'nodenext' },
    bundler: { module: 'esnext', moduleResolution: 'bundler' },
  };

  const COMMON_JS = `
    import reseller = require('@reseller/client');
    const client: reseller.Reseller = reseller.createReseller({ apiKey: 'key', environment: 'sandbox' });
    export const created: Promise<reseller.CreatedVm> = client.vm.create({ cores: 1, mem: 1024, disk: 10, os: 'a', hostsystem: 'b' });
  `;
  const LAZY_COMMON_JS = `
    import type { CreatedVm } from '@reseller/client' with { 'resolution-mode': 'import' };
    export const created = async (): Promise<CreatedVm> => {
      const { createReseller } = await import('@reseller/client');
      return createReseller({ apiKey: 'key', environment: 'sandbox' }).vm.create({ cores: 1, mem: 1024, disk: 10, os: 'a', hostsystem: 'b' });
    };
  `;

  beforeAll(() => {
    copyFileSync(join(import.meta.dirname, 'types.ts'), join(directory, 'types.ts'));
    writeFileSync(join(directory, 'common.cts'), COMMON_JS);
    writeFileSync(join(directory, 'lazy.cts'), LAZY_COMMON_JS);
  });

  /** The code that must compile, the code that must not, and the CommonJS modules that the compiler accepts. */
  function filesFor(version: string, resolution: string): readonly string[] {
    if (resolution === 'node16') return ['types.ts', 'lazy.cts'];
    return resolution === 'nodenext' && Number(version) >= 5.8 ? ['types.ts', 'common.cts'] : ['types.ts'];
  }

  // One process for all module settings, which reads the declarations of the compiler once.
  test.each(Object.entries(compilers))('TypeScript %s: accepts the modules of every setting', (version, compiler) => {
    const projects = Object.entries(resolutions).map(([resolution, options]) => {
      const project = join(directory, `tsconfig-${version}-${resolution}.json`);
      writeFileSync(project, JSON.stringify({ compilerOptions: { ...strict, ...options }, files: filesFor(version, resolution) }));
      return project;
    });
    const { stdout, status } = spawnSync(process.execPath, [join(compiler, 'bin/tsc'), '--build', ...projects], { encoding: 'utf8' });
    expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
  });

  test('can be required from CommonJS in Node', () => {
    const program = "const { createReseller } = require('@reseller/client'); console.log(typeof createReseller);";
    writeFileSync(join(directory, 'common.cjs'), program);
    expect(execFileSync(process.execPath, [join(directory, 'common.cjs')], { encoding: 'utf8' })).toBe('function\n');
  });

  test('has the descriptions of the document in its types', () => {
    const types = readFileSync(join(directory, 'node_modules/@reseller/client/dist/generated/groups.gen.d.ts'), 'utf8');
    expect(types).toContain('Creates a virtual server on a host system');
  });
});

/** Everything that the package exports. */
const everything = "export * from '@reseller/client';";

/** Bundles a module like an application. */
function bundleOf(source: string) {
  return build({
    stdin: { contents: source, resolveDir: directory },
    bundle: true,
    minify: true,
    write: false,
    outdir: join(directory, 'built'),
    format: 'esm',
    platform: 'neutral',
    target: 'es2024',
  });
}

/** Bytes of all files, each compressed separately. */
function sizeOf(files: readonly OutputFile[]): number {
  return files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
}

describe('size, minified by esbuild and compressed by gzip', () => {
  const single = (name: string) =>
    `import { createClient, ${name} } from '@reseller/client/operations'; export const call = (config, input) => ${name}({ ...input, client: createClient(config) });`;

  test.each([
    ['one read', single('listVmHosts')],
    ['one purchase', single('createVm')],
    ['`createReseller`', everything],
    ['`createReseller` with the extension', everything.replace("'@reseller/client'", "'@reseller/client/extension'")],
  ])('of %s is what the reference says', async (name, source) => {
    const said = readFileSync(join(import.meta.dirname, '../REFERENCE.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith(`| ${name} |`));
    expect(said).toEqual([`| ${name} | ${(sizeOf((await bundleOf(source)).outputFiles) / 1000).toFixed(1)} kB |`]);
  });

  test('keeps the class names of errors when minified', async () => {
    const source =
      "import { createReseller } from '@reseller/client'; createReseller({ apiKey: 'k', baseUrl: 'http://a.test' }).domain.info('').catch((error) => console.log(error.constructor.name, error.name, String(error)));";
    const file = join(directory, 'minified.mjs');
    writeFileSync(file, (await bundleOf(source)).outputFiles.map(({ text }) => text).join(''));
    const printed = execFileSync(process.execPath, [file], { encoding: 'utf8' });
    expect(printed).toMatch(/^InvalidError InvalidError InvalidError: getDomain: domain must be/);
  });

  test('runs in an environment with only the functions of the web platform', async () => {
    const { createContext, Script } = require('node:vm');
    const source = "import { createReseller } from '@reseller/client'; globalThis.createReseller = createReseller;";
    const { outputFiles } = await bundleOf(source);
    const code = outputFiles
      .map(({ text }) => text)
      .join('')
      .replaceAll(/export ?\{\};?/g, '');
    const envelope = { status: 'success', requestID: null, message: '', data: ['a.test'] };
    const worker = createContext({
      AbortController,
      AbortSignal,
      Headers,
      Request,
      Response,
      URL,
      crypto,
      performance,
      queueMicrotask,
      setTimeout,
      clearTimeout,
      fetch: async () => Response.json(envelope),
    });
    new Script(code).runInContext(worker);
    const found: unknown = await new Script("createReseller({ apiKey: 'key', baseUrl: 'https://a.test' }).domain.list()").runInContext(
      worker,
    );
    expect(found).toEqual(['a.test']);
  });
});
