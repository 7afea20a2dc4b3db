/**
 * Tables of a PDF. The tables of pdfkit measure every cell several times and take about 20 ms per row with an embedded font. These take
 * about 0.1 ms.
 */

import type { Lettering, TextStyle } from './lettering.ts';

/** A part of the structure that screen readers read. */
export type Section = ReturnType<PDFKit.PDFDocument['struct']>;

/** Writes what screen readers leave out: lines, and texts that repeat others. */
export function writeArtifact(document: PDFKit.PDFDocument, write: () => void): void {
  document.markContent('Artifact', { type: 'Pagination' });
  write();
  document.endMarkedContent();
}

/** What rows are written on. */
interface Paper {
  readonly document: PDFKit.PDFDocument;
  readonly lettering: Lettering;
}

/** One column of a table. */
export interface Column {
  /** Heading, repeated on each page. */
  readonly title: string;
  /** Points. */
  readonly width: number;
  /** Whether the column is right-aligned, so that decimal points align. */
  readonly right?: boolean;
}

export interface TableRow {
  readonly cells: readonly string[];
  /** Smaller lines below the text of the first column. */
  readonly details?: readonly string[];
  readonly bold?: boolean;
}

export const TEXT_COLOR = '#1a1a1a';
export const MUTED_COLOR = '#5f6670';
const LINE_COLOR = '#c9ced6';
const FONT_SIZE = 8;
const DETAILS: TextStyle = { weight: 'regular', size: 7, color: MUTED_COLOR };
const PADDING = 4;
const COLUMN_GAP = 8;

/** How many of the last rows stay on one page. */
const ROWS_KEPT_TOGETHER = 2;

/**
 * Writes rows below the last text, on as many pages as they need. A row is never split between pages, and the last two are on one page. The
 * current page must have room for the heading.
 *
 * @param after Points below the last row that must be on its page.
 */
export function writeRows(
  { document, lettering, root }: Paper & { readonly root: Section },
  columns: readonly Column[],
  rows: readonly TableRow[],
  after: number,
): void {
  const table = document.struct('Table');
  root.add(table);
  const { left } = document.page.margins;
  const bottom = document.page.height - document.page.margins.bottom;
  const head: TableRow = { cells: columns.map(({ title }) => title) };
  const paper = { document, lettering };
  let y = document.y;
  function write(row: TableRow, color: string, place?: CellPlace): void {
    if (place) writeRow(paper, columns, row, { y, color, ...place });
    else writeArtifact(document, () => writeRow(paper, columns, row, { y, color }));
    y += heightOf(lettering, columns, row);
    drawLine(document, columns, y);
  }
  function startPage(): void {
    document.addPage();
    y = document.y;
    write(head, MUTED_COLOR);
  }
  write(head, MUTED_COLOR, { table, cell: 'TH' });
  const firstKept = Math.max(0, rows.length - ROWS_KEPT_TOGETHER);
  for (const [index, row] of rows.entries()) {
    const kept = index === firstKept ? rows.slice(index) : [row];
    const needed = kept.reduce((sum, one) => sum + heightOf(lettering, columns, one), index === firstKept ? after : 0);
    if (y + needed > bottom) startPage();
    write(row, TEXT_COLOR, { table, cell: 'TD' });
  }
  document.x = left;
  document.y = y;
}

/** Where a row is in the structure. */
interface CellPlace {
  readonly table: Section;
  readonly cell: 'TH' | 'TD';
}

/** The types of the library have no scope, and an empty title is not written. */
function headOptions(cell: CellPlace['cell']) {
  return cell === 'TH' ? { title: '', scope: 'Column' } : {};
}

function writeRow(
  { document, lettering }: Paper,
  columns: readonly Column[],
  { cells, details = [], bold = false }: TableRow,
  { y, color, table, cell }: { readonly y: number; readonly color: string } & Partial<CellPlace>,
): void {
  const line = table && document.struct('TR');
  if (line) table.add(line);
  const style: TextStyle = { weight: bold ? 'bold' : 'regular', size: FONT_SIZE, color };
  let x = document.page.margins.left;
  for (const [index, { width, right = false }] of columns.entries()) {
    const text = cells[index] ?? '';
    const structParent = cell && document.struct(cell, headOptions(cell));
    if (structParent) line?.add(structParent);
    const available = width - COLUMN_GAP;
    const natural = lettering.widthOf(text, style);
    const top = y + PADDING;
    if (natural > available)
      lettering.write(text, style, {
        x: right ? x + COLUMN_GAP : x,
        y: top,
        width: available,
        align: right ? 'right' : 'left',
        structParent,
      });
    else lettering.write(text, style, { x: right ? x + width - natural : x, y: top, structParent });
    if (index === 0)
      writeDetails({ document, lettering }, details, { x, y: top + textHeight(lettering, text, available), available, structParent });
    x += width;
  }
}

function writeDetails(
  { lettering }: Paper,
  details: readonly string[],
  {
    x,
    y,
    available,
    structParent,
  }: { readonly x: number; readonly y: number; readonly available: number; readonly structParent: Section | undefined },
): void {
  let top = y;
  for (const detail of details) {
    lettering.write(detail, DETAILS, { x, y: top, width: available, structParent });
    top += lettering.heightOf(detail, DETAILS, available);
  }
}

function heightOf(lettering: Lettering, columns: readonly Column[], { cells, details = [] }: TableRow): number {
  const heights = columns.map(({ width }, index) => {
    const available = width - COLUMN_GAP;
    const height = textHeight(lettering, cells[index] ?? '', available);
    return index === 0 ? details.reduce((sum, detail) => sum + lettering.heightOf(detail, DETAILS, available), height) : height;
  });
  return Math.max(...heights) + 2 * PADDING;
}

function textHeight(lettering: Lettering, text: string, width: number): number {
  return lettering.heightOf(text, { weight: 'regular', size: FONT_SIZE, color: TEXT_COLOR }, width);
}

function drawLine(document: PDFKit.PDFDocument, columns: readonly Column[], y: number): void {
  const { left } = document.page.margins;
  const width = columns.reduce((sum, column) => sum + column.width, 0);
  writeArtifact(document, () =>
    document
      .moveTo(left, y)
      .lineTo(left + width, y)
      .lineWidth(0.5)
      .stroke(LINE_COLOR),
  );
}
