import type { Bought, LogEntry } from '../../store/log-row.ts';
import type { Db } from '../../store/store.ts';

/** The position that a request began, and its invoice. */
export interface BoughtPosition {
  readonly type: string;
  /** Seconds. */
  readonly start: number;
  /** Seconds. Null while it runs. */
  readonly stop: number | null;
  /** Null while the period is open. */
  readonly invoice_id: string | null;
  /** Null until the invoice is issued. */
  readonly invoice_number: string | null;
}

/** A purchase in the request log. */
interface LoggedPurchase extends Pick<LogEntry, 'account_id' | 'date'> {
  readonly bought: Bought;
}

/**
 * Finds the position that bills a purchase: the first one of the resource that began with the request or later. A position can begin later
 * than its request if a period ended in the meantime.
 */
export async function positionOf(
  db: Db,
  { account_id, date, bought: { kind, subject } }: LoggedPurchase,
): Promise<BoughtPosition | undefined> {
  if (kind === 'vm')
    return db
      .selectFrom('positions')
      .leftJoin('invoices', 'invoices.id', 'positions.invoice_id')
      .select(['type', 'start', 'stop', 'invoice_id', 'invoices.number as invoice_number'])
      .where('vm_id', '=', Number(subject))
      .where('positions.account_id', '=', account_id)
      .where('type', '!=', 'BILLINGRESTART')
      .where('start', '>=', Math.floor(date / 1000))
      .orderBy('positions.number')
      .limit(1)
      .executeTakeFirst();
  return db
    .selectFrom('charges')
    .leftJoin('invoices', 'invoices.id', 'charges.invoice_id')
    .select(['type', 'start', 'stop', 'invoice_id', 'invoices.number as invoice_number'])
    .where('charges.account_id', '=', account_id)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .where('charges.created', '>=', date)
    .orderBy('charges.created')
    .limit(1)
    .executeTakeFirst();
}
