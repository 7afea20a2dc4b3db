/** Erases the personal data of an account, and keeps its invoices. */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

import { counted } from '../../rules/counted.ts';
import { decimalOf } from '../../rules/money.ts';
import { Refusal } from '../../rules/refusal.ts';
import type { Db, RequestLog } from '../../store/store.ts';
import { beginForgettingEvents } from '../events/feed.ts';
import { deleteLog } from './request-log.ts';

/** Replaces personal data in columns that require a text. */
const ERASED = 'Erased';

/** The content of an audit record after an erasure. */
export const ERASED_STATES = { salt: '', state_before: 'null', state_after: '{"erased":true}' } as const;

/** The targets of the audit records whose content was erased, by number. */
export type ErasedRecords = Readonly<Record<string, string | null>>;

/**
 * Must run in a transaction that has locked the account.
 *
 * @param now Milliseconds.
 * @throws Refusal 409 with everything that prevents it.
 */
export async function eraseAccount(
  db: Db,
  requestLog: RequestLog,
  { accountId, now }: { accountId: string; now: number },
): Promise<ErasedRecords> {
  await assertErasable(db, accountId);
  const erasedRecords = await eraseAuditRecords(db, accountId);
  await deleteLog(db, requestLog, accountId);
  for (const table of ['handles', 'ssh_keys', 'billing_profiles', 'otps', 'idempotency_keys', 'failed_jobs'] as const)
    await db.deleteFrom(table).where('account_id', '=', accountId).execute();
  await db
    .updateTable('api_keys')
    .set(({ fn, ref, val }) => ({ label: ERASED, allowed_networks: null, revoked: fn.coalesce(ref('revoked'), val(now)) }))
    .where('account_id', '=', accountId)
    .execute();
  await db
    .updateTable('vms')
    .set({ hostname: ERASED, name: null, labels: '{}', ssh_key: null, ssh_key_displayname: null, default_ptr: ERASED })
    .set({ abuse_reason: null, abuse_statement: null })
    .where('account_id', '=', accountId)
    .execute();
  await db
    .updateTable('payments')
    .set(({ ref }) => ({
      reference: ERASED,
      reversal_reason: sql<string | null>`case when ${ref('reversed')} is null then null else ${ERASED} end`,
    }))
    .where('account_id', '=', accountId)
    .execute();
  await db.updateTable('sales').set({ title: ERASED }).where('account_id', '=', accountId).execute();
  await db.updateTable('positions').set({ hostname: ERASED }).where('account_id', '=', accountId).execute();
  await db.updateTable('charges').set({ subject: ERASED }).where('account_id', '=', accountId).where('kind', '=', 'domain').execute();
  await db
    .updateTable('dedicated_servers')
    .set({ dashboard: null, username: null, email: null, sealed_password: null })
    .where('account_id', '=', accountId)
    .execute();
  await db
    .updateTable('accounts')
    .set({ name: `${ERASED} account`, suspension_reason: ERASED, erased_at: now })
    .where('id', '=', accountId)
    .execute();
  // The changes above were noted as events, too.
  await beginForgettingEvents(db, accountId);
  return erasedRecords;
}

/** Audit records about the account and its invoices contain personal data, for example in reasons, which are free text. */
async function eraseAuditRecords(db: Db, accountId: string): Promise<ErasedRecords> {
  const { rows } = await sql<{ seq: number; target: string | null }>`
    update audit_records
    set salt = ${ERASED_STATES.salt}, state_before = ${ERASED_STATES.state_before}, state_after = ${ERASED_STATES.state_after},
      target = case when operation = 'terminateDomain' then ${ERASED} else target end
    where target = ${accountId}
      or target in (select id from invoices where account_id = ${accountId})
      or state_before like ${`%${accountId}%`} or state_after like ${`%${accountId}%`}
    returning seq, target
  `.execute(db);
  return Object.fromEntries(rows.map(({ seq, target }) => [String(seq), target]));
}

function countColumn(query: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`(${query})`;
}

/** @throws Refusal 409 with everything that prevents the erasure. */
async function assertErasable(db: Db, accountId: string): Promise<void> {
  const found = await db
    .selectFrom('accounts')
    .select([
      'suspended_at',
      'balance',
      countColumn(sql`select count(*) from vms where account_id = accounts.id and state <> 'removed'`).as('VM'),
      countColumn(sql`select count(*) from domains where account_id = accounts.id`).as('domain'),
      countColumn(sql`select count(*) from dedicated_servers where account_id = accounts.id and state <> 'ended'`).as('dedicated server'),
      countColumn(sql`select count(*) from reservations where account_id = accounts.id`).as('running change'),
      countColumn(sql`select count(*) from invoices where account_id = accounts.id and status = 'OPEN'`).as('open invoice'),
      countColumn(sql`select count(*) from invoices where account_id = accounts.id and number is null`).as('undocumented invoice'),
      countColumn(sql`
        select (select count(*) from positions where account_id = accounts.id and invoice_id is null)
          + (select count(*) from charges where account_id = accounts.id and invoice_id is null)
      `).as('uninvoiced position'),
    ])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  const { suspended_at, balance, ...counts } = found;
  const present = Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [counted(count, what)] : []));
  if (balance > 0) present.push(`a balance of ${decimalOf(BigInt(balance))} EUR`);
  const obstacles = [...(suspended_at === null ? ['is not suspended'] : []), ...(present.length > 0 ? [`has ${present.join(', ')}`] : [])];
  if (obstacles.length === 0) return;
  throw new Refusal(
    409,
    'wrong_state',
    `The account cannot be erased, because it ${obstacles.join(' and ')}. Suspend it, remove its servers and domains, settle its invoices, refund its balance, and wait for the end of the month if something is not invoiced yet.`,
  );
}
