/** A production installation as OPERATIONS.md makes it, without the development tools, and the files that run it. */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { createReseller } from '@reseller/client';
import { advanceClock, createClient } from '@reseller/operator-client';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { freePorts } from '../../../.config/free-ports.ts';
import { newDatabase } from './database.ts';
import { buildImage, missingImageTools, readContainerfile, runImage } from './image.ts';
import { install, RUNBOOK, runInstalled } from './installation.ts';
import { startServer, temporaryDirectory } from './process.ts';
import { commandsOf } from './runbook.ts';

const DEPLOY = resolve(import.meta.dirname, '../deploy');
const TOKEN = 'token-of-the-production-test-0123456789';
const MEGABYTE = 1_000_000;

let folder: string;
let installation: string;

beforeAll(() => {
  ({ folder, installation } = install());
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = () => ({ node: join(installation, 'node_modules/.bin/node'), main: join(installation, 'dist/server/src/main.js') });

test('it has its own Node, no development tools and no TypeScript, and less than 270 MB', () => {
  const packages = readdirSync(join(installation, 'node_modules/.pnpm'));
  expect(packages.filter((name) => /^(?:typescript|turbo|vitest|esbuild|@redocly|redoc|oxlint|@types|embedded)/.test(name))).toEqual([]);
  expect(readdirSync(join(installation, 'dist'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))).toEqual([]);
  const { status, stdout } = spawnSync(program().node, ['--version'], { encoding: 'utf8' });
  expect([status, stdout.trim()]).toEqual([0, process.version]);
  expect(sizeOf(installation) / MEGABYTE).toBeLessThan(270);
});

test.each([
  { part: 'dist', packages: ['fastify', 'pg', 'noto-sans-sc'] },
  { part: 'dist/server/dist', packages: ['vue', 'minisearch', 'redoc'] },
  { part: 'dist/server/console-dist', packages: ['react', 'uplot'] },
])('$part lists its packages, and has the licences of the bundled ones', ({ part, packages }) => {
  const { components }: { components: { name: string }[] } = JSON.parse(readFileSync(join(installation, part, 'sbom.cdx.json'), 'utf8'));
  expect(components.map(({ name }) => name)).toEqual(
    expect.arrayContaining([...packages, ...(part === 'dist' ? ['pdfkit', nodePackage()] : [])]),
  );
  const file = readdirSync(join(installation, part)).find((name) => /^THIRD-PARTY-LICENSES\.(?:txt|md)$/.test(name));
  const licences = readFileSync(join(installation, part, String(file)), 'utf8');
  for (const name of packages) expect(licences).toMatch(new RegExp(`^(?:## )?${name} (?:- )?\\d\\S* \\(MIT\\)$`, 'm'));
});

/** The name of the package whose Node the installation runs. */
function nodePackage(): string {
  const packages = readdirSync(join(installation, 'node_modules')).filter((name) => /^node-(?:bin-)?(?:linux|darwin|win)-/.test(name));
  expect(packages).toHaveLength(1);
  return packages[0] ?? '';
}

test('it starts with its secrets in files, sells a VM, and serves the docs and the invoice', async () => {
  const secrets = temporaryDirectory();
  writeFileSync(join(secrets, 'secret'), 'secret-of-the-production-test-0123456789\n', { mode: 0o600 });
  writeFileSync(join(secrets, 'token'), `${TOKEN}\n`, { mode: 0o600 });
  const server = await startServer(
    {
      RESELLER_DATA_DIR: temporaryDirectory(),
      RESELLER_SECRET_FILE: join(secrets, 'secret'),
      RESELLER_OPERATOR_TOKEN_FILE: join(secrets, 'token'),
    },
    program(),
  );
  const reseller = createReseller({ baseUrl: server.baseUrl, apiKey: server.apiKey });
  const vm = await reseller.vm.create({ cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' });
  expect(vm.identifier).toBeGreaterThan(9_999);
  const docs = await fetch(`${server.baseUrl}/docs/`);
  expect([docs.status, docs.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
  const metrics = await fetch(`${server.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  expect(metrics.status).toBe(200);
  // The renderer finds its fonts.
  await advanceClock({ client: createClient({ baseUrl: server.operatorUrl, token: TOKEN }), body: { by_seconds: 40 * 86_400 } });
  const [invoice] = await reseller.accounting.invoices();
  const document = await fetch(invoice?.invoice ?? '');
  expect([document.status, document.headers.get('content-type')]).toEqual([200, 'application/pdf']);
  expect(await server.end('SIGTERM')).toBe(0);
});

/** Runs the commands of sections in the installation, with free ports and folders of their own. */
function runSections(sections: readonly string[], directory: string, exports = '') {
  const commands = sections.map((section) => commandsOf(RUNBOOK, section)).join('\n');
  return runInstalled(installation, `${exports}\n${commands}`, directory);
}

test('every block of shell commands in the runbook is run by a test', () => {
  const blocks = RUNBOOK.split(/^## /m).flatMap((part) =>
    [...part.matchAll(/^```sh(?: (\w+))?$/gm)].map(([, word = '']) => `${part.split('\n')[0]} ${word}`.trim()),
  );
  // Run by this file.
  const here = ['Install', 'Start and check', 'Backup', 'Restore', 'Upgrade', 'Incidents'];
  const inIncidents = ['Backup postgres', 'Restore postgres', 'Upgrade sessions', 'Incidents systemd', 'Incidents clock'];
  expect([...new Set(blocks)].toSorted()).toEqual([...here, ...inIncidents].toSorted());
});

test('on PostgreSQL, the commands after a start, before an upgrade and for incidents work as described', async () => {
  const sections = ['Start and check', 'Upgrade', 'Incidents'];
  const { code, stdout, stderr } = await runSections(sections, temporaryDirectory(), `export DATABASE_URL='${await newDatabase()}'`);
  expect({ code, problems: code === 0 ? '' : stderr }).toEqual({ code: 0, problems: '' });
  expect(stdout).toMatch(/^ +DATABASE_URL +set$/m);
  expect(stdout).toMatch(/The store is up to date\./);
  expect(stdout).toMatch(/^period_ends +0 +0 +on time$/m);
  expect(stdout).toMatch(/No job of this account has failed\.\nThe chain is intact: \d+ records? verified\./);
});

test('the commands of the runbook work as described', async () => {
  const sections = ['Start and check', 'Backup', 'Restore', 'Upgrade', 'Incidents'];
  const directory = temporaryDirectory();
  const { code, stdout, stderr } = await runSections(sections, directory);
  expect({ code, problems: code === 0 ? '' : stderr }).toEqual({ code: 0, problems: '' });
  expect(stdout).toMatch(/Backed up .*Restored .*Raised \d+ fencing tokens by 1000000\..*The store is up to date\./s);
  expect(stdout).toMatch(/^ +service +ready at http:\/\/127\.0\.0\.1:\d+$/m);
  expect(stdout).toMatch(/^period_ends +0 +0 +on time$/m);
  expect(stdout).toMatch(/No job of this account has failed\.\nThe chain is intact: \d+ records? verified\./);
  const connection = new DatabaseSync(join(directory, 'restored/store.sqlite'), { readOnly: true });
  const names = connection.prepare('select hostname from vms order by created').all();
  connection.close();
  expect(names.map(({ hostname }) => hostname).slice(-2)).toEqual(['first', 'third']);
});

test('the image runs as its user, serves both ports, is healthy, and sells and invoices a VM', { tags: 'deep' }, async ({ skip }) => {
  const missing = missingImageTools();
  if (missing !== undefined) return skip(missing);
  const configuration = readContainerfile(readFileSync(join(DEPLOY, 'Containerfile'), 'utf8'));
  const image = buildImage(installation, configuration, join(folder, 'image'));
  const [port = '', operatorPort = ''] = (await freePorts(2)).map(String);
  const variables = {
    RESELLER_MODE: 'sandbox',
    RESELLER_PORT: port,
    RESELLER_OPERATOR_PORT: operatorPort,
    RESELLER_OPERATOR_TOKEN: TOKEN,
  };
  const container = await runImage(image, { folder: join(folder, 'image'), variables, ready: 'Buy a VM' });
  expect(container.execute(configuration.healthCheck)).toBe(0);
  expect(container.execute(['/opt/reseller/node_modules/.bin/node', '-e', 'process.exit(process.getuid() === 10001 ? 0 : 1)'])).toBe(0);
  const key = readFileSync(join(folder, 'image/run/rootfs/var/lib/reseller/demo-api-key'), 'utf8').trim();
  const reseller = createReseller({ baseUrl: `http://127.0.0.1:${port}`, apiKey: key });
  await reseller.vm.create({ cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' });
  const operator = createClient({ baseUrl: `http://127.0.0.1:${operatorPort}`, token: TOKEN });
  await advanceClock({ client: operator, body: { by_seconds: 40 * 86_400 } });
  const [invoice] = await reseller.accounting.invoices();
  const document = await fetch(invoice?.invoice ?? '');
  expect([document.status, (await document.text()).slice(0, 5)]).toEqual([200, '%PDF-']);
  expect(await container.stop()).toBe(0);
});

test('systemd accepts the unit', ({ skip }) => {
  if (spawnSync('systemd-analyze', ['--version']).status !== 0) return skip('systemd-analyze is not installed');
  const unit = join(folder, 'reseller.service');
  // systemd checks that the programs exist.
  writeFileSync(unit, readFileSync(join(DEPLOY, 'reseller.service'), 'utf8').replaceAll('/opt/reseller', installation));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
  const problems = stderr.split('\n').filter((line) => line.includes('reseller.service'));
  expect({ status, problems }).toEqual({ status: 0, problems: [] });
});

test('the unit and the image run files of the installation, as a user without rights, and set variables that exist', () => {
  const unit = readFileSync(join(DEPLOY, 'reseller.service'), 'utf8');
  const image = readFileSync(join(DEPLOY, 'Containerfile'), 'utf8');
  const backup = readFileSync(join(DEPLOY, 'reseller-backup.service'), 'utf8');
  const paths = [unit, image, backup].flatMap((text) => [...text.matchAll(/\/opt\/reseller(\/[\w./-]+)/g)].map(([, path = '']) => path));
  expect(new Set(paths)).toEqual(new Set(['/node_modules/.bin/node', '/dist/server/src/reseller-server.js', '/reseller-server']));
  expect(paths.filter((path) => !existsSync(join(installation, path)))).toEqual([]);
  expect([/^User=(\w+)/m.exec(unit)?.[1], /^USER (\d+)/m.exec(image)?.[1]]).toEqual(['reseller', '10001']);
  const documented = readFileSync(resolve(import.meta.dirname, '../README.md'), 'utf8');
  const nginx = readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8');
  const named = [...nginx.matchAll(/\bRESELLER_\w+/g)].map(([name]) => name);
  expect(named.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  const variables = [unit, image].flatMap((text) => [...text.matchAll(/\b(RESELLER_\w+?)(?:_FILE)?=/g)].map(([, name = '']) => name));
  expect(variables.length).toBeGreaterThan(5);
  expect(variables.filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
});

/** Bytes of all files. pnpm links files of equal content to each other, so they are counted once. */
function sizeOf(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = new Map(
    files.map((entry) => {
      const { ino, size } = lstatSync(join(entry.parentPath, entry.name));
      return [ino, size];
    }),
  );
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
