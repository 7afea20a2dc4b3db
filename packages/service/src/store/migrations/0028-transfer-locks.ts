import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { DELEGATION, differs, domains, IN_USE, triggerOf } from './0025-events.ts';
import type { Occasion } from './0025-events.ts';
import { createTrigger, dropTrigger } from './triggers.ts';

const CHANGED: Occasion = {
  type: 'domain.changed',
  change: 'update on domains',
  when: `old.state in ${IN_USE} and ${differs([...DELEGATION, 'transfer_lock'])}`,
};

/** Adds the transfer lock of domains, whose change is an event. */
export function transferLocks(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table domains add column transfer_lock ${integer} not null default 0`.execute(db);
      const index = domains.occasions.findIndex(({ type }) => type === CHANGED.type);
      const trigger = triggerOf(engine, domains, CHANGED, index);
      await dropTrigger(db, engine, trigger.trigger, 'domains');
      await createTrigger(db, engine, trigger);
    },
  };
}
