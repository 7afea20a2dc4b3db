import type { Page } from 'playwright-core';

/** The computed colours of a text and its background. */
export interface Painted {
  readonly text: string;
  readonly colour: string;
  readonly background: string;
}

/** The visible texts, one for each pair of colours. */
export function paintedTexts(page: Page): Promise<readonly Painted[]> {
  return page.evaluate(() => {
    const found = new Map<string, Painted>();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      const text = node.textContent?.trim() ?? '';
      if (element === null || text === '' || !element.checkVisibility()) continue;
      const { color: colour } = getComputedStyle(element);
      let behind: Element | null = element;
      while (behind !== null && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
      const background = behind === null ? 'none' : getComputedStyle(behind).backgroundColor;
      found.set(`${colour} ${background}`, { text: text.slice(0, 40), colour, background });
    }
    return [...found.values()];
  });
}

/**
 * Contrast of two colours by WCAG 2.2, from 1 to 21.
 *
 * @param one As browsers compute colours: `rgb(1, 2, 3)`.
 * @throws TypeError for colours that are not opaque.
 */
export function contrastOf(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(colour: string): number {
  const parts = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(colour)?.slice(1).map(Number);
  if (parts === undefined) throw new TypeError(`The contrast of '${colour}' cannot be computed: it is not an opaque rgb() colour.`);
  const [red = 0, green = 0, blue = 0] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
