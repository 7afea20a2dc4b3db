/**
 * The positions of a VM (specification: "Invoice", "Position item"). Every function keeps `accounts.held` equal to the sum of the holds of
 * the open positions, the open charges and the reservations.
 */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import type { Services } from '../../delivery/runtime.ts';
import { holdFor, periodOf } from '../../rules/billing.ts';
import type { Seconds } from '../../rules/billing.ts';
import type { Money } from '../../rules/money.ts';
import { lockAccountAt } from '../../store/account-lock.ts';
import { prepared, together } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import type { PositionsTable } from '../../store/tables/accounting.ts';
import { isSettled, settle } from '../jobs/settle.ts';
import { releaseCredit } from './credit-hold.ts';

/**
 * Locks and settles the account, and returns the instant of a change of billing. It is never in a closed period, because a late change must
 * not alter an invoice.
 *
 * @param change `at` is the instant of the change, if it is not the present one.
 */
export async function billingInstant(
  db: Db,
  services: Services,
  { accountId, now, at = Math.floor(now / 1000) }: { readonly accountId: string; readonly now: number; readonly at?: Seconds },
): Promise<Seconds> {
  const [instant, settled] = await together([lockAccountAt(db, accountId, at), isSettled(db, { accountId, now })]);
  if (settled) return instant;
  await settle(db, services, { accountId, now });
  return lockAccountAt(db, accountId, at);
}

/** A position to begin. */
export interface NewPosition {
  readonly vmId: number;
  readonly accountId: string;
  readonly type: 'CREATE' | 'BILLINGRESTART' | 'UP-DOWNGRADE';
  readonly start: Seconds;
  readonly monthlyPrice: Money;
}

/** The hold of a new position: its cost if it runs until the period ends. */
export function holdOf({ start, monthlyPrice }: Pick<NewPosition, 'start' | 'monthlyPrice'>): Money {
  return holdFor({ start, stop: null, monthlyPrice }, periodOf(start).end);
}

/** Begins a position. The account must already hold `holdOf` for it. */
export async function beginPosition(db: Db, position: NewPosition): Promise<void> {
  await insertPosition(db, { ...position, hold: holdOf(position) });
}

/** Stores the resources of the VM, too, so that the invoice can name them after a change or a removal. */
const insertPosition = prepared<NewPosition & { readonly hold: Money }, unknown>((db, parameter) =>
  db
    .insertInto('positions')
    .columns([
      'vm_id',
      'number',
      'account_id',
      'invoice_id',
      'type',
      'start',
      'stop',
      'monthly_price',
      'hold',
      'hostname',
      'hostsystem',
      'cores',
      'mem',
      'disk',
      'storage',
      'ips',
      'backup_slots',
      'network_speed',
    ])
    .expression(
      db
        .selectFrom('vms')
        .select([
          'id',
          // Another VM may have had the identifier before.
          sql<number>`(select coalesce(max(number), 0) + 1 from positions where vm_id = ${parameter('vmId')})`.as('number'),
          sql<string>`${parameter('accountId')}`.as('account_id'),
          sql<null>`null`.as('invoice_id'),
          sql<string>`${parameter('type')}`.as('type'),
          sql<number>`${parameter('start')}`.as('start'),
          sql<null>`null`.as('stop'),
          sql<number>`${parameter('monthlyPrice')}`.as('monthly_price'),
          sql<number>`${parameter('hold')}`.as('hold'),
          'hostname',
          'hostsystem',
          'cores',
          'mem',
          'disk',
          'storage',
          'ips',
          'backup_slots',
          'network_speed',
        ])
        .where('id', '=', parameter('vmId')),
    ),
);

/** When a running position would end, and how much of its hold would be released. */
export interface EndingPosition {
  readonly stop: Seconds;
  readonly freed: Money;
}

/** The end of the running position of a VM at an instant. Undefined if none is running. */
export async function previewPositionEnd(db: Db, vmId: number, at: Seconds): Promise<EndingPosition | undefined> {
  const running = await runningPosition(db, vmId);
  if (!running) return undefined;
  const stop = Math.max(at, running.start);
  return { stop, freed: BigInt(running.hold) - costUntil(running, stop) };
}

/**
 * Ends the running position of a VM. Its hold shrinks to its actual cost.
 *
 * @returns When it ended, which is never before its start. Undefined if none was running.
 */
export async function endPosition(db: Db, vmId: number, at: Seconds): Promise<Seconds | undefined> {
  const running = await runningPosition(db, vmId);
  if (!running) return undefined;
  const { number, start } = running;
  const stop = Math.max(at, start);
  if (stop === start && running.type === 'BILLINGRESTART' && (await positionBefore(db, running))?.stop === start) {
    // A BILLINGRESTART position without a runtime is deleted.
    await db.deleteFrom('positions').where('vm_id', '=', vmId).where('number', '=', number).execute();
    await releaseCredit(db, running.account_id, BigInt(running.hold));
    return stop;
  }
  const cost = costUntil(running, stop);
  await db
    .updateTable('positions')
    .set({ stop, hold: Number(cost) })
    .where('vm_id', '=', vmId)
    .where('number', '=', number)
    .execute();
  await releaseCredit(db, running.account_id, BigInt(running.hold) - cost);
  return stop;
}

function runningPosition(db: Db, vmId: number): Promise<Selectable<PositionsTable> | undefined> {
  return db.selectFrom('positions').selectAll().where('vm_id', '=', vmId).where('stop', 'is', null).executeTakeFirst();
}

function costUntil({ start, monthly_price }: Selectable<PositionsTable>, stop: Seconds): Money {
  return holdFor({ start, stop, monthlyPrice: BigInt(monthly_price) }, stop);
}

function positionBefore(db: Db, { vm_id, number }: { vm_id: number; number: number }): Promise<{ stop: Seconds | null } | undefined> {
  return db
    .selectFrom('positions')
    .select('stop')
    .where('vm_id', '=', vm_id)
    .where('number', '<', number)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The last position of a VM, if it has one. */
export function lastPosition(db: Db, vmId: number): Promise<{ number: number; stop: Seconds | null } | undefined> {
  return db
    .selectFrom('positions')
    .select(['number', 'stop'])
    .where('vm_id', '=', vmId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}
