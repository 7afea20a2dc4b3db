/** The numbers of documents: consecutive and without gaps, because a number is taken in the transaction that issues its document. */
import { documentNumber } from '../../../rules/document-number.ts';
import type { NumberSeries } from '../../../rules/document-number.ts';
import type { Db } from '../../../store/store.ts';
import type { IssuedDocumentsTable } from '../../../store/tables/accounting.ts';

export type DocumentKind = IssuedDocumentsTable['kind'];

const DEFAULT_SERIES: Readonly<Record<DocumentKind, NumberSeries>> = {
  invoice: { prefix: 'INV-', next: 1, digits: 5 },
  credit_note: { prefix: 'CN-', next: 1, digits: 5 },
};

export async function readSeries(db: Db, kind: DocumentKind): Promise<NumberSeries> {
  const row = await db.selectFrom('document_series').selectAll().where('kind', '=', kind).executeTakeFirst();
  return row ? { prefix: row.prefix, next: row.next_number, digits: row.digits } : DEFAULT_SERIES[kind];
}

export async function writeSeries(db: Db, kind: DocumentKind, { prefix, next, digits }: NumberSeries): Promise<void> {
  const row = { prefix, next_number: next, digits };
  await db
    .insertInto('document_series')
    .values({ kind, ...row })
    .onConflict((conflict) => conflict.column('kind').doUpdateSet(row))
    .execute();
}

/** Locks a series until the transaction ends. Only one transaction at a time issues documents of a kind. */
export async function lockSeries(db: Db, kind: DocumentKind): Promise<NumberSeries> {
  const { prefix, next, digits } = DEFAULT_SERIES[kind];
  const row = await db
    .insertInto('document_series')
    .values({ kind, prefix, next_number: next, digits })
    .onConflict((conflict) => conflict.column('kind').doUpdateSet(({ ref }) => ({ next_number: ref('document_series.next_number') })))
    .returningAll()
    .executeTakeFirstOrThrow();
  return { prefix: row.prefix, next: row.next_number, digits: row.digits };
}

/** Takes the next number of a series that the transaction has locked. */
export async function takeNumber(db: Db, kind: DocumentKind): Promise<string> {
  const { prefix, digits, next_number } = await db
    .updateTable('document_series')
    .set(({ eb }) => ({ next_number: eb('next_number', '+', 1) }))
    .where('kind', '=', kind)
    .returningAll()
    .executeTakeFirstOrThrow();
  return documentNumber({ prefix, digits }, next_number - 1);
}

/** Whether a series would issue a number that a document already has. */
export async function isTaken(db: Db, { prefix, next, digits }: NumberSeries): Promise<boolean> {
  const numbers = await db.selectFrom('issued_documents').select('number').where('number', 'like', `${prefix}%`).execute();
  return numbers.some(({ number }) => {
    const rest = number.slice(prefix.length);
    // `like` takes `_` for any character, and ignores case on SQLite.
    return (
      number.startsWith(prefix) && /^\d+$/.test(rest) && Number(rest) >= next && documentNumber({ prefix, digits }, Number(rest)) === number
    );
  });
}
