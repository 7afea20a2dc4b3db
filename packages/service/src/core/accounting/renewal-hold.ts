/**
 * Credit that renewals hold. A renewal that is due in the open period is part of the estimate, so purchases cannot use its credit. A server that
 * is being set up holds its first runtime and the renewals that would be due, if the set-up completed at the earliest instant of the period.
 * Each server and each domain stores what it holds. Whatever changes its renewals calls `holdRenewals` in the same transaction.
 */
import type { Selectable } from 'kysely';

import { periodOf } from '../../rules/billing.ts';
import type { Period, Seconds } from '../../rules/billing.ts';
import { endOfRuntime, renewalsBefore } from '../../rules/dedicated.ts';
import { inForceAt } from '../../rules/in-force.ts';
import type { Money } from '../../rules/money.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import type { DedicatedServersTable } from '../../store/tables/dedicated.ts';
import { tldPriceVersions } from '../catalogue/tld-price.ts';
import type { TldPriceVersion } from '../catalogue/tld-price.ts';
import { heldByServers, holdCredit, holdOwed } from './credit-hold.ts';

/** The server or the domain whose renewals changed. */
export type Renewable = { readonly server: string } | { readonly domain: string };

/** Holds the renewals of a server or domain as they are now, regardless of the credit limit. */
export async function holdRenewals(db: Db, accountId: string, renewable: Renewable): Promise<void> {
  await holdOwed(db, accountId, await storeHolds(db, accountId, renewable));
}

/**
 * Holds the renewals of a server or domain as they are now.
 *
 * @param reason What is held, for the message of a refusal.
 * @throws Refusal 402 if they need more credit than remains.
 */
export async function holdRenewalsWithinLimit(
  db: Db,
  accountId: string,
  renewable: Renewable,
  reason = 'for the renewals that are due until the end of the month',
): Promise<void> {
  await holdCredit(db, accountId, await storeHolds(db, accountId, renewable), reason);
}

/** Holds all renewals of an account as they are now, regardless of the credit limit. */
export async function holdAllRenewals(db: Db, accountId: string): Promise<void> {
  await holdOwed(db, accountId, await storeAllHolds(db, accountId, periodOf(await lockAccount(db, accountId))));
}

/** Stores what renewals hold. @returns The change of the hold of the account. */
async function storeHolds(db: Db, accountId: string, renewable: Renewable): Promise<Money> {
  const period = periodOf(await lockAccount(db, accountId));
  return 'server' in renewable
    ? storeServerHolds(db, accountId, period, renewable.server)
    : storeDomainHolds(db, accountId, period, renewable.domain);
}

/**
 * Stores what all renewals of an account hold in a period. The transaction must have locked the account.
 *
 * @returns The change of the hold of the account.
 */
export async function storeAllHolds(db: Db, accountId: string, period: Period): Promise<Money> {
  return (await storeServerHolds(db, accountId, period)) + (await storeDomainHolds(db, accountId, period));
}

/** What the renewals of an account hold, for the estimate of the period. */
export async function heldByRenewals(db: Db, accountId: string): Promise<Money> {
  const { domains } = await db
    .selectFrom('domains')
    .select(({ fn }) => fn.sum<number | null>('hold').as('domains'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  return (await heldByServers(db, accountId, 'deployed')) + BigInt(domains ?? 0);
}

/** @param id One server. Default: all of the account. */
async function storeServerHolds(db: Db, accountId: string, period: Period, id?: string): Promise<Money> {
  const servers = await db
    .selectFrom('dedicated_servers')
    .select(['id', 'state', 'ordered', 'due', 'terminated', 'price', 'runtime_days', 'hold'])
    .where('account_id', '=', accountId)
    .where('state', 'in', ['ordered', 'deployed', 'ended'])
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .execute();
  let change = 0n;
  for (const server of servers) {
    const hold = serverHold(server, period);
    if (hold === BigInt(server.hold)) continue;
    await db
      .updateTable('dedicated_servers')
      .set({ hold: Number(hold) })
      .where('id', '=', server.id)
      .execute();
    change += hold - BigInt(server.hold);
  }
  return change;
}

export type ServerRenewals = Pick<Selectable<DedicatedServersTable>, 'state' | 'ordered' | 'due' | 'terminated' | 'price' | 'runtime_days'>;

/** The most that a server may be charged in the rest of a period. */
function serverHold(server: ServerRenewals, period: Period): Money {
  return BigInt(server.price) * BigInt(serverCharges(server, period).length);
}

/** When a server may be charged in the rest of a period, at the earliest. */
export function serverCharges({ state, ordered, due, terminated, runtime_days }: ServerRenewals, { start, end }: Period): Seconds[] {
  const first = state === 'ordered' ? Math.max(ordered ?? start, start) : due;
  if (first === null || (state !== 'ordered' && state !== 'deployed')) return [];
  const renew = state === 'ordered' ? endOfRuntime(first, runtime_days) : first;
  const renewals = renewalsBefore({ phase: 'deployed', renew, terminated: state === 'deployed' && terminated === 1 }, runtime_days, end);
  const count = state === 'ordered' ? 1 + renewals : renewals;
  return Array.from({ length: count }, (_, index) => endOfRuntime(first, index * runtime_days));
}

/** @param name One domain. Default: all of the account. */
async function storeDomainHolds(db: Db, accountId: string, { end: periodEnd }: Period, name?: string): Promise<Money> {
  const domains = await db
    .selectFrom('domains')
    .select(['name', 'tld', 'state', 'expires', 'terminated', 'hold'])
    .where('account_id', '=', accountId)
    .where('state', '!=', 'reserved')
    .where(({ or, eb }) => or([eb('expires', '<', periodEnd), eb('hold', '>', 0)]))
    .$if(name !== undefined, (query) => query.where('name', '=', name ?? ''))
    .execute();
  const prices = new Map<string, readonly TldPriceVersion[]>();
  let change = 0n;
  for (const { tld, expires, terminated, hold: held, ...domain } of domains) {
    const versions = prices.get(tld) ?? (await tldPriceVersions(db, tld));
    prices.set(tld, versions);
    const hold = domainCharges({ expires, terminated }, periodEnd).length > 0 ? renewalPrice(versions, expires) : 0n;
    if (hold === BigInt(held)) continue;
    await db
      .updateTable('domains')
      .set({ hold: Number(hold) })
      .where('name', '=', domain.name)
      .execute();
    change += hold - BigInt(held);
  }
  return change;
}

/** When a domain is charged before a period ends. It is renewed for a year, so at most once. */
export function domainCharges(
  { expires, terminated }: { readonly expires: Seconds; readonly terminated: number },
  end: Seconds,
): Seconds[] {
  return terminated === 0 && expires < end ? [expires] : [];
}

/** The net price of a renewal. */
export function renewalPrice(versions: readonly TldPriceVersion[], expires: Seconds): Money {
  return inForceAt(versions, expires * 1000).renew;
}

/** Holds the renewals of the domains of a TLD at new prices. @param now Milliseconds. */
export async function holdRenewalsOfTld(db: Db, tld: string, now: number): Promise<void> {
  for (const { name, account_id } of await dueOfTld(db, tld, now)) await holdRenewals(db, account_id, { domain: name });
}

/** Locks the accounts that `holdRenewalsOfTld` changes, for a transaction that takes a later lock before it. @param now Milliseconds. */
export async function lockRenewalsOfTld(db: Db, tld: string, now: number): Promise<void> {
  const accounts = new Set((await dueOfTld(db, tld, now)).map(({ account_id }) => account_id));
  for (const accountId of accounts) await lockAccount(db, accountId);
}

/** The domains of a TLD that are renewed in the open period, by account. */
function dueOfTld(db: Db, tld: string, now: number): Promise<{ name: string; account_id: string }[]> {
  return db
    .selectFrom('domains')
    .select(['name', 'account_id'])
    .where('tld', '=', tld)
    .where('state', '!=', 'reserved')
    .where('terminated', '=', 0)
    .where('expires', '<', periodOf(Math.floor(now / 1000)).end)
    .orderBy('account_id')
    .orderBy('name')
    .execute();
}
