/** What happens to domains at their expiry: a renewal, or the end of a cancelled one. */
import type { Ports } from '../../ports/ports.ts';
import type { Seconds } from '../../rules/billing.ts';
import { reachExpiry } from '../../rules/domain-registration.ts';
import type { Db } from '../../store/store.ts';
import { chargeOwed } from '../accounting/charge.ts';

/** Of which domains: one, or all of an account. */
export type DomainFilter = { readonly name: string } | { readonly accountId: string };

/**
 * Renews or ends every such domain whose expiry has come, each as of its expiry. Each operation on
 * domains calls it first, so that no request sees what is over, whenever the timed work gets to
 * it. A domain that is being changed waits for the end of the change.
 */
export async function settleExpiries(db: Db, ports: Ports, at: Seconds, filter: DomainFilter): Promise<void> {
  for (;;) {
    const row = await db
      .selectFrom('domains')
      .innerJoin('tlds', 'tlds.tld', 'domains.tld')
      .select([
        'domains.name',
        'domains.account_id',
        'domains.created',
        'domains.expires',
        'domains.locked_until',
        'domains.terminated',
        'tlds.renew_price',
      ])
      .where('domains.state', '=', 'registered')
      .where('domains.expires', '<=', at)
      .where(({ eb }) => ('name' in filter ? eb('domains.name', '=', filter.name) : eb('domains.account_id', '=', filter.accountId)))
      .orderBy('domains.expires')
      .orderBy('domains.name')
      .limit(1)
      .executeTakeFirst();
    if (!row) return;
    const { name, expires } = row;
    const reached = reachExpiry({ created: row.created, expires, lockedUntil: row.locked_until, terminated: row.terminated === 1 }, at);
    if ('ended' in reached) await endDomain(db, name);
    if (!('next' in reached)) continue;
    const renewed = await db
      .updateTable('domains')
      .set({ expires: reached.next.expires })
      .where('name', '=', name)
      .where('expires', '=', expires)
      .where('state', '=', 'registered')
      .where('terminated', '=', 0)
      .executeTakeFirst();
    if (renewed.numUpdatedRows === 0n) continue;
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
}

async function endDomain(db: Db, name: string): Promise<void> {
  await db.deleteFrom('dns_records').where('domain', '=', name).execute();
  await db.deleteFrom('domains').where('name', '=', name).execute();
}
