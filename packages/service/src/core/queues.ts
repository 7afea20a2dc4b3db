/**
 * Every queue of the service: work that no request waits for. `/metrics`, `GET /due-work`, `/readyz` and the console show them from this list,
 * which has one entry for each name in the document of the operator API.
 */
import type { QueuedItem } from '@reseller/operator-client';
import { sql } from 'kysely';
import type { AliasableExpression } from 'kysely';

import type { QueueName, Runtime } from '../delivery/runtime.ts';
import { everyNameOf } from '../rules/every-name.ts';
import type { QueueFigures } from '../rules/queue-figures.ts';
import type { Db } from '../store/store.ts';
import { pendingDocuments } from './accounting/invoice-document/issue.ts';
import { periodEndJobs } from './accounting/period-end-job.ts';
import { dedicatedServerJobs } from './dedicated/server-jobs.ts';
import { domainExpiryJobs } from './domain/expiry-job.ts';
import { dueSince, dueWebhooks } from './events/deliveries.ts';
import { mayRun } from './jobs/failed-jobs.ts';
import type { Work } from './jobs/failed-jobs.ts';
import { dueBefore, dueJobs } from './jobs/job.ts';
import type { JobKind } from './jobs/job.ts';
import { dueBackups } from './vm/backup-schedule.ts';
import { dueStarts } from './vm/ended-machines.ts';

export interface QueueState extends QueueFigures {
  readonly queue: QueueName;
  /** The oldest failed item or, if none failed, the oldest waiting one. */
  readonly oldest: QueuedItem | undefined;
  /** Whether a person should look at it. */
  readonly isHeldUp: boolean;
}

interface DatedItem extends QueuedItem {
  /** Milliseconds, or the unit of `instantOf`. Null if the time is not known. */
  readonly since: number | null;
}
type Items = AliasableExpression<DatedItem>;

interface Queue {
  /** The items that are due and have not failed, with the time at which each became due. Undefined if the store does not have the queue. */
  waiting?(db: Db, now: number): Items;
  /** The items whose last attempt failed, until an attempt succeeds: an alert that waits for minutes must not see them come and go. */
  failed?(db: Db): Items;
  /** Turns the time of an item into milliseconds. */
  instantOf?(since: number): number;
  /** The waiting time of the oldest item after which the queue is held up. Default: five minutes. */
  readonly heldUpAfterMs?: number;
  /** Whether items fail because of a reseller, so that failures do not hold up the queue. */
  readonly failsForReseller?: boolean;
}

const DEFAULT_HELD_UP_AFTER_MS = 300_000;
const HOUR_MS = 3_600_000;
/** More items are not counted, so that a long queue does not make its own figures slow. */
const MAX_COUNTED = 1_000;

const NAMES = everyNameOf<Readonly<Record<QueueName, unknown>>>()([
  'period_ends',
  'server_jobs',
  'domain_expiries',
  'invoice_documents',
  'zones',
  'webhooks',
  'backups',
  'machine_starts',
  'deliveries',
  'tasks',
  'audit_export',
  'store_backups',
]);

const queues: Readonly<Record<QueueName, Queue>> = {
  period_ends: jobQueue(periodEndJobs, 'account'),
  server_jobs: jobQueue(dedicatedServerJobs, 'server'),
  domain_expiries: jobQueue(domainExpiryJobs, 'domain'),
  invoice_documents: {
    // Without a seller, no document is due.
    waiting: (db) =>
      pendingDocuments(db)
        .where(({ exists, selectFrom }) => exists(selectFrom('settings').select('name').where('name', '=', 'seller')))
        .select(['period_end as since', about('invoice', 'id')]),
    failed: (db) => failedJobs(db, 'document').select(about('invoice', 'subject')),
    instantOf: (seconds) => seconds * 1000,
  },
  zones: {
    // A change that was not tried yet has no time.
    waiting: (db, now) =>
      zonesToPublish(db)
        .select(sql<number | null>`nullif(next_attempt, 0)`.as('since'))
        .where('attempts', '=', 0)
        .where('next_attempt', '<=', now),
    failed: (db) => zonesToPublish(db).select('next_attempt as since').where('attempts', '>', 0),
  },
  webhooks: {
    failsForReseller: true,
    waiting: (db, now) =>
      dueWebhooks(db, now)
        .where('failing_since', 'is', null)
        .select([dueSince.as('since'), 'account_id', about('webhook', 'id')]),
    failed: (db) =>
      db
        .selectFrom('webhooks')
        .select(['failing_since as since', 'account_id', about('webhook', 'id')])
        .where('failing_since', 'is not', null)
        .where('enabled', '=', 1)
        .where('removed', '=', 0),
  },
  backups: {
    waiting: (db, now) => dueBackups(db, Math.floor(now / 1000)).select(['backup_due as since', 'account_id', about('vm', 'id')]),
    failed: (db) =>
      db
        .selectFrom('vms')
        .select(['backup_due as since', 'account_id', about('vm', 'id')])
        .where('backup_due', 'is not', null)
        .where('backup_failing', '=', 1),
    instantOf: (seconds) => seconds * 1000,
  },
  machine_starts: {
    waiting: (db, now) => dueStarts(db, now).select(['next_start as since', 'account_id', about('vm', 'id')]),
    failed: (db) =>
      db
        .selectFrom('vms')
        .select(['next_start as since', 'account_id', about('vm', 'id')])
        .where('machine_ended', 'is not', null)
        .where('start_attempts', '>', 0),
  },
  deliveries: {
    waiting: (db) => reservations(db).where('task', 'is', null),
  },
  tasks: {
    // An installation or a backup takes as long as the system that carries it out.
    heldUpAfterMs: 6 * HOUR_MS,
    waiting: (db) => reservations(db).where('task', 'is not', null),
  },
  audit_export: {},
  store_backups: { heldUpAfterMs: HOUR_MS },
};

/** @param resource What the jobs are about. */
function jobQueue(kind: JobKind, resource: string): Queue {
  return {
    waiting: (db, now) =>
      dueJobs(db, kind, dueBefore(now))
        .where(mayRun('job', 'accounts.id'))
        .select(['job.due as since', 'accounts.id as account_id', about(resource, 'job.id')]),
    failed: (db) => failedJobs(db, 'job').where('kind', 'in', kind.names).select(about(resource, 'subject')),
    instantOf: (column) => kind.dueAt(column) * 1000,
  };
}

function failedJobs(db: Db, work: Work) {
  return db.selectFrom('failed_jobs').select(['next_attempt as since', 'account_id']).where('work', '=', work);
}

/** A reverse zone, and the zone of a deleted domain, have neither a domain nor an account. */
function zonesToPublish(db: Db) {
  return db
    .selectFrom('zone_changes')
    .leftJoin('domains', 'domains.name', 'zone_changes.domain')
    .select([
      'domains.account_id',
      sql<string>`case when domains.name is null then 'zone/' else 'domain/' end || zone_changes.domain`.as('subject'),
    ]);
}

function reservations(db: Db) {
  return db.selectFrom('reservations').select(['created as since', 'account_id', 'subject']);
}

/** The subject of an item, such as `vm/48213`. @param column The identifier of the resource. */
function about(resource: string, column: string) {
  return sql<string>`${sql.lit(`${resource}/`)} || ${sql.ref(column)}`.as('subject');
}

/** The state of every queue of a service now. */
export function queuesOf(runtime: Runtime): Promise<QueueState[]> {
  return runtime.store.read((db) => queueStates(db, runtime, runtime.ports.clock.now()), { isUrgent: true });
}

/** The state of every queue, in the order of the list. */
export async function queueStates(db: Db, { ownQueues }: Pick<Runtime, 'ownQueues'>, now: number): Promise<QueueState[]> {
  const counted = await countAll(db, now);
  const states = await Promise.all(
    NAMES.map(async (name) => {
      const queue = queues[name];
      if (queue.waiting !== undefined) return stateIn(counted, name, now);
      const figures = await ownQueues[name]?.();
      return figures && toState(name, figures, undefined);
    }),
  );
  return states.filter((state) => state !== undefined);
}

/** The items of a part of a queue, of which it has at least one. */
interface Counted {
  readonly queue: QueueName;
  readonly part: 'waiting' | 'failed';
  readonly items: number;
  readonly oldest: DatedItem;
}

/** Counts all queues with one statement. */
async function countAll(db: Db, now: number): Promise<readonly Counted[]> {
  const parts = NAMES.flatMap((queue) => {
    const { waiting, failed } = queues[queue];
    return [
      ...(waiting ? [selectCount(db, { queue, part: 'waiting', found: waiting(db, now) })] : []),
      ...(failed ? [selectCount(db, { queue, part: 'failed', found: failed(db) })] : []),
    ];
  });
  const [first, ...others] = parts;
  const rows = first ? await others.reduce((all, part) => all.unionAll(part), first).execute() : [];
  return rows.map(({ queue, part, items, ...oldest }) => ({ queue, part, items: Number(items), oldest }));
}

/** Selects the oldest item, with the number of all. */
function selectCount(db: Db, { queue, part, found }: Pick<Counted, 'queue' | 'part'> & { readonly found: Items }) {
  const items = db.selectFrom(found.as('each')).select(['subject', 'account_id', 'since']).orderBy('since').limit(sql.lit(MAX_COUNTED));
  const oldest = db
    .selectFrom(items.as('item'))
    .select(({ fn }) => ['subject', 'account_id', 'since', fn.countAll<number>().over().as('items')])
    .orderBy('since', (order) => order.asc().nullsLast())
    .limit(sql.lit(1));
  return db
    .selectFrom(oldest.as('oldest'))
    .selectAll()
    .select([sql.lit(queue).as('queue'), sql.lit(part).as('part')]);
}

function stateIn(counted: readonly Counted[], name: QueueName, now: number): QueueState {
  const { instantOf = (since) => since } = queues[name];
  const waiting = counted.find(({ queue, part }) => queue === name && part === 'waiting');
  const failed = counted.find(({ queue, part }) => queue === name && part === 'failed');
  const since = waiting?.oldest.since ?? undefined;
  const figures = {
    waiting: waiting?.items ?? 0,
    failed: failed?.items ?? 0,
    oldestMs: since === undefined ? undefined : Math.max(0, now - instantOf(Number(since))),
  };
  return toState(name, figures, (failed ?? waiting)?.oldest);
}

function toState(queue: QueueName, figures: QueueFigures, oldest: QueuedItem | undefined): QueueState {
  const { heldUpAfterMs = DEFAULT_HELD_UP_AFTER_MS, failsForReseller = false } = queues[queue];
  return { queue, ...figures, oldest, isHeldUp: (figures.oldestMs ?? 0) > heldUpAfterMs || (figures.failed > 0 && !failsForReseller) };
}
