/** The texts of documents in each language. A missing text does not compile. */
import type { DocumentLanguage } from '@reseller/operator-client';

import { countryOf } from '../../../rules/contact.ts';

/** The kinds of lines, as documents store them. */
export type GroupTitle = 'Virtual servers' | 'Domains' | 'Dedicated servers' | 'Correction';

/** The reasons of charges for domains. */
type DomainCharge = 'CREATE' | 'RENEW' | 'TRANSFER';

/** The content of a payment note. */
interface Transfer {
  readonly amount: string;
  readonly due: string | null;
  readonly iban: string;
  readonly bank: string;
  readonly number: string;
}

export interface Texts {
  readonly invoice: string;
  readonly creditNote: string;
  readonly vatId: string;
  readonly taxNumber: string;
  readonly managingDirectors: string;
  readonly number: string;
  readonly date: string;
  readonly dueDate: string;
  readonly period: string;
  readonly currency: string;
  readonly correctsInvoice: string;
  readonly quantity: string;
  readonly unitPrice: string;
  readonly amount: string;
  readonly net: string;
  readonly total: string;
  readonly totalInFavour: string;
  readonly paidWithBalance: string;
  readonly leftToPay: string;
  readonly reverseCharge: string;
  readonly rounding: string;
  readonly attachment: string;
  readonly dedicatedServer: string;
  readonly groups: Readonly<Record<GroupTitle, string>>;
  readonly domainCharges: Readonly<Record<DomainCharge, string>>;
  /** An amount, a price or a percentage. */
  decimal(value: string): string;
  country(code: string): string;
  description(timeZone: string): string;
  from(first: string, last: string): string;
  of(number: string, date: string): string;
  sumOf(group: string): string;
  vat(percent: string, reverseCharge: boolean): string;
  vatIdFrom(vatId: string, first: string): string;
  vatOn(vat: string, net: string): string;
  cores(count: number): string;
  memory(gigabytes: string): string;
  inAdvance(what: string): string;
  server(id: string): string;
  pleaseTransfer(transfer: Transfer): string;
  weCredit(amount: string, invoice: string): string;
  page(page: number, count: number): string;
}

const regions = new Intl.DisplayNames('de', { type: 'region' });

export const TEXTS: Readonly<Record<DocumentLanguage, Texts>> = {
  en: {
    invoice: 'Invoice',
    creditNote: 'Credit note',
    vatId: 'VAT ID',
    taxNumber: 'tax number',
    managingDirectors: 'Managing directors',
    number: 'Number',
    date: 'Date',
    dueDate: 'Due date',
    period: 'Period',
    currency: 'Currency',
    correctsInvoice: 'Corrects invoice',
    quantity: 'Quantity',
    unitPrice: 'Unit price',
    amount: 'Amount',
    net: 'Net amount, EUR',
    total: 'Total, EUR',
    totalInFavour: 'Total in your favour, EUR',
    paidWithBalance: 'Paid with your balance, EUR',
    leftToPay: 'Left to pay, EUR',
    reverseCharge: 'Reverse charge: the recipient owes the VAT (Article 196 of Council Directive 2006/112/EC).',
    rounding:
      'A virtual server is billed for each second, at its price for 30 days (d). The net total is rounded once, half to even, and the VAT of each rate half up, to cents. The lines add up to the net total.',
    attachment: 'The same document for programs (EN 16931, CII)',
    dedicatedServer: 'Dedicated server',
    groups: {
      'Virtual servers': 'Virtual servers',
      Domains: 'Domains',
      'Dedicated servers': 'Dedicated servers',
      Correction: 'Correction',
    },
    domainCharges: { CREATE: 'Registration', RENEW: 'Renewal', TRANSFER: 'Transfer' },
    decimal: (value) => value,
    country: (code) => countryOf(code)?.title ?? code,
    description: (timeZone) => `Description, time in ${timeZone}`,
    from: (first, last) => `${first} to ${last}`,
    of: (number, date) => `${number} of ${date}`,
    sumOf: (group) => `Sum of ${group.toLowerCase()}`,
    vat: (percent, reverseCharge) => `VAT ${percent} %${reverseCharge ? ' (reverse charge)' : ''}`,
    vatIdFrom: (vatId, first) => `VAT ID of the recipient from ${first}: ${vatId}.`,
    vatOn: (vat, net) => `${vat} on ${net}, EUR`,
    cores: (count) => (count === 1 ? '1 core' : `${count} cores`),
    memory: (gigabytes) => `${gigabytes} GB memory`,
    inAdvance: (what) => `${what}, in advance`,
    server: (id) => `Server ${id}`,
    pleaseTransfer: ({ amount, due, iban, bank, number }) =>
      `Please transfer ${amount} EUR by ${due} to ${iban} (${bank}) with the reference ${number}.`,
    weCredit: (amount, invoice) =>
      `We credit ${amount} EUR for invoice ${invoice}, which stays as it is. The amount is set off against what is still to pay of the invoice. The rest pays your next invoices.`,
    page: (page, count) => `page ${page} of ${count}`,
  },
  de: {
    invoice: 'Rechnung',
    creditNote: 'Rechnungskorrektur',
    vatId: 'USt-IdNr.',
    taxNumber: 'Steuernummer',
    managingDirectors: 'Geschäftsführung',
    number: 'Nummer',
    date: 'Datum',
    dueDate: 'Fällig am',
    period: 'Zeitraum',
    currency: 'Währung',
    correctsInvoice: 'Zu Rechnung',
    quantity: 'Menge',
    unitPrice: 'Einzelpreis',
    amount: 'Betrag',
    net: 'Nettobetrag, EUR',
    total: 'Gesamtbetrag, EUR',
    totalInFavour: 'Gutschriftsbetrag, EUR',
    paidWithBalance: 'Mit Ihrem Guthaben bezahlt, EUR',
    leftToPay: 'Noch zu zahlen, EUR',
    reverseCharge: 'Steuerschuldnerschaft des Leistungsempfängers (Artikel 196 der Richtlinie 2006/112/EG).',
    rounding:
      'Ein virtueller Server wird sekundengenau zu seinem Preis für 30 Tage (d) berechnet. Die Nettosumme wird einmal auf Cent gerundet, bei genau einem halben Cent zur geraden Zahl, die Umsatzsteuer je Steuersatz kaufmännisch. Die Zeilen ergeben zusammen die Nettosumme.',
    attachment: 'Dasselbe Dokument für Programme (EN 16931, CII)',
    dedicatedServer: 'Dedizierter Server',
    groups: {
      'Virtual servers': 'Virtuelle Server',
      Domains: 'Domains',
      'Dedicated servers': 'Dedizierte Server',
      Correction: 'Korrektur',
    },
    domainCharges: { CREATE: 'Registrierung', RENEW: 'Verlängerung', TRANSFER: 'Transfer' },
    decimal: (value) => value.replace('.', ','),
    country: (code) => (countryOf(code) && regions.of(code)) ?? code,
    description: (timeZone) => `Beschreibung, Zeiten in ${timeZone}`,
    from: (first, last) => `${first} bis ${last}`,
    of: (number, date) => `${number} vom ${date}`,
    sumOf: (group) => `Summe ${group}`,
    vat: (percent, reverseCharge) => `USt ${percent} %${reverseCharge ? ' (Reverse Charge)' : ''}`,
    vatIdFrom: (vatId, first) => `USt-IdNr. des Leistungsempfängers ab ${first}: ${vatId}.`,
    vatOn: (vat, net) => `${vat} auf ${net}, EUR`,
    cores: (count) => (count === 1 ? '1 Kern' : `${count} Kerne`),
    memory: (gigabytes) => `${gigabytes} GB Arbeitsspeicher`,
    inAdvance: (what) => `${what}, im Voraus`,
    server: (id) => `Server ${id}`,
    pleaseTransfer: ({ amount, due, iban, bank, number }) =>
      `Bitte überweisen Sie ${amount} EUR bis zum ${due} auf das Konto ${iban} (${bank}) mit dem Verwendungszweck ${number}.`,
    weCredit: (amount, invoice) =>
      `Wir schreiben Ihnen ${amount} EUR zu Rechnung ${invoice} gut, die unverändert bleibt. Der Betrag wird mit dem offenen Betrag der Rechnung verrechnet. Der Rest bezahlt Ihre nächsten Rechnungen.`,
    page: (page, count) => `Seite ${page} von ${count}`,
  },
};

/** The title of a group as a document stores it, in the language of the texts. */
export function groupTitleIn({ groups }: Texts, title: string): string {
  const titles: Readonly<Record<string, string>> = groups;
  return titles[title] ?? title;
}
