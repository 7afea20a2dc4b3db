/** Transfers of domains between accounts of the service, with an auth code that the service has issued. */
import * as v from 'valibot';

import type { FinishableDelivery } from '../../delivery/delivery.ts';
import { enqueue } from '../../delivery/enqueue.ts';
import type { Services } from '../../delivery/runtime.ts';
import { sameHash, sha256, unseal } from '../../rules/credentials.ts';
import type { Secrets } from '../../rules/credentials.ts';
import { listOfNameservers } from '../../rules/nameserver.ts';
import { Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import { assertMonthWithDomain, releaseCredit } from '../accounting/credit-hold.ts';
import { holdRenewalsWithinLimit } from '../accounting/renewal-hold.ts';
import { settle } from '../jobs/settle.ts';
import { delegationChange } from './dnssec.ts';
import { authcodeContext, changeInProgress, domainSubject, endDomainChange, nameserversOf } from './domain.ts';
import type { DomainRow } from './domain.ts';
import { contactDetails, contactOf } from './handle.ts';
import type { HandleRow } from './handle.ts';

const moveDetails = v.object({ name: v.string(), contact: contactDetails, nameservers: v.array(v.string()) });

/** Tells the registrar of a domain that belongs to another account already. */
export const domainMove: FinishableDelivery<v.InferOutput<typeof moveDetails>> = {
  name: 'moveDomain',
  details: moveDetails,
  subject: domainSubject,
  finish: {
    async call({ registrar }, { name, contact, nameservers }, token) {
      // First of all, so that nobody transfers the domain away with the used code.
      await registrar.setAuthcode(name, null, token);
      await registrar.setContact(name, contact, token);
      await registrar.setNameservers(name, nameservers, token);
      await registrar.setRenewal(name, true, token);
    },
    store: ({ db }, { name }) => endDomainChange(db, name),
  },
};

/** A domain that another account of the service has. */
export async function domainOfOther(db: Db, name: string, accountId: string): Promise<DomainRow | undefined> {
  return db.selectFrom('domains').selectAll().where('name', '=', name).where('account_id', '!=', accountId).executeTakeFirst();
}

/** Settles two accounts, and locks them in the order in which every transaction locks accounts. */
export async function settleBoth(
  db: Db,
  services: Services,
  { accountIds, now }: { readonly accountIds: readonly [string, string]; readonly now: number },
): Promise<void> {
  const inOrder = accountIds.toSorted();
  for (const accountId of inOrder) await lockAccount(db, accountId);
  for (const accountId of inOrder) await settle(db, services, { accountId, now });
}

/** The account that gets a domain, and the domain as it is to be. */
export interface DomainMove {
  readonly accountId: string;
  readonly handle: HandleRow;
  readonly nameservers: ReturnType<typeof nameserversOf> & Pick<DomainRow, 'ns1' | 'ns2'>;
}

/**
 * Moves a domain to another account, with its DNS records and the rest of its year. The transaction has settled and locked both accounts. A
 * cancellation ends, and the renewals are those of the new account from now on.
 *
 * @param domain As the transaction has read it, after it has checked the auth code.
 * @throws Refusal 409 if the domain cannot be transferred at the moment, 402 if its renewal of this month needs more credit than remains.
 */
export async function moveToAccount(
  db: Db,
  services: Services,
  domain: DomainRow,
  { accountId, handle, nameservers }: DomainMove,
): Promise<DomainRow> {
  const { name } = domain;
  const now = services.ports.clock.now();
  await assertTransferable(db, domain);
  await assertMonthWithDomain(db, accountId, { tld: domain.tld, now });
  const delegation = delegationChange(domain, listOfNameservers(nameservers), { ports: services.ports, now });
  const moved = await db
    .updateTable('domains')
    .set({
      account_id: accountId,
      handle: handle.id,
      ...nameservers,
      ...delegation,
      sealed_authcode: null,
      terminated: 0,
      hold: 0,
      state: 'changing',
    })
    .where('name', '=', name)
    .where('account_id', '=', domain.account_id)
    .where('state', '=', 'registered')
    .where('sealed_authcode', '=', domain.sealed_authcode)
    .where('transfer_lock', '=', 0)
    .where('delegation_settled', '=', domain.delegation_settled)
    .returningAll()
    .executeTakeFirst();
  if (!moved) throw changeInProgress(name);
  await releaseCredit(db, domain.account_id, BigInt(domain.hold));
  await holdRenewalsWithinLimit(db, accountId, { domain: name }, 'for its renewal, which is due until the end of the month');
  const details = { name, contact: contactOf(handle), nameservers: listOfNameservers(nameserversOf(moved)) };
  await enqueue(db, services.ports, domainMove, { accountId, details });
  return moved;
}

/** Whether a text is the current auth code of a domain. The comparison takes the same time for every wrong code. */
export function isAuthcodeOf({ name, sealed_authcode: sealed }: DomainRow, text: string, secrets: Secrets): boolean {
  const authcode = sealed === null ? undefined : unseal(sealed, secrets, authcodeContext(name));
  return authcode !== undefined && sameHash(sha256(authcode), sha256(text));
}

async function assertTransferable(db: Db, { name, account_id, state, transfer_lock }: DomainRow): Promise<void> {
  if (state !== 'registered') throw changeInProgress(name);
  if (transfer_lock === 1) {
    throw new Refusal(
      409,
      'wrong_state',
      `The transfer lock of ${name} is set. Ask the account that has the domain to remove it with POST /domain/${name}/transfer-lock, then send this request again.`,
    );
  }
  const { suspended_at } = await db.selectFrom('accounts').select('suspended_at').where('id', '=', account_id).executeTakeFirstOrThrow();
  if (suspended_at !== null) {
    throw new Refusal(
      409,
      'wrong_state',
      `The account that has ${name} is suspended, so the domain cannot be transferred. Ask the provider.`,
    );
  }
}
