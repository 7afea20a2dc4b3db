/**
 * Rows of a PDF at fixed columns, over as many pages as they need. (The tables of pdfkit measure
 * every cell several times: with an embedded font they take about 20 ms a row, these about 0.1.)
 */

/** One column of a table. */
export interface Column {
  /** Stands above it on each page; none of a table's columns has one where it needs no head. */
  readonly title?: string;
  /** Points. */
  readonly width: number;
  /** Whether it stands on the right, as figures do. */
  readonly right?: boolean;
}

const SIZE = 7.5;
const GAP = 4;
const LINE_COLOR = '#bbbbbb';

/** Writes rows below what was written last, the titles of the columns above them on each page. */
export function writeRows(document: PDFKit.PDFDocument, columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  const titles = columns.map(({ title = '' }) => title);
  const head = titles.some((title) => title !== '');
  const { left } = document.page.margins;
  const bottom = document.page.height - document.page.margins.bottom;
  let y = document.y + GAP;
  document.fontSize(SIZE);
  const line = document.heightOfString('X') + GAP;
  const writeHead = (): void => {
    if (!head) return;
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

/** The height of a text that does not fit on one line of its column; 0 for one that does. */
function heightOf(document: PDFKit.PDFDocument, { width }: Column, text: string): number {
  return document.widthOfString(text) > width - GAP ? document.heightOfString(text, { width: width - GAP }) + GAP : 0;
}
