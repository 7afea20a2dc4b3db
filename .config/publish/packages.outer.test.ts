/** The published packages as their users get them: from tarballs, in an empty folder, with npm, on each supported version of Node. */
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ExecFileException } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

import { createTestService } from '../../packages/testing/src/index.ts';
import type { TestService } from '../../packages/testing/src/index.ts';
import { resolutionProblems } from '../attw.ts';
import { byDepth } from '../depth.ts';
import { freePort } from '../free-ports.ts';
import '../provided.ts';
import { tsc } from '../tsc.ts';
import { REPOSITORY } from '../turbo.ts';
import { thirdPartyLicenses } from './licenses.ts';
import { PUBLISHED, TARBALLS } from './packages.ts';

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly externalReferences?: readonly { readonly hashes?: readonly unknown[] }[];
}

/** The usual run has a library without a bundle, a command with one, and the documents that both need. */
const packed = byDepth({ usual: ['openapi', 'packages/client', 'packages/contract'] as const, deep: PUBLISHED });
const names = packed.map(nameOf);
const libraries = ['@reseller/client', '@reseller/operator-client', '@reseller/testing', '@reseller/contract', '@reseller/adapters'].filter(
  isPacked,
);
const bundled = ['@reseller/testing', '@reseller/contract', '@reseller/sandbox', '@reseller/cli'].filter(isPacked);

const node22 = join(dirname(createRequire(join(REPOSITORY, '.config/package.json')).resolve('node-22-linux-x64/package.json')), 'bin/node');
const runsNode22 = existsSync(node22) && spawnSync(node22, ['--version']).status === 0;
const nodes = [
  { version: 'Node 22', node: node22, why: runsNode22 ? undefined : 'the package of Node 22 has no binary for this platform' },
  { version: 'this Node', node: process.execPath, why: undefined },
];

const folders: string[] = [];
let project: string;
/** Why the packages cannot be installed here; undefined if they are installed. */
let offline: string | undefined;

beforeAll(() => {
  execFileSync(process.execPath, [join(import.meta.dirname, 'pack-all.ts'), ...packed], { stdio: ['ignore', 'ignore', 'pipe'] });
  project = emptyFolder();
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  const { status, stderr } = spawnSync('npm', ['install', ...names.map(tarballOf)], {
    cwd: project,
    encoding: 'utf8',
  });
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT/.test(stderr)) offline = 'the npm registry cannot be reached from here';
  else if (status !== 0) throw new Error(`npm could not install the packages:\n${stderr}`);
});

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function nameOf(folder: string): string {
  return manifestOf(join(REPOSITORY, folder)).name;
}

function isPacked(name: string): boolean {
  return names.includes(name);
}

function folderOf(name: string): string {
  return packed[names.indexOf(name)] ?? '';
}

function tarballOf(name: string): string {
  const prefix = `${name.replace('@', '').replace('/', '-')}-`;
  const file = readdirSync(TARBALLS).find((one) => one.startsWith(prefix) && /^\d/.test(one.slice(prefix.length)));
  if (file === undefined) throw new Error(`There is no tarball of ${name}.`);
  return join(TARBALLS, file);
}

/** A folder outside the repository, so that no module of it is resolved by accident. */
function emptyFolder(): string {
  const folder = mkdtempSync(join(inject('diskFolder'), 'empty-'));
  folders.push(folder);
  return folder;
}

describe.each(names)('%s', (name) => {
  test('publint reports nothing', async () => {
    const contents = readFileSync(tarballOf(name));
    const bytes = contents.buffer.slice(contents.byteOffset, contents.byteOffset + contents.byteLength);
    const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test('depends on published packages only, names versions, and has a licence and a README', ({ skip }) => {
    if (offline !== undefined) return skip(offline);
    const folder = join(project, 'node_modules', name);
    const { dependencies = {} } = manifestOf(folder);
    const ours = Object.keys(dependencies).filter((dependency) => dependency.startsWith('@reseller/'));
    expect(ours.filter((dependency) => !PUBLISHED.map(nameOf).includes(dependency))).toEqual([]);
    expect(Object.values(dependencies).filter((version) => !/^[\^~]?\d/.test(version))).toEqual([]);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['LICENSE', 'README.md']));
  });
});

test.each(libraries)('attw finds for %s only what its README or reference explains', (name) => {
  const documents = ['README.md', 'REFERENCE.md'].map((file) => join(REPOSITORY, folderOf(name), file)).filter((file) => existsSync(file));
  const explained = documents.map((file) => readFileSync(file, 'utf8')).join('\n');
  expect(explained).toContain('"CJS resolves to ESM"');
  expect(explained).toMatch(/"Resolution failed" for\s`node10`/);
  expect(resolutionProblems(tarballOf(name))).toEqual(['node10: NoResolution', 'node16-cjs: CJSResolvesToESM']);
});

test.each(bundled)('%s carries the licences of the packages in its bundle', (name) => {
  const { stdout } = spawnSync('tar', ['-xzOf', tarballOf(name), '--wildcards', '*/THIRD-PARTY-LICENSES.txt'], { encoding: 'utf8' });
  expect(stdout).toMatch(/^[\w@/.-]+ \d+\.\d+\.\d+ \(MIT\)\n\n.*Permission is hereby granted/ms);
});

test.each(names)('the SBOM of %s names the packages in its bundle and those that it depends on, each with its integrity', (name) => {
  const inTarball = (file: string): string => execFileSync('tar', ['-xzOf', tarballOf(name), '--wildcards', file], { encoding: 'utf8' });
  // The sandbox also contains the site of the docs, which has lists of its own.
  const folder = name === '@reseller/cli' ? 'package' : 'package/dist';
  const { components }: { components: Component[] } = JSON.parse(inTarball(`${folder}/sbom.cdx.json`));
  const named = components.map(({ group, name: short, version }) => `${group === undefined ? '' : `${group}/`}${short} ${version}`);
  const licences = bundled.includes(name) ? inTarball(`${folder}/THIRD-PARTY-LICENSES.txt`) : '';
  const inBundle = [...licences.matchAll(/^(?:.*package.*\n|-{80}\n)\n(\S+ \d\S*) \(.*\)$/gm)].map(([, one]) => one);
  expect(inBundle.length).toBeGreaterThan(bundled.includes(name) ? 5 : -1);
  const { dependencies = {} }: Manifest = JSON.parse(inTarball('package/package.json'));
  expect(named).toEqual(expect.arrayContaining(inBundle));
  expect(named.map((one) => one.split(' ')[0])).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  const foreign = components.filter(({ group }) => group !== '@reseller');
  expect(foreign.filter(({ externalReferences = [] }) => !externalReferences.some(({ hashes }) => hashes !== undefined))).toEqual([]);
});

test('a bundle with a package without a licence text cannot be built', () => {
  const folder = emptyFolder();
  const unlicensed = join(folder, 'node_modules/unlicensed');
  mkdirSync(unlicensed, { recursive: true });
  writeFileSync(join(unlicensed, 'package.json'), JSON.stringify({ name: 'unlicensed', version: '1.2.3', license: 'MIT' }));
  expect(() => thirdPartyLicenses(['node_modules/unlicensed/index.js'], folder)).toThrow('without a licence text: unlicensed 1.2.3 (MIT)');
  writeFileSync(join(unlicensed, 'LICENCE.md'), 'You may use it.');
  expect(thirdPartyLicenses(['node_modules/unlicensed/index.js'], folder)).toContain('unlicensed 1.2.3 (MIT)\n\nYou may use it.');
});

test('the types of the libraries compile without further packages', ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  writeFileSync(join(project, 'types.ts'), libraries.map((name, index) => `export * as library${index} from '${name}';\n`).join(''));
  expect(compileIn(project, ['types.ts'], [])).toBe('');
});

/** @returns The errors of the compiler. */
function compileIn(folder: string, files: readonly string[], types: readonly string[]): string {
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
    types,
    typeRoots: [join(REPOSITORY, 'node_modules/@types')],
    strict: true,
    noEmit: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  return tsc('-p', folder).stdout;
}

test('the samples in the README of @reseller/testing compile and pass', { tags: 'deep' }, async ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  const readme = readFileSync(join(project, 'node_modules/@reseller/testing/README.md'), 'utf8');
  const samples = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  expect(samples).not.toEqual([]);
  const files = samples.map((_, index) => `sample-${index}.ts`);
  for (const [index, file] of files.entries()) writeFileSync(join(project, file), samples[index] ?? '');
  expect(compileIn(project, files, ['node'])).toBe('');
  for (const file of files) await promisify(execFile)(process.execPath, ['--test', file], { cwd: project });
});

test('the README of @reseller/testing starts Jest, with import and with require', { tags: 'deep' }, async ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  const folder = emptyFolder();
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const readme = readFileSync(join(REPOSITORY, 'packages/testing/README.md'), 'utf8');
  const [, commands = ''] = /^```sh\n(npm install --save-dev jest\n.*?)^```$/ms.exec(readme) ?? [];
  const ours = ['@reseller/client', '@reseller/operator-client', '@reseller/testing'].map((name) => `"${tarballOf(name)}"`);
  const packages = `import { createTestService, forms } from '@reseller/testing';\n`;
  const body = `test('buys', async () => {
  const service = await createTestService();
  expect(await service.reseller().vm.create(forms.createVm.smallest)).toHaveProperty('identifier');
  await service.close();
});\n`;
  writeFileSync(join(folder, 'import.test.js'), packages + body);
  mkdirSync(join(folder, 'common'));
  writeFileSync(join(folder, 'common/package.json'), '{ "type": "commonjs" }');
  writeFileSync(join(folder, 'common/require.test.js'), packages.replace('import', 'const').replace(/from (.*);/, '= require($1);') + body);
  const script = `npm install ${ours.join(' ')}\n${commands}`;
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`, CI: 'true' };
  const { stderr, status } = spawnSync('sh', ['-e', '-c', script], { cwd: folder, env, encoding: 'utf8' });
  expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining('2 passed, 2 total') });
});

/** An empty project with tarballs and packages of the registry, and its files. */
function projectWith(tarballs: readonly string[], packages: readonly string[], files: Readonly<Record<string, string>>): string {
  const folder = emptyFolder();
  for (const [name, content] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  execFileSync('npm', ['install', ...tarballs.map(tarballOf), ...packages], { cwd: folder, stdio: 'pipe' });
  return folder;
}

test('the example of an adapter passes its test outside the repository, with the tarball only', { tags: 'deep' }, ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  const example = join(REPOSITORY, 'examples/adapter');
  const files = ['adapters.js', 'test/adapters.test.js'].map((name) => [name, readFileSync(join(example, name), 'utf8')]);
  const folder = projectWith(['@reseller/adapters'], [], Object.fromEntries(files));
  const { stdout, status } = spawnSync(process.execPath, ['--test'], { cwd: folder, encoding: 'utf8' });
  expect({ stdout, status }).toEqual({ stdout: expect.stringMatching(/^ℹ fail 0$/m), status: 0 });
});

const VM_THREADS = `import { ConnectionError, createReseller } from '@reseller/client';
import { createTestService, forms } from '@reseller/testing';
import { expect, test } from 'vitest';

test('buys, and knows that nothing was sent to a port that nothing listens on', async () => {
  const service = await createTestService();
  expect(await service.reseller().vm.create(forms.createVm.smallest)).toHaveProperty('identifier');
  await service.close();
  const nowhere = createReseller({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key', maxRetries: 0 });
  const error = await nowhere.vm.create(forms.createVm.smallest).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error.uncertain).toBe(false);
});
`;

test('the packages work in vmThreads of vitest, whose modules have an Error of their own', { tags: 'deep' }, ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  const ours = ['@reseller/client', '@reseller/operator-client', '@reseller/testing'];
  const folder = projectWith(ours, ['vitest'], { 'buy.test.js': VM_THREADS });
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const { stdout, status } = spawnSync(process.execPath, [vitest, 'run', '--pool=vmThreads'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], NO_COLOR: '1' },
    encoding: 'utf8',
  });
  expect({ stdout, status }).toEqual({ stdout: expect.stringMatching(/Tests +1 passed/), status: 0 });
});

const NEXT = {
  'app/layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>;',
  'app/page.js': `import { createReseller } from '@reseller/client';
import { ENVIRONMENT } from './environment.js';

export const dynamic = 'force-dynamic';
export default async () => <p>{(await createReseller(ENVIRONMENT).vm.hosts())[0].name}</p>;
`,
  'app/environment.js': 'export const ENVIRONMENT = { baseUrl: process.env.RESELLER_URL, apiKey: process.env.RESELLER_KEY };',
  'app/buy/route.js': `import { createReseller, InvalidError } from '@reseller/client';
import { ENVIRONMENT } from '../environment.js';

export async function POST(request) {
  try {
    return Response.json(await createReseller(ENVIRONMENT).vm.create(await request.json()));
  } catch (error) {
    return Response.json({ isInvalid: error instanceof InvalidError }, { status: 422 });
  }
}
`,
};

test('an application of Next builds with the client, reads in a page and buys in a route', { tags: 'deep' }, async ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  const folder = projectWith(['@reseller/client'], ['next', 'react', 'react-dom'], NEXT);
  const service = await createTestService();
  onTestFinished(() => service.close());
  const next = join(folder, 'node_modules/next/dist/bin/next');
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    NEXT_TELEMETRY_DISABLED: '1',
    RESELLER_URL: await service.listen(),
    RESELLER_KEY: service.apiKey,
  };
  execFileSync(process.execPath, [next, 'build'], { cwd: folder, env, stdio: 'pipe' });
  const port = String(await freePort());
  const server = spawn(process.execPath, [next, 'start', '-H', '127.0.0.1', '-p', port], { cwd: folder, env, stdio: 'ignore' });
  onTestFinished(async () => {
    const ended = once(server, 'exit');
    if (server.exitCode === null && server.kill()) await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await expect.poll(() => fetch(url).then((response) => response.text(), String)).toContain('<p>');
  const buy = async (form: object) => (await fetch(`${url}/buy`, { method: 'POST', body: JSON.stringify(form) })).json();
  expect(await buy({ cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' })).toMatchObject({ config: { cores: 2 } });
  expect(await buy({ cores: 'two' })).toEqual({ isInvalid: true });
});

test(
  'openapi-ts with its own plugins generates code that type-checks from the packed document, as the reference of the client says',
  {
    tags: 'deep',
  },
  ({ skip }) => {
    if (offline !== undefined) return skip(offline);
    const folder = emptyFolder();
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    const readme = readFileSync(join(REPOSITORY, 'packages/client/REFERENCE.md'), 'utf8');
    const [, commands = ''] = /^```sh\n(npm install @reseller\/openapi .*?)^```$/ms.exec(readme) ?? [];
    const script = commands.replace('npm install @reseller/openapi', `npm install "${tarballOf('@reseller/openapi')}"`);
    const { stderr, status } = spawnSync('sh', ['-e', '-c', script], { cwd: folder, encoding: 'utf8' });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: 'es2024',
      module: 'esnext',
      moduleResolution: 'bundler',
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['generated'] }));
    expect(tsc('-p', folder)).toEqual({ status: 0, stdout: '' });
  },
);

describe.each(nodes)('on $version', { tags: 'deep' }, ({ node, why }) => {
  beforeEach(({ skip }) => {
    const reason = why ?? offline;
    if (reason !== undefined) skip(reason);
  });

  /** Runs a module in the project. */
  async function run(program: string): Promise<string> {
    const { stdout } = await promisify(execFile)(node, ['--input-type=module', '--eval', program], { cwd: project });
    return stdout;
  }

  /** Starts an installed command and waits for a line of its output. */
  async function start(command: string, variables: Readonly<Record<string, string>>, line: RegExp): Promise<RegExpExecArray> {
    const started = spawn(node, [commandFile(command)], {
      cwd: project,
      env: { PATH: process.env['PATH'], ...variables },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(async () => {
      const ended = once(started, 'exit');
      if (started.exitCode === null && started.kill()) await ended;
    });
    for await (const printed of createInterface(started.stdout)) {
      const found = line.exec(printed);
      if (found) return found;
    }
    throw new Error(`${command} ended before it was ready.`);
  }

  test('the libraries load, and the testing package renders an invoice', async () => {
    const printed = await run(`
      import { advanceClock } from '@reseller/operator-client';
      import { readOperations } from '@reseller/contract';
      import { createTestService, forms } from '@reseller/testing';
      const service = await createTestService({ now: '2026-11-10T12:00:00Z' });
      const reseller = service.reseller();
      await reseller.vm.create(forms.createVm.smallest);
      await service.advance(25 * 86_400_000);
      const [invoice] = await reseller.accounting.invoices();
      const link = new URL(invoice.invoice);
      const document = await fetch((await service.listen()) + link.pathname + link.search);
      console.log(typeof advanceClock, typeof readOperations, document.status, (await document.text()).slice(0, 5));
      await service.close();
    `);
    expect(printed).toBe('function function 200 %PDF-\n');
  });

  test('the sandbox keeps its data in a folder of the user, and the contract tests find it there', async () => {
    const home = emptyFolder();
    const variables = { HOME: home, XDG_DATA_HOME: join(home, 'data'), RESELLER_PORT: '0', RESELLER_OPERATOR_PORT: '0' };
    const [, url = '', key = ''] = await start('reseller-sandbox', variables, /^curl -X PUT (http:\S+)\/vm\/create .*APIKEY: (\w+)/);
    const docs = await fetch(`${url}/docs/`);
    expect([docs.status, docs.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    const bought = await fetch(`${url}/vm/create`, {
      method: 'PUT',
      headers: { 'x-service-apikey': key },
      body: new URLSearchParams({ cores: '2', mem: '4096', disk: '40', os: 'debian_12', hostsystem: 'nl_ryzen' }),
    });
    expect(bought.status).toBe(200);
    expect(readdirSync(join(home, 'data/reseller-sandbox'))).toContain('demo-api-key');
    const { stdout } = await promisify(execFile)(node, [commandFile('contract'), '--target', url], {
      cwd: emptyFolder(),
      env: { ...process.env, ...variables },
    });
    expect(stdout).toMatch(/0 violations|No violations|passed/);
  });

  test('the command line finds the sandbox, and buys a VM in it', async () => {
    const home = emptyFolder();
    const variables = { HOME: home, XDG_DATA_HOME: join(home, 'data'), RESELLER_PORT: '0', RESELLER_OPERATOR_PORT: '0' };
    await start('reseller-sandbox', variables, /^curl -X PUT /);
    const vm = ['--cores', '2', '--mem', '4096', '--disk', '40', '--os', 'debian_12', '--hostsystem', 'nl_ryzen'];
    const { stdout, stderr } = await promisify(execFile)(node, [commandFile('reseller'), 'vm', 'create', ...vm, '--yes', '-o', 'json'], {
      cwd: emptyFolder(),
      env: { PATH: process.env['PATH'], ...variables },
    });
    expect(stderr).toContain('Price: 10.40 EUR net');
    expect(JSON.parse(stdout)).toMatchObject({ identifier: expect.any(Number), config: { cores: 2 } });
  });

  test('the mock returns an example', async ({ skip }) => {
    skip(node === node22, 'the mock needs Node 24, as the table of the README says');
    const [, url = ''] = await start('reseller-mock', { MOCK_PORT: '0' }, /^Mock: (\S+)$/);
    const response = await fetch(`${url}/domain/list`, { headers: { 'x-service-apikey': 'any' } });
    expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ status: 'success' })]);
  });

  test('an error of the testing package is short', async () => {
    const program = "import { createTestService } from '@reseller/testing'; await createTestService({ now: 'tomorrow' });";
    const error: ExecFileException = await run(program).then(
      () => expect.fail('It did not fail.'),
      (thrown) => thrown,
    );
    expect(String(error.stderr).length).toBeLessThan(5_000);
  });
});

/** The file that an installed command runs. */
function commandFile(command: string): string {
  return join(project, 'node_modules/.bin', command);
}

/** The installed programs, and the packages that have them. */
const programs = [
  { command: 'contract', name: '@reseller/contract' },
  { command: 'reseller-mock', name: '@reseller/mock' },
  { command: 'reseller-sandbox', name: '@reseller/sandbox' },
  { command: 'reseller', name: '@reseller/cli' },
].filter(({ name }) => isPacked(name));

test.for(programs)('$command says which Node it needs on an older one', ({ command, name }, { skip }) => {
  if (offline !== undefined) return skip(offline);
  const { engines }: { engines: { node: string } } = JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8'));
  const older = "data:text/javascript,Object.defineProperty(process, 'version', { value: 'v18.20.8' })";
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', older, commandFile(command)], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: `${name} needs Node ${engines.node.replace('>=', '')} or later. This is Node 18.20.8. Get a newer one from https://nodejs.org.\n`,
  });
});

test('the table of the README names the Node that each package needs', () => {
  const readme = readFileSync(join(REPOSITORY, 'README.md'), 'utf8');
  const rows = new Map(
    [...readme.matchAll(/^\| .*`(?:npx|npm install .*) (@reseller\/[\w-]+)` \| ([\d.]+) \|$/gm)].map(([, name, node]) => [name, node]),
  );
  const needed = PUBLISHED.filter((folder) => folder !== 'openapi').map((folder) => {
    const { name, engines }: { name: string; engines: { node: string } } = JSON.parse(
      readFileSync(join(REPOSITORY, folder, 'package.json'), 'utf8'),
    );
    return [name, engines.node.replace('>=', '')] as const;
  });
  expect(rows).toEqual(new Map(needed));
});

// The usual run has the workflow, which runs the same command.
test('npx runs the contract tests from tarballs in an empty folder', { tags: 'deep' }, async ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  const packages = ['@reseller/openapi', '@reseller/contract'].flatMap((name) => ['--package', tarballOf(name)]);
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  const { stdout } = await promisify(execFile)('npx', ['--yes', ...packages, 'contract', '--help'], {
    cwd: emptyFolder(),
    env: { ...process.env, PATH: path },
  });
  expect(stdout).toContain('contract [--target URL]');
});

describe('the workflow in examples/github-actions, in a repository that has only it and two tarballs', () => {
  const workflow: { jobs: { contract: { steps: readonly { name?: string; run?: string; env?: Record<string, string> }[] } } } = parse(
    readFileSync(join(REPOSITORY, 'examples/github-actions/contract.yml'), 'utf8'),
  );
  const stepOf = (name: string) => workflow.jobs.contract.steps.find((step) => step.name === name);
  let repository: string;
  let service: TestService;
  let url: string;

  beforeAll(async () => {
    repository = emptyFolder();
    mkdirSync(join(repository, 'packages'));
    for (const name of ['@reseller/openapi', '@reseller/contract'])
      cpSync(tarballOf(name), join(repository, 'packages', basename(tarballOf(name))));
    service = await createTestService();
    url = await service.listen();
    return () => service.close();
  });

  /** Runs the script of a step as GitHub does. */
  function runStep(name: string, variables: Readonly<Record<string, string>>): Promise<number | null> {
    const { run = '', env = {} } = stepOf(name) ?? {};
    const path = [join(repository, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter);
    const step = spawn('bash', ['-e', '-c', run], {
      cwd: repository,
      env: { ...process.env, ...env, ...variables, PATH: path },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return once(step, 'exit').then(() => step.exitCode);
  }

  test('passes for a service that follows its document', { tags: 'deep' }, async ({ skip }) => {
    if (offline !== undefined) return skip(offline);
    expect(await runStep('Compare', { RESELLER_API_URL: url, RESELLER_API_KEY: service.apiKey })).toBe(0);
    expect(existsSync(join(repository, 'reports/summary.md'))).toBe(true);
  });

  test('opens an issue for a service that differs', { tags: 'deep' }, async ({ skip }) => {
    if (offline !== undefined) return skip(offline);
    const differing = await withoutRequestIds(url);
    expect(await runStep('Compare', { RESELLER_API_URL: differing, RESELLER_API_KEY: service.apiKey })).toBe(1);
    // In place of GitHub's command line, it writes its arguments down.
    mkdirSync(join(repository, 'bin'));
    writeFileSync(join(repository, 'bin/gh'), '#!/bin/sh\n[ "$2" = list ] || echo "$@" > issue.txt\n', { mode: 0o755 });
    expect(await runStep('Report in an issue', { GH_TOKEN: 'token' })).toBe(0);
    expect(readFileSync(join(repository, 'issue.txt'), 'utf8')).toBe(
      'issue create --title The live service differs from its document --body-file reports/summary.md\n',
    );
    expect(readFileSync(join(repository, 'reports/summary.md'), 'utf8')).toContain('requestID');
  });
});

interface ActionStep {
  readonly name?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

test('the action runs in a repository with another API, and shows the summary', { tags: 'deep' }, async ({ skip }) => {
  if (offline !== undefined) return skip(offline);
  const action: { inputs: Record<string, { default?: string }>; runs: { steps: readonly ActionStep[] } } = parse(
    readFileSync(join(REPOSITORY, 'packages/contract/action.yml'), 'utf8'),
  );
  const repository = emptyFolder();
  const users = { type: 'array', items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } };
  const ok = { description: 'Users.', content: { 'application/json': { schema: users } } };
  const paths = { '/users': { get: { operationId: 'listUsers', responses: { 200: ok } } } };
  writeFileSync(join(repository, 'api.json'), JSON.stringify({ openapi: '3.1.0', info: { title: 'Users', version: '1' }, paths }));
  const server = createServer((request, response) =>
    response.writeHead(request.method === 'GET' ? 200 : 405, { 'content-type': 'application/json' }).end('[{"name": 7}]'),
  ).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  const inputs: Readonly<Record<string, string>> = {
    ...Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, input.default ?? ''])),
    target: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    document: 'api.json',
    arguments: '--fail-on violation',
    packages: ['@reseller/openapi', '@reseller/contract'].map(tarballOf).join('\n'),
  };
  const summary = join(repository, 'step-summary.md');
  /** Runs the script of a step as GitHub does. */
  async function runStep(name: string): Promise<number | null> {
    const { run = '', env = {} } = action.runs.steps.find((step) => step.name === name) ?? {};
    const given = Object.entries(env).map(([key, written]) => [
      key,
      written.replaceAll(/\$\{\{ inputs\.([a-z-]+) \}\}/g, (_, input: string) => inputs[input] ?? ''),
    ]);
    const path = [dirname(process.execPath), process.env['PATH']].join(delimiter);
    const step = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', '-c', run], {
      cwd: repository,
      env: { ...process.env, GITHUB_STEP_SUMMARY: summary, ...Object.fromEntries(given), PATH: path },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await once(step, 'exit');
    return step.exitCode;
  }
  expect(await runStep('Compare')).toBe(1);
  expect(await runStep('Show the summary')).toBe(0);
  expect(readFileSync(summary, 'utf8')).toContain('/\\*/name must be a string');
});

/** A proxy whose responses lack a member that the document requires. */
async function withoutRequestIds(target: string): Promise<string> {
  const proxy = createServer(async (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const body = await text(request);
    const { host: _, connection: _connection, 'content-length': _length, ...sent } = headers;
    const received = await fetch(target + url, {
      method,
      headers: new Headers(Object.entries(sent).map(([name, value]) => [name, String(value)])),
      ...(body && { body }),
    });
    const content = (await received.text()).replace(/"requestID":(?:"[^"]*"|null),/, '');
    response.writeHead(received.status, { 'content-type': received.headers.get('content-type') ?? 'application/json' }).end(content);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void proxy.close());
  await once(proxy, 'listening');
  const address = proxy.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}
