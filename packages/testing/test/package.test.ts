/** The published package, installed with npm into an empty project, where the examples of the README must work. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { resolutionProblems } from '../../../.config/attw.ts';
import { compile, tsc } from '../../../.config/tsc.ts';

const here = join(import.meta.dirname, '..');
/** Outside the repository, so that no module of it is resolved by accident. */
const directory = mkdtempSync(join(tmpdir(), 'reseller-testing-package-'));
const project = join(directory, 'project');

/** Packs a package and returns the path of its tarball. */
function pack(source: string): string {
  const into = mkdtempSync(join(directory, 'packed-'));
  execFileSync('pnpm', ['pack', '--pack-destination', into], { cwd: source, stdio: 'pipe' });
  const [name = ''] = readdirSync(into);
  return join(into, name);
}

let tarball: string;
/** The reason why the package cannot be installed here; undefined if it is installed. */
let offline: string | undefined;

beforeAll(() => {
  const client = join(here, '../client');
  compile(join(client, 'tsconfig.build.json'));
  tarball = pack(here);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  const install = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', pack(client), tarball], {
    cwd: project,
    encoding: 'utf8',
  });
  const isOffline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(install.stderr);
  if (isOffline) offline = 'the npm registry cannot be reached from here';
  else if (install.status !== 0) throw new Error(`npm could not install the package:\n${install.stderr}`);
}, 300_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('publint reports nothing', async () => {
  const contents = readFileSync(tarball);
  const bytes = contents.buffer.slice(contents.byteOffset, contents.byteOffset + contents.byteLength);
  const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

test('attw finds only what the README explains', () => {
  expect(resolutionProblems(tarball)).toEqual(['node10: NoResolution', 'node16-cjs: CJSResolvesToESM']);
  const readme = readFileSync(join(here, 'README.md'), 'utf8');
  expect(readme).toContain('"CJS resolves to ESM"');
  expect(readme).toContain('"Resolution failed" for `node10`');
});

test('needs no private package, and has a module of at most 1.5 MB, compressed', ({ skip }) => {
  if (offline !== undefined) skip(offline);
  expect(readdirSync(join(project, 'node_modules/@reseller')).toSorted()).toEqual(['client', 'testing']);
  const code = readFileSync(join(project, 'node_modules/@reseller/testing/dist/index.js'));
  expect(gzipSync(code).length).toBeLessThanOrEqual(1_500_000);
});

test('the samples of the README compile and pass', { timeout: 300_000 }, async ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  const samples = [...readFileSync(join(here, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  expect(samples).not.toEqual([]);
  const files = samples.map((code, index) => {
    writeFileSync(join(project, `sample-${index}.ts`), code);
    return `sample-${index}.ts`;
  });
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
    types: ['node'],
    typeRoots: [join(here, 'node_modules/@types')],
    strict: true,
    noEmit: true,
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  expect(tsc('-p', project).stdout).toBe('');
  for (const file of files) await promisify(execFile)(process.execPath, ['--test', file], { cwd: project });
});

test('renders an invoice document, whose fonts are files', { timeout: 300_000 }, async ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  const program = `
    import { createTestService, forms } from '@reseller/testing';
    await using service = await createTestService({ now: '2026-11-10T12:00:00Z' });
    const reseller = service.reseller();
    await reseller.vm.create(forms.createVm.smallest);
    await service.advance(25 * 86_400_000);
    const [invoice] = await reseller.accounting.invoices();
    const base = await service.listen();
    const document = await fetch(base + new URL(invoice.invoice).pathname + new URL(invoice.invoice).search);
    console.log(document.status, (await document.text()).slice(0, 5));
  `;
  writeFileSync(join(project, 'invoice.mjs'), program);
  const { stdout } = await promisify(execFile)(process.execPath, ['invoice.mjs'], { cwd: project });
  expect(stdout).toBe('200 %PDF-\n');
});
