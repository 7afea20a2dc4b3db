/** The Redoc page of a document, as a reader uses it. */
import type { Page } from 'playwright-core';

import type { PlacedOperation } from '../src/document.ts';
import { redocPath } from '../src/operation-page.ts';

/** Opens a Redoc page, unless it is open already: it is large. */
export async function openReference(page: Page, site: string, name: string): Promise<void> {
  if (page.url().startsWith(`${site}reference/${name}.html`)) return;
  await page.goto(`${site}reference/${name}.html`);
  await page.locator('.reference h1').first().waitFor();
}

/** Goes to an operation. @returns The addresses that its samples offer. */
export async function addressesOf(page: Page, placed: PlacedOperation): Promise<string[]> {
  const { method, path, operation } = placed;
  // A link of the menu, without loading the page again.
  await page.evaluate((hash) => void (location.hash = hash), `#/${redocPath(placed)}`);
  const heading = page.locator('.reference h2', { hasText: operation.summary }).first();
  await heading.waitFor();
  const button = page
    .locator('.reference .panel-request-samples [data-component-name="Panel/PanelHeader"] button')
    .filter({ hasText: new RegExp(`^${method}\\s*${path.replaceAll(/[{}/]/g, '\\$&')}$`, 'i') });
  await button.click();
  const menu = page.locator('.reference .panel-request-samples [data-component-name="Dropdown/DropdownMenu"]:visible');
  await menu.first().waitFor();
  const listed = (await menu.first().innerText()).matchAll(/https?:\S+/g);
  await button.click();
  return [...listed].map(([address]) => address);
}

/** The text that the page shows. The page is large, so only tests that need its text should read it. */
export function shownText(page: Page): Promise<string> {
  return page.locator('.reference').innerText();
}
