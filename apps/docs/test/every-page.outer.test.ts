/**
 * Every page of the site, rendered once in a real Chromium and checked by axe and at the widths of a desktop, a tablet and a phone. The usual run
 * has the widths of a tablet and a phone, and every sixtieth operation. It leaves axe to `accessibility.test.ts`, which has a page of each kind.
 */
import { globSync } from 'node:fs';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { violationsOf } from '../../../.config/axe.ts';
import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { byDepth, isDeep } from '../../../.config/depth.ts';
import { references } from '../src/references.ts';
import { startSite } from '../src/server.ts';
import type { RunningSite } from '../src/server.ts';
import { siteDirectory } from '../src/site.ts';

const WIDTHS = byDepth({ usual: [768, 390], deep: [1440, 768, 390] });
/** Each is a process of the browser. */
const TABS = [1, 2];
const isReference = new Set(references.map(({ page }) => `${page}.html`));
/** The pages that VitePress renders completely. Redoc renders the references in the browser. */
const allPages = globSync('**/*.html', { cwd: siteDirectory }).filter((page) => !isReference.has(page));
const isOperation = (path: string): boolean => path.includes('operations/');
/** The pages of operations are made from one template. */
const pages = byDepth({ usual: allPages.filter((path, index) => !isOperation(path) || index % 60 === 0), deep: allPages });

let site: RunningSite;
let browser: Browser;

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  [site, browser] = await Promise.all([startSite(0), launchBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await site?.close();
});

/** VitePress renders the text of this page in the browser. */
const isRenderedLater = new Set(['404.html']);

test('no page breaks a name across lines or scrolls sideways, and in a deep run none breaks a rule of axe', async ({ skip }) => {
  if (noBrowser !== undefined) skip(noBrowser);
  expect(allPages.length).toBeGreaterThan(90);
  const left = [...pages];
  const names = await Promise.all(TABS.map(() => checkPages(left)));
  expect(names.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(pages.length * 10);
});

test('the example of a form is a form', async ({ skip }) => {
  if (noBrowser !== undefined) skip(noBrowser);
  const page = await (await fetch(`${site.url}operations/reseller/createVm.html`)).text();
  expect(page).toMatch(/Example: Only required fields[^]*?cores=2&amp;mem=4096&amp;disk=40&amp;os=debian_12/);
});

/** Takes pages from a list until it is empty, and returns how often it saw a name. */
async function checkPages(left: string[]): Promise<number> {
  const page = await browser.newPage({ bypassCSP: true, reducedMotion: 'reduce' });
  // Without their scripts, the pages load several times as fast and look the same.
  await page.route('**/*.js', (route) => route.abort());
  let names = 0;
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    await page.goto(`${site.url}${path}`);
    expect.soft(isOperation(path) ? await provenanceInWords(page) : [], path).toEqual([]);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const found = await measure(page);
      names += found.names;
      const { broken, cut, overflow } = found;
      expect.soft({ broken, cut, overflow }, `${path} at ${width} px`).toEqual({ broken: [], cut: [], overflow: 0 });
    }
    if (isDeep && !isRenderedLater.has(path)) expect.soft(await violationsOf(page), path).toEqual([]);
  }
  await page.close();
  return names;
}

/** The sentences that state their provenance in words instead of with a mark. */
function provenanceInWords(page: Page): Promise<string[]> {
  return page.locator('.vp-doc :is(p, dd, td)').evaluateAll((parts) =>
    parts.flatMap((part) => {
      const copy = document.createElement('div');
      copy.innerHTML = part.innerHTML;
      for (const mark of copy.querySelectorAll('a[href*="open-questions"]')) mark.remove();
      return copy.textContent?.match(/[^.]*\b(?:inferred|not shown|Must be at)\b[^.]*/g) ?? [];
    }),
  );
}

/** Counts the names in code, with all folded fields open, and finds those with more than one line box, and the blocks of code that are cut. */
function measure(
  page: Page,
): Promise<{ readonly names: number; readonly broken: string[]; readonly cut: string[]; readonly overflow: number }> {
  return page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true;
    const names = [...document.querySelectorAll('.vp-doc :not(pre) > code')].filter((code) =>
      /^[\w.[\]-]{1,30}$/.test(code.textContent ?? ''),
    );
    const range = document.createRange();
    const broken = names.filter((name) => {
      range.selectNodeContents(name);
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
    });
    const { scrollWidth, clientWidth } = document.documentElement;
    const cut = [...document.querySelectorAll('.vp-doc pre')].filter((block) => block.scrollWidth > block.clientWidth + 1);
    const [brokenNames, cutCode] = [broken, cut].map((found) => found.map(({ textContent }) => textContent ?? ''));
    return { names: names.length, broken: brokenNames ?? [], cut: cutCode ?? [], overflow: scrollWidth - clientWidth };
  });
}
