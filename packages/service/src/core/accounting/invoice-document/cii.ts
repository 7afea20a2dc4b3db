/**
 * An issued document for programs: EN 16931 in the syntax Cross Industry Invoice (D16B).
 *
 * The amount of a line is in whole cents, as EN 16931 requires, and the lines add up to the net amount of their rate: each is its exact amount,
 * rounded down or up so that the sum is right (`rules/apportion.ts`). So no rounding amount is needed, and all sums of EN 16931 hold exactly. The
 * exact amount of a line can be computed again from its quantity in seconds and its price, which is for a quantity of 30 days in seconds.
 */
import XMLBuilder from 'fast-xml-builder';

import { decimalOf, euros } from '../../../rules/money.ts';
import type { VatTreatment } from '../../../rules/vat.ts';
import { leftToPay } from './content.ts';
import type { DocumentContent, Line, RateSum } from './content.ts';
import { creditNote, paymentNote, textsOf } from './notes.ts';
import type { Party, Seller } from './parties.ts';
import type { Texts } from './texts.ts';

/** Elements by name. An array repeats its element. Attributes begin with `@`, and `#` is the text. Undefined is left out. */
interface Elements {
  readonly [name: string]: Content;
}
type Content = string | Elements | readonly Elements[] | undefined;

const NAMESPACES = {
  '@xmlns:rsm': 'urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100',
  '@xmlns:ram': 'urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100',
  '@xmlns:udt': 'urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100',
  '@xmlns:qdt': 'urn:un:unece:uncefact:data:standard:QualifiedDataType:100',
};

/** Codes of UNTDID 1001. */
const TYPE_CODES = { invoice: '380', credit_note: '381' } as const;
/** A transfer inside SEPA, of UNTDID 4461. */
const SEPA_TRANSFER = '58';
/** Codes of UN/ECE Recommendation 20. */
const UNITS = { second: 'SEC', piece: 'C62' } as const;

const builder = new XMLBuilder({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  textNodeName: '#',
  format: true,
  suppressEmptyNode: true,
});

/** The XML of a document. Undefined if the buyer has no address, which EN 16931 requires. */
export function toCii(content: DocumentContent): string | undefined {
  const { buyer } = content;
  if (!('street' in buyer)) return undefined;
  const lines = content.groups.flatMap((group) => group.lines);
  const invoice: Elements = {
    ...NAMESPACES,
    'rsm:ExchangedDocumentContext': {
      'ram:GuidelineSpecifiedDocumentContextParameter': { 'ram:ID': 'urn:cen.eu:en16931:2017' },
    },
    'rsm:ExchangedDocument': {
      'ram:ID': content.number,
      'ram:TypeCode': TYPE_CODES[content.kind],
      'ram:IssueDateTime': day(content.date),
      'ram:IncludedNote': notesOf(content).map((note) => ({ 'ram:Content': text(note) })),
    },
    'rsm:SupplyChainTradeTransaction': {
      'ram:IncludedSupplyChainTradeLineItem': lines.map((line, index) => lineItem(line, index + 1)),
      'ram:ApplicableHeaderTradeAgreement': {
        'ram:SellerTradeParty': sellerParty(content.seller),
        'ram:BuyerTradeParty': { 'ram:Name': text(buyer.company), ...address(buyer), ...vatRegistration(buyer.vat_id) },
      },
      'ram:ApplicableHeaderTradeDelivery': '',
      'ram:ApplicableHeaderTradeSettlement': settlement(content),
    },
  };
  return `<?xml version="1.0" encoding="UTF-8"?>\n${builder.build({ 'rsm:CrossIndustryInvoice': withoutMissing(invoice) })}`;
}

/** EN 16931 has one VAT identifier of the buyer. The ones that owed VAT before it are in notes, as on the PDF. */
function notesOf(content: DocumentContent): string[] {
  const { corrects, vatIds = [] } = content;
  const texts = textsOf(content);
  return [...(corrects === null ? [] : [corrects.reason]), ...vatIds.map(({ vatId, first }) => texts.vatIdFrom(vatId, first))];
}

function lineItem(line: Line, number: number): Elements {
  const measured = line.measured ?? { quantity: 1, unit: 'piece', price: line.amount, priceQuantity: 1 };
  const unit = UNITS[measured.unit];
  return {
    'ram:AssociatedDocumentLineDocument': { 'ram:LineID': String(number) },
    'ram:SpecifiedTradeProduct': { 'ram:Name': text(line.title), 'ram:Description': text(line.details) },
    'ram:SpecifiedLineTradeAgreement': {
      'ram:NetPriceProductTradePrice': {
        'ram:ChargeAmount': measured.price,
        'ram:BasisQuantity': { '@unitCode': unit, '#': String(measured.priceQuantity) },
      },
    },
    'ram:SpecifiedLineTradeDelivery': { 'ram:BilledQuantity': { '@unitCode': unit, '#': String(measured.quantity) } },
    'ram:SpecifiedLineTradeSettlement': {
      'ram:ApplicableTradeTax': tax(line),
      'ram:BillingSpecifiedPeriod': line.measured && period(line.measured),
      'ram:SpecifiedTradeSettlementLineMonetarySummation': { 'ram:LineTotalAmount': line.amount },
    },
  };
}

/** The category of UNTDID 5305: standard, zero or reverse charge. */
function categoryOf({ basisPoints, reverseCharge }: VatTreatment): 'S' | 'Z' | 'AE' {
  if (reverseCharge) return 'AE';
  return basisPoints === 0 ? 'Z' : 'S';
}

function tax(treatment: VatTreatment): Elements {
  return {
    'ram:TypeCode': 'VAT',
    'ram:CategoryCode': categoryOf(treatment),
    'ram:RateApplicablePercent': String(treatment.basisPoints / 100),
  };
}

function sellerParty(seller: Seller): Elements {
  const legal = [seller.register, seller.managing_directors].filter((part) => typeof part === 'string');
  return {
    'ram:Name': text(seller.company),
    'ram:Description': legal.length === 0 ? undefined : text(legal.join(', ')),
    'ram:DefinedTradeContact': {
      'ram:PersonName': text(seller.company),
      'ram:EmailURIUniversalCommunication': { 'ram:URIID': text(seller.email) },
    },
    ...address(seller),
    'ram:URIUniversalCommunication': { 'ram:URIID': { '@schemeID': 'EM', '#': text(seller.email) } },
    'ram:SpecifiedTaxRegistration': [
      ...(seller.tax_number ? [{ 'ram:ID': { '@schemeID': 'FC', '#': text(seller.tax_number) } }] : []),
      { 'ram:ID': { '@schemeID': 'VA', '#': seller.vat_id } },
    ],
  };
}

function address({ postal_code, street, city, country }: Party): Elements {
  return {
    'ram:PostalTradeAddress': {
      'ram:PostcodeCode': text(postal_code),
      'ram:LineOne': text(street),
      'ram:CityName': text(city),
      'ram:CountryID': country,
    },
  };
}

function vatRegistration(vatId: string | null): Elements {
  return vatId === null ? {} : { 'ram:SpecifiedTaxRegistration': { 'ram:ID': { '@schemeID': 'VA', '#': vatId } } };
}

function settlement(content: DocumentContent): Elements {
  const { number, seller, vat, due, corrects } = content;
  return {
    'ram:PaymentReference': due === null ? undefined : number,
    'ram:InvoiceCurrencyCode': 'EUR',
    'ram:SpecifiedTradeSettlementPaymentMeans': due === null ? undefined : transferTo(seller),
    'ram:ApplicableTradeTax': vat.map((sum) => taxSum(sum, textsOf(content))),
    'ram:BillingSpecifiedPeriod': period(content.period),
    'ram:SpecifiedTradePaymentTerms': {
      'ram:Description': text(due === null ? creditNote(content) : paymentNote(content)),
      'ram:DueDateDateTime': due === null ? undefined : day(due),
    },
    'ram:SpecifiedTradeSettlementHeaderMonetarySummation': totals(content),
    'ram:InvoiceReferencedDocument':
      corrects === null
        ? undefined
        : {
            'ram:IssuerAssignedID': corrects.number,
            'ram:FormattedIssueDateTime': { 'qdt:DateTimeString': { '@format': '102', '#': corrects.date.replaceAll('-', '') } },
          },
  };
}

function transferTo({ iban, bic, company }: Seller): Elements {
  return {
    'ram:TypeCode': SEPA_TRANSFER,
    'ram:PayeePartyCreditorFinancialAccount': { 'ram:IBANID': iban, 'ram:AccountName': text(company) },
    'ram:PayeeSpecifiedCreditorFinancialInstitution': { 'ram:BICID': bic },
  };
}

function taxSum(sum: RateSum, texts: Texts): Elements {
  const { basisPoints, reverseCharge, net, amount } = sum;
  return {
    'ram:CalculatedAmount': amount,
    'ram:TypeCode': 'VAT',
    'ram:ExemptionReason': reverseCharge ? texts.reverseCharge : undefined,
    'ram:BasisAmount': net,
    'ram:CategoryCode': categoryOf(sum),
    'ram:ExemptionReasonCode': reverseCharge ? 'VATEX-EU-AE' : undefined,
    'ram:RateApplicablePercent': String(basisPoints / 100),
  };
}

function totals(content: DocumentContent): Elements {
  const { net, vat, gross, prepaid = '0.00' } = content;
  return {
    'ram:LineTotalAmount': net,
    'ram:TaxBasisTotalAmount': net,
    'ram:TaxTotalAmount': { '@currencyID': 'EUR', '#': decimalOf(vat.reduce((sum, { amount }) => sum + euros(amount), 0n)) },
    'ram:GrandTotalAmount': gross,
    'ram:TotalPrepaidAmount': prepaid === '0.00' ? undefined : prepaid,
    'ram:DuePayableAmount': leftToPay(content),
  };
}

function period({ first, last }: { readonly first: string; readonly last: string }): Elements {
  return { 'ram:StartDateTime': day(first), 'ram:EndDateTime': day(last) };
}

/** @param date Such as `2026-12-01`. */
function day(date: string): Elements {
  return { 'udt:DateTimeString': { '@format': '102', '#': date.replaceAll('-', '') } };
}

/** Without the characters that XML does not allow. */
function text(value: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters that XML does not allow
  return value.replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '').replaceAll(/\p{Cs}/gu, '');
}

function withoutMissing(elements: Elements): Elements {
  const present = Object.entries(elements).flatMap(([name, content]): [string, Content][] => {
    if (content === undefined) return [];
    if (typeof content === 'string') return [[name, content]];
    return [[name, isRepeated(content) ? content.map(withoutMissing) : withoutMissing(content)]];
  });
  return Object.fromEntries(present);
}

function isRepeated(content: Elements | readonly Elements[]): content is readonly Elements[] {
  return Array.isArray(content);
}
