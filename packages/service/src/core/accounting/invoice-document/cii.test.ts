import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { errorText } from '@reseller/contract/is-error';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { xmlRegisterFsInputProviders } from 'libxml2-wasm/lib/nodejs.mjs';
import { describe, expect, test } from 'vitest';

import { creditNoteContent, invoiceContent, reverseChargeContent } from '../../../../test/document-contents.ts';
import { schematronOf } from '../../../../test/schematron.ts';
import { toCii } from './cii.ts';
import type { DocumentContent } from './content.ts';

const contents: Readonly<Record<string, () => DocumentContent>> = {
  'an invoice of 1 line': () => invoiceContent(),
  'an invoice of 40 lines': () => invoiceContent({ lines: 40 }),
  'an invoice of 400 lines': () => invoiceContent({ lines: 400 }),
  'an invoice with reverse charge': () => reverseChargeContent(3),
  'an invoice whose reverse charge began in its month': () => reverseChargeContent(40, 1900, 0),
  'an invoice with two VAT identifiers of the buyer': () => twoVatIds(),
  'an invoice with two VAT rates': () => invoiceContent({ lines: 41, rates: [1900, 1600] }),
  'an invoice with a rate of 0': () => invoiceContent({ lines: 4, rates: [1900, 0] }),
  'a credit note with two VAT rates': creditNoteContent,
  'an invoice that the balance pays in part': () => invoiceContent({ lines: 40, prepaid: '12.34' }),
};

function twoVatIds(): DocumentContent {
  const vatIds = [
    { vatId: 'HU87654321', first: '2026-11-01' },
    { vatId: 'HU12345678', first: '2026-11-16' },
  ];
  return { ...reverseChargeContent(2), vatIds };
}

/** The XML schema of EN 16931 in CII, as Factur-X publishes it. */
const SCHEMA = join(createRequire(import.meta.url).resolve('@stackforge-eu/factur-x'), '../../schema/en16931/FACTUR-X_EN16931.xsd');

/** The folder of the official rules of EN 16931. */
const EN16931 = new URL('../../../../test/en16931/', import.meta.url);

xmlRegisterFsInputProviders();

/** The violations of the schema. */
function violationsOf(xml: string): string[] {
  using schema = XmlDocument.fromBuffer(readFileSync(SCHEMA), { url: SCHEMA });
  using validator = XsdValidator.fromDoc(schema);
  using document = XmlDocument.fromString(xml);
  try {
    validator.validate(document);
    return [];
  } catch (error) {
    return [errorText(error)];
  }
}

function xmlOf(content: DocumentContent): string {
  const xml = toCii(content);
  if (xml === undefined) throw new Error('The document has no XML.');
  return xml;
}

describe.each(Object.entries(contents))('%s', (_, contentOf) => {
  test('follows the schema', () => {
    expect(violationsOf(xmlOf(contentOf()))).toEqual([]);
  });

  test('has sums that add up to the cent', () => {
    expect(brokenSums(xmlOf(contentOf()))).toEqual([]);
  });
});

test('an element that the schema does not have, or a spoiled sum, is found', () => {
  const xml = xmlOf(invoiceContent({ lines: 40, rates: [1900, 1600] }));
  expect(violationsOf(xml.replaceAll('ram:LineOne', 'ram:LineNone'))).not.toEqual([]);
  const spoil = (element: string) =>
    xml.replace(new RegExp(`(<ram:${element}[^>]*>)(\\d+)`), (__, tag, euros) => `${tag}${Number(euros) + 1}`);
  for (const element of [
    'LineTotalAmount',
    'BasisAmount',
    'CalculatedAmount',
    'TaxBasisTotalAmount',
    'TaxTotalAmount',
    'GrandTotalAmount',
    'DuePayableAmount',
  ])
    expect(brokenSums(spoil(element)), `${element}`).not.toEqual([]);
});

test('says what the document says', () => {
  const { rsm: invoice } = parsed(xmlOf(invoiceContent({ prepaid: '1.00' })));
  const { ApplicableHeaderTradeSettlement: settlement } = invoice.SupplyChainTradeTransaction;
  expect(invoice.ExchangedDocument).toMatchObject({
    ID: 'INV-00001',
    TypeCode: '380',
    IssueDateTime: { DateTimeString: { '#': '20261201' } },
  });
  expect(settlement).toMatchObject({
    PaymentReference: 'INV-00001',
    SpecifiedTradeSettlementPaymentMeans: { PayeePartyCreditorFinancialAccount: { IBANID: 'DE02120300000000202051' } },
    SpecifiedTradePaymentTerms: { DueDateDateTime: { DateTimeString: { '#': '20261215' } } },
  });
  const { rsm: note } = parsed(xmlOf(creditNoteContent()));
  expect(note.ExchangedDocument).toMatchObject({ ID: 'CN-00001', TypeCode: '381', IncludedNote: { Content: 'Outage on 20 November' } });
  expect(note.SupplyChainTradeTransaction.ApplicableHeaderTradeSettlement).toMatchObject({
    InvoiceReferencedDocument: { IssuerAssignedID: 'INV-00001', FormattedIssueDateTime: { DateTimeString: { '#': '20261201' } } },
  });
  const { rsm: abroad } = parsed(xmlOf(reverseChargeContent(1)));
  const [tax] = abroad.SupplyChainTradeTransaction.ApplicableHeaderTradeSettlement.ApplicableTradeTax;
  expect(tax).toMatchObject({
    CategoryCode: 'AE',
    ExemptionReasonCode: 'VATEX-EU-AE',
    CalculatedAmount: '0.00',
    RateApplicablePercent: '0',
  });
});

test('names the VAT identifier that the buyer has last, and each of the month in a note', () => {
  const { rsm: invoice } = parsed(xmlOf(twoVatIds()));
  const { BuyerTradeParty: buyer } = invoice.SupplyChainTradeTransaction.ApplicableHeaderTradeAgreement;
  expect(buyer.SpecifiedTaxRegistration).toEqual({ ID: { '@schemeID': 'VA', '#': 'HU12345678' } });
  expect(invoice.ExchangedDocument.IncludedNote).toEqual([
    { Content: 'VAT ID of the recipient from 2026-11-01: HU87654321.' },
    { Content: 'VAT ID of the recipient from 2026-11-16: HU12345678.' },
  ]);
});

test('the quantity and the price of a line give its amount, rounded up or down to a cent', () => {
  const { rsm: invoice } = parsed(xmlOf(invoiceContent({ lines: 400 })));
  for (const line of invoice.SupplyChainTradeTransaction.IncludedSupplyChainTradeLineItem) {
    const { ChargeAmount, BasisQuantity } = line.SpecifiedLineTradeAgreement.NetPriceProductTradePrice;
    const quantity = Number(line.SpecifiedLineTradeDelivery.BilledQuantity['#']);
    const exact = (quantity * Number(ChargeAmount)) / Number(BasisQuantity['#']);
    const amount = Number(line.SpecifiedLineTradeSettlement.SpecifiedTradeSettlementLineMonetarySummation.LineTotalAmount);
    expect(Math.abs(amount - exact)).toBeLessThan(0.01);
  }
});

test('a buyer without an address has no XML', () => {
  expect(toCii(invoiceContent({ change: { buyer: { company: 'Only a name' } } }))).toBeUndefined();
});

test('any text of a company, a hostname or a reason is well-formed XML, and stays as it is but for characters that XML does not allow', () => {
  const texts = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(texts, fc.constantFrom('', '<', '&', ']]>', '"', '\u0000', '\uD800', '\uFFFF'), (one, special) => {
      const company = `a${one}${special}z`;
      const buyer = { company, street: company, postal_code: '1', city: company, country: 'DE', vat_id: null };
      const { rsm: invoice } = parsed(xmlOf(invoiceContent({ change: { buyer } })));
      // oxlint-disable-next-line no-control-regex -- these are the characters that XML does not allow
      const allowed = company.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '').replaceAll(/\p{Cs}/gu, '');
      // A parser reads each end of a line as \n.
      expect(invoice.SupplyChainTradeTransaction.ApplicableHeaderTradeAgreement.BuyerTradeParty.Name).toBe(
        allowed.replaceAll(/\r\n?/g, '\n'),
      );
    }),
  );
});

describe('the official Schematron of EN 16931', () => {
  const check = schematronOf(readFileSync(new URL('EN16931-CII-validation-preprocessed.sch', EN16931), 'utf8'));

  // 400 lines have the same elements as 40, and their sums take 11 seconds.
  const { 'an invoice of 400 lines': _long, ...short } = contents;
  const usual = new Set([
    'an invoice of 1 line',
    'an invoice with two VAT identifiers of the buyer',
    'an invoice with reverse charge',
    'a credit note with two VAT rates',
  ]);
  for (const [name, contentOf] of Object.entries(short)) {
    test(`has no rule that ${name} breaks`, { tags: usual.has(name) ? [] : ['deep'] }, () => {
      const { evaluated, failed } = check(xmlOf(contentOf()));
      expect(evaluated).toBeGreaterThan(500);
      expect(failed).toEqual([]);
    });
  }

  test('finds a spoiled sum', () => {
    const spoiled = xmlOf(invoiceContent({ lines: 4 })).replace(
      /(<ram:LineTotalAmount>)(\d+)/,
      (_, tag, euros) => `${tag}${Number(euros) + 1}`,
    );
    expect(check(spoiled).failed).toEqual(['BR-CO-10', 'BR-S-08']);
  });
});

function parsed(xml: string) {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    textNodeName: '#',
    removeNSPrefix: true,
    parseTagValue: false,
    trimValues: false,
    processEntities: true,
    isArray: (name) => name === 'IncludedSupplyChainTradeLineItem',
    alwaysCreateTextNode: false,
  });
  const read = parser.parse(xml.replaceAll(/>\n *</g, '><'));
  const invoice = read.CrossIndustryInvoice;
  const settlement = invoice.SupplyChainTradeTransaction.ApplicableHeaderTradeSettlement;
  settlement.ApplicableTradeTax = [settlement.ApplicableTradeTax].flat();
  return { rsm: invoice };
}

/** The rules of EN 16931 about sums that an invoice breaks: BR-CO-10, BR-CO-13 to BR-CO-17, and the net amount of each rate. */
function brokenSums(xml: string): string[] {
  const { SupplyChainTradeTransaction: trade } = parsed(xml).rsm;
  const { ApplicableHeaderTradeSettlement: settlement, IncludedSupplyChainTradeLineItem: items } = trade;
  const totals = settlement.SpecifiedTradeSettlementHeaderMonetarySummation;
  const lines: { rate: string; amount: bigint }[] = items.map(({ SpecifiedLineTradeSettlement: line }: typeof trade) => ({
    rate: `${line.ApplicableTradeTax.CategoryCode} ${line.ApplicableTradeTax.RateApplicablePercent}`,
    amount: cents(line.SpecifiedTradeSettlementLineMonetarySummation.LineTotalAmount),
  }));
  const taxes: { rate: string; net: bigint; vat: bigint; percent: number }[] = settlement.ApplicableTradeTax.map((tax: typeof trade) => ({
    rate: `${tax.CategoryCode} ${tax.RateApplicablePercent}`,
    percent: Number(tax.RateApplicablePercent),
    net: cents(tax.BasisAmount),
    vat: cents(tax.CalculatedAmount),
  }));
  const sum = (amounts: readonly bigint[]) => amounts.reduce((all, one) => all + one, 0n);
  const vat = sum(taxes.map((tax) => tax.vat));
  const equations: readonly (readonly [string, bigint, bigint])[] = [
    ['the lines are the net amount', sum(lines.map(({ amount }) => amount)), cents(totals.LineTotalAmount)],
    ['nothing is deducted or added', cents(totals.LineTotalAmount), cents(totals.TaxBasisTotalAmount)],
    ['the VAT is that of the rates', vat, cents(totals.TaxTotalAmount['#'])],
    ['net and VAT are gross', cents(totals.TaxBasisTotalAmount) + vat, cents(totals.GrandTotalAmount)],
    [
      'gross less prepaid is due',
      cents(totals.GrandTotalAmount) - cents(totals.TotalPrepaidAmount ?? '0.00'),
      cents(totals.DuePayableAmount),
    ],
    ...taxes.map(
      ({ rate, net }) => [`net of ${rate}`, net, sum(lines.filter((line) => line.rate === rate).map(({ amount }) => amount))] as const,
    ),
  ];
  const untaxed = lines.filter(({ rate }) => taxes.every((tax) => tax.rate !== rate));
  // A credit note has the rest of the VAT of its invoice, which may differ by a cent.
  const wrongVat = taxes.filter((tax) => Math.abs(Number(tax.vat) - (Number(tax.net) * tax.percent) / 100) > 1);
  return [
    ...equations.filter(([, one, other]) => one !== other).map(([name]) => name),
    ...untaxed.map(({ rate }) => `no sum for ${rate}`),
    ...wrongVat.map(({ rate }) => `VAT of ${rate}`),
  ];
}

function cents(amount: string): bigint {
  expect(amount).toMatch(/^\d+\.\d\d$/);
  return BigInt(amount.replace('.', ''));
}
