import { sql } from 'kysely';

import type { Ports } from '../../ports/ports.ts';
import type { Seconds } from '../../rules/billing.ts';
import { reachExpiry } from '../../rules/domain-registration.ts';
import { lockAccount } from '../../store/account-lock.ts';
import type { Db } from '../../store/store.ts';
import { chargeOwed } from '../accounting/charge.ts';
import { holdRenewals } from '../accounting/renewal-hold.ts';
import { tldPricesAt } from '../catalogue/tld-price.ts';
import type { JobKind } from '../jobs/job.ts';

/** Renews domains at their expiry and ends cancelled ones. A domain that is being changed waits for the end of the change. */
export const domainExpiryJobs: JobKind = {
  names: ['domain_renewal', 'domain_end'],
  due: (db, { now }) =>
    db
      .selectFrom('domains')
      .select(['name as id', 'account_id', 'expires as due'])
      .select((eb) => eb.case().when('terminated', '=', 1).then(sql.lit('domain_end')).else(sql.lit('domain_renewal')).end().as('kind'))
      .where('state', '=', 'registered')
      .where('expires', '<=', now),
  dueAt: (expires) => expires,
  perform: (db, { ports }, { id, due }) => renewOrEndDomain(db, ports, id, due),
};

/** @param expires The expiry that was reached. Does nothing if the domain has a new one. */
async function renewOrEndDomain(db: Db, ports: Ports, name: string, expires: Seconds): Promise<void> {
  const row = await db
    .selectFrom('domains')
    // The price at the time when the renewal was due, however late the job runs.
    .innerJoin(tldPricesAt(db, expires * 1000).as('prices'), 'prices.tld', 'domains.tld')
    .select(['domains.account_id', 'domains.created', 'domains.locked_until', 'domains.terminated', 'prices.renew_price'])
    .where('domains.name', '=', name)
    .where('domains.state', '=', 'registered')
    .where('domains.expires', '=', expires)
    .executeTakeFirst();
  if (!row) return;
  const { terminated } = row;
  const reached = reachExpiry({ created: row.created, expires, lockedUntil: row.locked_until, terminated: terminated === 1 }, expires);
  if ('refused' in reached) throw new Error(`The domain ${name} cannot be renewed or ended at its expiry: it is ${reached.refused}.`);
  // Closing a period locks the account before the domain, so this transaction does the same.
  await lockAccount(db, row.account_id);
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
  await holdRenewals(db, row.account_id, { domain: name });
}
