/** Issues documents. A document is stored when it is issued, and never changes (not shown in the specification; our choice). */
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import type { Services } from '../../../delivery/runtime.ts';
import { resultOf } from '../../../rules/computation.ts';
import { dayIn, minutesIn, MS_PER_DAY, utcDay } from '../../../rules/day.ts';
import { decimalOf, euros } from '../../../rules/money.ts';
import type { Money } from '../../../rules/money.ts';
import { canBeShown, reverseChargeIn, statusShown } from '../../../rules/tax-status.ts';
import { correctionByRate, treatmentOf } from '../../../rules/vat.ts';
import type { VatSum, VatTreatment } from '../../../rules/vat.ts';
import { lockAccount } from '../../../store/account-lock.ts';
import { readTimeZone } from '../../../store/settings.ts';
import type { Db, Store } from '../../../store/store.ts';
import type { InvoicesTable, IssuedDocumentsTable } from '../../../store/tables/accounting.ts';
import { tuningOf } from '../../../store/tuning.ts';
import { computeInTurns, inTurns } from '../../../store/turns.ts';
import { forgetEndedWaits, mayRun, performInBatches } from '../../jobs/failed-jobs.ts';
import type { CurrentJob, FailedJob } from '../../jobs/failed-jobs.ts';
import { vatRatesOf } from '../account-vat.ts';
import { payInvoices } from '../payments.ts';
import { monthDays, taxedLines } from './content.ts';
import type { DocumentContent, Line, Pace } from './content.ts';
import { notInvoiced, readBillingProfile, readSeller } from './parties.ts';
import type { BillingProfile, Party, Seller } from './parties.ts';
import { lockSeries, takeNumber } from './series.ts';
import { compressLines, headOf, storedContentOf } from './stored-content.ts';
import type { DocumentHead, StoredContent, StoredGroup } from './stored-content.ts';
import { TEXTS } from './texts.ts';

type Invoice = Selectable<InvoicesTable>;

/** A round of scheduled jobs, which tries failed documents again. */
export interface DocumentRound {
  /** Milliseconds. */
  readonly now: number;
  /** Called for each document that cannot be issued. The other documents of its account wait then. */
  onFailure(failed: FailedJob): void;
}

/** A document that would be invalid. Its invoice waits until an operator corrects what the message names. */
class InvalidDocumentError extends Error {
  override readonly name = 'InvalidDocumentError';
}

/**
 * Issues the documents of all invoices that have none, in the order of their periods. It issues none without a seller, and none for
 * cancelled invoices. Accounts with a failed or an invalid document are skipped.
 */
export async function issueDocuments(store: Store): Promise<void> {
  const skipped = new Set<string>();
  while (await store.read((db) => isPending(db))) {
    const written = await writeLong(store, { skipped });
    if ((await store.commit(({ db }) => issuePending(db, { skipped, written }))) === 0) return;
  }
}

/** Like `issueDocuments`, but also tries failed documents again, and a document that cannot be issued stops no others. */
export async function issueDocumentsAsJobs(store: Store, { now, onFailure }: DocumentRound): Promise<void> {
  await performInBatches({
    store,
    batchSize: store.tuning.documentBatch,
    now: async () => now,
    onFailure,
    async run(batchSize, _now, begin) {
      if (!(await store.read((db) => isPending(db, now)))) return { performed: 0, isLast: true };
      const written = await writeLong(store, { now, batchSize });
      const performed = await store.commit(({ db }) => issuePending(db, { now, batchSize, begin, written }));
      return { performed, isLast: performed === 0 };
    },
  });
  await forgetEndedWaits(store, 'document', now);
}

function jobOf({ id, account_id: accountId, period_end: due }: Invoice): CurrentJob {
  return { work: 'document', accountId, kind: 'invoice_document', subject: id, due };
}

async function isPending(db: Db, now?: number): Promise<boolean> {
  const [invoice] = await pendingDocuments(db, now).limit(1).execute();
  return invoice !== undefined && (await readSeller(db)) !== undefined;
}

/** The invoices without a document, the earliest first. @param now See `mayRun`. */
export function pendingDocuments(db: Db, now?: number, skipped: ReadonlySet<string> = new Set()) {
  return db
    .selectFrom('invoices')
    .selectAll()
    .where('number', 'is', null)
    .where('status', 'not in', ['CANCELED', 'CLOSING'])
    .where(mayRun('document', 'invoices.account_id', now))
    .$if(skipped.size > 0, (query) => query.where('account_id', 'not in', [...skipped]))
    .orderBy('period_end')
    .orderBy('id');
}

interface PendingBatch {
  /** See `mayRun`. */
  readonly now?: number;
  readonly batchSize?: number;
  /** Called before each invoice. */
  begin?(job: CurrentJob): void;
  /** Gets each account with an invalid document. Without it, an invalid document ends the transaction: it fails as a job. */
  readonly skipped?: Set<string>;
  /** The lines of long documents, by invoice. */
  readonly written?: ReadonlyMap<string, WrittenLines>;
}

/** The lines of a document as they are stored, and its sums. */
interface WrittenLines {
  /** JSON: the language, time zone and rates that they were written with. The positions and charges no longer change. */
  readonly basis: string;
  readonly groups: readonly StoredGroup[];
  readonly sums: readonly VatSum[];
}

/** Writes the lines of the long documents of the next batch, in turns with other work. In a transaction, all others would wait for them. */
async function writeLong(store: Store, batch: PendingBatch): Promise<ReadonlyMap<string, WrittenLines>> {
  const written = new Map<string, WrittenLines>();
  const pace = inTurnsOf(store.tuning.documentLines);
  for (const invoice of await store.read((db) => longDocuments(db, batch).execute()))
    written.set(invoice.id, await store.readLong(async (db) => linesInStyle(db, invoice, (await basisOf(db, invoice)).basis, pace)));
  return written;
}

function longDocuments(db: Db, { now, batchSize = tuningOf(db).documentBatch, skipped }: PendingBatch) {
  return db
    .selectFrom(pendingDocuments(db, now, skipped).limit(batchSize).as('pending'))
    .selectAll()
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('positions')
          .select('vm_id')
          .whereRef('account_id', '=', 'pending.account_id')
          .whereRef('invoice_id', '=', 'pending.id')
          .limit(1)
          .offset(tuningOf(db).documentLines - 1),
      ),
    );
}

/**
 * Issues the documents of the earliest invoices that have none, up to a number that keeps the transaction short.
 *
 * @returns The number of invoices tried.
 */
async function issuePending(db: Db, batch: PendingBatch = {}): Promise<number> {
  const { now, batchSize = tuningOf(db).documentBatch, begin, skipped, written } = batch;
  const seller = await readSeller(db);
  if (!seller) return 0;
  // Locked before the query, so that another instance does not issue the same documents.
  await lockSeries(db, 'invoice');
  const invoices = await pendingDocuments(db, now, skipped).limit(batchSize).execute();
  for (const invoice of invoices) {
    // The later invoices of an account wait for the invalid one.
    if (skipped?.has(invoice.account_id)) continue;
    begin?.(jobOf(invoice));
    try {
      await issueInvoice(db, invoice, seller, written?.get(invoice.id));
    } catch (error) {
      if (!skipped || !(error instanceof InvalidDocumentError)) throw error;
      skipped.add(invoice.account_id);
    }
  }
  return invoices.length;
}

/** Issues all pending documents that are valid. It locks the series, so a transaction calls it before it locks an account or an invoice. */
export async function issueAllPending(db: Db): Promise<void> {
  const skipped = new Set<string>();
  while ((await issuePending(db, { skipped })) > 0);
}

/** The balance of an account, which no other transaction changes until this one ends. */
async function lockedBalance(db: Db, accountId: string): Promise<Money> {
  const account = db.selectFrom('accounts').select('balance').where('id', '=', accountId);
  if ((await account.executeTakeFirstOrThrow()).balance === 0) return 0n;
  await lockAccount(db, accountId);
  return BigInt((await account.executeTakeFirstOrThrow()).balance);
}

/** The language, time zone and rates of an invoice, on which its lines depend. */
async function basisOf(db: Db, { account_id }: Invoice) {
  const profile = await readBillingProfile(db, account_id);
  const basis = { language: profile?.language ?? 'en', timeZone: await readTimeZone(db), rates: await vatRatesOf(db, account_id) };
  return { profile, basis } as const;
}

type Basis = Awaited<ReturnType<typeof basisOf>>['basis'];

async function linesInStyle(db: Db, invoice: Invoice, basis: Basis, pace: WritingPace): Promise<WrittenLines> {
  const { language, timeZone, rates } = basis;
  const { groups, sums } = await taxedLines(db, invoice, { texts: TEXTS[language], timeZone, rates, pace });
  const stored: StoredGroup[] = [];
  for (const group of groups) stored.push({ ...group, lines: await pace.toStored(group.lines) });
  return { basis: JSON.stringify(basis), groups: stored, sums };
}

interface WritingPace extends Pace {
  toStored(lines: readonly Line[]): Promise<StoredGroup['lines']>;
}

function inTurnsOf(partLines: number): WritingPace {
  return {
    handleEach: inTurns,
    compute: computeInTurns,
    toStored: async (lines) => (lines.length < partLines ? lines : compressLines(lines, partLines)),
  };
}

const AT_ONCE: WritingPace = {
  async handleEach(items, handle) {
    for await (const item of items) handle(item);
  },
  compute: async (steps) => resultOf(steps),
  toStored: async (lines) => lines,
};

/** @param early The lines that were written before the transaction, unless what they depend on has changed since. */
async function issueInvoice(db: Db, invoice: Invoice, seller: Seller, early?: WrittenLines): Promise<void> {
  const { profile, basis } = await basisOf(db, invoice);
  const { language, timeZone } = basis;
  const isCurrent = early?.basis === JSON.stringify(basis);
  const { groups, sums } = isCurrent ? early : await linesInStyle(db, invoice, basis, AT_ONCE);
  const reverseCharge = sums.some((sum) => sum.reverseCharge);
  const buyer = profile
    ? await buyerAt(db, { profile, invoice, reverseCharge, timeZone })
    : { company: await accountNameOf(db, invoice.account_id) };
  const due = invoice.created + seller.payment_days * MS_PER_DAY;
  const number = await takeNumber(db, 'invoice');
  const { net, vat } = totalsOf(sums);
  const balance = await lockedBalance(db, invoice.account_id);
  // All other invoices are paid as long as there is a balance.
  const prepaid = balance < net + vat ? balance : net + vat;
  const content: DocumentHead = {
    kind: 'invoice',
    number,
    date: utcDay(invoice.created),
    due: utcDay(due),
    seller,
    buyer,
    ...(reverseCharge && profile && vatIdsOf(profile, invoice, timeZone)),
    language,
    times: periodTimes(invoice, timeZone),
    period: periodDays(invoice),
    corrects: null,
    ...shownSums(sums),
    prepaid: decimalOf(prepaid),
    reverseCharge,
  };
  await insertDocument(db, { id: invoice.id, invoice, content, groups, name: null, sums, issued: invoice.created, due });
  // An invoice of 0.00 EUR is paid when it is issued, and has an event of each: it is open until then, which no event says while it has no number.
  const isPaid = invoice.status === 'PAID';
  const stored = db.updateTable('invoices').where('id', '=', invoice.id);
  if (isPaid) await stored.set({ status: 'OPEN' }).execute();
  await stored.set({ number }).execute();
  if (isPaid) await stored.set({ status: 'PAID' }).execute();
  if (balance > 0n) await payInvoices(db, invoice.account_id);
}

/** A correction of an invoice. */
export interface Correction {
  readonly invoice: Invoice;
  /** Unique for the invoice. */
  readonly name: string;
  readonly amount: Money;
  readonly reason: string;
  /** Milliseconds. */
  readonly now: number;
}

/** Issues a credit note for an issued invoice, with the seller, the buyer and the VAT rates of the invoice. */
export async function issueCreditNote(db: Db, { ports }: Pick<Services, 'ports'>, correction: Correction): Promise<void> {
  const { invoice, name, amount, reason, now } = correction;
  await lockSeries(db, 'credit_note');
  const documents = await db.selectFrom('issued_documents').select(['kind', 'content']).where('invoice_id', '=', invoice.id).execute();
  const issued = documents.find(({ kind }) => kind === 'invoice');
  if (!issued) throw new Error(`The invoice ${invoice.id} has no document that a credit note could correct.`);
  const original = headOf(storedContentOf(issued));
  const earlier = documents.filter(({ kind }) => kind === 'credit_note').flatMap((note) => sumsIn(headOf(storedContentOf(note))));
  const sums = correctionByRate(sumsIn(original), earlier, amount);
  const number = await takeNumber(db, 'credit_note');
  const texts = TEXTS[original.language ?? 'en'];
  const today = dayIn(await readTimeZone(db), now);
  const lines = sums.map(({ net, ...treatment }) => ({
    title: reason,
    details: `${texts.invoice} ${texts.of(original.number, original.date)}`,
    time: '',
    quantity: '1',
    unitPrice: texts.decimal(decimalOf(net)),
    amount: decimalOf(net),
    ...treatmentOf(treatment),
  }));
  const { prepaid: _prepaid, ...kept } = original;
  const groups = [{ title: 'Correction', lines, total: decimalOf(amount) }];
  const content: DocumentHead = {
    ...kept,
    kind: 'credit_note',
    number,
    // The month of the invoice can have ended in UTC before it ends in the time zone of the provider.
    date: today < original.date ? original.date : today,
    due: null,
    corrects: { number: original.number, date: original.date, reason },
    reverseCharge: sums.some((sum) => sum.reverseCharge),
    ...shownSums(sums),
  };
  const id = uuidv7({ msecs: now, random: ports.random.bytes(16) });
  await insertDocument(db, { id, invoice, content, groups, name, sums, issued: now, due: null });
}

/** The content of the document with an identifier, if it is issued. */
export async function documentOf(db: Db, id: string): Promise<StoredContent | undefined> {
  const document = await db.selectFrom('issued_documents').select('content').where('id', '=', id).executeTakeFirst();
  return document && storedContentOf(document);
}

/** The sums of a document, exactly. */
function sumsIn({ vat }: DocumentHead): VatSum[] {
  return vat.map(({ net, amount, ...treatment }) => ({ ...treatmentOf(treatment), net: euros(net), vat: euros(amount) }));
}

interface StoredVatSum extends VatTreatment {
  readonly net: number;
  readonly vat: number;
}

/** The sums of the rates of a document. */
export function vatSumsOf({ vat_by_rate }: Pick<IssuedDocumentsTable, 'vat_by_rate'>): VatSum[] {
  const stored: StoredVatSum[] = JSON.parse(vat_by_rate);
  return stored.map(({ net, vat, ...treatment }) => ({ ...treatment, net: BigInt(net), vat: BigInt(vat) }));
}

function shownSums(sums: readonly VatSum[]): Pick<DocumentContent, 'net' | 'vat' | 'gross'> {
  const { net, vat } = totalsOf(sums);
  return {
    net: decimalOf(net),
    vat: sums.map((sum) => ({ ...treatmentOf(sum), net: decimalOf(sum.net), amount: decimalOf(sum.vat) })),
    gross: decimalOf(net + vat),
  };
}

function totalsOf(sums: readonly VatSum[]): Pick<VatSum, 'net' | 'vat'> {
  return sums.reduce((total, { net, vat }) => ({ net: total.net + net, vat: total.vat + vat }), { net: 0n, vat: 0n });
}

interface NewDocument {
  readonly id: string;
  readonly invoice: Invoice;
  readonly content: DocumentHead;
  readonly groups: readonly StoredGroup[];
  readonly name: string | null;
  readonly sums: readonly VatSum[];
  readonly issued: number;
  readonly due: number | null;
}

async function insertDocument(db: Db, { id, invoice, content, groups, name, sums, issued, due }: NewDocument): Promise<void> {
  const { net, vat } = totalsOf(sums);
  await db
    .insertInto('issued_documents')
    .values({
      id,
      account_id: invoice.account_id,
      invoice_id: invoice.id,
      kind: content.kind,
      name,
      number: content.number,
      net: Number(net),
      vat: Number(vat),
      vat_by_rate: JSON.stringify(sums.map((sum) => ({ ...sum, net: Number(sum.net), vat: Number(sum.vat) }))),
      reason: content.corrects?.reason ?? null,
      issued,
      due,
      content: JSON.stringify({ ...content, groups } satisfies StoredContent),
    })
    .execute();
}

function vatIdsOf({ statuses }: BillingProfile, invoice: Invoice, timeZone: string): Pick<DocumentContent, 'vatIds'> {
  const start = invoice.period_start * 1000;
  const valid = reverseChargeIn(statuses, start, invoice.period_end * 1000);
  const vatIds = valid.map((one) => ({ vatId: one.vatId ?? '', first: one.validFrom < start ? dayIn(timeZone, start) : one.day }));
  return new Set(vatIds.map(({ vatId }) => vatId)).size > 1 ? { vatIds } : {};
}

interface BuyerOfInvoice {
  readonly profile: BillingProfile;
  readonly invoice: Invoice;
  readonly reverseCharge: boolean;
  readonly timeZone: string;
}

/** Writes nothing. @throws InvalidDocumentError that says what an operator does, if a document cannot show the tax status. */
async function buyerAt(db: Db, { profile, invoice, reverseCharge, timeZone }: BuyerOfInvoice): Promise<Party> {
  const { statuses, language: _language, ...address } = profile;
  const shown = statusShown(statuses, invoice.period_end * 1000, reverseCharge);
  if (!canBeShown(shown)) {
    const first = await notInvoiced(db, invoice.account_id, timeZone);
    const day = first.day < shown.day ? shown.day : first.day;
    throw new InvalidDocumentError(
      `The buyer's VAT identifier ${shown.vatId} does not begin with the code of a country. Correct it with setBillingProfile ` +
        `(PUT /accounts/${invoice.account_id}/billing-profile) and valid_from ${day}. The invoice is issued at the next attempt.`,
    );
  }
  return { ...address, country: shown.country, vat_id: shown.vatId };
}

async function accountNameOf(db: Db, accountId: string): Promise<string> {
  return (await db.selectFrom('accounts').select('name').where('id', '=', accountId).executeTakeFirstOrThrow()).name;
}

function periodTimes({ period_start, period_end }: Invoice, zone: string): Required<DocumentContent>['times'] {
  const minuteOf = minutesIn(zone);
  return { zone, start: minuteOf(period_start * 1000), end: minuteOf(period_end * 1000) };
}

function periodDays({ period_start: start, period_end: end }: Invoice): DocumentContent['period'] {
  return monthDays({ start, end });
}
