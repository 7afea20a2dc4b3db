/** The PDF of an invoice or a credit note. */
// oxlint-disable-next-line import/no-named-as-default -- the named export is newer than the library's types
import PDFDocument from 'pdfkit';

import type { VatTreatment } from '../../../rules/vat.ts';
import { toCii } from './cii.ts';
import { leftToPay } from './content.ts';
import type { DocumentContent } from './content.ts';
import { isolated, letteringOf } from './lettering.ts';
import type { Lettering, TextStyle } from './lettering.ts';
import { assertUsable } from './logo.ts';
import { creditNote, paymentNote, textsOf } from './notes.ts';
import type { Party, Seller } from './parties.ts';
import { MUTED_COLOR, TEXT_COLOR, writeArtifact, writeRows } from './rows.ts';
import type { Column, Section } from './rows.ts';
import { groupTitleIn } from './texts.ts';
import type { Texts } from './texts.ts';
import { creatorMetadata, facturXMetadata } from './xmp.ts';

const MARGIN = 50;
/** Space for the footer below the text. */
const BOTTOM_MARGIN = 90;
const PAGE_WIDTH = 495;
const FACTS_X = 330;

function columnsOf(texts: Texts, timeZone = 'UTC'): readonly Column[] {
  return [
    { title: texts.description(timeZone), width: 258 },
    { title: texts.quantity, width: 112, right: true },
    { title: texts.unitPrice, width: 65, right: true },
    { title: texts.amount, width: 60, right: true },
  ];
}

/** What writes the document. Screen readers read its sections in the order in which they are written. */
interface Sheet {
  readonly document: PDFKit.PDFDocument;
  readonly lettering: Lettering;
  readonly texts: Texts;
  readonly root: Section;
}

/**
 * Renders a document. The same content always gives the same bytes.
 *
 * @param logo A PNG or JPEG image.
 */
export async function renderDocument(content: DocumentContent, logo?: Uint8Array): Promise<Buffer> {
  const texts = textsOf(content);
  const document = new PDFDocument({
    size: 'A4',
    margins: { top: MARGIN, left: MARGIN, right: MARGIN, bottom: BOTTOM_MARGIN },
    // The number of pages is only known at the end.
    bufferPages: true,
    // For screen readers: tags need a version after 1.3.
    pdfVersion: '1.7',
    tagged: true,
    displayTitle: true,
    lang: content.language ?? 'en',
    info: {
      Title: `${titleOf(content, texts)} ${content.number}`,
      CreationDate: new Date(content.date),
    },
  });
  const chunks: Buffer[] = [];
  const finished = new Promise<Buffer>((done, fail) => {
    document.on('data', (chunk: Buffer) => chunks.push(chunk));
    document.on('end', () => done(Buffer.concat(chunks)));
    document.on('error', fail);
  });
  joinEachPage(document);
  const lettering = await letteringOf(document, JSON.stringify(content));
  const root = document.struct('Document');
  document.addStructure(root);
  const page = { document, lettering, texts, root };
  const shown = withVisibleLetters(content, lettering);
  writeHead(page, shown);
  if (logo) placeLogo(page, shown, logo);
  writeGroups(page, shown);
  writeSums(page, shown);
  writeNotes(page, shown);
  writeFooters(page, shown);
  document.appendXML(creatorMetadata(content.seller.company));
  attachXml(document, content);
  document.end();
  return finished;
}

/**
 * Joins what was written on a page when the next one begins. The library keeps an array of bytes for each number and colour until the end, which
 * takes the garbage collector longer than drawing.
 */
function joinEachPage(document: PDFKit.PDFDocument): void {
  let { page } = document;
  document.on('pageAdded', () => {
    const content: unknown = Reflect.get(page, 'content');
    if (!isPageContent(content)) throw new TypeError('The PDF library no longer keeps what is written on a page in a list.');
    content.buffer = [Buffer.concat(content.buffer)];
    ({ page } = document);
  });
}

/** The types of the library do not have it. */
function isPageContent(value: unknown): value is { buffer: Uint8Array[] } {
  return typeof value === 'object' && value !== null && 'buffer' in value && Array.isArray(value.buffer);
}

/** The name that Factur-X and ZUGFeRD require. */
const XML_NAME = 'factur-x.xml';

/** Attaches the same content for programs, and says so to readers of Factur-X. The PDF does not claim PDF/A, which Factur-X requires in addition. */
function attachXml(document: PDFKit.PDFDocument, content: DocumentContent): void {
  const xml = toCii(content);
  if (xml === undefined) return;
  const date = new Date(content.date);
  const options = {
    name: XML_NAME,
    type: 'text/xml',
    description: textsOf(content).attachment,
    // The types of the library do not have it.
    relationship: 'Alternative',
    creationDate: date,
    modifiedDate: date,
  };
  document.file(Buffer.from(xml), options);
  document.appendXML(facturXMetadata(XML_NAME));
}

function titleOf({ kind }: DocumentContent, texts: Texts): string {
  return kind === 'invoice' ? texts.invoice : texts.creditNote;
}

function withVisibleLetters(content: DocumentContent, { visible }: Lettering): DocumentContent {
  const shown: DocumentContent = JSON.parse(JSON.stringify(content), (_, value: unknown) =>
    typeof value === 'string' ? visible(value) : value,
  );
  return shown;
}

function writeHead(page: Sheet, content: DocumentContent): void {
  const { document, lettering, texts, root: structParent } = page;
  const { seller, buyer } = content;
  document
    .font('bold')
    .fontSize(20)
    .fillColor(TEXT_COLOR)
    .text(titleOf(content, texts), MARGIN, MARGIN, { structParent, structType: 'H1' });
  writeAddress(page, [seller.company, ...addressLines(seller, texts)], { x: FACTS_X, y: MARGIN });
  const sender = [seller.company, seller.street, `${seller.postal_code} ${seller.city}`].map(isolated).join(' · ');
  const small: TextStyle = { weight: 'regular', size: 6.5, color: MUTED_COLOR };
  writeArtifact(document, () => lettering.write(sender, small, { x: MARGIN, y: 150 }));
  writeAddress(page, [buyer.company, ...('street' in buyer ? addressLines(buyer, texts) : [])], { x: MARGIN, y: 164 });
  const buyerEnd = document.y;
  writeHeadFacts(page, headFactsOf(content, texts));
  document.x = MARGIN;
  document.y = Math.max(buyerEnd, document.y) + 24;
}

/** Below the title, above the window for the address. */
function placeLogo({ document, root }: Sheet, { seller }: DocumentContent, logo: Uint8Array): void {
  const image = Buffer.from(logo);
  assertUsable(image);
  const { x, y } = document;
  root.add(document.struct('Figure', { alt: seller.company }, [() => document.image(image, MARGIN, 86, { fit: [220, 56] })]));
  document.x = x;
  document.y = y;
}

function addressLines({ street, postal_code, city, country, vat_id }: Party, texts: Texts): string[] {
  return [street, `${postal_code} ${city}`, texts.country(country), ...(vat_id === null ? [] : [`${texts.vatId} ${vat_id}`])];
}

/** Lines of which the first is bold. */
function writeAddress(
  { document, lettering, root: structParent }: Sheet,
  lines: readonly string[],
  { x, y }: { x: number; y: number },
): void {
  const width = x === MARGIN ? FACTS_X - MARGIN - 20 : MARGIN + PAGE_WIDTH - x;
  for (const [index, line] of lines.entries()) {
    const style: TextStyle = { weight: index === 0 ? 'bold' : 'regular', size: 9, color: TEXT_COLOR };
    lettering.write(line, style, { x, y: index === 0 ? y : document.y + 1, width, structParent });
  }
}

function headFactsOf(
  { number, date, due, period, times, corrects }: DocumentContent,
  texts: Texts,
): readonly (readonly [string, string])[] {
  return [
    [texts.number, number],
    [texts.date, date],
    ...(due === null ? [] : ([[texts.dueDate, due]] as const)),
    times
      ? [texts.period, texts.from(unbroken(times.start), unbroken(times.end))]
      : [`${texts.period}, UTC`, texts.from(period.first, period.last)],
    [texts.currency, 'EUR'],
    ...(corrects === null ? [] : ([[texts.correctsInvoice, texts.of(corrects.number, corrects.date)]] as const)),
  ];
}

/** A minute that stays on one line. */
function unbroken(minute: string): string {
  return minute.replace(' ', '\u00A0');
}

function writeHeadFacts({ document, root: structParent }: Sheet, facts: readonly (readonly [string, string])[]): void {
  let y = 164;
  for (const [name, value] of facts) {
    document.font('regular').fontSize(8).fillColor(MUTED_COLOR).text(name, FACTS_X, y, { lineBreak: false, structParent });
    document.fillColor(TEXT_COLOR).text(value, FACTS_X + 80, y, { width: MARGIN + PAGE_WIDTH - FACTS_X - 80, structParent });
    y = document.y + 4;
  }
}

const SUM_HEIGHT = 18;
/** For the notes. With the sums, so that they are not alone on the last page. */
const NOTES_HEIGHT = 96;

function writeGroups(page: Sheet, content: DocumentContent): void {
  const { document, lettering, texts, root } = page;
  const { groups, vat, times } = content;
  for (const [index, { title, lines, total }] of groups.entries()) {
    const after = index === groups.length - 1 ? sumRows(content, texts).length * SUM_HEIGHT + NOTES_HEIGHT : 0;
    // For the title, the heading and a first row, so that none of them is left alone at the end of a page. A single row is kept with its sum.
    const needed = lines.length > 1 ? 90 : 120 + after;
    if (document.y + needed > document.page.height - BOTTOM_MARGIN) document.addPage();
    const name = groupTitleIn(texts, title);
    document.font('bold').fontSize(11).fillColor(TEXT_COLOR).text(name, MARGIN, document.y, { structParent: root, structType: 'H2' });
    document.moveDown(0.3);
    const rows = lines.map(({ title: first, details, time, quantity, unitPrice, amount, ...treatment }) => ({
      cells: [first, quantity, unitPrice, texts.decimal(amount)],
      details: [details, ...timeAndRate(time, vat.length > 1 ? vatOf(treatment, texts) : undefined)],
    }));
    const sum = { cells: [texts.sumOf(name), '', '', texts.decimal(total)], bold: true };
    writeRows({ document, lettering, root }, columnsOf(texts, times?.zone), [...rows, sum], after);
    document.moveDown(1.2);
  }
}

/** One line, or none. The rate is only needed if the document has several. */
function timeAndRate(time: string, rate: string | undefined): string[] {
  const parts = [time, rate].filter((part) => part !== undefined && part !== '');
  return parts.length === 0 ? [] : [parts.join(' · ')];
}

type SumRow = readonly [name: string, amount: string, font: 'regular' | 'bold'];

function sumRows(content: DocumentContent, texts: Texts): SumRow[] {
  const { kind, net, vat, gross, prepaid = '0.00' } = content;
  const rows: SumRow[] = [
    [texts.net, net, 'regular'],
    ...vat.map((sum): SumRow => [texts.vatOn(vatOf(sum, texts), texts.decimal(sum.net)), sum.amount, 'regular']),
    [kind === 'invoice' ? texts.total : texts.totalInFavour, gross, 'bold'],
  ];
  if (prepaid !== '0.00') rows.push([texts.paidWithBalance, prepaid, 'regular'], [texts.leftToPay, leftToPay(content), 'bold']);
  return rows.map(([name, amount, font]) => [name, texts.decimal(amount), font]);
}

function writeSums({ document, texts, root: structParent }: Sheet, content: DocumentContent): void {
  const rows = sumRows(content, texts);
  if (document.y + rows.length * SUM_HEIGHT > document.page.height - BOTTOM_MARGIN) document.addPage();
  let { y } = document;
  for (const [name, amount, font] of rows) {
    document
      .font(font)
      .fontSize(font === 'bold' ? 11 : 9)
      .fillColor(TEXT_COLOR);
    document.text(name, FACTS_X - 30, y, { lineBreak: false, structParent });
    document.text(amount, MARGIN + PAGE_WIDTH - document.widthOfString(amount), y, { lineBreak: false, structParent });
    y += SUM_HEIGHT;
  }
  document.x = MARGIN;
  document.y = y + 8;
}

function vatOf({ basisPoints, reverseCharge = false }: VatTreatment, texts: Texts): string {
  return texts.vat(texts.decimal(String(basisPoints / 100)), reverseCharge);
}

function writeNotes({ document, lettering, texts, root: structParent }: Sheet, content: DocumentContent): void {
  const notes = [
    ...(content.reverseCharge ? [texts.reverseCharge] : []),
    ...(content.vatIds ?? []).map(({ vatId, first }) => texts.vatIdFrom(vatId, first)),
    ...(content.due === null ? [creditNote(content)] : [...(leftToPay(content) === '0.00' ? [] : [paymentNote(content)]), texts.rounding]),
  ];
  for (const note of notes) {
    if (document.y + 30 > document.page.height - BOTTOM_MARGIN) document.addPage();
    const style: TextStyle = { weight: 'regular', size: 8, color: TEXT_COLOR };
    lettering.write(note, style, { x: MARGIN, y: document.y, width: PAGE_WIDTH, structParent });
    document.moveDown(0.5);
  }
}

/** How to reach the seller, and the details of its company that business letters must have. */
function footerLines(seller: Seller, texts: Texts): string[] {
  const { company, email, vat_id, tax_number, bank_name, iban, bic, register, managing_directors } = seller;
  const tax = tax_number ? ` · ${texts.taxNumber} ${tax_number}` : '';
  const directors = managing_directors ? [`${texts.managingDirectors}: ${isolated(managing_directors)}`] : [];
  const legal = [...(register ? [isolated(register)] : []), ...directors];
  return [
    `${isolated(company)} · ${email} · ${texts.vatId} ${vat_id}${tax}`,
    `${isolated(bank_name)} · IBAN ${iban} · BIC ${bic}`,
    ...(legal.length > 0 ? [legal.join(' · ')] : []),
  ];
}

/** The seller's bank and the page number, below the text of every page. */
function writeFooters({ document, lettering, texts }: Sheet, { seller, number }: DocumentContent): void {
  const { count } = document.bufferedPageRange();
  for (let page = 0; page < count; page++) {
    document.switchToPage(page);
    // Text below the bottom margin would start a new page.
    document.page.margins.bottom = 0;
    const style: TextStyle = { weight: 'regular', size: 7, color: MUTED_COLOR };
    writeArtifact(document, () => {
      let y = document.page.height - 60;
      for (const line of footerLines(seller, texts)) {
        lettering.write(line, style, { x: MARGIN, y });
        y += 11;
      }
      const place = `${number} · ${texts.page(page + 1, count)}`;
      const x = MARGIN + PAGE_WIDTH - lettering.widthOf(place, style);
      lettering.write(place, style, { x, y: document.page.height - 49 });
    });
  }
}
