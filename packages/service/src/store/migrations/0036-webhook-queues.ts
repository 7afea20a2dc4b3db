import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { backups, triggerOf } from './0025-events.ts';
import type { Occasion } from './0025-events.ts';
import { createTrigger, dropTrigger } from './triggers.ts';

/** Of a schedule, only the first failure since its last success is an event. The place among the occasions names the trigger. */
const FAILED_BACKUP: Occasion = {
  type: 'vm.backup.failed',
  change: 'delete on vm_backups',
  when: `old.state = 'creating' and old.repeats_failure = 0`,
};
const FAILED_BACKUP_INDEX = backups.occasions.findIndex(({ type }) => type === FAILED_BACKUP.type);

/** An earlier delivery of the same subject that has not ended. */
function earlierOf(row: string): string {
  return `select 1 from webhook_deliveries as earlier
    where earlier.webhook_id = ${row}.webhook_id and earlier.subject = ${row}.subject and earlier.state = 'pending'
      and earlier.number < ${row}.number`;
}

/** Lets the next delivery of a subject be sent. On PostgreSQL it waits for those that are being added, so that it overlooks none. */
function unblockNext(engine: Engine): string {
  const lock = engine === 'postgres' ? 'perform 1 from webhooks where id = old.webhook_id for no key update; ' : '';
  return `${lock}update webhook_deliveries set blocked = 0
    where webhook_id = old.webhook_id and state = 'pending' and blocked = 1 and number = (
      select min(number) from webhook_deliveries as next
      where next.webhook_id = old.webhook_id and next.subject = old.subject and next.state = 'pending'
    )`;
}

/**
 * An event waits once for a webhook. Only the first delivery of a subject is due, so that the query of what is due does not walk those that wait
 * for it. What grows with a webhook is done in steps.
 */
export function webhookQueues(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        delete from webhook_deliveries where state = 'pending' and exists (
          select 1 from webhook_deliveries as earlier
          where earlier.webhook_id = webhook_deliveries.webhook_id and earlier.event_id = webhook_deliveries.event_id
            and earlier.state = 'pending' and earlier.number < webhook_deliveries.number
        )`.execute(db);
      await sql`create unique index waiting_deliveries on webhook_deliveries (webhook_id, event_id) where state = 'pending'`.execute(db);
      await sql`alter table webhook_deliveries add column blocked ${integer} not null default 0`.execute(db);
      await sql`
        update webhook_deliveries set blocked = 1
        where state = 'pending' and exists (${sql.raw(earlierOf('webhook_deliveries'))})`.execute(db);
      // Its place is taken by the next one, which SQLite would not choose while this one exists.
      await sql`drop index deliveries_by_attempt`.execute(db);
      await sql`
        create index first_deliveries on webhook_deliveries (webhook_id, next_attempt, number)
        where state = 'pending' and blocked = 0`.execute(db);
      await createTrigger(db, engine, {
        trigger: 'delivery_blocked',
        event: 'insert on webhook_deliveries',
        when: `new.state = 'pending'`,
        action: `update webhook_deliveries set blocked = 1
          where webhook_id = new.webhook_id and number = new.number and exists (${earlierOf('new')})`,
      });
      await createTrigger(db, engine, {
        trigger: 'delivery_ended',
        event: 'update of state on webhook_deliveries',
        when: `old.state = 'pending' and new.state <> 'pending'`,
        action: unblockNext(engine),
      });
      await createTrigger(db, engine, {
        trigger: 'delivery_deleted',
        event: 'delete on webhook_deliveries',
        when: `old.state = 'pending' and old.blocked = 0`,
        action: unblockNext(engine),
      });
      for (const column of ['removed', 'has_steps'])
        await sql`alter table webhooks add column ${sql.ref(column)} ${integer} not null default 0`.execute(db);
      for (const column of ['replay_after', 'replay_until', 'replay_number'])
        await sql`alter table webhooks add column ${sql.ref(column)} ${integer}`.execute(db);
      await sql`alter table webhooks add column resume_after text`.execute(db);
      await sql`create index webhooks_with_steps on webhooks (account_id) where has_steps = 1`.execute(db);
      await sql`create index events_of_account_by_time on events (account_id, entered, position)`.execute(db);
      await sql`alter table event_feeds add column forgotten ${integer} not null default 0`.execute(db);
      await sql`create index forgotten_feeds on event_feeds (account_id) where forgotten = 1`.execute(db);
      await sql`create index vms_by_account_and_backup on vms (account_id, backup_due) where backup_due is not null`.execute(db);
      await sql`alter table vms add column backup_anchor ${integer}`.execute(db);
      await sql`alter table vms add column backup_failing ${integer} not null default 0`.execute(db);
      await sql`alter table vm_backups add column repeats_failure ${integer} not null default 0`.execute(db);
      await sql`create index backups_in_progress on vm_backups (vm_id) where state = 'creating'`.execute(db);
      const failed = triggerOf(engine, backups, FAILED_BACKUP, FAILED_BACKUP_INDEX);
      await dropTrigger(db, engine, failed.trigger, 'vm_backups');
      await createTrigger(db, engine, failed);
      await sql`drop index vms_by_backup`.execute(db);
      await sql`create index vms_by_backup on vms (backup_due, account_id) where backup_due is not null`.execute(db);
    },
  };
}
