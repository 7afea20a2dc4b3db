/** The PDF of an invoice or a credit note. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

// oxlint-disable-next-line import/no-named-as-default -- the named export is newer than the library's types
import PDFDocument from 'pdfkit';

import { countryOf } from '../../../rules/contact.ts';
import type { VatTreatment } from '../../../rules/vat.ts';
import { toCii } from './cii.ts';
import { leftToPay } from './content.ts';
import type { DocumentContent } from './content.ts';
import { creditNote, paymentNote, REVERSE_CHARGE } from './notes.ts';
import type { Party, Seller } from './parties.ts';
import { MUTED_COLOR, TEXT_COLOR, writeRows } from './rows.ts';
import type { Column } from './rows.ts';

const { resolve } = createRequire(import.meta.url);
let fonts: { readonly regular: Buffer; readonly bold: Buffer } | undefined;

const MARGIN = 50;
/** Space for the footer below the text. */
const BOTTOM_MARGIN = 90;
const PAGE_WIDTH = 495;
const FACTS_X = 330;
const TITLES = { invoice: 'Invoice', credit_note: 'Credit note' } as const;

const COLUMNS: readonly Column[] = [
  { title: 'Description, time in UTC', width: 258 },
  { title: 'Quantity', width: 112, right: true },
  { title: 'Unit price', width: 65, right: true },
  { title: 'Amount', width: 60, right: true },
];

/** Renders a document. The same content always gives the same bytes. */
export async function renderDocument(content: DocumentContent): Promise<Buffer> {
  const document = new PDFDocument({
    size: 'A4',
    margins: { top: MARGIN, left: MARGIN, right: MARGIN, bottom: BOTTOM_MARGIN },
    // The number of pages is only known at the end.
    bufferPages: true,
    lang: 'en',
    info: {
      Title: `${TITLES[content.kind]} ${content.number}`,
      Author: content.seller.company,
      CreationDate: new Date(content.date),
    },
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
  writeHead(document, content);
  writeGroups(document, content);
  writeSums(document, content);
  writeNotes(document, content);
  writeFooters(document, content);
  attachXml(document, content);
  document.end();
  return finished;
}

/** The name that Factur-X and ZUGFeRD require. */
const XML_NAME = 'factur-x.xml';

/** Attaches the same content for programs. The PDF does not claim PDF/A, which Factur-X requires in addition. */
function attachXml(document: PDFKit.PDFDocument, content: DocumentContent): void {
  const xml = toCii(content);
  if (xml === undefined) return;
  const date = new Date(content.date);
  const options = {
    name: XML_NAME,
    type: 'text/xml',
    description: 'The same document for programs (EN 16931, CII)',
    // The types of the library do not have it.
    relationship: 'Alternative',
    creationDate: date,
    modifiedDate: date,
  };
  document.file(Buffer.from(xml), options);
}

function fontFile(name: string): Buffer {
  return readFileSync(resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`));
}

function writeHead(document: PDFKit.PDFDocument, content: DocumentContent): void {
  const { seller, buyer } = content;
  document.font('bold').fontSize(20).fillColor(TEXT_COLOR).text(TITLES[content.kind], MARGIN, MARGIN);
  writeLines(document, [seller.company, ...addressLines(seller)], { x: FACTS_X, y: MARGIN });
  const sender = [seller.company, seller.street, `${seller.postal_code} ${seller.city}`].join(' · ');
  document.font('regular').fontSize(6.5).fillColor(MUTED_COLOR).text(sender, MARGIN, 150, { lineBreak: false });
  writeLines(document, [buyer.company, ...('street' in buyer ? addressLines(buyer) : [])], { x: MARGIN, y: 164 });
  const buyerEnd = document.y;
  writeFacts(document, factsOf(content));
  document.x = MARGIN;
  document.y = Math.max(buyerEnd, document.y) + 24;
}

function addressLines({ street, postal_code, city, country, vat_id }: Party): string[] {
  return [street, `${postal_code} ${city}`, countryOf(country)?.title ?? country, ...(vat_id === null ? [] : [`VAT ID ${vat_id}`])];
}

/** Lines of which the first is bold. */
function writeLines(document: PDFKit.PDFDocument, [first = '', ...others]: readonly string[], { x, y }: { x: number; y: number }): void {
  const width = x === MARGIN ? FACTS_X - MARGIN - 20 : MARGIN + PAGE_WIDTH - x;
  document.font('bold').fontSize(9).fillColor(TEXT_COLOR).text(first, x, y, { width });
  document.font('regular');
  for (const line of others) document.text(line, x, document.y + 1, { width });
}

function factsOf({ number, date, due, period, corrects }: DocumentContent): readonly (readonly [string, string])[] {
  return [
    ['Number', number],
    ['Date', date],
    ...(due === null ? [] : ([['Due date', due]] as const)),
    ['Period, UTC', `${period.first} to ${period.last}`],
    ['Currency', 'EUR'],
    ...(corrects === null ? [] : ([['Corrects invoice', `${corrects.number} of ${corrects.date}`]] as const)),
  ];
}

function writeFacts(document: PDFKit.PDFDocument, facts: readonly (readonly [string, string])[]): void {
  let y = 164;
  for (const [name, value] of facts) {
    document.font('regular').fontSize(8).fillColor(MUTED_COLOR).text(name, FACTS_X, y, { lineBreak: false });
    document.fillColor(TEXT_COLOR).text(value, FACTS_X + 80, y, { width: MARGIN + PAGE_WIDTH - FACTS_X - 80 });
    y = document.y + 4;
  }
}

const SUM_HEIGHT = 18;
/** For the notes. With the sums, so that they are not alone on the last page. */
const NOTES_HEIGHT = 86;

function writeGroups(document: PDFKit.PDFDocument, content: DocumentContent): void {
  const { groups, vat } = content;
  for (const [index, { title, lines, total }] of groups.entries()) {
    const after = index === groups.length - 1 ? sumRows(content).length * SUM_HEIGHT + NOTES_HEIGHT : 0;
    // For the title, the heading and a first row, so that none of them is left alone at the end of a page. A single row is kept with its sum.
    const needed = lines.length > 1 ? 90 : 120 + after;
    if (document.y + needed > document.page.height - BOTTOM_MARGIN) document.addPage();
    document.font('bold').fontSize(11).fillColor(TEXT_COLOR).text(title, MARGIN, document.y);
    document.moveDown(0.3);
    const rows = lines.map(({ title: first, details, time, quantity, unitPrice, amount, ...treatment }) => ({
      cells: [first, quantity, unitPrice, amount],
      details: [details, ...timeAndRate(time, vat.length > 1 ? treatment : undefined)],
    }));
    const sum = { cells: [`Sum of ${title.toLowerCase()}`, '', '', total], bold: true };
    writeRows(document, COLUMNS, [...rows, sum], after);
    document.moveDown(1.2);
  }
}

/** One line, or none. The rate is only needed if the document has several. */
function timeAndRate(time: string, rate: VatTreatment | undefined): string[] {
  const parts = [...(time === '' ? [] : [time]), ...(rate === undefined ? [] : [vatOf(rate)])];
  return parts.length === 0 ? [] : [parts.join(' · ')];
}

type SumRow = readonly [name: string, amount: string, font: 'regular' | 'bold'];

function sumRows(content: DocumentContent): SumRow[] {
  const { kind, net, vat, gross, prepaid = '0.00' } = content;
  const rows: SumRow[] = [
    ['Net amount, EUR', net, 'regular'],
    ...vat.map((sum): SumRow => [`${vatOf(sum)} on ${sum.net}, EUR`, sum.amount, 'regular']),
    [kind === 'invoice' ? 'Total, EUR' : 'Total in your favour, EUR', gross, 'bold'],
  ];
  if (prepaid !== '0.00') rows.push(['Paid with your balance, EUR', prepaid, 'regular'], ['Left to pay, EUR', leftToPay(content), 'bold']);
  return rows;
}

function writeSums(document: PDFKit.PDFDocument, content: DocumentContent): void {
  const rows = sumRows(content);
  if (document.y + rows.length * SUM_HEIGHT > document.page.height - BOTTOM_MARGIN) document.addPage();
  let { y } = document;
  for (const [name, amount, font] of rows) {
    document
      .font(font)
      .fontSize(font === 'bold' ? 11 : 9)
      .fillColor(TEXT_COLOR);
    document.text(name, FACTS_X - 30, y, { lineBreak: false });
    document.text(amount, MARGIN + PAGE_WIDTH - document.widthOfString(amount), y, { lineBreak: false });
    y += SUM_HEIGHT;
  }
  document.x = MARGIN;
  document.y = y + 8;
}

function vatOf({ basisPoints, reverseCharge = false }: VatTreatment): string {
  return `VAT ${basisPoints / 100} %${reverseCharge ? ' (reverse charge)' : ''}`;
}

function writeNotes(document: PDFKit.PDFDocument, content: DocumentContent): void {
  const notes = [
    ...(content.reverseCharge ? [REVERSE_CHARGE] : []),
    ...(content.due === null
      ? [creditNote(content)]
      : [
          ...(leftToPay(content) === '0.00' ? [] : [paymentNote(content)]),
          'A virtual server is billed for each second, at its price for 30 days (d). Amounts are rounded once, at the total; the lines add up to it.',
        ]),
  ];
  for (const note of notes) {
    if (document.y + 30 > document.page.height - BOTTOM_MARGIN) document.addPage();
    document.font('regular').fontSize(8).fillColor(TEXT_COLOR).text(note, MARGIN, document.y, { width: PAGE_WIDTH });
    document.moveDown(0.5);
  }
}

/** How to reach the seller, and the details of its company that business letters must have. */
function footerLines({ company, email, vat_id, tax_number, bank_name, iban, bic, register, managing_directors }: Seller): string[] {
  const tax = tax_number ? ` · tax number ${tax_number}` : '';
  const legal = [...(register ? [register] : []), ...(managing_directors ? [`Managing directors: ${managing_directors}`] : [])];
  return [
    `${company} · ${email} · VAT ID ${vat_id}${tax}`,
    `${bank_name} · IBAN ${iban} · BIC ${bic}`,
    ...(legal.length > 0 ? [legal.join(' · ')] : []),
  ];
}

/** The seller's bank and the page number, below the text of every page. */
function writeFooters(document: PDFKit.PDFDocument, { seller, number }: DocumentContent): void {
  const { count } = document.bufferedPageRange();
  for (let page = 0; page < count; page++) {
    document.switchToPage(page);
    // Text below the bottom margin would start a new page.
    document.page.margins.bottom = 0;
    document.font('regular').fontSize(7).fillColor(MUTED_COLOR);
    let y = document.page.height - 60;
    for (const line of footerLines(seller)) {
      document.text(line, MARGIN, y, { lineBreak: false });
      y += 11;
    }
    const place = `${number} · page ${page + 1} of ${count}`;
    document.text(place, MARGIN + PAGE_WIDTH - document.widthOfString(place), document.page.height - 49, { lineBreak: false });
  }
}
