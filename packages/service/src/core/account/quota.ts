/** Quotas: how many VMs and handles an account may have at the same time, and DNS records of each domain. */
import { sql } from 'kysely';

import { counted } from '../../rules/counted.ts';
import { Refusal } from '../../rules/refusal.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';

/** Null for no limit. */
export interface Quotas {
  readonly vms: number | null;
  readonly handles: number | null;
  /** Undefined to keep the present one. */
  readonly recordsPerDomain?: number | null | undefined;
}

/** Must run in a transaction that has locked the account, so that no other one counts at the same time. */
export async function setQuotas(db: Db, accountId: string, { vms, handles, recordsPerDomain }: Quotas): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ max_vms: vms, max_handles: handles, ...(recordsPerDomain !== undefined && { max_records: recordsPerDomain }) })
    .where('id', '=', accountId)
    .execute();
}

/**
 * Asserts that the account has no more VMs than its quota. Call it after the VM was stored, in a transaction that has locked the account
 * before. Then all instances count the purchases of an account one after another.
 *
 * @throws Refusal 409 if the account has more.
 */
export async function assertVmQuota(db: Db, accountId: string): Promise<void> {
  const [within] = await accountWithinVmQuota(db, { accountId });
  if (within) return;
  const { quota, count } = await db
    .selectFrom('accounts')
    .select(['max_vms as quota', countedVms.as('count')])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  throw quotaExceeded('VM', quota, count - 1, freeing('Delete', quota, count - 1));
}

/**
 * Asserts that the account has fewer handles than its quota. Call it before the handle is stored.
 *
 * @throws Refusal 409 if the account has as many handles as its quota.
 */
export async function assertHandleQuota(db: Db, accountId: string): Promise<void> {
  const { quota, count } = await db
    .selectFrom('accounts')
    .select(['max_handles as quota', countedHandles.as('count')])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  if (quota !== null && count >= quota) throw quotaExceeded('handle', quota, count, count === 0 ? 'Ask' : 'Use one of them, or ask');
}

/**
 * Asserts that a domain of the account has fewer DNS records than its quota. Call it before the record is stored, in a transaction that has locked
 * the account.
 *
 * @throws Refusal 409 if the domain has as many records as the quota.
 */
export async function assertRecordQuota(
  db: Db,
  { accountId, domain }: { readonly accountId: string; readonly domain: string },
): Promise<void> {
  const { quota, count } = await db
    .selectFrom('accounts')
    .select((eb) => [
      'max_records as quota',
      eb
        .selectFrom('dns_records')
        .select((row) => row.fn.countAll<number>().as('count'))
        .where('domain', '=', domain)
        .as('count'),
    ])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  if (quota === null || Number(count) < quota) return;
  throw new Refusal(
    409,
    'quota_exceeded',
    `The quota of this account is ${counted(quota, 'DNS record')} of each domain, and ${domain} has ${count}. ${freeing('Remove', quota, Number(count))} the provider for a higher quota.`,
  );
}

const countedVms = sql<number>`(select count(*) from vms where vms.account_id = accounts.id and vms.state <> 'removed')`;
const countedHandles = sql<number>`(select count(*) from handles where handles.account_id = accounts.id)`;

const accountWithinVmQuota = prepared<{ accountId: string }, { id: string }>((db, parameter) =>
  db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', parameter('accountId'))
    .where(sql<boolean>`(max_vms is null or ${countedVms} <= max_vms)`),
);

/** What makes room for another one. With a quota of 0 only the provider can. */
function freeing(verb: string, quota: number | null, count: number): string {
  return quota ? `${verb} ${count === quota ? 'one' : count - quota + 1}, or ask` : 'Ask';
}

function quotaExceeded(what: string, quota: number | null, count: number, remedy: string): Refusal {
  const [allowed, present] = [quota ?? 0, count].map((number) => counted(number, what));
  return new Refusal(
    409,
    'quota_exceeded',
    `The quota of this account is ${allowed}, and it has ${present}. ${remedy} the provider for a higher quota.`,
  );
}
