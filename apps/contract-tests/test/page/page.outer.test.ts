/** The HTML report as a file in Chromium. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { toHtml, toJunit, toMarkdown } from '@reseller/contract/engine';
import type { SettledReport } from '@reseller/contract/engine';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../../.config/browser.ts';
import { byDepth } from '../../../../.config/depth.ts';
import { loadDocument } from '../../src/document.ts';
import { command } from '../run-command.ts';
import { FAKE_KEY, startFakeService } from '../selftest/fake-service.ts';
import type { Tamper } from '../selftest/fake-service.ts';
import { contrastOf, paintedTexts } from './contrast.ts';
import { defective, KNOWN } from './defects.ts';
import { hostile, hostileReport, hostileService, MARKUP, STEERING_SHOWN } from './hostile.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** The minimum contrast of text and of the focus outline (WCAG 2.2, 1.4.3 and 1.4.11). */
const TEXT = 4.5;
const SIGN = 3;
/** Phones, 400 % of zoom on a small screen (WCAG 2.2, 1.4.10), and screens on both sides of each change of the layout. */
const WIDTHS = byDepth({ usual: [320, 880, 881], deep: [320, 360, 384, 400, 880, 881, 1280] });
const SCHEMES = ['light', 'dark'] as const;
/** `hostile texts` has every kind of part. */
const PAGES = ['defects', 'good', 'hostile service', 'hostile texts'] as const;
/** Together they have all visible parts. */
const LOOKED_AT = ['defects', 'hostile texts'] as const;

let folder: string;
let browser: Browser;
let report: SettledReport;

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  folder = await mkdtemp(join(tmpdir(), 'contract-page-'));
  browser = await launchBrowser();
  await runAgainst(defective, 'defects');
  await runAgainst(() => undefined, 'good');
  await runAgainst(hostileService, 'hostile service');
  report = JSON.parse(await readFile(join(folder, 'defects', 'report.json'), 'utf8'));
  await mkdir(join(folder, 'hostile texts'));
  await writeFile(fileOf('hostile texts'), toHtml(hostileReport(report)));
});

beforeEach(({ skip }) => {
  if (noBrowser !== undefined) skip(noBrowser);
});

afterAll(async () => {
  await browser?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** Runs the command with reports against a service. */
async function runAgainst(tamper: Tamper, name: (typeof PAGES)[number]): Promise<void> {
  const service = await startFakeService(await loadDocument(), tamper);
  try {
    await command(['--target', service.url, '--report', join(folder, name)], { RESELLER_API_KEY: FAKE_KEY });
  } finally {
    await service.close();
  }
}

function fileOf(name: (typeof PAGES)[number]): string {
  return join(folder, name, 'index.html');
}

interface Opened {
  readonly page: Page;
  /** The URLs that the page requested. */
  readonly requests: readonly string[];
  readonly problems: readonly string[];
  /** The scripts of the hostile service that ran. There must be none. */
  readonly ran: readonly string[];
}

/** Opens a report for one test. */
async function open(name: (typeof PAGES)[number], options: BrowserContextOptions = {}): Promise<Opened> {
  const opened = await openFile(name, options);
  onTestFinished(() => opened.page.context().close());
  return opened;
}

const unchanged = new Map<string, Promise<Opened>>();

/** Opens a report once for all tests that do not change the page. */
function openUnchanged(name: (typeof PAGES)[number]): Promise<Opened> {
  const opened = unchanged.get(name) ?? openFile(name);
  unchanged.set(name, opened);
  return opened;
}

/** Opens a report as a file, in a browser that is offline. */
async function openFile(name: (typeof PAGES)[number], options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({ offline: true, ...options });
  const [requests, problems, ran]: [string[], string[], string[]] = [[], [], []];
  await context.exposeFunction('hacked', () => ran.push('a script'));
  const page = await context.newPage();
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => ran.push(dialog.message()));
  await page.goto(pathToFileURL(fileOf(name)).href);
  return { page, requests, problems, ran };
}

async function openAll(page: Page): Promise<void> {
  await page.locator('details').evaluateAll((all) => all.forEach((one) => one.setAttribute('open', '')));
}

function findingOf(page: Page, says: string): Locator {
  return page.locator('#findings details').filter({ has: page.locator('summary').getByText(says, { exact: true }) });
}

describe('without network and without JavaScript', () => {
  test.each(PAGES)('%s: opens from a file, requests nothing else and logs no problem', async (name) => {
    const { page, requests, problems } = await openUnchanged(name);
    expect(await page.title()).toContain('Contract of');
    expect(requests).toEqual([pathToFileURL(fileOf(name)).href]);
    expect(problems).toEqual([]);
  });

  test('shows every known defect with its operation, its place in the document and the proposed change', async () => {
    const { page } = await open('defects', { javaScriptEnabled: false });
    for (const { operation, says, file, line, patch } of KNOWN) {
      const finding = findingOf(page, says);
      const summary = finding.locator('summary');
      expect.soft(await summary.innerText(), says).toContain(operation);
      expect(await finding.locator('table').isVisible()).toBe(false);
      await summary.press('Enter');
      const text = await finding.innerText();
      const [, number = ''] = text.split(`${file}:`)[1]?.match(/^(\d+):\d+\s/) ?? [];
      const lines = (await readFile(join(ROOT, file), 'utf8')).split('\n');
      expect.soft(lines[Number(number) - 1], says).toContain(line);
      for (const part of [...patch, 'To reproduce it', 'curl -i']) expect.soft(text, says).toContain(part);
      expect.soft(text.includes('Proposed change'), says).toBe(patch.length > 0);
    }
    const violations = KNOWN.filter(({ verdict }) => verdict === 'violation').length;
    expect(await page.getByRole('heading', { name: 'violation' }).innerText()).toBe(`violation ${violations}`);
  });

  test('shows every finding of the run, with patches that can be copied', async () => {
    const { page } = await open('defects', { javaScriptEnabled: false });
    await openAll(page);
    expect(await page.locator('#findings details').count()).toBe(report.findings.length);
    for (const { message, expected, observed, touches, curl, client, id, patch } of report.findings) {
      const finding = findingOf(page, message);
      const text = await finding.innerText();
      for (const part of [
        expected,
        observed,
        curl,
        client.replaceAll('`', ''),
        id,
        ...touches.map(({ operation, status }) => `${operation} ${status}`),
      ])
        expect.soft(text, message).toContain(part);
      if (patch !== undefined) expect(await finding.locator('pre').last().innerText()).toBe(patch);
    }
  });

  test('opens with all findings folded, in one group for each verdict and check, with code in place of backticks', async () => {
    const { page } = await open('defects', { javaScriptEnabled: false });
    expect(await page.locator('details[open]').count()).toBe(0);
    const groups = await page.locator('#findings .group').evaluateAll((all) => all.map((one) => one.querySelector('h3 code')?.textContent));
    expect(groups.length).toBe(new Set(report.findings.map(({ verdict, check }) => `${verdict} ${check}`)).size);
    expect(new Set(groups)).toEqual(new Set(report.findings.map(({ check }) => check)));
    await openAll(page);
    expect(report.findings.some(({ client }) => client.includes('`'))).toBe(true);
    expect(await page.locator('#findings tr', { hasText: 'for your code' }).allInnerTexts()).not.toContainEqual(
      expect.stringContaining('`'),
    );
  });

  test('opens all details in print', async () => {
    const { page } = await open('defects', { javaScriptEnabled: false });
    await page.emulateMedia({ media: 'print' });
    for (const details of await page.locator('details').all()) {
      const inner = details.locator('> div');
      expect.soft(await inner.isVisible(), await details.locator('summary').innerText()).toBe(true);
    }
  });
});

describe('looks', () => {
  test.each(LOOKED_AT.flatMap((name) => SCHEMES.map((scheme) => [name, scheme] as const)))(
    '%s, %s: all text has the contrast of WCAG AA',
    async (name, colorScheme) => {
      const { page } = await open(name, { colorScheme });
      await openAll(page);
      await page.locator('.row').first().hover();
      const painted = await paintedTexts(page);
      expect(painted.length).toBeGreaterThan(5);
      const faint = painted.filter(({ colour, background }) => contrastOf(colour, background) < TEXT);
      expect(faint).toEqual([]);
    },
  );

  test('the schemes differ', async () => {
    const { page } = await open('defects');
    const backgrounds = new Set<unknown>();
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      backgrounds.add((await paintedTexts(page))[0]?.background);
    }
    expect(backgrounds.size).toBe(SCHEMES.length);
  });

  test.each(LOOKED_AT)('%s: needs no horizontal scrolling and truncates nothing', async (name) => {
    const { page } = await open(name);
    for (const isOpen of [false, true]) {
      if (isOpen) await openAll(page);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const wide = await page.locator('html, body *').evaluateAll((all) =>
          all
            .filter((one) => one.checkVisibility() && !one.matches('.skip'))
            .filter((one) => one.getBoundingClientRect().right > innerWidth || (one.clientWidth > 0 && one.scrollWidth > one.clientWidth))
            .map((one) => `${one.tagName} ${one.className}: ${one.textContent?.slice(0, 60)}`),
        );
        expect.soft(wide, `${width} px`).toEqual([]);
      }
    }
  });
});

describe('accessibility', () => {
  test.each(PAGES)('%s: heading levels increase by one, and all text is in a landmark', async (name) => {
    const { page } = await openUnchanged(name);
    const levels = await page.getByRole('heading').evaluateAll((all) => all.map((one) => Number(one.tagName.slice(1))));
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    expect(levels[0]).toBe(1);
    levels.forEach((level, index) => expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1));
    for (const heading of await page.getByRole('heading').all()) expect(await heading.innerText()).toMatch(/\w/);
    const landmarks = await page.locator('header, nav, main, footer, aside').evaluateAll((all) => all.map((one) => one.tagName));
    expect(landmarks).toEqual(['HEADER', 'NAV', 'MAIN']);
    const links = page.getByRole('navigation', { name: 'Parts of this page' }).getByRole('link');
    const targets = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    expect(targets).toEqual(['#findings', '#coverage', '#plan']);
    for (const target of targets) expect(await page.locator(target).count()).toBe(1);
  });

  test.each(SCHEMES)('%s: the keyboard reaches all controls in order, and each has a name and a visible focus', async (colorScheme) => {
    const { page } = await open('defects', { colorScheme, javaScriptEnabled: false });
    const usable = page.locator('a[href], summary, button, input, select, textarea, [tabindex]');
    const names = await usable.evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => one.textContent?.trim() ?? ''));
    // The plan, four links, and the three filters with their button.
    expect(names.length).toBe(report.findings.length + report.coverage.length + 1 + 4 + 4);
    for (const name of names) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate(() => {
        const element = document.activeElement ?? document.body;
        const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
        const { backgroundColor } = getComputedStyle(document.body);
        const { left, width } = element.getBoundingClientRect();
        return {
          name: element.textContent?.trim(),
          outlineStyle,
          outlineWidth,
          outlineColor,
          backgroundColor,
          isSeen: left >= 0 && width > 0,
        };
      });
      expect(focused).toMatchObject({ name, outlineStyle: 'solid', outlineWidth: '3px', isSeen: true });
      expect(name).toMatch(/\w/);
      expect(contrastOf(focused.outlineColor, focused.backgroundColor)).toBeGreaterThanOrEqual(SIGN);
    }
  });

  test('lets the keyboard skip to the findings, and open and close one', async () => {
    const { page } = await open('defects', { javaScriptEnabled: false });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const finding = page.locator('details', { has: page.locator('summary:focus') });
    expect(await finding.innerText()).toContain(report.findings[0]?.message);
    for (const isOpen of [false, true, false]) {
      expect(await finding.locator('table').isVisible()).toBe(isOpen);
      await page.keyboard.press('Space');
    }
  });
});

describe('findings are filtered without JavaScript', () => {
  const shown = async (page: Page): Promise<number> => (await page.locator('#findings details:visible').all()).length;

  test('by verdict, check and operation, with a button that shows all again', async () => {
    const { page } = await open('defects', { javaScriptEnabled: false });
    const [first] = report.findings;
    const count = (isMatch: (finding: SettledReport['findings'][number]) => boolean): number => report.findings.filter(isMatch).length;
    await page.getByLabel('Verdict').selectOption('violation');
    expect(await shown(page)).toBe(count(({ verdict }) => verdict === 'violation'));
    await page.getByRole('button', { name: 'Show all' }).click();
    expect(await shown(page)).toBe(report.findings.length);
    await page.getByLabel('Check').selectOption(first?.check ?? '');
    expect(await shown(page)).toBe(count(({ check }) => check === first?.check));
    await page.getByRole('button', { name: 'Show all' }).click();
    const operation = first?.touches[0]?.operation ?? '';
    await page.getByLabel('Operation').selectOption(operation);
    expect(await shown(page)).toBe(count(({ touches }) => touches.some((touch) => touch.operation === operation)));
    expect((await page.locator('.covered:visible').all()).length).toBe(1);
  });
});

describe('findings are searched by their text', () => {
  test('for words in any order, together with the filters', async () => {
    const { page, problems } = await open('defects');
    const [first] = report.findings;
    const field = page.getByLabel('Text');
    const words = (first?.message ?? '').toUpperCase().split(' ').toReversed().join('  ');
    await field.fill(words);
    const texts = await page.locator('#findings details').evaluateAll((all) => all.map((one) => one.textContent?.toLowerCase() ?? ''));
    const expected = texts.filter((text) =>
      words
        .toLowerCase()
        .split(/ +/)
        .every((word) => text.includes(word)),
    ).length;
    expect(expected).toBeGreaterThan(0);
    expect(expected).toBeLessThan(report.findings.length);
    expect((await page.locator('#findings details:visible').all()).length).toBe(expected);
    expect(await page.getByRole('status').innerText()).toBe(`${expected} ${expected === 1 ? 'finding has' : 'findings have'} this text`);
    await page.getByLabel('Verdict').selectOption(first?.verdict === 'violation' ? 'learned' : 'violation');
    expect((await page.locator('#findings details:visible').all()).length).toBeLessThan(expected);
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(async () => (await page.locator('#findings details:visible').all()).length).toBe(report.findings.length);
    await field.fill('text that no finding has');
    await field.press('Enter');
    expect(page.url()).toBe(pathToFileURL(fileOf('defects')).href);
    expect((await page.locator('#findings details:visible').all()).length).toBe(0);
    expect(problems).toEqual([]);
  });

  test('without JavaScript there is no field', async () => {
    const { page } = await open('defects', { javaScriptEnabled: false });
    expect(await page.getByLabel('Text').isVisible()).toBe(false);
  });
});

test('links an operation to its findings, which open', async () => {
  const { page } = await open('defects', { javaScriptEnabled: false, reducedMotion: 'reduce' });
  for (const { operation, says } of KNOWN) {
    const row = page.locator('details').filter({ has: page.locator('summary.row').getByText(operation, { exact: true }) });
    await row.locator('summary').click();
    await row.getByRole('link', { name: says }).click();
    const finding = findingOf(page, says);
    await expect.poll(() => finding.evaluate((one) => one.getBoundingClientRect().top), { message: says }).toSatisfy(isOnScreen);
    expect.soft(await finding.locator('table').isVisible(), says).toBe(true);
  }
});

describe('hostile values', () => {
  const names = ['hostile service', 'hostile texts'] as const;

  test.each(names)('%s: are shown as text, and no script runs, even without the policy', async (name) => {
    for (const bypassCSP of [false, true]) {
      const { page, ran, problems } = await open(name, { bypassCSP });
      await openAll(page);
      const text = await page.locator('body').innerText();
      expect(text).toContain(MARKUP);
      expect(text).toContain(STEERING_SHOWN);
      const { page: usual } = await openUnchanged('defects');
      const known = new Set(['open', ...(await markupOf(usual))]);
      expect((await markupOf(page)).filter((one) => !known.has(one))).toEqual([]);
      expect(ran).toEqual([]);
      expect(problems).toEqual([]);
    }
  });

  test('are shown unchanged, except that invisible characters are escaped', async () => {
    const { page } = await open('hostile texts');
    await openAll(page);
    // The page shows code in place of backticks.
    const text = (await page.locator('body').innerText()).replaceAll('`', '');
    const texts = report.findings.flatMap(({ message, expected, observed, curl, client, id }, index) =>
      // An accepted finding shows only these texts.
      index === 0 ? [message, 'known', 'accounting', '2030-01-01'] : [message, expected, observed, curl, client, id],
    );
    texts.push(...report.coverage.flatMap(({ operation, method, path }) => [operation, method, path]), ...report.plan, 'a handle');
    expect(
      texts.filter(
        (one) =>
          !text.includes(
            hostile(one)
              .replace(/\u202E.*\u2067/su, STEERING_SHOWN)
              .replaceAll('`', ''),
          ),
      ),
    ).toEqual([]);
    expect(text).not.toMatch(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u);
  });

  test('leave JUnit valid XML, and Markdown free of control characters', async () => {
    const { page } = await openUnchanged('defects');
    const texts = hostileReport(report);
    const cases = await page.evaluate((xml) => {
      const parsed = new DOMParser().parseFromString(xml, 'application/xml');
      return parsed.querySelector('parsererror')?.textContent ?? parsed.querySelectorAll('testcase').length;
    }, toJunit(texts));
    expect(cases).toBe(report.coverage.flatMap(({ checks }) => checks).length);
    expect(toMarkdown(texts)).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\p{Zl}\p{Bidi_Control}]/u);
  });

  test('from right to left do not affect the order of adjacent texts', async () => {
    // Wide enough that no text wraps.
    const { page } = await open('hostile texts', { viewport: { width: 20_000, height: 800 } });
    await page.locator('body').evaluate((body) => body.setAttribute('style', 'max-width: none'));
    const overlaps = await page.locator('#findings summary').evaluateAll((all) =>
      all.flatMap((summary) => {
        const boxes = [...summary.children].map((child) => child.getBoundingClientRect());
        return boxes.filter((box, index) => box.left < (boxes[index - 1]?.right ?? 0)).map(() => summary.textContent);
      }),
    );
    expect(overlaps).toEqual([]);
  });
});

function isOnScreen(top: number): boolean {
  return top >= 0 && top < 720;
}

/** The names of all elements and attributes of a page. */
function markupOf(page: Page): Promise<string[]> {
  return page.locator('*').evaluateAll((all) => [...new Set(all.flatMap((one) => [one.tagName, ...one.getAttributeNames()]))]);
}
