/** Axe finds nothing on the pages that readers use most, with their scripts, in both schemes and on a phone, nor in the references. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { violationsOf } from '../../../.config/axe.ts';
import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { byDepth } from '../../../.config/depth.ts';
import { references } from '../src/references.ts';
import { startSite } from '../src/server.ts';
import type { RunningSite } from '../src/server.ts';
import { openReference } from './redoc-page.ts';

const PAGES = byDepth({
  usual: ['', 'guides/lost-responses', 'operations/reseller/createVm'],
  deep: ['', 'quickstart', 'guides/lost-responses', 'guides/open-questions', 'operations/reseller/createVm', 'errors'],
});
const SCHEMES = ['light', 'dark'] as const;
const DESKTOP = { width: 1440, height: 1000 };
const PHONE = { width: 390, height: 844 };
/** Each scheme and each size. A deep run has each scheme in each size. */
const LOOKS = byDepth({
  usual: [
    { viewport: DESKTOP, colorScheme: 'light' },
    { viewport: PHONE, colorScheme: 'dark' },
  ] as const,
  deep: [DESKTOP, PHONE].flatMap((viewport) => SCHEMES.map((colorScheme) => ({ viewport, colorScheme }))),
});

/** Redoc marks headings and landmarks like this, and the name of its button for examples is not its text. */
const REDOC_EXCEPTIONS = ['heading-order', 'page-has-heading-one', 'region', 'label-content-name-mismatch'];

let site: RunningSite;
let browser: Browser;

beforeAll(async () => {
  site = await startSite(0);
  if (noBrowser === undefined) browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

describe.skipIf(noBrowser !== undefined)('axe', () => {
  // One browser page for all pages of the site: its process keeps the compiled scripts of the site and of axe.
  test('finds nothing, in both schemes, on a desktop and on a phone', async () => {
    // Without motion, axe sees no page in the middle of a transition.
    const page = await browser.newPage({ bypassCSP: true, reducedMotion: 'reduce' });
    for (const path of PAGES) {
      await page.goto(`${site.url}${path}`);
      await page.locator('h1').first().waitFor();
      for (const { viewport, colorScheme } of LOOKS) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor();
        expect.soft(await violationsOf(page), `${path} at ${viewport.width} px, ${colorScheme}`).toEqual([]);
      }
    }
    await page.close();
  });

  test.each(byDepth({ usual: references.slice(0, 1), deep: references }))(
    'finds nothing in the $name reference, in both schemes, but what Redoc decides',
    async (reference) => {
      const page = await browser.newPage({ bypassCSP: true, reducedMotion: 'reduce' });
      await openReference(page, site.url, reference);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor();
        expect.soft(await violationsOf(page, REDOC_EXCEPTIONS), colorScheme).toEqual([]);
      }
      await page.close();
    },
  );

  test('the lists of operations fit on a phone', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    for (const { name, operations } of references) {
      await page.goto(`${site.url}${operations}/`);
      const tables = await page.locator('.vp-doc table').evaluateAll((all) => all.map((table) => table.scrollWidth - table.clientWidth));
      expect({ name, tables: new Set(tables) }).toEqual({ name, tables: new Set([0]) });
    }
    await page.close();
  });

  test('the keyboard reaches the content past the navigation', async () => {
    const page = await browser.newPage();
    await page.goto(`${site.url}quickstart.html`);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#VPContent');
    await page.close();
  });
});
