/** The font files for letters that DejaVu does not have. Each package splits its font into files with a part of the letters. */
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import decompress from 'woff2-encoder/decompress';

export type FontWeight = 'regular' | 'bold';

/** A file with the letters of some ranges. */
interface FontFile {
  readonly path: string;
  readonly ranges: readonly (readonly [first: number, last: number])[];
}

/** The style sheets that list the files of each font. A font without a bold one has only regular letters. */
const CHINESE = { regular: 'noto-sans-sc/noto_sans_sc_regular/css.css', bold: 'noto-sans-sc/noto_sans_sc_bold/css.css' };
/** It has rare letters of Taiwan, Hong Kong and Japan that Noto Sans SC does not have. */
const RARE_CHINESE = '@fontsource/chocolate-classical-sans/400.css';
const KOREAN = '@fontsource/gowun-dodum/400.css';
const THAI = { regular: '@fontsource/noto-sans-thai/400.css', bold: '@fontsource/noto-sans-thai/700.css' };

/** In the order in which they are tried. */
const STYLE_SHEETS: Readonly<Record<FontWeight, readonly string[]>> = {
  regular: [CHINESE.regular, RARE_CHINESE, KOREAN, THAI.regular],
  bold: [CHINESE.bold, RARE_CHINESE, KOREAN, THAI.bold],
};

const { resolve } = createRequire(import.meta.url);
/** A bundle has copies of the files next to it, because the packages also have files that it does not need. */
const COPIES = fileURLToPath(new URL('fonts', import.meta.url));

/** The part of a text after one mark and before another. Undefined if it does not have them. */
function between(text: string, start: string, end: string): string | undefined {
  const [, rest] = text.split(start);
  return rest?.includes(end) ? rest.split(end)[0] : undefined;
}

/** Letters and punctuation of the scripts whose fonts are in optional packages, because they are large and few documents need them. */
const OF_OPTIONAL_FONTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Script=Hangul}\p{Script=Thai}\u3000-\u303F\uFF00-\uFFEF]/u;

export class FontsNotInstalled extends Error {
  constructor(letter: string, packages: readonly string[]) {
    super(
      `The fonts of letters such as ${letter} are not installed. Install them, start the service again, and open the link again. ` +
        `In a clone of the repository: npx -y pnpm@12 install. Otherwise: npm install ${packages.join(' ')}`,
    );
  }
}

/** @throws FontsNotInstalled for a letter whose font is not installed. A document is not drawn without it, because its file is kept. */
export function assertFontsFor(codePoints: readonly number[]): void {
  const letter = codePoints.map((codePoint) => String.fromCodePoint(codePoint)).find((one) => OF_OPTIONAL_FONTS.test(one));
  if (letter === undefined) return;
  const missing = Object.values(STYLE_SHEETS)
    .flat()
    .filter((styleSheet) => styleSheetPath(styleSheet) === undefined);
  const packages = new Set(missing.map((styleSheet) => /^(?:@[^/]+\/)?[^/]+/.exec(styleSheet)?.[0] ?? styleSheet));
  if (packages.size > 0) throw new FontsNotInstalled(letter, [...packages]);
}

function styleSheetPath(styleSheet: string): string | undefined {
  return existsSync(COPIES) ? join(COPIES, styleSheet) : installedPath(styleSheet);
}

/** The files of a style sheet. Empty if its package is not installed. */
function filesOf(styleSheet: string): FontFile[] {
  const path = styleSheetPath(styleSheet);
  if (path === undefined) return [];
  const faces = readFileSync(path, 'utf8').split('}');
  return faces.flatMap((face) => {
    const [file, ranges] = [between(face, 'src: url(', ')'), between(face, 'unicode-range: ', ';')];
    return file === undefined || ranges === undefined ? [] : [{ path: join(dirname(path), file), ranges: ranges.split(',').map(rangeOf) }];
  });
}

function installedPath(styleSheet: string): string | undefined {
  try {
    return resolve(styleSheet);
  } catch {
    return undefined;
  }
}

/** @param text Such as `U+4E00` or `U+4E00-9FFF`. */
function rangeOf(text: string): readonly [number, number] {
  const [first = '', last = first] = text.trim().slice(2).split('-');
  return [Number.parseInt(first, 16), Number.parseInt(last, 16)];
}

const lists = new Map<FontWeight, readonly FontFile[]>();

/** The files that may have a letter, the preferred one first. */
export function fontFilesFor(codePoint: number, weight: FontWeight): string[] {
  const files = lists.get(weight) ?? STYLE_SHEETS[weight].flatMap(filesOf);
  lists.set(weight, files);
  return files.filter(({ ranges }) => ranges.some(([first, last]) => first <= codePoint && codePoint <= last)).map(({ path }) => path);
}

/** The font as TrueType. The PDF library reads WOFF2 too, but embeds letters without their outlines. */
export async function readFontFile(path: string): Promise<Buffer> {
  const font = await decompress(await readFile(path));
  return Buffer.from(font.buffer, font.byteOffset, font.byteLength);
}

/** Copies the files next to a bundle. @returns The original files, whose licences the bundle names. */
export function copyFontFiles(bundle: string): string[] {
  const styleSheets = new Set(Object.values(STYLE_SHEETS).flat());
  return [...styleSheets].flatMap((styleSheet) => {
    const from = dirname(resolve(styleSheet));
    const to = join(bundle, 'fonts', dirname(styleSheet));
    const files = [resolve(styleSheet), ...filesOf(styleSheet).map(({ path }) => path)];
    for (const file of files) {
      const copy = join(to, file.slice(from.length));
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(file, copy);
    }
    return files;
  });
}
