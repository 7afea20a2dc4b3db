import { XmlDocument } from 'libxml2-wasm';
import { getDocumentProxy } from 'unpdf';
import { OPS } from 'unpdf/pdfjs';
import { expect, test } from 'vitest';

import { creditNoteContent, invoiceContent } from '../../../../test/document-contents.ts';
import { sandboxSeller } from '../../../sandbox/seller.ts';
import type { DocumentContent, Line } from './content.ts';
import { renderDocument } from './pdf.ts';

const line: Line = {
  title: 'web1.example.com',
  details: 'VM 10000, 2 cores',
  time: '2026-11-10 – 2026-11-20',
  quantity: '9 d 12 h',
  unitPrice: '10.40 / 30 d',
  amount: '3.29',
  basisPoints: 1_900,
};
/** A title of two lines. */
const LONG_TITLE = `${'a'.repeat(60)}.example`;

const invoice: DocumentContent = {
  kind: 'invoice',
  number: 'INV-00001',
  date: '2026-12-01',
  due: '2026-12-15',
  seller: sandboxSeller,
  buyer: {
    company: 'Łódź Hosting',
    street: 'ul. Piotrkowska 1',
    postal_code: '90-001',
    city: 'Łódź',
    country: 'PL',
    vat_id: 'PL1234567890',
  },
  period: { first: '2026-11-01', last: '2026-11-30' },
  corrects: null,
  groups: [
    { title: 'Virtual servers', lines: [line, { ...line, title: LONG_TITLE }], total: '6.58' },
    { title: 'Domains', lines: [{ ...line, title: 'x.example', details: 'Renewal, in advance' }], total: '3.29' },
  ],
  net: '9.87',
  vat: [{ basisPoints: 1_900, net: '9.87', amount: '1.88' }],
  gross: '11.75',
  reverseCharge: false,
};

interface Text {
  readonly page: number;
  /** Points from the left and upper edges of the page to the baseline. */
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly isBold: boolean;
  readonly text: string;
}

async function textsOf(content: DocumentContent): Promise<Text[]> {
  const pdf = await getDocumentProxy(new Uint8Array(await renderDocument(content)));
  const texts: Text[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const [, , , height = 0] = page.view;
    const { items } = await page.getTextContent();
    // Loads the fonts.
    await page.getOperatorList();
    for (const item of items) {
      if (!('str' in item) || item.str.trim() === '') continue;
      const [size = 0, , , , x = 0, y = 0] = item.transform;
      const isBold = /Bold/.test(page.commonObjs.get(item.fontName).name);
      texts.push({ page: number, x: Math.round(x), y: Math.round(height - y), size, isBold, text: item.str });
    }
  }
  return texts;
}

const toLine = ({ x, y, size, isBold, text }: Text) => `${x} ${y} ${size}${isBold ? ' bold' : ''}: ${text}`;
const linesOf = async (content: DocumentContent) => (await textsOf(content)).map(toLine);

const LETTERHEAD = [
  '330 58 9 bold: Sandbox Infrastructure GmbH',
  '330 70 9: Serverstraße 1',
  '330 81 9: 60311 Frankfurt am Main',
  '330 93 9: Germany',
  '330 104 9: VAT ID DE123456789',
  '50 156 6.5: Sandbox Infrastructure GmbH · Serverstraße 1 · 60311 Frankfurt am Main',
  '50 172 9 bold: Łódź Hosting',
];
const detailAt = (y: number, name: string, value: string) => [`330 ${y} 8: ${name}`, `410 ${y} 8: ${value}`];
const columnsAt = (y: number) => [
  `50 ${y} 8: Description, time in UTC`,
  `385 ${y} 8: Quantity`,
  `446 ${y} 8: Unit price`,
  `514 ${y} 8: Amount`,
];
const figuresAt = (y: number) => [`387 ${y} 8: 9 d 12 h`, `437 ${y} 8: 10.40 / 30 d`, `527 ${y} 8: 3.29`];
const SUMS = ['300 494 9: Net amount, EUR', '525 494 9: 9.87', '300 512 9: VAT 19 % on 9.87, EUR', '525 512 9: 1.88'];

const GROUPS = [
  '50 261 11 bold: Virtual servers',
  ...columnsAt(279),
  '50 296 8: web1.example.com',
  '50 304 7: VM 10000, 2 cores',
  '50 312 7: 2026-11-10 – 2026-11-20',
  ...figuresAt(296),
  '50 330 8: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  '50 339 8: aaaaaaaaaa.example',
  '50 347 7: VM 10000, 2 cores',
  '50 355 7: 2026-11-10 – 2026-11-20',
  ...figuresAt(330),
  '50 372 8 bold: Sum of virtual servers',
  '525 372 8 bold: 6.58',
  '50 400 11 bold: Domains',
  ...columnsAt(418),
  '50 435 8: x.example',
  '50 443 7: Renewal, in advance',
  '50 451 7: 2026-11-10 – 2026-11-20',
  ...figuresAt(435),
  '50 469 8 bold: Sum of domains',
  '525 469 8 bold: 3.29',
];
const BUYER_ADDRESS = ['50 184 9: ul. Piotrkowska 1', '50 195 9: 90-001 Łódź', '50 207 9: Poland', '50 218 9: VAT ID PL1234567890'];
const FOOTER = [
  '50 788 7: Sandbox Infrastructure GmbH · billing@provider.example · VAT ID DE123456789',
  '50 799 7: Musterbank · IBAN DE02120300000000202051 · BIC BYLADEM1001',
  '50 810 7: Amtsgericht Frankfurt am Main, HRB 12345 · Managing directors: Erika Mustermann',
  '462 799 7: INV-00001 · page 1 of 1',
];

test('places every text of an invoice', async () => {
  expect(await linesOf(invoice)).toEqual([
    '50 69 20 bold: Invoice',
    ...LETTERHEAD,
    ...BUYER_ADDRESS,
    ...detailAt(171, 'Number', 'INV-00001'),
    ...detailAt(185, 'Date', '2026-12-01'),
    ...detailAt(198, 'Due date', '2026-12-15'),
    ...detailAt(211, 'Period, UTC', '2026-11-01 to 2026-11-30'),
    ...detailAt(225, 'Currency', 'EUR'),
    ...GROUPS,
    ...SUMS,
    '300 532 11 bold: Total, EUR',
    '510 532 11 bold: 11.75',
    '50 555 8: Please transfer 11.75 EUR by 2026-12-15 to DE02120300000000202051 (Musterbank) with the reference INV-00001.',
    '50 569 8: A virtual server is billed for each second, at its price for 30 days (d). The net total is rounded once, half to even, and the',
    '50 578 8: VAT of each rate half up, to cents. The lines add up to the net total.',
    ...FOOTER,
  ]);
});

test('names the corrected invoice on a credit note, which has no due date', async () => {
  const corrects = { number: 'INV-00001', date: '2026-12-01', reason: 'outage' };
  expect(await linesOf({ ...invoice, kind: 'credit_note', due: null, corrects, reverseCharge: true })).toEqual([
    '50 69 20 bold: Credit note',
    ...LETTERHEAD,
    ...BUYER_ADDRESS,
    ...detailAt(171, 'Number', 'INV-00001'),
    ...detailAt(185, 'Date', '2026-12-01'),
    ...detailAt(198, 'Period, UTC', '2026-11-01 to 2026-11-30'),
    ...detailAt(211, 'Currency', 'EUR'),
    ...detailAt(225, 'Corrects invoice', 'INV-00001 of 2026-12-01'),
    ...GROUPS,
    ...SUMS,
    '300 532 11 bold: Total in your favour, EUR',
    '510 532 11 bold: 11.75',
    '50 555 8: Reverse charge: the recipient owes the VAT (Article 196 of Council Directive 2006/112/EC).',
    '50 569 8: We credit 11.75 EUR for invoice INV-00001, which stays as it is. The amount is set off against what is still to pay of the',
    '50 578 8: invoice. The rest pays your next invoices.',
    ...FOOTER,
  ]);
});

test('requests no payment for an invoice of 0.00 EUR, and shows only the name of an account without a billing profile', async () => {
  const lines = await linesOf({ ...invoice, buyer: { company: 'Łódź Hosting' }, groups: [], gross: '0.00' });
  expect(lines).toContain('330 171 8: Number');
  expect(lines.filter((one) => one.startsWith('50 '))).toEqual([
    '50 69 20 bold: Invoice',
    '50 156 6.5: Sandbox Infrastructure GmbH · Serverstraße 1 · 60311 Frankfurt am Main',
    '50 172 9 bold: Łódź Hosting',
    expect.stringMatching(/: A virtual server is billed for each second/),
    expect.stringMatching(/The lines add up to the net total\.$/),
    ...FOOTER.slice(0, 3),
  ]);
});

test('shows the code of a country that is not on the list of countries', async () => {
  expect(await linesOf({ ...invoice, seller: { ...sandboxSeller, country: 'ZZ' } })).toContain('330 93 9: ZZ');
});

test('leaves room for the footer on every page, and never separates a heading or a sum from its lines', async () => {
  const pageEnds = new Set<string>();
  const sizes = [
    [9, 1],
    [10, 0],
    [11, 2],
    [12, 0],
    [13, 1],
    [14, 0],
    [15, 1],
    [16, 0],
    [17, 1],
    [18, 0],
  ] as const;
  for (const [rows, longTitles] of sizes) {
    const lines = Array.from({ length: rows }, (_, index) => (index < longTitles ? { ...line, title: LONG_TITLE } : line));
    const content = { ...invoice, groups: [{ title: 'Virtual servers', lines, total: '3.29' }, ...invoice.groups.slice(1)] };
    const texts = await textsOf(content);
    const last = texts.at(-1)?.page ?? 0;
    for (let page = 1; page <= last; page++) {
      const ofPage = texts.filter((one) => one.page === page);
      const body = ofPage.slice(0, -4);
      expect(ofPage.slice(-4).map(({ text }) => text)).toEqual([
        expect.stringContaining('billing@provider.example'),
        expect.stringContaining('IBAN'),
        expect.stringContaining('HRB 12345'),
        `INV-00001 · page ${page} of ${last}`,
      ]);
      expect(Math.max(...body.map(({ y }) => y))).toBeLessThanOrEqual(752);
      expect(Math.min(...body.map(({ y }) => y))).toBeLessThan(70);
      // The last text of a heading, and the texts of the sums that are followed by other sums.
      for (const lonely of ['Virtual servers', 'Domains', 'Amount', 'Net amount, EUR', '9.87', '1.88', 'Total, EUR'])
        expect(body.at(-1)?.text).not.toBe(lonely);
      if (page < last) pageEnds.add(texts.find((one) => one.page === page + 1)?.text ?? '');
    }
    for (const sum of ['Net amount, EUR', 'VAT 19 % on 9.87, EUR'])
      expect(texts.find(({ text }) => text === sum)?.page).toBe(texts.find(({ text }) => text === 'Total, EUR')?.page);
  }
  // A page never begins with a sum or a note, so the total is never alone on one.
  expect([...pageEnds].toSorted()).toEqual(['Description, time in UTC', 'Domains']);
});

test.each([1, 12, 13, 14, 15, 16, 17, 40])('an invoice of %i lines has a line on the page of its total', async (count) => {
  const lines = Array.from({ length: count }, (_, index) => ({ ...line, title: `web${index}` }));
  const texts = await textsOf({ ...invoice, groups: [{ title: 'Virtual servers', lines, total: '3.29' }] });
  const pageOf = (text: string) => texts.find((one) => one.text === text)?.page;
  expect([pageOf(`web${count - 1}`), pageOf('Sum of virtual servers')]).toEqual([pageOf('Total, EUR'), pageOf('Total, EUR')]);
});

test.each(Array.from({ length: 14 }, (_, index) => index + 4))(
  'an invoice of %i lines with four VAT rates that the balance pays in part has a line on the page of all sums',
  async (count) => {
    const texts = await textsOf(invoiceContent({ lines: count, rates: [1900, 1600, 700, 0], prepaid: '0.01' }));
    const pageOf = (beginning: string) => texts.find(({ text }) => text.startsWith(beginning))?.page;
    const pages = [`web${count}.`, 'Net amount', 'VAT 0 % on', 'Total, EUR', 'Left to pay', 'Please transfer'].map(pageOf);
    expect(pages).toEqual(pages.map(() => pages[0]));
  },
);

test('shows no line about the company if the seller has neither a register nor directors', async () => {
  const { register: _register, managing_directors: _directors, ...seller } = sandboxSeller;
  const lines = await linesOf({ ...invoice, seller: { ...seller, tax_number: '045 123 45678' } });
  expect(lines.slice(-3)).toEqual([
    '50 788 7: Sandbox Infrastructure GmbH · billing@provider.example · VAT ID DE123456789 · tax number 045 123 45678',
    ...FOOTER.slice(1, 2),
    ...FOOTER.slice(3),
  ]);
});

/** The texts of the lines of the buyer, which pdf.js puts into the order in which they are read. */
async function buyerLines(company: string): Promise<string[]> {
  const texts = await textsOf({ ...invoice, buyer: { company } });
  const byLine = Map.groupBy(
    texts.filter(({ x, y }) => x < 300 && y > 160 && y < 250),
    ({ y }) => y,
  );
  return [...byLine.values()].map((parts) =>
    parts
      .toSorted((one, other) => one.x - other.x)
      .map(({ text }) => text)
      .join(''),
  );
}

test.each([
  ['simplified Chinese', '张伟科技有限公司'],
  ['traditional Chinese', '國龍資訊臺灣'],
  ['a rare letter of Hong Kong', '深水埗'],
  ['Japanese', '株式会社さくらサーバー'],
  ['a Japanese letter that Noto Sans SC lacks', '鯵'],
  ['Korean', '한국서버'],
  ['Thai', 'โฮสติ้ง'],
  ['Cyrillic, Greek, Polish and Hungarian', 'Łódź Ουρανός Мир ħőș'],
  ['Vietnamese', 'Nguyễn Đặng Trách nhiệm'],
])('prints a name in %s', async (_, company) => {
  expect(await buyerLines(company)).toEqual([company]);
});

interface Glyph {
  readonly letter: string;
  /** How many numbers its outline has. */
  readonly outline: number;
}

/** What the first page shows, in the order in which it is written: from left to right. */
async function glyphsOf(content: DocumentContent): Promise<Glyph[]> {
  const pdf = await getDocumentProxy(new Uint8Array(await renderDocument(content)));
  const page = await pdf.getPage(1);
  const { fnArray, argsArray } = await page.getOperatorList();
  const glyphs: Glyph[] = [];
  let font = '';
  for (const [index, operator] of fnArray.entries()) {
    const [first] = argsArray[index] ?? [];
    if (operator === OPS.setFont) font = String(first);
    if (operator !== OPS.showText) continue;
    for (const { unicode: letter, fontChar } of first)
      if (letter !== undefined) glyphs.push({ letter, outline: page.commonObjs.get(`${font}_path_${fontChar}`).path.length });
  }
  return glyphs;
}

const fromLeftToRight = (glyphs: readonly Glyph[]) => glyphs.map(({ letter }) => letter).join('');

test('prints the outlines of letters that its usual font does not have', async () => {
  const glyphs = await glyphsOf({ ...invoice, buyer: { company: '张伟 한국 ไทย' } });
  const others = glyphs.filter(({ letter }) => /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Thai}/u.test(letter));
  expect(fromLeftToRight(others)).toBe('张伟한국ไทย');
  expect(Math.min(...others.map(({ outline }) => outline))).toBeGreaterThan(20);
});

test.each([
  ['Arabic', 'شركة النور', 'رونلا ةكرش'],
  ['Hebrew with a number and brackets', 'רחוב 7 (בניין)', '(ןיינב) 7 בוחר'],
  ['Arabic with a Latin name', 'شركة Nour Hosting', 'Nour Hosting ةكرش'],
])('writes a name in %s from right to left', async (_, company, expected) => {
  expect(fromLeftToRight(await glyphsOf({ ...invoice, buyer: { company } }))).toContain(expected);
});

test('wraps a long Chinese name, and does not begin a line with punctuation', async () => {
  const company = '深圳市腾云信息技术与数据处理服务有限责任公司（北京分公司）国际业务部，第三事业群';
  const lines = await buyerLines(company);
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.join('')).toBe(company);
  expect(lines.filter((text) => /^[，）]/.test(text))).toEqual([]);
});

test('shows the code points of letters that no font has, and of controls that would change the direction of the text', async () => {
  expect(await buyerLines('Łódź \u202E31.1\u202C 😀 \u{1F9D8}')).toEqual(['Łódź [U+202E]31.1[U+202C] 😀 [U+1F9D8]']);
});

test('keeps the order of the footer if the company has an Arabic name', async () => {
  const seller = { ...sandboxSeller, company: 'شركة النور' };
  expect(fromLeftToRight(await glyphsOf({ ...invoice, seller }))).toContain('رونلا ةكرش · billing@provider.example · VAT ID');
});

/** The metadata of the PDF as XML, read by a parser that refuses what is not well-formed. */
async function metadataOf(content: DocumentContent): Promise<XmlDocument> {
  const pdf = Buffer.from(await renderDocument(content)).toString('utf8');
  const xml = /<x:xmpmeta.*?<\/x:xmpmeta>/s.exec(pdf)?.[0];
  if (xml === undefined) throw new Error('The PDF has no XMP metadata.');
  return XmlDocument.fromString(xml);
}

const NAMESPACES = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  dc: 'http://purl.org/dc/elements/1.1/',
  fx: 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#',
  pdfaProperty: 'http://www.aiim.org/pdfa/ns/property#',
  pdfaSchema: 'http://www.aiim.org/pdfa/ns/schema#',
  pdfaid: 'http://www.aiim.org/pdfa/ns/id/',
};

test.each([
  ['an invoice', invoiceContent()],
  ['a credit note', creditNoteContent()],
])('tells readers of Factur-X about the XML of %s, and does not claim PDF/A', async (_, content) => {
  const seller = { ...sandboxSeller, company: '<KG> & Söhne' };
  using metadata = await metadataOf({ ...content, seller });
  const valuesOf = (path: string) => metadata.find(path, NAMESPACES).map((node) => node.content);
  expect(valuesOf('//fx:*')).toEqual(['factur-x.xml', 'INVOICE', '1.0', 'EN 16931']);
  expect(valuesOf('//pdfaSchema:namespaceURI')).toEqual([NAMESPACES.fx]);
  expect(valuesOf('//pdfaProperty:name')).toEqual(['DocumentFileName', 'DocumentType', 'Version', 'ConformanceLevel']);
  expect(valuesOf('//dc:creator//rdf:li')).toEqual(['<KG> & Söhne']);
  expect(valuesOf('//pdfaid:*')).toEqual([]);
  const pdf = await getDocumentProxy(new Uint8Array(await renderDocument(content)));
  expect((await pdf.getMetadata()).metadata?.get('dc:creator')).toEqual([sandboxSeller.company]);
});

test('tells readers of Factur-X nothing if the buyer has no address, and so the document has no XML', async () => {
  using metadata = await metadataOf({ ...invoice, buyer: { company: 'Only a name' } });
  expect(metadata.find('//fx:*', NAMESPACES)).toEqual([]);
});

test.each(['en', 'de'] as const)('a PDF in %s is tagged for screen readers: headings, and each cell of the tables', async (language) => {
  const content: DocumentContent = { ...invoiceContent({ lines: 60 }), language };
  const pdf = await getDocumentProxy(new Uint8Array(await renderDocument(content)));
  expect(await pdf.getMarkInfo()).toMatchObject({ Marked: true });
  const { info } = await pdf.getMetadata();
  expect(info).toMatchObject({ Language: language, Title: language === 'de' ? 'Rechnung INV-00001' : 'Invoice INV-00001' });
  const roles: string[] = [];
  for (let page = 1; page <= pdf.numPages; page++) {
    const tree = await (await pdf.getPage(page)).getStructTree();
    roles.push(...rolesOf(tree));
  }
  const count = (role: string) => roles.filter((one) => one === role).length;
  expect([count('H1'), count('H2'), count('TH')]).toEqual([1, 1, 4]);
  // The lines, and their sum. Each row has four cells.
  expect(count('TD')).toBe(61 * 4);
});

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>;
type StructureNode = Awaited<ReturnType<PdfPage['getStructTree']>>;

/** The roles of the elements with content on the page. */
function rolesOf({ role, children }: StructureNode): string[] {
  return children.length === 0 ? [] : [role, ...children.flatMap((child) => ('role' in child ? rolesOf(child) : []))];
}

test.each([2, 12, 14, 16, 40, 250])('an invoice of %i lines in German has its total and all notes on one page', async (count) => {
  const texts = await textsOf({ ...invoiceContent({ lines: count, rates: [1900, 700], prepaid: '0.01' }), language: 'de' });
  const pageOf = (beginning: string) => texts.find(({ text }) => text.startsWith(beginning))?.page;
  const pages = [`web${count}.`, 'Nettobetrag', 'USt 7 % auf', 'Gesamtbetrag, EUR', 'Noch zu zahlen', 'Ein virtueller Server'].map(pageOf);
  expect(pages).toEqual(pages.map(() => pages[0]));
  expect(pages[0]).toBeDefined();
});
