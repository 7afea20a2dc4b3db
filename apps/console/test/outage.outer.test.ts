/** Pages that were not loaded before an outage of the service open after it. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { byDepth } from '../../../.config/depth.ts';
import { startSandbox } from '../../../.config/sandbox.ts';
import { consoleLink, openContext, startRestartable } from './browser.ts';
import type { Restartable } from './browser.ts';

let sandbox: Restartable;
let browser: Browser;

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  [sandbox, browser] = await Promise.all([startRestartable(), launchBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await sandbox?.remove();
});

test.skipIf(noBrowser !== undefined).each(byDepth({ usual: [1], deep: [1, 5, 30] }))(
  'a page that is opened during an outage of %i s appears when the service is back',
  async (seconds) => {
    const { context, page } = await openContext(browser);
    await page.goto(consoleLink(sandbox.current()));
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor();
    await sandbox.stop();
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor({ state: 'hidden' });
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    await sandbox.start();
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    await page.getByRole('table').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/audit');
    // A page that is opened afterwards needs no reload.
    await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('heading', { name: 'Settings', exact: true }).waitFor();
    expect(await page.evaluate(() => 'isSameDocument' in globalThis)).toBe(true);
    await context.close();
  },
);

test.skipIf(noBrowser !== undefined)('a page that the service does not have is told, and not reloaded again and again', async () => {
  const { context, page } = await openContext(browser);
  let documents = 0;
  page.on('request', (request) => void (request.isNavigationRequest() && documents++));
  await page.goto(consoleLink(sandbox.current()));
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor();
  await page.route(/\/assets\/Audit/, (route) => route.fulfill({ status: 404 }));
  const before = documents;
  await page.getByRole('link', { name: 'Audit' }).click();
  await page.getByText('This page failed').waitFor();
  expect(documents - before).toBe(1);
  await context.close();
});

test.skipIf(noBrowser !== undefined)('the overview says how much of a held up queue failed', async () => {
  const away = { RESELLER_DNS: 'powerdns', RESELLER_POWERDNS_URL: 'http://127.0.0.1:1', RESELLER_POWERDNS_API_KEY: 'unused' };
  const failing = await startSandbox(away);
  onTestFinished(() => failing.stop());
  const { context, page, faults } = await openContext(browser);
  onTestFinished(() => context.close());
  await page.goto(consoleLink(failing));
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor();
  await page.goto(`${failing.operatorUrl}/console/overview`);
  await page
    .getByRole('row', { name: /^Zones [1-9]\d* failed, \d+ waiting$/ })
    .first()
    .waitFor();
  expect(faults).toEqual([]);
});
