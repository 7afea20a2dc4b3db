/**
 * Text in all scripts. pdfkit writes a text in one font and from left to right. Text that needs several fonts, or that has letters from right to
 * left, is split here into runs, which pdfkit writes one after another.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import createBidi from 'bidi-js';
import type { Bidi } from 'bidi-js';

import { assertFontsFor, fontFilesFor, readFontFile } from './font-files.ts';
import type { FontWeight } from './font-files.ts';

const { resolve } = createRequire(import.meta.url);
const bidi = loadBidi(createBidi);
const words = new Intl.Segmenter('en', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Letters and marks of scripts from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;
/** Characters without a shape that change the direction of the text around them. */
const DIRECTION_CONTROL = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/;
const ISOLATE = { start: '\u2068', end: '\u2069' };

export interface TextStyle {
  readonly weight: FontWeight;
  /** Points. */
  readonly size: number;
  readonly color: string;
}

export interface TextPlace {
  readonly x: number;
  readonly y: number;
  /** Points in which the text wraps. Without it, the text is one line. */
  readonly width?: number;
  readonly align?: 'left' | 'right';
  readonly structParent?: ReturnType<PDFKit.PDFDocument['struct']> | undefined;
  readonly structType?: string;
}

/** Measures and writes text of one document. */
export interface Lettering {
  widthOf(text: string, style: TextStyle): number;
  /** The height of a text that wraps in a width. */
  heightOf(text: string, style: TextStyle, width: number): number;
  /** Afterwards, `document.y` is below the text if it has a width. */
  write(text: string, style: TextStyle, place: TextPlace): void;
  /** The text with the code point of each letter that no font has, such as `[U+1F9D8]`, and of each control that changes its direction. */
  visible(text: string): string;
}

/** Keeps the direction of a name from changing the order of the texts around it. */
export function isolated(name: string): string {
  return `${ISOLATE.start}${name}${ISOLATE.end}`;
}

/** A font of fontkit, which pdfkit embeds. */
interface EmbeddedFont {
  /** Thousandths of the size. */
  readonly ascender: number;
  readonly font: { hasGlyphForCodePoint(codePoint: number): boolean };
}

/** A part of a line in one font and one direction, in the order in which it is read. */
interface Run {
  readonly text: string;
  readonly font: string;
}

let dejavu: Readonly<Record<FontWeight, Buffer>> | undefined;

/** A document, and the font of each grapheme. */
interface Fonts {
  readonly document: PDFKit.PDFDocument;
  readonly fontOf: FontOf;
}

/** @param texts All texts that will be written. */
export async function letteringOf(document: PDFKit.PDFDocument, texts: string): Promise<Lettering> {
  // The built-in fonts of PDF readers have only western letters. Names of accounts and domains may have others.
  dejavu ??= { regular: fontFile('DejaVuSans'), bold: fontFile('DejaVuSans-Bold') };
  document.registerFont('regular', dejavu.regular).registerFont('bold', dejavu.bold);
  const fontOf = fontFinder(document, await registerFiles(document, texts));
  const fonts = { document, fontOf };
  return {
    widthOf(text, style) {
      if (isPlain(text, style, fontOf)) return select(document, style).widthOfString(withoutIsolates(text));
      return widthOfRuns(document, linesOf(fonts, text, style, Infinity).flat(), style);
    },
    heightOf(text, style, width) {
      if (!isPlain(text, style, fontOf)) return linesOf(fonts, text, style, width).length * lineHeight(document, style);
      const plain = withoutIsolates(text);
      // `heightOfString` is slow.
      return select(document, style).widthOfString(plain) > width ? document.heightOfString(plain, { width }) : lineHeight(document, style);
    },
    write(text, style, place) {
      if (isPlain(text, style, fontOf)) writePlain(document, withoutIsolates(text), style, place);
      else writeRuns(fonts, text, style, place);
    },
    visible: (text) =>
      text.replaceAll(/[^\x20-\x7E\s]/gu, (letter) =>
        DIRECTION_CONTROL.test(letter) || fontOf(letter, 'regular') === undefined ? codePointOf(letter) : letter,
      ),
  };
}

/** Whether DejaVu has all letters, and all are from left to right. */
function isPlain(text: string, { weight }: TextStyle, fontOf: FontOf): boolean {
  if (/^[\x20-\x7E]*$/.test(text)) return true;
  return !RIGHT_TO_LEFT.test(text) && Array.from(withoutIsolates(text)).every((letter) => fontOf(letter, weight) === weight);
}

/** For measuring. A colour would be written into the document. */
function select(document: PDFKit.PDFDocument, { weight, size }: TextStyle): PDFKit.PDFDocument {
  return document.font(weight).fontSize(size);
}

function lineHeight(document: PDFKit.PDFDocument, style: TextStyle): number {
  return select(document, style).currentLineHeight(true);
}

function writePlain(document: PDFKit.PDFDocument, text: string, style: TextStyle, { x, y, width, ...options }: TextPlace): void {
  select(document, style)
    .fillColor(style.color)
    .text(text, x, y, width === undefined ? { ...options, lineBreak: false } : { ...options, width });
}

function writeRuns(fonts: Fonts, text: string, style: TextStyle, place: TextPlace): void {
  const { document } = fonts;
  const { x, y, width = Infinity, align = 'left', structParent, structType = 'P' } = place;
  const lines = linesOf(fonts, text, style, width);
  const height = lineHeight(document, style);
  const baseline = y + (embeddedFont(document).ascender / 1000) * style.size;
  function writeLines(): void {
    document.fillColor(style.color);
    for (const [index, runs] of lines.entries()) {
      let left = align === 'right' ? x + width - widthOfRuns(document, runs, style) : x;
      for (const run of runs) {
        const options: PDFKit.Mixins.TextOptions = { lineBreak: false, baseline: 'alphabetic', features: [] };
        document
          .font(run.font)
          .fontSize(style.size)
          .text(run.text, left, baseline + index * height, options);
        left += widthOfRuns(document, [run], style);
      }
    }
  }
  if (structParent) structParent.add(document.struct(structType, { actual: withoutIsolates(text) }, [writeLines]));
  else writeLines();
  select(document, style);
  document.x = x;
  document.y = place.width === undefined ? y : y + lines.length * height;
}

/** With features, even if none is wanted, the library lays out a run as a whole. Otherwise it writes its words from left to right. */
function widthOfRuns(document: PDFKit.PDFDocument, runs: readonly Run[], { size }: TextStyle): number {
  return runs.reduce((sum, { text, font }) => sum + document.font(font).fontSize(size).widthOfString(text, { features: [] }), 0);
}

/** The runs of each line, in the order in which they are written from left to right. */
function linesOf({ document, fontOf }: Fonts, text: string, style: TextStyle, width: number): Run[][] {
  const embedding = bidi.getEmbeddingLevels(text, 'auto');
  const fonts = fontsOf(text, style.weight, fontOf);
  function runsOf({ start, end }: Span): Run[] {
    return visualRuns(text, embedding, { start, end, fonts });
  }
  return linesIn(text, (span) => widthOfRuns(document, runsOf(span), style) <= width).map(runsOf);
}

/** The types of the library describe a module in which the function is the property `default`. In Node, the function is the module. */
function loadBidi(create: unknown): Bidi {
  if (!isCreator(create)) throw new TypeError('The module of bidi-js is no longer a function.');
  return create();
}

function isCreator(value: unknown): value is () => Bidi {
  return typeof value === 'function';
}

function fontFile(name: string): Buffer {
  return readFileSync(resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`));
}

function withoutIsolates(text: string): string {
  return text.replaceAll(/[\u2068\u2069]/g, '');
}

function codePointOf(letter: string): string {
  return `[U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** The files for the letters of a text that DejaVu does not have, by letter and weight. */
async function registerFiles(document: PDFKit.PDFDocument, texts: string): Promise<FilesOf> {
  const { font } = embeddedFont(document.font('regular'));
  const letters = new Set(texts.match(/[^\x20-\x7E\s]/gu)?.map((letter) => letter.codePointAt(0) ?? 0));
  const missing = [...letters].filter((codePoint) => !font.hasGlyphForCodePoint(codePoint));
  assertFontsFor(missing);
  const paths = new Set(missing.flatMap((codePoint) => [...fontFilesFor(codePoint, 'regular'), ...fontFilesFor(codePoint, 'bold')]));
  for (const path of paths) document.registerFont(path, await readFontFile(path));
  return (codePoint, weight) => (missing.length === 0 ? [] : fontFilesFor(codePoint, weight).filter((path) => paths.has(path)));
}

type FontOf = (grapheme: string, weight: FontWeight) => string | undefined;
type FilesOf = (codePoint: number, weight: FontWeight) => readonly string[];

/** Returns the font that has all characters of a grapheme, if there is one: a weight of DejaVu, or the path of a file. */
function fontFinder(document: PDFKit.PDFDocument, files: FilesOf): FontOf {
  const found = new Map<string, string | undefined>();
  function has(font: string, codePoints: readonly number[]): boolean {
    const { font: glyphs } = embeddedFont(document.font(font));
    return codePoints.every((codePoint) => glyphs.hasGlyphForCodePoint(codePoint));
  }
  return (grapheme, weight) => {
    const key = `${weight} ${grapheme}`;
    if (!found.has(key)) {
      const codePoints = Array.from(grapheme, (letter) => letter.codePointAt(0) ?? 0).filter((codePoint) => codePoint > 0x20);
      const fonts = [weight, ...(weight === 'bold' ? ['regular'] : []), ...files(codePoints[0] ?? 0x20, weight)];
      found.set(
        key,
        fonts.find((font) => has(font, codePoints)),
      );
    }
    return found.get(key);
  };
}

/** The types of the library do not have it. */
function embeddedFont(document: PDFKit.PDFDocument): EmbeddedFont {
  const font: unknown = Reflect.get(document, '_font');
  if (!isEmbeddedFont(font)) throw new TypeError('The PDF library no longer says which letters a font has.');
  return font;
}

function isEmbeddedFont(value: unknown): value is EmbeddedFont {
  if (typeof value !== 'object' || value === null || !('ascender' in value) || !('font' in value)) return false;
  const { font } = value;
  return typeof font === 'object' && font !== null && 'hasGlyphForCodePoint' in font && typeof font.hasGlyphForCodePoint === 'function';
}

/** The font of each code unit. Marks have the font of their letter. */
function fontsOf(text: string, weight: FontWeight, fontOf: FontOf): string[] {
  return [...graphemes.segment(text)].flatMap(({ segment }) => {
    const whole = fontOf(segment, weight);
    return Array.from(segment).flatMap((letter) => Array.from({ length: letter.length }, () => whole ?? fontOf(letter, weight) ?? weight));
  });
}

interface Span {
  readonly start: number;
  /** After the last code unit. */
  readonly end: number;
}

/** The runs of a line from left to right. */
function visualRuns(
  text: string,
  embedding: ReturnType<typeof bidi.getEmbeddingLevels>,
  { start, end, fonts }: Span & { readonly fonts: readonly string[] },
): Run[] {
  if (end <= start) return [];
  const { levels } = embedding;
  // The library reorders the line, and returns the indices of the whole text.
  const order = bidi.getReorderedIndices(text, embedding, start, end - 1).slice(start, end);
  const runs: { first: number; last: number }[] = [];
  for (const index of order) {
    if (DIRECTION_CONTROL.test(text.charAt(index))) continue;
    const run = runs.at(-1);
    const isSame = run && levels[index] === levels[run.last] && fonts[index] === fonts[run.last] && Math.abs(index - run.last) === 1;
    if (isSame) run.last = index;
    else runs.push({ first: index, last: index });
  }
  return runs.map(({ first, last }) => {
    const [from, to] = first < last ? [first, last] : [last, first];
    const part = text.slice(from, to + 1);
    return { text: isRightToLeft(levels[first] ?? 0) ? rightToLeft(part) : part, font: fonts[first] ?? 'regular' };
  });
}

function isRightToLeft(level: number): boolean {
  return level % 2 === 1;
}

/** The font reverses a run that has a letter from right to left. Others, such as a space or a bracket between two letters, are reversed here. */
function rightToLeft(part: string): string {
  const mirrored = Array.from(part, (letter) => bidi.getMirroredCharacter(letter) ?? letter);
  return (RIGHT_TO_LEFT.test(part) ? mirrored : mirrored.toReversed()).join('');
}

/** Breaks a text before words. A word that is longer than a line is broken between two letters. */
function linesIn(text: string, fits: (span: Span) => boolean): Span[] {
  const lines: Span[] = [];
  let start = 0;
  let end = 0;
  function endLine(): void {
    lines.push({ start, end: start + text.slice(start, end).trimEnd().length });
    start = end;
  }
  for (const word of unbreakableParts(text)) {
    if (fits({ start, end: end + word.trimEnd().length })) {
      end += word.length;
      continue;
    }
    if (end > start) endLine();
    for (const { segment } of graphemes.segment(word)) {
      if (end > start && !fits({ start, end: end + segment.trimEnd().length })) endLine();
      end += segment.length;
    }
  }
  if (end > start || lines.length === 0) endLine();
  return lines;
}

/** Words with the spaces and the punctuation after them. A Chinese, Japanese or Thai word needs no space before it. */
function unbreakableParts(text: string): string[] {
  const parts: string[] = [];
  let mayBreak = true;
  for (const { segment, isWordLike } of words.segment(text)) {
    const isSpace = segment.trim() === '';
    const last = parts.length - 1;
    const begins = mayBreak || (isWordLike === true && needsNoSpace(segment) && needsNoSpace(parts[last]?.at(-1) ?? ''));
    if (begins && !isSpace) parts.push(segment);
    else if (last < 0) parts.push(segment);
    else parts[last] = `${parts[last]}${segment}`;
    mayBreak = isSpace && segment !== '\u00A0';
  }
  return parts;
}

function needsNoSpace(text: string): boolean {
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\u3000-\u303F\uFF00-\uFF65]/u.test(text);
}
