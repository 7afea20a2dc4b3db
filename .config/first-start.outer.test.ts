/** The first minutes of a person who has cloned the repository. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';

import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { DEMO_ACCOUNT } from '../packages/service/src/sandbox/seed-sandbox.ts';
import { launchBrowser, noBrowser } from './browser.ts';
import { cloneRepository, type } from './newcomer.ts';
import type { Clone, Typed } from './newcomer.ts';
import { printedFact } from './printed-fact.ts';

const MEGABYTE = 1_000_000;
const FREE_PORTS = { RESELLER_PORT: '0', RESELLER_OPERATOR_PORT: '0' };
/** Packages for development and for the documentation site. */
const NOT_FOR_START =
  /^(?:typescript|turbo|vitest|vite|vue|esbuild|redoc|oxlint|oxfmt|playwright|@(?:redocly|types|stoplight|hey-api|changesets)\+)/;

let clone: Clone;

beforeAll(() => {
  clone = cloneRepository();
  return () => clone.remove();
});

test('npm start names the command to use', async () => {
  const typed = type('npm start', clone.folder);
  expect(await typed.ended).toBe(1);
  expect(typed.stderr()).toContain('This repository uses pnpm. Run: npx -y pnpm@12 start\n');
});

// Without a terminal, npx does not ask.
test('a command line as printed asks nothing in a terminal, although npx has never downloaded pnpm', async ({ skip }) => {
  skip(process.platform !== 'linux', 'the program script has other options here');
  const typed = type('script --quiet --return --command "npx -y pnpm@12 --version" /dev/null', clone.folder, {
    npm_config_cache: join(clone.folder, 'node_modules/empty-cache'),
  });
  onTestFinished(() => typed.signal('SIGKILL'));
  // Nobody types an answer, so a question ends the command with an error.
  expect({ code: await typed.ended, printed: typed.stdout() }).toEqual({ code: 0, printed: expect.stringMatching(/12\.\d+\.\d+\s/) });
});

test('says that it waits while the package registry is silent', { tags: 'deep' }, async () => {
  const registry = createServer().listen(0, '127.0.0.1');
  await once(registry, 'listening');
  onTestFinished(() => void registry.close());
  const address = registry.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const emptyStore = join(clone.folder, 'node_modules/empty');
  const typed = type('npx -y pnpm@12 start', clone.folder, {
    pnpm_config_registry: `http://127.0.0.1:${port}/`,
    XDG_DATA_HOME: emptyStore,
    XDG_CACHE_HOME: emptyStore,
  });
  onTestFinished(() => typed.signal('SIGKILL'));
  await vi.waitFor(() => expect(ownLines(typed).at(-1)).toMatch(/^Still waiting for the package registry, \d+ s since the start\.$/), {
    timeout: 300_000,
    interval: 100,
  });
});

test('the first start says what it does, installs only what the service needs, and builds nothing', async () => {
  const typed = await started();
  expect(ownLines(typed)[0]).toMatch(/^Installing the packages that start needs: about \d+.*\. This takes .*\.$/);
  expect(typed.stderr()).toMatch(/Progress: resolved \d+/);
  expect(ownLines(typed).at(-1)).toBe('Installed. Now start runs.');
  expect(ownLines(typed).filter((line) => line.startsWith('Installing'))).toHaveLength(1);
  const installed = readdirSync(join(clone.folder, 'node_modules/.pnpm'));
  expect(installed.length).toBeGreaterThan(100);
  expect(installed.filter((name) => NOT_FOR_START.test(name))).toEqual([]);
  if (process.platform === 'linux') expect(sizeOf(join(clone.folder, 'node_modules/.pnpm')) / MEGABYTE).toBeLessThan(260);
  for (const path of ['apps/docs/dist', 'apps/docs/site/node_modules', '.config/node_modules', 'packages/client/dist'])
    expect([path, existsSync(join(clone.folder, path))]).toEqual([path, false]);
  const docs = await fetch(`${printedFact(typed.stdout(), 'Base URL')}/docs/`);
  expect([docs.status, await docs.text()]).toEqual([404, expect.stringContaining('npx -y pnpm@12 build')]);
  expect(typed.stdout()).toMatch(/Docs +not built\. .*npx -y pnpm@12 build/);
  await stop(typed);
});

test('a Node that is new enough starts the service without another Node, and without fonts until a document needs them', async () => {
  const other = cloneRepository();
  onTestFinished(() => other.remove());
  const typed = await started(other, { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) });
  const installed = join(other.folder, 'node_modules/.pnpm');
  expect(readdirSync(installed).filter((name) => /^node-|noto-sans|gowun|chocolate/.test(name))).toEqual([]);
  expect(sizeOf(installed) / MEGABYTE).toBeLessThan(110);

  const fact = (label: string) => printedFact(typed.stdout(), label);
  async function operate(method: string, path: string, body: object): Promise<void> {
    const headers = { authorization: `Bearer ${fact('Operator token')}`, 'content-type': 'application/json' };
    const response = await fetch(`${fact('Operator')}${path}`, { method, headers, body: JSON.stringify(body) });
    expect([response.status, path]).toEqual([200, path]);
  }
  const address = { street: 'Beispielweg 7', postal_code: '10115', city: 'Berlin', country: 'DE' };
  const profile = { company: '上海主机有限公司', ...address, language: 'en', vat_id: null, reverse_charge: false };
  await operate('PUT', `/accounts/${DEMO_ACCOUNT}/billing-profile`, profile);
  await operate('POST', '/sandbox/clock/advance', { by_seconds: 32 * 86_400 });
  const listed = await fetch(`${fact('Base URL')}/accounting/documents`, { headers: { 'X-SERVICE-APIKEY': fact('API key') } });
  const { data }: { data: { list: readonly { document: string }[] } } = await listed.json();
  const refused = await fetch(data.list[0]?.document ?? '');
  const { message }: { message: string } = await refused.json();
  expect([refused.status, message]).toEqual([503, expect.stringMatching(/letters such as 上 .* not installed.* npx -y pnpm@12 install/)]);
  await stop(typed);

  const script = `
    import { assertFontsFor } from './packages/service/src/core/accounting/invoice-document/font-files.ts';
    for (const letter of 'é上あカㄅ한ไ（，☃🎉')
      try {
        assertFontsFor([letter.codePointAt(0)]);
      } catch {
        process.stdout.write(letter);
      }`;
  const options = { cwd: other.folder, encoding: 'utf8' } as const;
  expect(execFileSync(process.execPath, ['--input-type=module', '--eval', script], options)).toBe('上あカㄅ한ไ（，');
});

test('a browser that follows the first link of the banner waits for the console to be built, and is signed in', async ({ skip }) => {
  skip(noBrowser !== undefined, noBrowser);
  const typed = await started();
  const [, name, link = ''] = /^ {2}(\w+) +(\S+)$/m.exec(typed.stdout()) ?? [];
  expect([name, link]).toEqual(['Console', expect.stringMatching(/\/console\/#code=rsc_\w+$/)]);
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  await page.goto(link);
  expect(await page.textContent('h1')).toBe('The console is being built');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(page.url()).not.toContain('code=');
  expect(existsSync(join(clone.folder, 'node_modules/turbo'))).toBe(false);
  await stop(typed);
});

test('the second start installs nothing and prints only the banner', async () => {
  const typed = await started();
  expect(ownLines(typed)).toEqual([]);
  await stop(typed);
});

async function started({ folder } = clone, settings: Readonly<Record<string, string>> = {}): Promise<Typed> {
  const typed = type('npx -y pnpm@12 start', folder, { ...FREE_PORTS, ...settings });
  onTestFinished(() => typed.signal('SIGKILL'));
  await vi.waitFor(() => expect(typed.stdout()).toMatch(/^curl .*\/vm\/create.*\n/m), { timeout: 300_000, interval: 100 });
  return typed;
}

async function stop(typed: Typed): Promise<void> {
  typed.signal('SIGINT');
  await typed.ended;
}

/** The lines on standard error, except the warnings of npm. */
function ownLines(typed: Typed): string[] {
  return typed
    .stderr()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('npm '));
}

/** Bytes of the files of a folder. Files of equal content are links to one file, which is counted once. Links to folders are not followed. */
function sizeOf(folder: string, counted = new Set<number>()): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((total, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return total + sizeOf(path, counted);
    const { ino, size } = lstatSync(path);
    if (counted.has(ino)) return total;
    counted.add(ino);
    return total + size;
  }, 0);
}
