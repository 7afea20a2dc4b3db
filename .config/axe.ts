/** axe: all of its rules. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import type { Page } from 'playwright-core';

import { REPOSITORY } from './sandbox.ts';

const axe = readFileSync(createRequire(join(REPOSITORY, '.config/package.json')).resolve('axe-core/axe.min.js'), 'utf8');

/** The name of VitePress's search button, "Search", lacks the shortcut that it shows. Screen readers announce the shortcut otherwise. */
const SEARCH_BUTTON = 'DocSearch-Button';

interface Findings {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** @param exceptions Rules that are not checked. */
export async function violationsOf(page: Page, exceptions: readonly string[] = []): Promise<string[]> {
  await page.evaluate(`globalThis.axe === undefined && (0, eval)(${JSON.stringify(axe)})`);
  const rules = Object.fromEntries(exceptions.map((rule) => [rule, { enabled: false }]));
  const { violations }: Findings = await page.evaluate(`axe.run({ resultTypes: ['violations'], rules: ${JSON.stringify(rules)} })`);
  return violations.flatMap(({ id, nodes }) =>
    nodes
      .filter(({ html }) => !(id === 'label-content-name-mismatch' && html.includes(SEARCH_BUTTON)))
      .slice(0, 3)
      .map(({ html }) => `${id}: ${html.slice(0, 160)}`),
  );
}
