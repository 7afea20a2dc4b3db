/** Contents of documents for tests, with consistent amounts. */
import type { DocumentContent } from '../src/core/accounting/invoice-document/content.ts';
import { SECONDS_PER_PRICE, totalOf } from '../src/rules/billing.ts';
import { utcDay } from '../src/rules/day.ts';
import { decimalOf, euros } from '../src/rules/money.ts';
import { taxed, treatmentOf } from '../src/rules/vat.ts';
import type { VatTreatment } from '../src/rules/vat.ts';
import { demoBillingProfile, sandboxSeller } from '../src/sandbox/seller.ts';

const NOVEMBER = Date.UTC(2026, 10, 1) / 1000;
const DAY = 86_400;

interface Wanted {
  readonly lines?: number;
  /** Hundredths of a percent. The lines have them in turn. */
  readonly rates?: readonly (number | 'reverse charge')[];
  readonly change?: Partial<DocumentContent>;
  readonly prepaid?: string;
}

/** An invoice of VMs that ran for some days of November at prices that need rounding. */
export function invoiceContent({ lines: count = 1, rates = [1900], prepaid = '0.00', change = {} }: Wanted = {}): DocumentContent {
  const lines = Array.from({ length: count }, (_, index) => {
    const seconds = 1 + ((index * 7_919_777 + 1_234_567) % (29 * DAY));
    const price = euros(`${1 + (index % 17)}.${String((index * 31) % 1000).padStart(3, '0')}`);
    return {
      title: `web${index + 1}.example.com`,
      details: `VM ${10_000 + index}, 2 cores, 4 GB memory, 40 GB NVMe, nl_ryzen`,
      time: '2026-11-01 00:00 – 2026-11-20 00:00',
      quantity: `${seconds} s`,
      unitPrice: `${decimalOf(price)} / 30 d`,
      ...treatmentFrom(rates[index % rates.length] ?? 0),
      measured: {
        quantity: seconds,
        unit: 'second' as const,
        price: decimalOf(price),
        priceQuantity: Number(SECONDS_PER_PRICE),
        first: utcDay(NOVEMBER * 1000),
        last: utcDay((NOVEMBER + seconds - 1) * 1000),
      },
      exact: price * BigInt(seconds),
    };
  });
  const total = totalOf(lines.reduce((sum, { exact }) => sum + exact, 0n));
  const { sums, amounts } = taxed(lines, SECONDS_PER_PRICE, total);
  const vat = sums.reduce((sum, one) => sum + one.vat, 0n);
  return {
    kind: 'invoice',
    number: 'INV-00001',
    date: '2026-12-01',
    due: '2026-12-15',
    seller: sandboxSeller,
    buyer: partyOf(demoBillingProfile),
    period: { first: '2026-11-01', last: '2026-11-30' },
    corrects: null,
    groups: [
      {
        title: 'Virtual servers',
        lines: lines.map(({ exact: _exact, ...line }, index) => ({ ...line, amount: decimalOf(amounts[index] ?? 0n) })),
        total: decimalOf(total),
      },
    ],
    net: decimalOf(total),
    vat: sums.map((sum) => ({ ...treatmentOf(sum), net: decimalOf(sum.net), amount: decimalOf(sum.vat) })),
    gross: decimalOf(total + vat),
    prepaid,
    reverseCharge: rates.includes('reverse charge'),
    ...change,
  };
}

function treatmentFrom(rate: number | 'reverse charge'): VatTreatment {
  return rate === 'reverse charge' ? { basisPoints: 0, reverseCharge: true } : { basisPoints: rate };
}

function partyOf({ reverse_charge: _reverseCharge, ...party }: typeof demoBillingProfile): DocumentContent['buyer'] {
  return party;
}

/** A buyer in another country of the European Union, who owes the VAT of all lines, or of those that do not have other rates. */
export const reverseChargeContent = (lines: number, ...others: readonly number[]): DocumentContent =>
  invoiceContent({
    lines,
    rates: ['reverse charge', ...others],
    change: {
      buyer: {
        company: 'Musterhost Kft. & Társa <1>',
        street: 'Kossuth Lajos utca 1',
        postal_code: '1055',
        city: 'Budapest',
        country: 'HU',
        vat_id: 'HU12345678',
      },
    },
  });

/** A credit note of two rates. */
export function creditNoteContent(): DocumentContent {
  const line = (basisPoints: number, amount: string) => ({
    title: 'Outage on 20 November',
    details: 'Invoice INV-00001 of 2026-12-01',
    time: '',
    quantity: '1',
    unitPrice: amount,
    amount,
    basisPoints,
  });
  const { prepaid: _prepaid, ...invoice } = invoiceContent();
  return {
    ...invoice,
    kind: 'credit_note',
    number: 'CN-00001',
    date: '2026-12-03',
    due: null,
    corrects: { number: 'INV-00001', date: '2026-12-01', reason: 'Outage on 20 November' },
    groups: [{ title: 'Correction', lines: [line(1900, '1.23'), line(1600, '3.77')], total: '5.00' }],
    net: '5.00',
    vat: [
      { basisPoints: 1900, net: '1.23', amount: '0.23' },
      { basisPoints: 1600, net: '3.77', amount: '0.60' },
    ],
    gross: '5.83',
  };
}
