/** The invoice as a PDF, with a line for each position and charge. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// oxlint-disable-next-line import/no-named-as-default -- the named export is newer than the library's types
import PDFDocument from 'pdfkit';

import type { Seconds } from '../../../rules/billing.ts';
import { decimalOf } from '../../../rules/money.ts';
import type { ChargeLine, InvoiceContent, VmLine } from './content.ts';
import { writeRows } from './rows.ts';
import type { Column } from './rows.ts';

const { resolve } = createRequire(import.meta.url);
let fonts: { readonly regular: Buffer; readonly bold: Buffer } | undefined;

const FACTS: readonly Column[] = [{ width: 110 }, { width: 385 }];
const TOTALS: readonly Column[] = [{ width: 395 }, { width: 100, right: true }];
const VM_COLUMNS: readonly Column[] = [
  { title: 'VM', width: 34 },
  { title: 'Position', width: 90 },
  { title: 'Start, UTC', width: 90 },
  { title: 'Stop, UTC', width: 90 },
  { title: 'Seconds', width: 50, right: true },
  { title: 'EUR / 30 days', width: 72, right: true },
  { title: 'Price, EUR', width: 69, right: true },
];
const CHARGE_COLUMNS: readonly Column[] = [
  { title: 'Server or domain', width: 186 },
  { title: 'Position', width: 60 },
  { title: 'Start, UTC', width: 90 },
  { title: 'Stop, UTC', width: 90 },
  { title: 'Price, EUR', width: 69, right: true },
];

/** Renders the document. The same content always gives the same bytes. */
export async function renderInvoice(content: InvoiceContent): Promise<Buffer> {
  const document = new PDFDocument({
    size: 'A4',
    margin: 50,
    lang: 'en',
    info: { Title: `Invoice ${content.number}`, Author: 'Reseller Infrastructure Service', CreationDate: new Date(content.created) },
  });
  const chunks: Buffer[] = [];
  const finished = new Promise<Buffer>((done, fail) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('end', () => done(Buffer.concat(chunks)));
    document.on('error', fail);
  });
  // The built-in fonts of PDF readers have only western letters. Names of accounts and domains may have others.
  fonts ??= { regular: fontFile('DejaVuSans'), bold: fontFile('DejaVuSans-Bold') };
  document.registerFont('regular', fonts.regular).registerFont('bold', fonts.bold);
  write(document, content);
  document.end();
  return finished;
}

function fontFile(name: string): Buffer {
  return readFileSync(resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`));
}

function write(document: PDFKit.PDFDocument, content: InvoiceContent): void {
  const { vms, charges } = content;
  heading(document, 'Invoice', 16);
  writeRows(document, FACTS, [
    ['Number', content.number],
    ['Date, UTC', dateTime(content.created / 1000)],
    ['Account', content.account],
    ['Period, UTC', `${dateTime(content.periodStart)} to ${dateTime(content.periodEnd)}`],
  ]);
  if (vms.length > 0) {
    heading(document, 'Virtual servers');
    writeRows(document, VM_COLUMNS, vms.map(vmRow));
  }
  if (charges.length > 0) {
    heading(document, 'Dedicated servers and domains, charged in advance');
    writeRows(document, CHARGE_COLUMNS, charges.map(chargeRow));
  }
  heading(document, 'Total');
  writeRows(document, TOTALS, [
    ['Virtual servers, EUR', decimalOf(content.vmTotal)],
    ['Dedicated servers and domains, EUR', decimalOf(content.chargeTotal)],
    ['Invoice total, EUR', decimalOf(content.total)],
  ]);
  document
    .moveDown()
    .fontSize(7)
    .text(
      'All prices are net. A VM is billed for each second of runtime, at the 30-day rate. Lines have up to 8 decimals. Each total is rounded once, to cents.',
    );
}

function vmRow({ vmId, type, start, stop, runtime, monthlyPrice, price }: VmLine): string[] {
  return [String(vmId), type, dateTime(start), dateTime(stop), String(runtime), decimalOf(monthlyPrice), decimalOf(price)];
}

function chargeRow({ subject, type, start, stop, price }: ChargeLine): string[] {
  return [subject, type, dateTime(start), dateTime(stop), decimalOf(price)];
}

function heading(document: PDFKit.PDFDocument, text: string, size = 11): void {
  // A heading is never the last line of a page.
  if (document.y + 5 * size > document.page.height - document.page.margins.bottom) document.addPage();
  document
    .font('bold')
    .fontSize(size)
    .text(text, document.page.margins.left, document.y + size);
}

/** An instant as `2026-12-01 00:00:00`. */
function dateTime(instant: Seconds): string {
  return new Date(instant * 1000).toISOString().slice(0, 19).replace('T', ' ');
}
