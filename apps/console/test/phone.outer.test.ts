/** Whole texts, and targets that a thumb hits, measured in Chromium. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { launchBrowser, noBrowser } from '../../../.config/browser.ts';
import { byDepth } from '../../../.config/depth.ts';
import type { Sandbox } from '../../../.config/sandbox.ts';
import { operations } from '../src/document/operations.data.ts';
import { call, consoleLink, DESKTOP, openContext, operate, PHONE, startRestartable } from './browser.ts';
import type { Restartable, Watched } from './browser.ts';
import { DEMO_ACCOUNT, PAGES } from './pages.ts';
import { bringAboutStates } from './states.ts';

/** The enhanced target size of WCAG 2.2 (2.5.5), in CSS pixels. Links in sentences and facts are exempt. */
const TARGET_PX = 44;
const TARGETS =
  'button, summary, select, input:not([type=checkbox]), textarea, label:has(> input), nav a, td a, a.button, .back, [role=menuitem]';
/** The pages with the longest texts. */
const USUAL = new Set(['requests', 'overview', 'accounts', 'vm', 'servers', 'payments', 'domain', 'invoice', 'catalogue', 'audit']);
const MEASURED = byDepth({ usual: PAGES.filter(({ name }) => USUAL.has(name)), deep: PAGES });
const LONG_NAME = `${'long-'.repeat(11)}name`;

let sandbox: Restartable;
let browser: Browser;
let watched: Watched;
let page: Page;

beforeAll(async () => {
  if (noBrowser !== undefined) return;
  [sandbox, browser] = await Promise.all([startRestartable(), launchBrowser()]);
  watched = await openContext(browser, { viewport: PHONE });
  ({ page } = watched);
  await page.goto(consoleLink(sandbox.current()));
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor();
  await call(sandbox.current(), 'GET /domain/list');
  await bringAboutStates(sandbox.current());
  await endStates(sandbox.current());
  await operate(sandbox.current(), 'POST /accounts', { name: `Account with a ${LONG_NAME}`, credit_limit: '1.00' });
  await operate(sandbox.current(), `PUT /tld-prices/${LONG_NAME}`, { create: '1000.00', renew: '1000.00', transfer: '1000.00' });
});

afterAll(async () => {
  await browser?.close();
  await sandbox?.remove();
});

async function openPage(path: string): Promise<void> {
  await page.goto(`${sandbox.current().operatorUrl}/console/${path}`);
  await page.locator('h1').waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null && !document.body.innerText.includes('Loading'));
}

test.skipIf(noBrowser !== undefined).each(MEASURED)('$name on a desktop cuts no state, date, amount or number', async ({ path }) => {
  await page.setViewportSize(DESKTOP);
  await openPage(path);
  // A free text ends with an ellipsis there, within its cell.
  expect(await cutTexts(page, 'main :is(td, th):not(:has(.ellipsis))')).toEqual([]);
});

describe.skipIf(noBrowser !== undefined)('on a phone', () => {
  test.each(MEASURED)('$name cuts no text, and has targets that a thumb hits', async ({ path }) => {
    await page.setViewportSize(PHONE);
    await openPage(path);
    expect(await cutTexts(page, 'main *')).toEqual([]);
    expect(await smallTargets(page)).toEqual([]);
    expect(watched.faults).toEqual([]);
  });

  test('the rows of a list have the height that the list reckons with, whatever their texts are', async () => {
    const box = page.locator('.list .table-box');
    const count = async () => Number(await page.getByRole('table').getAttribute('aria-rowcount'));
    for (let n = 0; n < 60; n++) await operate(sandbox.current(), `PUT /accounts/${DEMO_ACCOUNT}/quotas`, { vms: n + 10, handles: null });
    await page.goto(`${sandbox.current().operatorUrl}/console/audit`);
    await expect.poll(count).toBeGreaterThan(60);
    await box.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.locator(`tr[aria-rowindex="${await count()}"]`).waitFor();
    const gap = await box.evaluate((element) => {
      element.scrollTo(0, element.scrollHeight);
      return (
        element.getBoundingClientRect().bottom -
        (element.querySelector('tbody tr:not(.space):last-of-type')?.getBoundingClientRect().bottom ?? 0)
      );
    });
    expect(Math.abs(gap)).toBeLessThan(TARGET_PX);
  });

  test('the boxes of a form have the least size that WCAG 2.2 allows', async () => {
    await page.goto(`${sandbox.current().operatorUrl}/console/settings`);
    await page.getByRole('row', { name: 'Second operator' }).getByRole('button', { name: 'Change' }).click();
    const box = await page.getByRole('dialog').getByRole('checkbox').boundingBox();
    expect([box?.width, box?.height]).toEqual([24, 24]);
    await page.keyboard.press('Escape');
  });

  test('a queue shows its oldest item, and a webhook its URL in the width that the page has', async () => {
    const url = 'http://127.0.0.1:9/reseller-customer/infrastructure/events?tenant=1234';
    await call(sandbox.current(), 'PUT /account/webhooks/add', { url });
    await page.setViewportSize(PHONE);
    await page.goto(`${sandbox.current().operatorUrl}/console/jobs`);
    const queue = page.getByRole('row').filter({ has: page.getByRole('cell', { name: /^Webhooks/ }) });
    await queue.getByRole('link', { name: 'Demo reseller' }).waitFor();
    expect(await smallTargets(page)).toEqual([]);
    await page.goto(`${sandbox.current().operatorUrl}/console/accounts/${DEMO_ACCOUNT}`);
    const text = page.getByText(url, { exact: true });
    await text.waitFor();
    expect((await text.boundingBox())?.width).toBeGreaterThan(PHONE.width / 2);
  });

  test.each([PHONE, DESKTOP])('the price of a resize of a VM is visible next to each field, at $width px', async (viewport) => {
    await page.setViewportSize(viewport);
    await page.goto(`${sandbox.current().operatorUrl}/console/vms/48213`);
    await page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .click();
    await page.getByRole('menuitem', { name: operations.resizeVm.summary }).click();
    const dialog = page.getByRole('dialog');
    const price = dialog.getByRole('region', { name: 'Price', exact: true });
    await price.waitFor();
    const fields = await dialog.getByRole('textbox').all();
    expect(fields.length).toBeGreaterThan(3);
    for (const field of fields) {
      await field.focus();
      const [above, box] = [await field.boundingBox(), await price.boundingBox()];
      expect((box?.y ?? Infinity) + (box?.height ?? 0)).toBeLessThan(viewport.height);
      expect((above?.y ?? Infinity) + (above?.height ?? 0)).toBeLessThanOrEqual(box?.y ?? 0);
    }
    await dialog.getByLabel(/^Disk/).fill('1');
    await dialog
      .getByRole('alert')
      .getByText(/^Disk must /)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.setViewportSize(PHONE);
  });

  test('a menu and a form have targets that a thumb hits', async () => {
    await page.goto(`${sandbox.current().operatorUrl}/console/accounts/${DEMO_ACCOUNT}`);
    await page.getByRole('button', { name: 'Actions for Demo reseller' }).click();
    await page.getByRole('menuitem').first().waitFor();
    expect(await smallTargets(page)).toEqual([]);
    await page.getByRole('menuitem', { name: operations.recordPayment.summary }).click();
    await page.getByRole('dialog').getByLabel('Amount', { exact: true }).waitFor();
    expect(await smallTargets(page)).toEqual([]);
    expect(watched.faults).toEqual([]);
  });
});

test.skipIf(noBrowser !== undefined).each(['blocked', 'Shop of Nordlicht', 'order=1007'])(
  'the list of VMs finds one by "%s"',
  async (words) => {
    await call(sandbox.current(), 'POST /vm/48213/edit', { name: 'Shop of Nordlicht', labels: 'order=1007' });
    await operate(sandbox.current(), 'PUT /vms/48213/abuse-status', { status: 'BLOCKED', reason: 'Spam' });
    await openPage('vms');
    await page.getByLabel('Filter: VMs').fill(words);
    await expect.poll(() => page.locator('tbody .row-link').allTextContents()).toEqual(['48213 Shop of Nordlicht']);
  },
);

/** The last states of what the other tests go on using. */
async function endStates(current: Sandbox): Promise<void> {
  const path = `accounts/${DEMO_ACCOUNT}`;
  await operate(current, `POST /${path}/payments/at-the-counter/reverse`, { reason: 'The bank returned it' });
  const { id } = await operate(current, `POST /${path}/api-keys`, { label: 'Old' });
  await operate(current, `POST /api-keys/${id}/revoke`);
  const { items } = await operate(current, 'GET /invoices');
  await operate(current, `POST /invoices/${items[0].id}/cancel`);
}

/** The texts of which the page shows only a part: they are wider than their box without its padding, where an ellipsis begins. */
function cutTexts(shown: Page, selector: string): Promise<string[]> {
  return shown.evaluate((chosen) => {
    function widths(element: HTMLElement) {
      const { paddingLeft, paddingRight } = getComputedStyle(element);
      const range = document.createRange();
      range.selectNodeContents(element);
      return {
        text: range.getBoundingClientRect().width,
        room: element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight),
      };
    }
    return [...document.querySelectorAll<HTMLElement>(chosen)]
      .filter(
        (element) =>
          element.clientWidth > 1 && getComputedStyle(element).overflowX === 'hidden' && element.querySelector('.hidden') === null,
      )
      .map((element) => ({ shows: element.innerText, ...widths(element) }))
      .filter(({ text, room }) => text > room + 0.1)
      .map(({ shows, text, room }) => `${shows}: ${room} of ${text} px`);
  }, selector);
}

/** The visible targets that are too low, or too narrow for a thumb. */
function smallTargets(shown: Page): Promise<string[]> {
  return shown.evaluate(
    ([targets, least]) =>
      [...document.querySelectorAll<HTMLElement>(targets)]
        .map((element) => ({ element, box: element.getBoundingClientRect() }))
        .filter(({ element, box }) => box.width > 1 && element.checkVisibility() && (box.height < least || box.width < least))
        .map(({ element, box }) => `${element.innerText || element.outerHTML.slice(0, 80)}: ${box.width} × ${box.height} px`),
    [TARGETS, TARGET_PX] as const,
  );
}
