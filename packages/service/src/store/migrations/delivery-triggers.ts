import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { createTrigger } from './triggers.ts';

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

/** Creates the triggers by which only the first delivery of a subject is due, so that the query of what is due does not walk those that wait for it. */
export async function createDeliveryTriggers(db: Kysely<Schema>, engine: Engine): Promise<void> {
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
}
