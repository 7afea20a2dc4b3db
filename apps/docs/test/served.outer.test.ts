/** The site as a sandbox serves it: with the addresses of the sandbox, and with a form that runs each request there. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { startSandbox } from '../../../.config/sandbox.ts';
import type { Sandbox } from '../../../.config/sandbox.ts';
import { startServer, temporaryDirectory } from '../../server/test/process.ts';
import { operationsOf, readDocument } from '../src/document.ts';
import { references } from '../src/references.ts';
import { oneOfEachGroup, openReference, readOperation } from './redoc-page.ts';

let sandbox: Sandbox;
let browser: Browser;
let page: Page;
const problems: string[] = [];

beforeAll(async () => {
  sandbox = await startSandbox();
  if (noBrowser !== undefined) return;
  browser = await launchBrowser();
  // Redoc renders the operations in view. A low page renders few, which saves time because the test reads one of each group.
  page = await browser.newPage({ viewport: { width: 1440, height: 400 }, reducedMotion: 'reduce' });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
});

afterAll(async () => {
  await browser?.close();
  await sandbox?.stop();
});

describe.skipIf(noBrowser !== undefined)('a sandbox', () => {
  test.each(references)('shows its own address first in the $name reference', async (reference) => {
    const { api } = reference;
    const document = await readDocument(reference);
    const own = api === 'reseller' ? sandbox.baseUrl : sandbox.operatorUrl;
    const others = document.servers.filter(({ description }) => description !== 'Sandbox').map(({ url }) => url);
    await openReference(page, `${sandbox.baseUrl}/docs/`, reference);
    // All operations share one list of addresses, and the test of the site reads more of them.
    for (const placed of oneOfEachGroup(operationsOf(document)).slice(0, 2)) {
      const { method, path } = placed;
      const { request, addresses } = await readOperation(page, placed);
      expect.soft({ request, addresses }, placed.id).toEqual({
        request: `${method} ${path}`,
        addresses: [own, ...others].map((url) => `${url}${path}`),
      });
    }
    expect(problems).toEqual([]);
  });

  test('runs a request from its page, and shows its own address in the samples', async () => {
    await page.goto(`${sandbox.baseUrl}/docs/operations/reseller/createVm`);
    const form = page.getByRole('region', { name: 'Run in this sandbox' });
    await form.getByLabel('API key').fill(sandbox.apiKey);
    await form.getByLabel('cores').fill('1');
    await form.getByRole('button', { name: 'Run in this sandbox' }).click();
    await form.getByText('200 OK').waitFor();
    expect(JSON.parse(await form.getByLabel('Response').innerText())).toMatchObject({ status: 'success', data: { config: { cores: 1 } } });
    expect(await page.locator('.vp-doc').innerText()).toContain(`${sandbox.baseUrl}/vm/create`);
    expect(problems).toEqual([]);
  });

  test('sends optional fields and an Idempotency-Key, shows the curl line, and keeps the key for other pages', async () => {
    await page.goto(`${sandbox.baseUrl}/docs/operations/reseller/createVm`);
    const form = page.getByRole('region', { name: 'Run in this sandbox' });
    expect(await form.getByLabel('API key').inputValue()).toBe(sandbox.apiKey);
    await form.getByText('Optional fields').click();
    await form.getByLabel('hostname').fill('tried.example');
    await form.getByRole('button', { name: 'New' }).click();
    const key = await form.getByLabel('Idempotency-Key').inputValue();
    const curl = await form.getByLabel('curl', { exact: true }).innerText();
    expect(curl).toContain("--data-urlencode 'hostname=tried.example'");
    expect(curl).toContain(`-H 'Idempotency-Key: ${key}'`);
    expect(curl).not.toContain(sandbox.apiKey);
    const identifiers = new Set<number>();
    for (let time = 1; time <= 2; time += 1) {
      const response = page.waitForResponse(`${sandbox.baseUrl}/vm/create`);
      await form.getByRole('button', { name: 'Run in this sandbox' }).click();
      const { data } = await (await response).json();
      expect(data.config.hostname).toBe('tried.example');
      identifiers.add(data.identifier);
    }
    expect(identifiers.size).toBe(1);
    expect(problems).toEqual([]);
  });

  test('runs operations of the operator API', async () => {
    await page.goto(`${sandbox.baseUrl}/docs/operator/operations/advanceClock`);
    const form = page.getByRole('region', { name: 'Run in this sandbox' });
    await form.getByLabel('Operator token').fill(sandbox.operatorToken);
    await form.getByLabel('Body').fill('{"by_seconds": 3600}');
    await form.getByRole('button', { name: 'Run in this sandbox' }).click();
    await form.getByText('200 OK').waitFor();
    expect(JSON.parse(await form.getByLabel('Response').innerText())).toMatchObject({ advance_seconds: 3600 });
    expect(problems).toEqual([]);
  });

  test('shows the error of a request that it refuses', async () => {
    await page.goto(`${sandbox.baseUrl}/docs/operations/reseller/getDomain`);
    const form = page.getByRole('region', { name: 'Run in this sandbox' });
    await form.getByLabel('API key').fill('wrong');
    await form.getByRole('button', { name: 'Run in this sandbox' }).click();
    await form.getByText('401 Unauthorized').waitFor();
    expect(await form.getByLabel('Response').innerText()).toContain('unauthorized');
    // Chromium reports each failed request.
    expect(problems.splice(0)).toHaveLength(1);
  });
});

const LIVE = {
  RESELLER_MODE: 'live',
  RESELLER_INFRASTRUCTURE: 'simulated',
  RESELLER_OPERATOR_TOKEN: 'operator-token-of-a-live-service-0123',
  RESELLER_PUBLIC_URL: 'https://api.example.com',
};

test.skipIf(noBrowser !== undefined).each([
  { extension: 'on', opened: /operations\/extension\/listVms/ },
  { extension: 'off', opened: /\/docs\/(?!.*extension)./ },
])('the first result of the search opens a page that a live service has, with the extension $extension', async ({ extension, opened }) => {
  const server = await startServer({ ...LIVE, RESELLER_EXTENSION: extension, RESELLER_DATA_DIR: temporaryDirectory() });
  const faults: string[] = [];
  const reader = await browser.newPage();
  reader.on('pageerror', ({ message }) => faults.push(message));
  const home = `${server.baseUrl}/docs/`;
  await reader.goto(home);
  const input = reader.locator('.VPLocalSearchBox input');
  await expect.poll(async () => (await input.count()) > 0 || (await reader.keyboard.press('Control+k'), false)).toBe(true);
  await input.fill('list your vms');
  await reader.locator('.VPLocalSearchBox .result').first().waitFor({ state: 'attached' });
  await reader.keyboard.press('Enter');
  await reader.waitForURL((url) => url.href !== home);
  expect(reader.url()).toMatch(opened);
  await reader.locator('.vp-doc h1').waitFor();
  expect(faults).toEqual([]);
  // Before the service ends, because the page asks it for the pages of its links.
  await reader.close();
});

test.skipIf(noBrowser !== undefined)('a live service without the extension shows neither its parts nor links to its pages', async () => {
  const server = await startServer({ ...LIVE, RESELLER_EXTENSION: 'off', RESELLER_DATA_DIR: temporaryDirectory() });
  const reader = await browser.newPage({ viewport: { width: 1440, height: 1000 }, reducedMotion: 'reduce' });
  const open = async (path: string) =>
    void (await reader.goto(`${server.baseUrl}/docs/${path}`), await reader.locator('h1').first().waitFor());
  const linksTo = (path: string) => reader.locator(`a[href*="${path}"]:visible`).count();
  await open('operations/reseller/createVm');
  await reader.locator('dt:visible', { hasText: 'hostsystem' }).first().waitFor();
  expect(await reader.locator(':is(dt, td):visible', { hasText: /^(max_price|412)/ }).count()).toBe(0);
  expect(await linksTo('/extension/')).toBe(0);
  await open('guides/life-of-a-vm');
  await reader.getByText('This service does not have it.').waitFor();
  expect(await linksTo('/extension/')).toBe(0);
  await openReference(reader, `${server.baseUrl}/docs/`, references[0]);
  expect(await reader.locator('.reference', { hasText: 'List your VMs' }).count()).toBe(0);
  expect(await reader.locator('a[href$="/openapi/specification.yaml"]').count()).toBeGreaterThan(0);
  await reader.close();
});

test('a sandbox with a public URL shows that URL', async () => {
  const other = await startSandbox({ RESELLER_PUBLIC_URL: 'https://api.example.com' });
  try {
    // The banner shows the address that it listens on.
    const script = await (await fetch(`${other.baseUrl}/docs/own-servers.js`)).text();
    expect(script).toContain('"reseller":{"url":"https://api.example.com","description":"Sandbox"}');
  } finally {
    await other.stop();
  }
});
