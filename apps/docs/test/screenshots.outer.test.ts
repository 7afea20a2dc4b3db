/** Pictures of the site, for people: `reports/screenshots/`. They fail only if a page cannot be shown. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { startSite } from '../src/server.ts';
import type { RunningSite } from '../src/server.ts';

const FOLDER = join(import.meta.dirname, '../reports/screenshots');

const PAGES = [
  { name: 'landing', path: '' },
  { name: 'quickstart', path: 'quickstart.html' },
  { name: 'first-day', path: 'operator/first-day.html' },
  { name: 'handbook', path: 'operator/handbook.html' },
  { name: 'variables', path: 'operator/process.html' },
  { name: 'guide', path: 'guides/lost-responses.html' },
  { name: 'operation', path: 'operations/reseller/createVm.html' },
  { name: 'reference', path: 'reference/reseller#/vm/createvm' },
  { name: 'extension', path: 'operations/extension/changeVm.html' },
  { name: 'errors', path: 'errors.html' },
  { name: 'not-shown', path: 'not-shown.html' },
  { name: 'not-found', path: 'no-such-page.html' },
];
const SIZES = [
  { name: 'desktop', viewport: { width: 1440, height: 1000 } },
  { name: 'phone', viewport: { width: 390, height: 844 } },
];

let site: RunningSite;
let browser: Browser;

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  [site, browser] = await Promise.all([startSite(0), launchBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

// One browser page for all pages of the site: its process keeps the compiled scripts of the site.
test('no page scrolls sideways, in any size and scheme, and each has a picture', { tags: 'deep' }, async ({ skip }) => {
  if (noBrowser !== undefined) return skip(noBrowser);
  // Without motion, no picture shows a page in the middle of a transition.
  const page = await browser.newPage({ reducedMotion: 'reduce' });
  for (const { name, path } of PAGES) {
    await page.goto(`${site.url}${path}`);
    await page
      .locator(name === 'reference' ? '.reference h2' : 'h1')
      .first()
      .waitFor();
    for (const { name: size, viewport } of SIZES) {
      await page.setViewportSize(viewport);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor();
        await page.screenshot({ path: join(FOLDER, `${name}-${size}-${colorScheme}.png`) });
        // No page scrolls sideways.
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect.soft(overflow, `${name} at ${viewport.width} px, ${colorScheme}`).toBeLessThanOrEqual(0);
      }
    }
  }
  await page.close();
});
