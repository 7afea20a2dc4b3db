import type { Domain } from '@reseller/operator-client';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { dnssecOf } from '../../core/domain/dnssec.ts';
import { locksOf, nameserversOf } from '../../core/domain/domain.ts';
import { domainCommands } from '../../core/domain/terminate.ts';
import { dnssecStatus } from '../../rules/dnssec.ts';
import { statusOf } from '../../rules/domain-registration.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { listOfNameservers } from '../../rules/nameserver.ts';
import type { Db } from '../../store/store.ts';
import type { DomainsTable } from '../../store/tables/domains.ts';
import { recordingHooks } from '../access/recording-hooks.ts';
import type { ReadOperation, ServiceOperation } from '../operation.ts';
import { readPage } from '../paging.ts';
import type { Order } from '../paging.ts';
import { requireFound } from '../problem.ts';

type Row = Selectable<DomainsTable>;

const order: Order = { columns: { name: 'text' }, direction: 'asc' };

/** GET /domains */
export const listDomains: ReadOperation<'listDomains'> = {
  kind: 'read',
  async run(db, { query, now }) {
    const { account_id: account } = query;
    const domains = db
      .selectFrom('domains')
      .selectAll()
      .where('state', '!=', 'reserved')
      .where(({ eb }) => (account === undefined ? sql<boolean>`1 = 1` : eb('account_id', '=', account)));
    const { rows, next_cursor } = await readPage(domains, order, query);
    return { items: rows.map((domain) => toDomain(domain, now)), next_cursor };
  },
};

/** GET /domains/{domain} */
export const getDomain: ReadOperation<'getDomain'> = {
  kind: 'read',
  async run(db, { path, now }) {
    const domain = await domainOf(db, path.domain.toLowerCase());
    const change = await db.selectFrom('zone_changes').select('reason').where('domain', '=', domain.name).executeTakeFirst();
    return {
      ...toDomain(domain, now),
      handle: domain.handle,
      transfer_lock: domain.transfer_lock === 1,
      dnssec: dnssecStatus(dnssecOf(domain), Math.floor(now / 1000)),
      nameservers: listOfNameservers(nameserversOf(domain)),
      zone_published: change === undefined,
      zone_error: change?.reason ?? null,
    };
  },
};

/** POST /domains/{domain}/terminate */
export const terminateDomain: ServiceOperation<'terminateDomain'> = {
  kind: 'service',
  async run({ runtime, path, now }, record) {
    const name = path.domain.toLowerCase();
    async function read(db: Db) {
      return toDomain(await domainOf(db, name), now);
    }
    await domainCommands(runtime, recordingHooks(read, record)).terminate(name);
    return runtime.store.read(read);
  },
};

/** @throws OperatorProblem 404 if no account has the domain. */
export async function domainOf(db: Db, name: string): Promise<Row> {
  const domain = await db.selectFrom('domains').selectAll().where('name', '=', name).where('state', '!=', 'reserved').executeTakeFirst();
  return requireFound(domain, `domain ${name}`);
}

function toDomain(row: Row, now: number): Domain {
  const { name, account_id, state, terminated, created, expires } = row;
  return {
    name,
    account_id,
    status: statusOf(locksOf(row), Math.floor(now / 1000), state === 'pending'),
    terminated: terminated === 1,
    created: secondsToInstant(created),
    expires: secondsToInstant(expires),
  };
}
