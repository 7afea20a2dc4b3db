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
  const paper = { document, lettering };
  let y = document.y;
  function write(row: MeasuredRow, color: string, place?: CellPlace): void {
    if (place) writeRow(paper, columns, row, { y, color, ...place });
    else writeArtifact(document, () => writeRow(paper, columns, row, { y, color }));
    y += row.height;
    drawLine(document, columns, y);
  }
  const head = measure(lettering, columns, { cells: columns.map(({ title }) => title) });
  function startPage(): void {
    document.addPage();
    y = document.y;
    write(head, MUTED_COLOR);
  }
  write(head, MUTED_COLOR, { table, cell: 'TH' });
  const firstKept = Math.max(0, rows.length - ROWS_KEPT_TOGETHER);
  for (const [index, row] of rows.entries()) {
    const measured = measure(lettering, columns, row);
    const others = index === firstKept ? rows.slice(index + 1) : [];
    const kept = [measured, ...others.map((other) => measure(lettering, columns, other))];
    const needed = kept.reduce((sum, { height }) => sum + height, index === firstKept ? after : 0);
    if (y + needed > bottom) startPage();
    write(measured, TEXT_COLOR, { table, cell: 'TD' });
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
  { cells, details = [], bold = false, firstHeight, detailHeights }: MeasuredRow,
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
    if (index === 0) writeDetails(lettering, details, { x, y: top + firstHeight, available, structParent, heights: detailHeights });
    x += width;
  }
}

interface DetailsPlace {
  readonly x: number;
  readonly y: number;
  readonly available: number;
  readonly structParent: Section | undefined;
  readonly heights: readonly number[];
}

function writeDetails(lettering: Lettering, details: readonly string[], { x, y, available, structParent, heights }: DetailsPlace): void {
  const oneLine = lettering.heightOf('', DETAILS, available);
  let top = y;
  for (const [index, detail] of details.entries()) {
    const height = heights[index] ?? oneLine;
    // Breaking a text into lines takes much longer than writing it.
    lettering.write(detail, DETAILS, { x, y: top, ...(height > oneLine && { width: available }), structParent });
    top += height;
  }
}

/** A row with its heights, because measuring text takes as long as writing it. */
interface MeasuredRow extends TableRow {
  readonly height: number;
  /** Of the text of the first column. */
  readonly firstHeight: number;
  readonly detailHeights: readonly number[];
}

function measure(lettering: Lettering, columns: readonly Column[], row: TableRow): MeasuredRow {
  const [firstHeight = 0, ...heights] = columns.map(({ width }, index) =>
    textHeight(lettering, row.cells[index] ?? '', width - COLUMN_GAP),
  );
  const available = (columns[0]?.width ?? 0) - COLUMN_GAP;
  const detailHeights = (row.details ?? []).map((detail) => lettering.heightOf(detail, DETAILS, available));
  const first = detailHeights.reduce((sum, height) => sum + height, firstHeight);
  return { ...row, firstHeight, detailHeights, height: Math.max(first, ...heights) + 2 * PADDING };
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
