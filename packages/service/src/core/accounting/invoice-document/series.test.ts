import { expect, test } from 'vitest';

import { seededStore } from '../../../../test/shared-store.ts';
import { isTaken, lockSeries, readSeries, takeNumber, writeSeries } from './series.ts';

const INVOICES = { prefix: 'INV-', next: 1, digits: 5 };
const CREDIT_NOTES = { prefix: 'CN-', next: 1, digits: 5 };

test('numbers each kind of document consecutively in its own series', async () => {
  const store = await seededStore();
  const read = () => store.read(async (db) => [await readSeries(db, 'invoice'), await readSeries(db, 'credit_note')]);
  await store.commit(({ db }) => db.deleteFrom('document_series').execute());
  expect(await read()).toEqual([INVOICES, CREDIT_NOTES]);
  // Locking a series stores it without changing it.
  for (let times = 0; times < 2; times++) {
    expect(await store.commit(({ db }) => lockSeries(db, 'invoice'))).toEqual(INVOICES);
    expect(await store.commit(({ db }) => lockSeries(db, 'credit_note'))).toEqual(CREDIT_NOTES);
  }
  const take = (kind: 'invoice' | 'credit_note') => store.commit(({ db }) => takeNumber(db, kind));
  expect([await take('invoice'), await take('invoice'), await take('credit_note')]).toEqual(['INV-00001', 'INV-00002', 'CN-00001']);
  await store.commit(({ db }) => writeSeries(db, 'invoice', { prefix: 'R', next: 99, digits: 2 }));
  expect([await take('invoice'), await take('invoice'), await take('credit_note')]).toEqual(['R99', 'R100', 'CN-00002']);
  expect(await read()).toEqual([
    { prefix: 'R', next: 101, digits: 2 },
    { prefix: 'CN-', next: 3, digits: 5 },
  ]);
});

test.each([
  ['the last number', { prefix: 'INV-', next: 1, digits: 5 }, true],
  ['the number after it', { prefix: 'INV-', next: 2, digits: 5 }, false],
  ['a number before it', { prefix: 'INV-', next: 0, digits: 5 }, true],
  ['the same number with other digits', { prefix: 'INV-', next: 1, digits: 4 }, false],
  ['a prefix that is the pattern of one', { prefix: 'INV_', next: 1, digits: 5 }, false],
  ['a prefix in other letters', { prefix: 'inv-', next: 1, digits: 5 }, false],
  ['a prefix that is a part of it', { prefix: 'INV', next: 1, digits: 5 }, false],
  ['a prefix that contains the first digits', { prefix: 'INV-0', next: 1, digits: 4 }, true],
  ['no prefix', { prefix: '', next: 1, digits: 5 }, false],
])('a new series begins with %s', async (_, series, isIssued) => {
  const store = await seededStore();
  await store.commit(async ({ db }) => {
    const { id: account_id } = await db.selectFrom('accounts').select('id').executeTakeFirstOrThrow();
    const invoice = { id: 'one', account_id, created: 0, period_start: 0, period_end: 1, total: 0, status: 'PAID', number: 'INV-00001' };
    await db.insertInto('invoices').values(invoice).execute();
    await db
      .insertInto('issued_documents')
      .values({
        id: 'one',
        account_id,
        invoice_id: 'one',
        kind: 'invoice',
        name: null,
        number: 'INV-00001',
        net: 0,
        vat: 0,
        vat_by_rate: '[]',
        reason: null,
        issued: 0,
        due: null,
        content: '{}',
      })
      .execute();
  });
  expect(await store.read((db) => isTaken(db, series))).toBe(isIssued);
});
