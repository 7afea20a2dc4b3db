/** The Redoc page of a document, as a reader uses it. */
import type { Page } from 'playwright-core';

import type { PlacedOperation } from '../src/document.ts';
import { redocPath } from '../src/operation-page.ts';
import type { Reference } from '../src/references.ts';

/** Opens a Redoc page, unless it is open already: it is large. */
export async function openReference(page: Page, site: string, { page: path }: Reference): Promise<void> {
  if (page.url().startsWith(`${site}${path}#`)) return;
  await page.goto(`${site}${path}`);
  await page.locator('.reference h1').first().waitFor();
}

/** Follows a link of the menu, without loading the page again. */
export async function goToOperation(page: Page, placed: PlacedOperation): Promise<void> {
  await page.evaluate((hash) => void (location.hash = hash), `#/${redocPath(placed)}`);
}

/** The first operation of each group, for tests of what all operations of a reference share. */
export function oneOfEachGroup(operations: readonly PlacedOperation[]): PlacedOperation[] {
  return [...Map.groupBy(operations, ({ operation }) => operation.tags[0]).values()].flatMap(([first]) => first ?? []);
}

export interface ShownOperation {
  /** Method and path above the samples, such as `GET /vm/list`. */
  readonly request: string;
  /** The addresses in the menu of the samples. */
  readonly addresses: readonly string[];
  /** All text of the operation. */
  readonly text: string;
}

/**
 * Opens the menu of the addresses of an operation and reads the text that is visible. It goes to the operation if the page does not show it.
 * It runs within the page, because Playwright would search and measure the large page several times for each operation.
 */
export async function readOperation(page: Page, placed: PlacedOperation): Promise<ShownOperation> {
  const shown = await page.waitForFunction((place) => {
    const section = document.getElementById(place);
    const samples = section?.querySelector('.panel-request-samples');
    const button = samples?.querySelector<HTMLElement>('[data-component-name="Panel/PanelHeader"] button');
    const menu = samples?.querySelector<HTMLElement>('[data-component-name="Dropdown/DropdownMenu"]');
    if (!section || !button || !menu) {
      location.hash = `#/${place}`;
      return undefined;
    }
    if (button.ariaExpanded === 'false') button.click();
    if (!menu.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return undefined;
    // While Redoc still renders the section, its elements can be visible without having text.
    if (section.innerText === '' || button.innerText === '' || menu.innerText === '') return undefined;
    const addresses = [...menu.innerText.matchAll(/https?:\S+/g)].map(([address]) => address);
    return { request: button.innerText.replaceAll(/\s+/g, ' '), addresses, text: section.innerText };
  }, redocPath(placed));
  const value = await shown.jsonValue();
  if (value === undefined) throw new Error(`The reference does not show ${placed.id}.`);
  return value;
}
