/** The built site in a real browser, under its Content-Security-Policy and without any other host. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { byDepth } from '../../../.config/depth.ts';
import { operationsOf, readDocument } from '../src/document.ts';
import { factsOf } from '../src/facts.ts';
import { EXTENSION_BADGE } from '../src/provenance.ts';
import { isOfExtension, references } from '../src/references.ts';
import { startSite } from '../src/server.ts';
import type { RunningSite } from '../src/server.ts';
import { goToOperation, oneOfEachGroup, openReference, readOperation } from './redoc-page.ts';

let site: RunningSite;
let browser: Browser;
let context: BrowserContext;
let page: Page;
/** Requests to other hosts, and messages in the console. */
const problems: string[] = [];

beforeAll(async () => {
  site = await startSite(0);
  if (noBrowser !== undefined) return;
  browser = await launchBrowser();
  // Redoc renders the operations in view. A high page renders several at once, which saves time because the test reads each of them.
  // Without motion, because every frame of a transition paints such a page again.
  context = await browser.newContext({ viewport: { width: 1440, height: 4000 }, reducedMotion: 'reduce' });
  await context.route('**/*', (route) => {
    const url = route.request().url();
    if (url.startsWith(site.url)) return route.continue();
    problems.push(`request to ${url}`);
    return route.abort();
  });
  page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

afterEach(() => {
  const found = problems.splice(0);
  if (found.length > 0) throw new Error(`The page did not stay quiet:\n${found.join('\n')}`);
});

describe.skipIf(noBrowser !== undefined).each(references)('the $name reference', (reference) => {
  test('shows its operations with their badges, its samples and the addresses of the document', async () => {
    const document = await readDocument(reference);
    const operations = operationsOf(document);
    expect(operations.length).toBeGreaterThan(15);
    await openReference(page, site.url, reference);
    for (const placed of byDepth({ usual: oneOfEachGroup(operations).slice(0, 2), deep: operations })) {
      const { id, method, path, operation } = placed;
      await goToOperation(page, placed);
      const { request, addresses, text: shown } = await readOperation(page, placed);
      expect.soft(request, id).toBe(`${method} ${path}`);
      expect.soft(addresses, id).toEqual(document.servers.map(({ url }) => `${url}${path}`));
      for (const words of [operation.summary, ...factsOf(operation, method, reference.followsSpecification).map((fact) => fact.words)])
        expect.soft(shown, id).toContain(words);
      expect.soft(shown.includes(EXTENSION_BADGE), id).toBe(isOfExtension(operation));
    }
  });

  test('shows marks instead of the remarks of the bundle', async () => {
    const shown = await (await fetch(`${site.url}openapi/${reference.name}.reference.json`)).text();
    expect(shown).not.toMatch(/Not shown in the specification|our choice\.\*/);
    expect(shown.includes('open-questions#assumed')).toBe(reference.followsSpecification);
  });

  test('names the operation in its title, and the operations without JavaScript', async () => {
    const [placed] = operationsOf(await readDocument(reference));
    await openReference(page, site.url, reference);
    if (placed) await goToOperation(page, placed);
    await expect.poll(() => page.title()).toMatch(new RegExp(`^${placed?.operation.summary} · `));
    const html = await (await fetch(`${site.url}${reference.page}`)).text();
    expect(/<noscript>[^]*?<\/noscript>/.exec(html)?.[0]).toContain(`../${reference.operations}/`);
  });

  test('offers the document for download', async () => {
    await openReference(page, site.url, reference);
    for (const format of ['yaml', 'json']) {
      expect(await page.locator(`a[href$="/openapi/${reference.name}.${format}"]`).count()).toBeGreaterThan(0);
      expect((await fetch(`${site.url}openapi/${reference.name}.${format}`)).status).toBe(200);
    }
  });
});

/** A section, words to search for in it, and a result that they must have. The first six have a result of each kind. */
const SEARCHES = [
  ['', 'createVm', 'Operation: Create a VM'],
  ['', 'credit_limit_exceeded', 'Error: Error catalogue'],
  ['', 'lost response', 'Guide: Lost responses'],
  ['', 'changeVm', 'Extension: Change VM resources'],
  ['', 'rate limit', 'Concept: Limits'],
  ['operator/', 'advanceClock', 'Operation: Advance the clock'],
  ['', 'backup_slots', 'Operation: Create a VM'],
  ['', 'setDomainNameservers', 'Operation: Set the nameservers'],
  ['', 'terminate vm', 'Extension: Delete a VM'],
  ['', 'ssh key', 'Operation: Create a VM'],
  ['', 'rdns', 'Guide: What this API cannot do'],
  ['', 'backup', 'Guide: What this API cannot do'],
  ['', 'upgrade', 'Extension: Change VM resources'],
  ['', 'webhook', 'Guide: Events and webhooks'],
  ['', 'resize', 'Extension: Change VM resources'],
  ['', 'cancel server', 'Operation: Cancel a dedicated server'],
  ['', 'price before buying', 'Extension: Quote a new VM'],
  ['', 'sdk', 'Guide: Languages and tools'],
  ['', 'terraform', 'Guide: Languages and tools'],
  ['', 'php', 'Guide: Calling the API from PHP'],
  ['', 'vat', 'Guide: Bookkeeping'],
  ['operator/', 'vat', 'Operation: Set the VAT rates'],
] as const;

describe.skipIf(noBrowser !== undefined)('the search', () => {
  const chosen = byDepth({ usual: SEARCHES.slice(0, 6), deep: SEARCHES });

  /** Opens the search with the keyboard alone, and returns the results with their labels. */
  async function search(section: string, words: string, title: string): Promise<string[]> {
    await page.goto(`${site.url}${section}`);
    const input = page.locator('.VPLocalSearchBox input');
    // The keys work as soon as the page has run its scripts.
    await expect.poll(async () => (await input.count()) > 0 || (await page.keyboard.press('Control+k'), false)).toBe(true);
    await input.fill(words);
    const results = page.locator('.VPLocalSearchBox .result');
    await results.filter({ hasText: title }).first().waitFor();
    return results.evaluateAll((all) =>
      all.map((result) => {
        const titles = result.querySelector('.titles') ?? result;
        return `${getComputedStyle(titles, '::before').content.replaceAll('"', '')}: ${titles.textContent?.replaceAll(/#|\s+/g, ' ').trim()}`;
      }),
    );
  }

  test.each(chosen)('of /%s finds %s', async (section, words, result) => {
    const [, title = ''] = result.split(': ');
    const results = await search(section, words, title);
    expect(results.filter((shown) => shown.startsWith(result))).not.toEqual([]);
    // The keyboard alone opens a result.
    const before = page.url();
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.href !== before);
  });

  test.each([
    ['resize', 'Extension: Change VM resources'],
    ['terminate vm', 'Extension: Delete a VM'],
    ['webhook signature', 'Guide: Events and webhooks'],
    ['cancel server', 'Operation: Cancel a dedicated server'],
    ['price before buying', 'Guide: Your first purchase'],
    ['sdk', 'Guide: The TypeScript client'],
  ])('of %s shows %s first', { tags: 'deep' }, async (words, result) => {
    const [first] = await search('', words, result.split(': ')[1] ?? '');
    expect(first).toMatch(new RegExp(`^${result}`));
  });

  test('of the reseller API finds nothing of the operator API', async () => {
    await search('', 'account', 'Get');
    const links = await page.locator('.VPLocalSearchBox .result').evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((link) => link.includes('/operator/'))).toEqual([]);
  });

  test('is the only dialog that its keys open in a reference', async () => {
    await openReference(page, site.url, references[0]);
    const dialogs = page.locator('.VPLocalSearchBox, [role="dialog"]');
    await expect.poll(async () => (await dialogs.count()) > 0 || (await page.keyboard.press('Control+k'), false)).toBe(true);
    await page.locator('.VPLocalSearchBox input').fill('createVm');
    await page.locator('.VPLocalSearchBox .result').first().waitFor();
    expect(await dialogs.count()).toBe(1);
  });
});

describe('the server', () => {
  test('shows a page of the site at an address that does not exist', async () => {
    const response = await fetch(`${site.url}no-such-page.html`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('<title>404 · Reseller API</title>');
  });

  test('sends compressed files, and lets browsers keep those whose names contain their hash', async () => {
    const html = await fetch(site.url, { headers: { 'accept-encoding': 'br' } });
    expect([html.status, html.headers.get('content-encoding'), html.headers.get('cache-control')]).toEqual([200, 'br', 'no-cache']);
    const asset = /\/docs\/(assets\/style\.[^"]+\.css)/.exec(await html.text())?.[1] ?? '';
    const style = await fetch(`${site.url}${asset}`, { headers: { 'accept-encoding': 'gzip' } });
    expect([style.status, style.headers.get('content-encoding'), style.headers.get('cache-control')]).toEqual([
      200,
      'gzip',
      'public, max-age=31536000, immutable',
    ]);
  });

  test('allows scripts from its own files alone', async () => {
    const { headers } = await fetch(site.url);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'self'; script-src 'self';/);
  });
});

type Child = ChildProcessByStdio<null, Readable, Readable>;
const children: Child[] = [];

describe('the process', () => {
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  test('says in one line that its port is in use', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const address = occupant.address();
    const port = String(typeof address === 'object' ? address?.port : address);
    const child = start({ DOCS_PORT: port });
    const [[code], errors] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
    occupant.close();
    expect({ code, errors }).toEqual({
      code: 1,
      errors: `Port ${port} is in use. Set DOCS_PORT to another port, or stop the process that uses it.\n`,
    });
  });

  test('says in one line that its port is not a port', async () => {
    const child = start({ DOCS_PORT: 'web' });
    const [[code], errors] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
    expect({ code, errors }).toEqual({
      code: 1,
      errors: "DOCS_PORT is 'web'. It must be a whole number from 0 to 65535, where 0 picks a free port.\n",
    });
  });

  test('prints its address, serves the site and stops on a signal', async () => {
    const child = start({ DOCS_PORT: '0' });
    const [line] = await once(child.stdout, 'data');
    const address = /^Docs: (http:\/\/127\.0\.0\.1:\d+\/docs\/)\n$/.exec(String(line))?.[1];
    const response = await fetch(address ?? '');
    expect(response.status).toBe(200);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
  });
});

function start(settings: Record<string, string>): Child {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

test('samples have a tab for each language, which keys choose and other pages remember', async ({ skip }) => {
  if (noBrowser !== undefined) return skip(noBrowser);
  const shown = () => page.locator('.vp-code-group .blocks > .active');
  await page.goto(`${site.url}operations/reseller/createVm`);
  expect(await page.locator('.vp-code-group .tabs label').allInnerTexts()).toEqual(['curl', 'TypeScript', 'Python', 'PHP', 'Go']);
  await page.locator('.vp-code-group .tabs input').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => shown().innerText()).toContain('urlopen(request)');
  await page.goto(`${site.url}operations/reseller/listVmHosts`);
  await expect.poll(() => shown().innerText()).toContain('urlopen(request)');
  // Without a load of the page.
  await page.locator('.VPSidebar').getByRole('link', { name: 'Reinstall a VM' }).click();
  await page.waitForURL('**/reinstallVm');
  await expect.poll(() => shown().innerText()).toContain('urlopen(request)');
});
