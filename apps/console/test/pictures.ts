/** Pictures of pages and dialogs in each size and each scheme, which axe checks. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { violationsOf } from '../../../.config/axe.ts';
import { byDepth, isDeep } from '../../../.config/depth.ts';
import { DESKTOP, nestedControls, overflowOf, PHONE } from './browser.ts';

const PICTURES = join(import.meta.dirname, '../reports/screenshots');
const SCHEMES = ['light', 'dark'] as const;
/** Each scheme and each size. A deep run has each scheme in each size. */
export const LOOKS = byDepth({
  usual: [
    { size: 'desktop', viewport: DESKTOP, colorScheme: 'light' },
    { size: 'phone', viewport: PHONE, colorScheme: 'dark' },
  ] as const,
  deep: [
    { size: 'desktop', viewport: DESKTOP },
    { size: 'phone', viewport: PHONE },
  ].flatMap((look) => SCHEMES.map((colorScheme) => ({ ...look, colorScheme }))),
});

/** Checks what is shown in each look. A deep run also takes the pictures. */
export async function inspect(look: Page, name: string, isChecked: (at: number) => boolean): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  for (const [at, { size, viewport, colorScheme }] of LOOKS.entries()) {
    await look.setViewportSize(viewport);
    await look.emulateMedia({ colorScheme });
    if (isDeep) await look.screenshot({ path: join(PICTURES, `${name}-${size}-${colorScheme}.png`) });
    expect.soft(await overflowOf(look), `${name}, ${size}`).toBeLessThanOrEqual(0);
    expect.soft(await nestedControls(look), name).toEqual([]);
    if (isChecked(at)) expect.soft(await violationsOf(look), `${name}, ${size}, ${colorScheme}`).toEqual([]);
  }
  await look.setViewportSize(DESKTOP);
}
