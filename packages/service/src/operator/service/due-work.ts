import type { DueItem } from '@reseller/operator-client';

import { PAGE_SIZE } from '../../generated/operator/facts.gen.ts';
import { periodOf } from '../../rules/billing.ts';
import type { Db } from '../../store/store.ts';
import { toInstant } from '../instants.ts';
import type { ReadOperation } from '../operation.ts';

/** A scheduled job or a change of a sale. */
interface Item extends Omit<DueItem, 'due'> {
  /** Milliseconds. */
  readonly at: number;
}

/** GET /due-work */
export const getDueWork: ReadOperation<'getDueWork'> = {
  kind: 'read',
  async run(db, { query, now }) {
    const limit = query.limit ?? PAGE_SIZE;
    const lists = [await periodEnds(db, limit), await servers(db, limit), await domains(db, limit), await sales(db, now, limit)];
    const items = lists.flat().toSorted((one, other) => one.at - other.at);
    const since = items[0]?.at;
    return {
      now: toInstant(now),
      overdue: await countOverdue(db, now),
      overdue_since: since !== undefined && since <= now ? toInstant(since) : null,
      next: items.slice(0, limit).map(({ at, ...item }) => ({ ...item, due: toInstant(at) })),
    };
  },
};

async function periodEnds(db: Db, limit: number): Promise<Item[]> {
  const rows = await db.selectFrom('accounts').select(['id', 'period_start']).orderBy('period_start').orderBy('id').limit(limit).execute();
  return rows.map(({ id, period_start }) => ({ kind: 'period_end', subject: id, account_id: id, at: periodOf(period_start).end * 1000 }));
}

async function servers(db: Db, limit: number): Promise<Item[]> {
  const rows = await db
    .selectFrom('dedicated_servers')
    .select(['id', 'account_id', 'state', 'terminated', 'due'])
    .where('due', 'is not', null)
    .orderBy('due')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id, account_id, state, terminated, due }) => {
    const kind = state === 'ordered' ? 'dedicated_setup' : terminated === 1 ? 'dedicated_end' : 'dedicated_renewal';
    return { kind, subject: id, account_id, at: (due ?? 0) * 1000 };
  });
}

async function domains(db: Db, limit: number): Promise<Item[]> {
  const rows = await db
    .selectFrom('domains')
    .select(['name', 'account_id', 'terminated', 'expires'])
    .where('state', '=', 'registered')
    .orderBy('expires')
    .orderBy('name')
    .limit(limit)
    .execute();
  return rows.map(({ name, account_id, terminated, expires }) => {
    return { kind: terminated === 1 ? 'domain_end' : 'domain_renewal', subject: name, account_id, at: expires * 1000 };
  });
}

/** Sales begin and end without a job, so they are never overdue. */
async function sales(db: Db, now: number, limit: number): Promise<Item[]> {
  const open = db.selectFrom('sales').select(['id', 'account_id', 'start', 'stop']).where('ended', 'is', null);
  const starting = await open.where('start', '>', now).orderBy('start').limit(limit).execute();
  const ending = await open.where('stop', '>', now).orderBy('stop').limit(limit).execute();
  return [
    ...starting.map(({ id, account_id, start }) => ({ kind: 'sale_start', subject: id, account_id, at: start })),
    ...ending.map(({ id, account_id, stop }) => ({ kind: 'sale_end', subject: id, account_id, at: stop ?? 0 })),
  ];
}

async function countOverdue(db: Db, now: number): Promise<number> {
  const at = Math.floor(now / 1000);
  function count<T extends { count: number }>({ count: number }: T): number {
    return number;
  }
  const periods = await db
    .selectFrom('accounts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('period_start', '<', periodOf(at).start)
    .executeTakeFirstOrThrow();
  const machines = await db
    .selectFrom('dedicated_servers')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('due', '<=', at)
    .executeTakeFirstOrThrow();
  const expired = await db
    .selectFrom('domains')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', '=', 'registered')
    .where('expires', '<=', at)
    .executeTakeFirstOrThrow();
  return count(periods) + count(machines) + count(expired);
}
