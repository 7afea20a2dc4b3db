import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser } from '../../../.config/browser.ts';
import { pages } from '../src/pages.ts';
import { type RunningSite, startSite } from '../src/server.ts';
import { siteDirectory } from '../src/site.ts';
import { operationsOf, plain, remarksOf, serversOf } from './bundle.ts';

type Child = ChildProcessByStdio<null, Readable, Readable>;

const children: Child[] = [];
let site: RunningSite;
let browser: Browser;

beforeAll(async () => {
  [site, browser] = await Promise.all([startSite(0), launchBrowser()]);
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

describe.each(pages)('the page $name', ({ name }) => {
  let page: Page;
  const problems: string[] = [];
  const foreignRequests: string[] = [];

  beforeAll(async () => {
    const context = await browser.newContext();
    // Requests to other hosts are recorded and blocked.
    await context.route('**/*', (route) => {
      const { origin } = new URL(route.request().url());
      if (`${origin}/` === site.url) return route.continue();
      foreignRequests.push(route.request().url());
      return route.abort();
    });
    page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${site.url}${name}.html`);
    await page.locator('h1').first().waitFor();
  }, 60_000);

  test('shows every operation of its document', async () => {
    const operations = await operationsOf(name);
    expect(operations.length).toBeGreaterThan(0);
    for (const { operationId, summary, path } of operations) {
      const section = await page.locator(`[id$="/operation/${operationId}"]`).textContent();
      expect.soft(section, operationId).toContain(summary);
      expect.soft(section, operationId).toContain(path);
      // Without a service that adds its own address, the page shows the servers of the document unchanged.
      for (const server of await serversOf(name)) expect.soft(section, operationId).toContain(`${server}${path}`);
    }
  });

  // The operator API follows no specification, so its document has no remarks.
  const followsSpecification = name === 'index';

  test('marks parts that the specification does not show, if its document follows the specification', async () => {
    const shown = plain(await page.locator('body').innerText());
    expect((await remarksOf(name)).some((remark) => shown.includes(remark))).toBe(followsSpecification);
  });

  test('marks limits that the specification does not show as our choice, for each form', async () => {
    const forms = (await operationsOf(name)).filter(({ form }) => /limits not shown/i.test(form));
    expect(forms.length > 0).toBe(followsSpecification);
    for (const { operationId, form } of forms)
      expect.soft(plain(await page.locator(`[id$="/operation/${operationId}"]`).innerText()), operationId).toContain(form);
  });

  test('shows the descriptions of responses that the specification does not show, with their remarks', async () => {
    const remarked = (await operationsOf(name)).filter(({ notShown }) => notShown.length > 0);
    expect(remarked.length > 0).toBe(followsSpecification);
    for (const { operationId, notShown } of remarked) {
      const section = plain(await page.locator(`[id$="/operation/${operationId}"]`).innerText());
      for (const remark of notShown) expect.soft(section, operationId).toContain(remark);
    }
  });

  test('finds an operation by its summary', async () => {
    const [operation] = await operationsOf(name);
    await page.locator('[role="search"] input').fill(operation?.summary ?? '');
    const found = page
      .locator('[data-role="search:results"]')
      .getByText(operation?.summary ?? '')
      .first();
    await found.waitFor();
    expect(await found.isVisible()).toBe(true);
    await page.locator('[role="search"] input').fill('');
  });

  test('links to every page of the site, and marks the current one', async () => {
    const links = page.getByRole('navigation', { name: 'Documents' }).getByRole('link');
    const leadTo = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(leadTo).toEqual(pages.map((other) => `${other.name}.html`));
    for (const target of leadTo) expect((await fetch(`${site.url}${target}`)).status).toBe(200);
    expect(await links.and(page.locator('[aria-current="page"]')).getAttribute('href')).toBe(`${name}.html`);
  });

  test('offers the document for download', async () => {
    for (const ending of ['json', 'yaml']) {
      expect(await page.locator(`a[href$="${name}.${ending}"]`).count()).toBeGreaterThan(0);
      expect((await fetch(`${site.url}${name}.${ending}`)).status).toBe(200);
    }
  });

  // Runs after the tests that use the page, because it checks the requests that they caused.
  test('sends no request to another host and reports no error', () => {
    expect(foreignRequests).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('opens from a folder, without any server', async () => {
    const opened = await browser.newPage();
    await opened.goto(pathToFileURL(join(siteDirectory, `${name}.html`)).href);
    expect(await opened.locator('h1').first().innerText()).toBeTruthy();
    await opened.close();
  });
});

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
    const address = /^Docs: (http:\/\/127\.0\.0\.1:\d+\/)\n$/.exec(String(line))?.[1];
    const response = await fetch(address ?? '');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'self';/);
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
