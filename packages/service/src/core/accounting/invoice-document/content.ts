/** The content of an invoice document: everything that the PDF shows, fixed when the document is issued. */
import type { DedicatedMarketHardware } from '@reseller/client';
import type { DocumentLanguage } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { accruedBy, accruedByCharge, periodOf, runtimeOf, SECONDS_PER_PRICE } from '../../../rules/billing.ts';
import type { Period, PriceSeconds, Seconds } from '../../../rules/billing.ts';
import type { Computation } from '../../../rules/computation.ts';
import { dayIn, minutesIn, utcDay } from '../../../rules/day.ts';
import { decimalOf, euros } from '../../../rules/money.ts';
import type { Money } from '../../../rules/money.ts';
import { splitByRate, taxedInSteps, treatmentAt, treatmentOf } from '../../../rules/vat.ts';
import type { RatedTime, VatRate, VatSum, VatTreatment } from '../../../rules/vat.ts';
import type { Db } from '../../../store/store.ts';
import type { ChargesTable, InvoicesTable, PositionsTable } from '../../../store/tables/accounting.ts';
import { tuningOf } from '../../../store/tuning.ts';
import { chargesOn, positionsOn } from '../invoice.ts';
import type { Party, Seller } from './parties.ts';
import type { Texts } from './texts.ts';

/** Everything that a document shows. Amounts are decimals in EUR, dates are days in UTC. It is stored as JSON. */
export interface DocumentContent {
  readonly kind: 'invoice' | 'credit_note';
  readonly number: string;
  readonly date: string;
  /** Null for credit notes. */
  readonly due: string | null;
  readonly seller: Seller;
  readonly buyer: Buyer;
  /** The VAT identifiers of the buyer under reverse charge, each with its first day in the period. Absent unless there are several. */
  readonly vatIds?: readonly { readonly first: string; readonly vatId: string }[];
  /** Absent in older documents, which are in English. */
  readonly language?: DocumentLanguage;
  /** The time zone of the times of the lines, and the period in it. Absent in older documents, whose times are in UTC. */
  readonly times?: { readonly zone: string; readonly start: string; readonly end: string };
  /** First and last day in UTC. */
  readonly period: { readonly first: string; readonly last: string };
  /** The invoice that a credit note corrects, and why. */
  readonly corrects: { readonly number: string; readonly date: string; readonly reason: string } | null;
  readonly groups: readonly Group[];
  readonly net: string;
  /** The highest rate first. */
  readonly vat: readonly RateSum[];
  readonly gross: string;
  /** The part of the gross amount that the balance of the account paid when the invoice was issued. Absent in older documents. */
  readonly prepaid?: string;
  /** Whether there are lines of which the recipient owes the VAT. */
  readonly reverseCharge: boolean;
}

/** The net amount of a treatment, and the VAT on it. */
export interface RateSum extends VatTreatment {
  readonly net: string;
  readonly amount: string;
}

/** The buyer. An account without a billing profile has only its name. */
export type Buyer = Party | { readonly company: string };

/** The lines of one kind and their sum. */
export interface Group {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly total: string;
}

export interface Line extends VatTreatment {
  /** Such as `web1.example.com`. */
  readonly title: string;
  /** Such as `VM 73149, 2 cores, 4 GB memory, 40 GB NVMe, nl_ryzen`. */
  readonly details: string;
  /** Such as `2026-11-01 12:00 – 2026-11-20 00:00`. */
  readonly time: string;
  /** Such as `9 d 12 h`. */
  readonly quantity: string;
  /** Such as `10.40 / 30 d`. */
  readonly unitPrice: string;
  /** In whole cents. */
  readonly amount: string;
  /** Absent in documents that were issued before lines had it, and on credit notes. */
  readonly measured?: Measured;
}

/** What a line bills, for programs. */
export interface Measured {
  readonly quantity: number;
  readonly unit: 'second' | 'piece';
  /** EUR for `priceQuantity` units. */
  readonly price: string;
  readonly priceQuantity: number;
  /** First and last day. */
  readonly first: string;
  readonly last: string;
}

/** The gross amount less what the balance paid. */
export function leftToPay({ gross, prepaid = '0.00' }: Pick<DocumentContent, 'gross' | 'prepaid'>): string {
  return decimalOf(euros(gross) - euros(prepaid));
}

/** A line with its exact amount, before the total is divided among the lines. */
interface ExactLine extends Omit<Line, 'amount'> {
  readonly group: string;
  readonly exact: PriceSeconds;
}

/** Long work: at once in a transaction, and in turns with other work outside of one. */
export interface Pace {
  handleEach<Item>(items: Iterable<Item> | AsyncIterable<Item>, handle: (item: Item) => void): Promise<void>;
  compute<Result>(steps: Computation<Result>): Promise<Result>;
}

/** How lines are written. */
export interface LineStyle {
  readonly texts: Texts;
  readonly timeZone: string;
}

/**
 * The lines of an invoice by group, and the sums of its rates. Both add up to its total. A position has a line for each treatment that applied
 * while it ran, and a charge in advance has the treatment of the start of what it pays for.
 */
export async function taxedLines(
  db: Db,
  invoice: Selectable<InvoicesTable>,
  { rates, pace, ...style }: LineStyle & { readonly rates: readonly VatRate[]; readonly pace: Pace },
): Promise<{ readonly groups: readonly Group[]; readonly sums: readonly VatSum[] }> {
  const charges = await chargesOn(db, invoice);
  const servers = await serverNames(
    db,
    charges.filter(({ kind }) => kind === 'dedicated').map(({ subject }) => subject),
  );
  const lines: ExactLine[] = [];
  await pace.handleEach(positionsOn(db, invoice).stream(tuningOf(db).streamedRows), (position) => {
    const times = splitByRate(rates, position.start, position.stop ?? invoice.period_end);
    for (const time of times) lines.push(vmLine(position, time, style));
  });
  for (const charge of charges) lines.push({ ...chargeLine(charge, servers, style), ...treatmentAt(rates, charge.start * 1000) });
  const { sums, amounts } = await pace.compute(taxedInSteps(lines, SECONDS_PER_PRICE, BigInt(invoice.total)));
  return { groups: await grouped(lines, amounts, pace), sums };
}

async function grouped(lines: readonly ExactLine[], amounts: readonly Money[], { handleEach }: Pace): Promise<Group[]> {
  const groups = new Map<string, { lines: Line[]; total: Money }>();
  await handleEach(lines.entries(), ([index, { group: title, exact: _exact, ...line }]) => {
    const amount = amounts[index] ?? 0n;
    const group = groups.get(title) ?? { lines: [], total: 0n };
    group.lines.push({ ...line, amount: decimalOf(amount) });
    group.total += amount;
    groups.set(title, group);
  });
  return [...groups].map(([title, { lines: own, total }]) => ({ title, lines: own, total: decimalOf(total) }));
}

function vmLine(position: Selectable<PositionsTable>, { start, stop, ...treatment }: RatedTime, { texts, timeZone }: LineStyle): ExactLine {
  const { vm_id, hostname, hostsystem, cores, mem, disk, storage } = position;
  const resources = [
    texts.cores(cores),
    texts.memory(texts.decimal(decimalGigabytes(mem))),
    `${disk} GB NVMe`,
    ...(storage === null ? [] : [`${storage} GB HDD`]),
  ];
  const minuteOf = minutesIn(timeZone);
  const billed = { start, stop, monthlyPrice: BigInt(position.monthly_price) };
  return {
    group: 'Virtual servers',
    title: hostname,
    details: [`VM ${vm_id}`, ...resources, hostsystem].join(', '),
    time: [start, stop].map((instant) => minuteOf(instant * 1000)).join(' – '),
    quantity: durationOf(runtimeOf(billed, stop)),
    unitPrice: `${texts.decimal(decimalOf(billed.monthlyPrice))} / 30 d`,
    ...treatmentOf(treatment),
    measured: {
      quantity: stop - start,
      unit: 'second',
      price: decimalOf(billed.monthlyPrice),
      priceQuantity: Number(SECONDS_PER_PRICE),
      ...daysInMonth(timeZone, start, stop),
    },
    exact: accruedBy(billed, stop),
  };
}

function chargeLine(
  { kind, subject, type, start, stop, amount }: Selectable<ChargesTable>,
  servers: ReadonlyMap<string, string>,
  { texts, timeZone }: LineStyle,
): Omit<ExactLine, keyof VatTreatment> {
  const isDomain = kind === 'domain';
  const names: Readonly<Record<string, string>> = texts.domainCharges;
  return {
    group: isDomain ? 'Domains' : 'Dedicated servers',
    title: isDomain ? subject : [texts.dedicatedServer, servers.get(subject)].filter((part) => part !== undefined).join(', '),
    details: texts.inAdvance(isDomain ? (names[type] ?? type) : texts.server(subject)),
    time: [start, stop].map((instant) => dayIn(timeZone, instant * 1000)).join(' – '),
    quantity: '1',
    unitPrice: texts.decimal(decimalOf(BigInt(amount))),
    measured: { quantity: 1, unit: 'piece', price: decimalOf(BigInt(amount)), priceQuantity: 1, ...daysOf(timeZone, start, stop) },
    exact: accruedByCharge(BigInt(amount)),
  };
}

/** The processors of servers, by identifier. */
async function serverNames(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('dedicated_servers').select(['id', 'hardware']).where('id', 'in', ids).execute();
  return new Map(
    rows.map(({ id, hardware }) => {
      const { cpu }: DedicatedMarketHardware = JSON.parse(hardware);
      return [id, `${cpu.amount > 1 ? `${cpu.amount} x ` : ''}${cpu.type}`];
    }),
  );
}

function decimalGigabytes(megabytes: number): string {
  return String(Math.round((megabytes / 1024) * 100) / 100);
}

/** Formats a duration without the units that are 0, such as `9 d 12 h` or `40 s`. */
export function durationOf(seconds: Seconds): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return shown.length === 0 ? '0 s' : shown.join(' ');
}

function daysOf(timeZone: string, start: Seconds, stop: Seconds): Pick<Measured, 'first' | 'last'> {
  return { first: dayIn(timeZone, start * 1000), last: dayIn(timeZone, Math.max(start, stop - 1) * 1000) };
}

/** The days of a runtime. They stay in the month of the invoice, which begins and ends in UTC. */
function daysInMonth(timeZone: string, start: Seconds, stop: Seconds): Pick<Measured, 'first' | 'last'> {
  const { first, last } = daysOf(timeZone, start, stop);
  const month = monthDays(periodOf(start));
  return { first: first < month.first ? month.first : first, last: last > month.last ? month.last : last };
}

/** The first and the last day of a month of billing. */
export function monthDays({ start, end }: Period): Pick<Measured, 'first' | 'last'> {
  return { first: utcDay(start * 1000), last: utcDay((end - 1) * 1000) };
}
