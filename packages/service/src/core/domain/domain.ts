/** Functions that operations on a domain share. */
import type { Subject } from '@reseller/adapters';
import type { DomainHandles, DomainNameservers } from '@reseller/client';
import type { DomainDetails } from '@reseller/client/extension';
import type { Selectable } from 'kysely';

import type { Runtime, Services } from '../../delivery/runtime.ts';
import type { Seconds } from '../../rules/billing.ts';
import { unseal } from '../../rules/credentials.ts';
import type { Secrets } from '../../rules/credentials.ts';
import { asciiNameOf } from '../../rules/domain-name.ts';
import { statusOf, timingOf } from '../../rules/domain-registration.ts';
import type { Locks, Registration } from '../../rules/domain-registration.ts';
import { notFound, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { DomainsTable } from '../../store/tables/domains.ts';
import { settle } from '../jobs/settle.ts';

export type DomainRow = Selectable<DomainsTable>;

interface DomainPath {
  readonly accountId: string;
  readonly path: { readonly domain: string };
}

/**
 * Settles the account, and finds the domain that a path names.
 *
 * @throws Refusal 404 if the account does not have the domain.
 */
export async function settleAndFindDomain(db: Db, services: Services, call: DomainPath & { readonly now: number }): Promise<DomainRow> {
  await settle(db, services, call);
  return findDomain(db, call);
}

/**
 * Finds the domain that a path names, in an account that is settled.
 *
 * @throws Refusal 404 if the account does not have the domain.
 */
export async function findDomain(db: Db, { accountId, path }: DomainPath): Promise<DomainRow> {
  const name = asciiNameOf(path.domain);
  if (name === undefined) throw notFound('domain');
  const row = await db
    .selectFrom('domains')
    .selectAll()
    .where('name', '=', name)
    .where('account_id', '=', accountId)
    .where('state', '!=', 'reserved')
    .executeTakeFirst();
  if (!row) throw notFound('domain');
  return row;
}

/**
 * Begins a change that the registrar carries out. Other changes are refused until `endChange`, because registrar and store could differ
 * after two concurrent changes.
 *
 * @param domain As this transaction has read it. Nameservers and DS records must suit each other, so neither may have changed since then.
 * @param changed Columns that change with the state.
 * @throws Refusal 409 if another change is in progress.
 */
export async function beginDomainChange(
  db: Db,
  { name, delegation_settled }: Pick<DomainRow, 'name' | 'delegation_settled'>,
  changed: Partial<DomainRow> = {},
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('domains')
    .set({ ...changed, state: 'changing' })
    .where('name', '=', name)
    .where('state', '=', 'registered')
    .where('delegation_settled', '=', delegation_settled)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw changeInProgress(name);
}

export function changeInProgress(name: string): Refusal {
  return new Refusal(
    409,
    'wrong_state',
    `Another change of ${name} is in progress. Wait until it has finished, then send this request again.`,
  );
}

/** Ends a change, and stores its result. */
export async function endDomainChange(db: Db, name: string, changed: Partial<DomainRow> = {}): Promise<void> {
  await db
    .updateTable('domains')
    .set({ ...changed, state: 'registered' })
    .where('name', '=', name)
    .where('state', '=', 'changing')
    .execute();
}

/** Whether a cancelled domain has expired, so that it is free, even if its end has not been performed yet. */
export function hasLapsed({ state, terminated, expires }: Pick<DomainRow, 'state' | 'terminated' | 'expires'>, at: Seconds): boolean {
  return state === 'registered' && terminated === 1 && expires <= at;
}

/** Port calls about a domain are fenced by its name. */
export function domainSubject({ name }: { readonly name: string }): Subject {
  return `domain/${name}`;
}

/** Converts a stored domain to the input of the rules. */
export function registrationOf(row: Pick<DomainRow, 'created' | 'expires' | 'locked_until' | 'terminated'>): Registration {
  return { created: row.created, expires: row.expires, lockedUntil: row.locked_until, terminated: row.terminated === 1 };
}

/** The locks of a stored domain. */
export function locksOf(row: Pick<DomainRow, 'locked_until' | 'transfer_lock'>): Locks {
  return { lockedUntil: row.locked_until, transferLock: row.transfer_lock === 1 };
}

export function nameserversOf({ ns1, ns2, ns3, ns4, ns5 }: DomainRow): DomainNameservers {
  return { ns1, ns2, ns3, ns4, ns5 };
}

/** The context that an auth code is sealed with. */
export function authcodeContext(name: string): string {
  return `domain-authcode/${name}`;
}

/** A domain has one handle, which is its contact in all roles. */
export function handlesOfDomain(handle: string): DomainHandles {
  return { ownerC: handle, adminC: handle, techC: handle, zoneC: handle };
}

/** A domain in the responses of registration and details. */
export function toDomainDetails(row: DomainRow, runtime: Pick<Runtime, 'hasExtension' | keyof Secrets>, at: Seconds): DomainDetails {
  const { name, sld, tld, handle, sealed_authcode: sealed } = row;
  return {
    domain: {
      name,
      sld,
      tld,
      authcode: sealed === null ? null : (unseal(sealed, runtime, authcodeContext(name)) ?? null),
      status: statusOf(locksOf(row), at, row.state === 'pending'),
      terminated: row.terminated === 1,
      ...(runtime.hasExtension && { transfer_lock: row.transfer_lock === 1 }),
    },
    handle: handlesOfDomain(handle),
    nameserver: nameserversOf(row),
    timings: { create: timingOf(row.created), expire: timingOf(row.expires) },
  };
}
