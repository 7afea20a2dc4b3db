/**
 * Tables of a PDF. The tables of pdfkit measure every cell several times and take about 20 ms per row with an embedded font. These take
 * about 0.1 ms.
 */

/** One column of a table. */
export interface Column {
  /** Heading, repeated on each page. A table without titles has no heading row. */
  readonly title?: string;
  /** Points. */
  readonly width: number;
  /** Whether the column is right-aligned. */
  readonly right?: boolean;
}

const FONT_SIZE = 7.5;
const GAP = 4;
const LINE_COLOR = '#bbbbbb';

/** Writes rows below the last text, over as many pages as they need. */
export function writeRows(document: PDFKit.PDFDocument, columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  const titles = columns.map(({ title = '' }) => title);
  const hasHead = titles.some((title) => title !== '');
  const { left } = document.page.margins;
  const bottom = document.page.height - document.page.margins.bottom;
  let y = document.y + GAP;
  document.fontSize(FONT_SIZE);
  const line = document.heightOfString('X') + GAP;
  const writeHead = (): void => {
    if (!hasHead) return;
    document.font('bold');
    writeRow(document, columns, titles, y);
    y += line;
  };
  if (y + 2 * line > bottom) {
    document.addPage();
    y = document.y;
  }
  writeHead();
  for (const row of rows) {
    document.font('regular');
    const height = Math.max(line, ...columns.map((column, index) => heightOf(document, column, row[index] ?? '')));
    if (y + height > bottom) {
      document.addPage();
      y = document.y;
      writeHead();
      document.font('regular');
    }
    document
      .moveTo(left, y - GAP / 2)
      .lineTo(left + columns.reduce((sum, { width }) => sum + width, 0), y - GAP / 2)
      .lineWidth(0.5)
      .stroke(LINE_COLOR);
    writeRow(document, columns, row, y);
    y += height;
  }
  document.x = left;
  document.y = y;
}

function writeRow(document: PDFKit.PDFDocument, columns: readonly Column[], texts: readonly string[], y: number): void {
  let x = document.page.margins.left;
  for (const [index, { width, right }] of columns.entries()) {
    const text = texts[index] ?? '';
    const natural = document.widthOfString(text);
    if (natural > width - GAP) document.text(text, x, y, { width: width - GAP });
    else document.text(text, right ? x + width - natural : x, y, { lineBreak: false });
    x += width;
  }
}

/** The height of a text that is longer than one line of its column, otherwise 0. */
function heightOf(document: PDFKit.PDFDocument, { width }: Column, text: string): number {
  return document.widthOfString(text) > width - GAP ? document.heightOfString(text, { width: width - GAP }) + GAP : 0;
}
