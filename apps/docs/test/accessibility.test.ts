/** Axe finds nothing serious on the pages that readers use most, in both schemes and on a phone. The reference is Redoc's own page. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { references } from '../src/references.ts';
import { startSite } from '../src/server.ts';
import type { RunningSite } from '../src/server.ts';
import { REPOSITORY } from './sandbox.ts';

const axe = readFileSync(createRequire(join(REPOSITORY, '.config/package.json')).resolve('axe-core/axe.min.js'), 'utf8');

const PAGES = ['', 'quickstart', 'guides/lost-responses', 'guides/open-questions', 'operations/reseller/createVm', 'errors'];
const SCHEMES = ['light', 'dark'] as const;
const VIEWPORTS = [
  { width: 1440, height: 1000 },
  { width: 390, height: 844 },
];

/** The name of VitePress's search button, "Search", lacks the shortcut that it shows. Screen readers announce the shortcut otherwise. */
const RULES = { 'label-content-name-mismatch': { enabled: false } };

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
  test('finds nothing serious, in both schemes, on a desktop and on a phone', { timeout: 300_000 }, async () => {
    // Without motion, axe sees no page in the middle of a transition.
    const page = await browser.newPage({ bypassCSP: true, reducedMotion: 'reduce' });
    for (const path of PAGES) {
      await page.goto(`${site.url}${path}`);
      await page.locator('h1').first().waitFor();
      await page.addScriptTag({ content: axe });
      for (const viewport of VIEWPORTS) {
        await page.setViewportSize(viewport);
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme });
          await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor();
          expect.soft(await seriousFindings(page), `${path} at ${viewport.width} px, ${colorScheme}`).toEqual([]);
        }
      }
    }
    await page.close();
  });

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

interface Findings {
  readonly violations: readonly { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] }[];
}

async function seriousFindings(page: Page): Promise<string[]> {
  const { violations }: Findings = await page.evaluate(`axe.run({ resultTypes: ['violations'], rules: ${JSON.stringify(RULES)} })`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
