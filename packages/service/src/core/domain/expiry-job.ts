/** What happens to domains at their expiry: a renewal, or the end of a cancelled one. */
import type { Ports } from '../../ports/ports.ts';
import type { Seconds } from '../../rules/billing.ts';
import { reachExpiry } from '../../rules/domain-registration.ts';
import type { Db } from '../../store/store.ts';
import { chargeOwed } from '../accounting/charge.ts';
import type { JobKind } from '../jobs/run-jobs.ts';

/**
 * Renews domains at their expiry and ends those that are cancelled. A domain that is being changed
 * waits for the end of the change.
 */
export const domainExpiryJobs: JobKind = {
  async first(db, now, accountId) {
    const due = firstDomain(db, now);
    const domain = await (accountId === undefined ? due : due.where('accounts.id', '=', accountId)).executeTakeFirst();
    return domain && { at: domain.expires * 1000, id: domain.name };
  },
  async claimFirst(db, now, { claim, held }) {
    const domain = await claim(firstDomain(db, now), 'accounts', held).executeTakeFirst();
    return domain && { at: domain.expires * 1000, accountId: domain.accountId };
  },
  perform: (db, { at, id }, ports) => renewOrEnd(db, ports, id, at / 1000),
};

/** With its account, which is what is claimed. */
function firstDomain(db: Db, now: number) {
  return db
    .selectFrom('domains')
    .innerJoin('accounts', 'accounts.id', 'domains.account_id')
    .select(['domains.name', 'domains.expires', 'accounts.id as accountId'])
    .where('state', '=', 'registered')
    .where('expires', '<=', Math.floor(now / 1000))
    .orderBy('expires')
    .orderBy('domains.name')
    .limit(1);
}

/** @param expires The expiry that has come; where the domain has another one by now, nothing is done. */
async function renewOrEnd(db: Db, ports: Ports, name: string, expires: Seconds): Promise<void> {
  const row = await db
    .selectFrom('domains')
    .innerJoin('tlds', 'tlds.tld', 'domains.tld')
    .select(['domains.account_id', 'domains.created', 'domains.locked_until', 'domains.terminated', 'tlds.renew_price'])
    .where('domains.name', '=', name)
    .where('domains.state', '=', 'registered')
    .where('domains.expires', '=', expires)
    .executeTakeFirst();
  if (!row) return;
  const { terminated } = row;
  const reached = reachExpiry({ created: row.created, expires, lockedUntil: row.locked_until, terminated: terminated === 1 }, expires);
  if ('refused' in reached) throw new Error(`The domain ${name} was taken up at its expiry, and it is ${reached.refused}.`);
  const claimed = await db
    .updateTable('domains')
    .set({ expires: 'next' in reached ? reached.next.expires : expires })
    .where('name', '=', name)
    .where('state', '=', 'registered')
    .where('expires', '=', expires)
    .where('terminated', '=', terminated)
    .executeTakeFirst();
  if (claimed.numUpdatedRows === 0n) return;
  if ('ended' in reached) {
    await db.deleteFrom('dns_records').where('domain', '=', name).execute();
    await db.deleteFrom('domains').where('name', '=', name).execute();
    return;
  }
  const charge = {
    accountId: row.account_id,
    kind: 'domain',
    subject: name,
    type: 'RENEW',
    start: expires,
    stop: reached.next.expires,
  } as const;
  await chargeOwed(db, ports, { ...charge, amount: BigInt(row.renew_price) }, expires * 1000);
}
