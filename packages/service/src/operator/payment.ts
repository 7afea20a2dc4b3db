import type { BrokenRule, Payment, PaymentUse, RecordRefundRequest } from '@reseller/operator-client';
import type { Selectable } from 'kysely';

import { issueAllPending } from '../core/accounting/invoice-document/issue.ts';
import { recordPayment as record, recordRefund as refund, reversePayment as reverse } from '../core/accounting/payments.ts';
import type { NewPayment } from '../core/accounting/payments.ts';
import { settleAccount } from '../core/jobs/settle.ts';
import { toInstant, toInstantOrNull } from '../rules/instants.ts';
import { decimalOf, euros } from '../rules/money.ts';
import type { Db } from '../store/store.ts';
import type { PaymentUsesTable, PaymentsTable } from '../store/tables/accounting.ts';
import { accountOf, assertNotErased, lockedAccountOf } from './account.ts';
import { brokenAmount } from './invoice.ts';
import type { OperatorCall, ReadOperation, StoreOperation } from './operation.ts';
import { readPage } from './paging.ts';
import type { Order } from './paging.ts';
import { assertNoBrokenRules, requireFound } from './problem.ts';

type Row = Selectable<PaymentsTable>;

/** The first time zone to reach a day is this far ahead of UTC. */
const FIRST_TIME_ZONE_MS = 14 * 3_600_000;

/** PUT /accounts/{account_id}/payments/{payment}: a repeated request with the same body changes nothing. */
export const recordPayment: StoreOperation<'recordPayment'> = {
  kind: 'store',
  prepare: settlePayer,
  async run({ db }, { path, body, runtime, now }) {
    const payment = newPayment(path, body, now);
    await issueAllPending(db);
    assertNotErased(await lockedAccountOf(db, path.account_id));
    await record(db, runtime, payment, body.invoice_id ?? null);
    return paymentOf(db, path);
  },
};

/** POST /accounts/{account_id}/payments/{payment}/reverse: a reversed payment stays unchanged. */
export const reversePayment: StoreOperation<'reversePayment'> = {
  kind: 'store',
  prepare: settlePayer,
  async before(db, { path }) {
    await issueAllPending(db);
    await lockedAccountOf(db, path.account_id);
    return paymentOf(db, path);
  },
  async run({ db }, { path, body, now }) {
    const payment = await paymentRowOf(db, path);
    if (payment.reversed === null) await reverse(db, payment, { reason: body.reason, now });
    return paymentOf(db, path);
  },
};

/** PUT /accounts/{account_id}/refunds/{payment}: a repeated request with the same body changes nothing. */
export const recordRefund: StoreOperation<'recordRefund'> = {
  kind: 'store',
  prepare: settlePayer,
  async run({ db }, { path, body, runtime, now }) {
    const payment = newPayment(path, body, now);
    await issueAllPending(db);
    await lockedAccountOf(db, path.account_id);
    await refund(db, runtime, payment);
    return paymentOf(db, path);
  },
};

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'desc' };

/** GET /payments */
export const listPayments: ReadOperation<'listPayments'> = {
  kind: 'read',
  async run(db, { query }) {
    const { account_id: account } = query;
    const all = db.selectFrom('payments').selectAll();
    const found = account === undefined ? all : all.where('account_id', '=', account);
    const { rows, next_cursor } = await readPage(found, order, query);
    const uses = await usesOf(db, rows);
    return { items: rows.map((row) => toPayment(row, uses.get(row.id) ?? [])), next_cursor };
  },
};

/** Invoices the period that has ended, so that a payment is used for its invoice and a refund cannot take what it needs. */
async function settlePayer({ path, runtime, now }: Pick<OperatorCall<'recordPayment'>, 'path' | 'runtime' | 'now'>): Promise<void> {
  const { id: accountId } = await runtime.store.read((db) => accountOf(db, path.account_id));
  await settleAccount(runtime, { accountId, now });
}

interface Path {
  readonly account_id: string;
  readonly payment: string;
}

/** @throws OperatorProblem 422 if the amount or the date cannot be of a payment. */
function newPayment(path: Path, body: RecordRefundRequest, now: number): NewPayment {
  const { date, method, reference } = body;
  const amount = euros(body.amount);
  assertNoBrokenRules([...brokenAmount(amount), ...brokenPaymentDay(date, now)]);
  return { accountId: path.account_id, name: path.payment, amount, date, method, reference, now };
}

function brokenPaymentDay(date: string, now: number): BrokenRule[] {
  return Date.parse(`${date}T00:00:00Z`) > now + FIRST_TIME_ZONE_MS ? [{ pointer: '#/date', detail: 'must not be in the future' }] : [];
}

async function paymentOf(db: Db, path: Path): Promise<Payment> {
  const row = await paymentRowOf(db, path);
  return toPayment(row, (await usesOf(db, [row])).get(row.id) ?? []);
}

async function paymentRowOf(db: Db, { account_id, payment }: Path): Promise<Row> {
  const row = await db
    .selectFrom('payments')
    .selectAll()
    .where('account_id', '=', account_id)
    .where('name', '=', payment)
    .executeTakeFirst();
  return requireFound(row, 'payment of this account with this name');
}

async function usesOf(db: Db, payments: readonly Row[]): Promise<ReadonlyMap<string, Selectable<PaymentUsesTable>[]>> {
  if (payments.length === 0) return new Map();
  const ids = payments.map(({ id }) => id);
  const uses = await db.selectFrom('payment_uses').selectAll().where('payment_id', 'in', ids).orderBy('used_for').execute();
  return Map.groupBy(uses, ({ payment_id }) => payment_id);
}

function toPayment(row: Row, uses: readonly Selectable<PaymentUsesTable>[]): Payment {
  return {
    id: row.id,
    account_id: row.account_id,
    kind: row.kind,
    name: row.name,
    amount: decimalOf(BigInt(row.amount)),
    date: row.date,
    method: row.method,
    reference: row.reference,
    unused: decimalOf(BigInt(row.unused)),
    pays: uses.map(toPaymentUse),
    created: toInstant(row.created),
    reversed: toInstantOrNull(row.reversed),
    reversal_reason: row.reversal_reason,
  };
}

function toPaymentUse({ kind, used_for, amount }: Selectable<PaymentUsesTable>): PaymentUse {
  return {
    invoice_id: kind === 'invoice' ? used_for : null,
    refund_id: kind === 'refund' ? used_for : null,
    amount: decimalOf(BigInt(amount)),
  };
}
