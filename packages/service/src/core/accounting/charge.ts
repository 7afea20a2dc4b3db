/** Charges in advance: dedicated servers and domains (not shown in the specification; our choice). */
import type { PeriodPosition } from '@reseller/client';
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import type { Ports } from '../../ports/ports.ts';
import { accruedByCharge } from '../../rules/billing.ts';
import type { PriceSeconds, Seconds } from '../../rules/billing.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { numberOf } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';
import type { ChargesTable } from '../../store/tables/accounting.ts';
import { holdOwed } from './credit-hold.ts';
import { closeEndedPeriods } from './period-end.ts';

/** An amount for a period of time that a server or domain runs. */
export interface Charge {
  readonly accountId: string;
  readonly kind: 'dedicated' | 'domain';
  /** Identifier of the server, or name of the domain. */
  readonly subject: string;
  readonly type: 'CREATE' | 'RENEW' | 'TRANSFER';
  readonly start: Seconds;
  readonly stop: Seconds;
  readonly amount: Money;
}

/**
 * Charges an amount to the current period, regardless of the credit limit. It is already owed: a renewal, or a purchase whose price was
 * held.
 *
 * @param now Milliseconds.
 */
export async function chargeOwed(db: Db, { random }: Ports, charge: Charge, now: number): Promise<void> {
  await closeEndedPeriods(db, charge.accountId, Math.floor(now / 1000));
  await holdOwed(db, charge.accountId, charge.amount);
  await db
    .insertInto('charges')
    .values({
      id: uuidv7({ msecs: now, random: random.bytes(16) }),
      account_id: charge.accountId,
      invoice_id: null,
      kind: charge.kind,
      subject: charge.subject,
      type: charge.type,
      start: charge.start,
      stop: charge.stop,
      amount: Number(charge.amount),
      created: now,
    })
    .execute();
}

/** The charges of the current period, and their sum. */
export async function openCharges(
  db: Db,
  accountId: string,
): Promise<{ readonly rows: readonly Selectable<ChargesTable>[]; readonly accrued: PriceSeconds }> {
  const rows = await db
    .selectFrom('charges')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('invoice_id', 'is', null)
    .orderBy('start')
    .orderBy('id')
    .execute();
  return { rows, accrued: rows.reduce((sum, { amount }) => sum + accruedByCharge(BigInt(amount)), 0n) };
}

/** The members of `positions` other than `vms`. A member without charges is missing. */
export interface ChargePositions {
  readonly positions: {
    readonly dedicated?: Record<string, PeriodPosition[]>;
    readonly domains?: Record<string, PeriodPosition[]>;
  };
}

/** Charges by subject, as positions of an invoice. */
export function toChargePositions(rows: readonly Selectable<ChargesTable>[]): ChargePositions {
  const maps = { dedicated: bySubject(rows, 'dedicated'), domains: bySubject(rows, 'domain') };
  return { positions: Object.fromEntries(Object.entries(maps).filter(([, map]) => Object.keys(map).length > 0)) };
}

function bySubject(rows: readonly Selectable<ChargesTable>[], kind: Charge['kind']): Record<string, PeriodPosition[]> {
  const map: Record<string, PeriodPosition[]> = {};
  for (const row of rows) {
    if (row.kind !== kind) continue;
    (map[row.subject] ??= []).push({
      type: row.type,
      start: secondsToInstant(row.start),
      stop: secondsToInstant(row.stop),
      totalPrice: numberOf(BigInt(row.amount)),
    });
  }
  return map;
}
